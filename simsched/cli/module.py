"""`simsched module`: one module in this terminal, as in the paper."""

from __future__ import annotations

from typing import Annotated

import typer

from simsched.cli.options import KeyFile, Parameters, ScenarioFile, Values
from simsched.cli.shell import FAILED, end_in_order


def module(
    scenario: ScenarioFile,
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="The task whose module to start.", show_default=False)
    ],
    key_file: KeyFile = None,
    set: Values = [],  # noqa: B006  typer's own way to say: none
    param: Parameters = [],  # noqa: B006
) -> int:
    """Serve one module of a scenario in this terminal.

    It listens at its address until its master stops it or Ctrl-C does. Start each module in a
    terminal of its own, in any order, then: simsched run SCENARIO --no-start
    """
    from simsched.cli.options import field_values, read_key, task_params
    from simsched.errors import LaunchError, ModuleError, choices
    from simsched.launch.child import make_module
    from simsched.loading import load_scenario
    from simsched.serving import serve

    end_in_order()
    whole = load_scenario(scenario)
    if set or param:
        from simsched.running import changed  # which brings the whole master

        whole = changed(whole, field_values(set), task_params(param))
    names = [known.name for known in whole.tasks]
    if task not in names:
        raise LaunchError(f"task '{task}' is not in Tasks of {scenario}{choices(task, names, 'tasks')}")
    found = whole.task(task)
    if found.module is None:
        what = f"a Command: {' '.join(found.command)}" if found.command else "no Module"
        raise LaunchError(
            f"task '{task}' of {scenario} has {what}: only a Module can be started here; "
            f"give the task one, as in 'Module': 'file.py:Class', or start it by its own means"
        )
    try:
        serve(make_module(whole, task, None, read_key(key_file)).Manager)
    except ModuleError:
        return FAILED  # the text was printed where it arose, and told to the master
    return 0
