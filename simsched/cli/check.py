"""`simsched check`: all that is wrong with a scenario, at once; else what it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from simsched.cli.options import ScenarioFile

if TYPE_CHECKING:
    from simsched.scenario import Scenario
    from simsched.tasks import Task

HEADINGS = ("task", "reads", "writes", "bytes in", "bytes out", "address", "started by", "rate")
NUMBERS = frozenset({"bytes in", "bytes out"})


def check(
    scenario: ScenarioFile,
    no_import: Annotated[
        bool, typer.Option("--no-import", help="Leave the modules alone: do not import them.")
    ] = False,
) -> None:
    """Check a scenario, and show what it is made of."""
    from simsched.cli.tables import show_table
    from simsched.errors import UserError
    from simsched.graph import stages
    from simsched.loading import load_scenario
    from simsched.scenario import warnings

    whole = load_scenario(scenario)
    problems = [] if no_import else problems_of(whole, whole.tasks)
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        raise UserError("\n".join([f"{scenario}: {count}", *(f"  {problem}" for problem in problems)]))
    show_table(HEADINGS, [task_row(task, whole) for task in whole.tasks], NUMBERS)
    for number, stage in enumerate(stages(whole.tasks, whole.settings.coupling == "jacobi"), start=1):
        print(f"stage {number}: {', '.join(task.name for task in stage)}")
    for note in warnings(whole):
        print(f"warning: {note}")
    print(f"{scenario} is right")


def task_row(task: Task, scenario: Scenario) -> list[str]:
    """One line of the table."""
    return [
        task.name,
        ",".join(task.reads),
        ",".join(task.merged),
        str(task.layout_in.size),
        "–" if task.no_answer else str(task.layout_out.size),
        f"{task.addr[0]}:{task.addr[1]}",
        task.module or " ".join(task.command or ()) or "somebody else",
        rate(task, float(scenario.database.fields["dt"].initial)),
    ]


def rate(task: Task, dt: float) -> str:
    """How often a task runs, in simulated time; of wall time only where MaxRate says so."""
    words = [f"{1 / (dt * task.every):.6g} Hz"]
    words += [f"steps {task.phase}, {task.phase + task.every}, …"] if task.every > 1 else []
    words += [f"at most {task.max_rate:g}/s"] if task.max_rate else []
    words += ["noAnswer"] if task.no_answer else []
    words += ["Optional"] if task.optional else []
    words += ["Raw"] if task.raw else []
    return ", ".join(words)


def problems_of(scenario: Scenario, tasks: Iterable[Task]) -> list[str]:
    """What stands against starting these tasks: classes, parameters, executables."""
    from simsched.errors import SimschedError

    problems = []
    for task in tasks:
        try:
            _try(scenario, task)
        except SimschedError as error:
            problems.append(str(error))
    return problems


def _try(scenario: Scenario, task: Task) -> None:
    from simsched.errors import LaunchError
    from simsched.launch.jobs import filled_in, folder_of
    from simsched.loading import load_class
    from simsched.module import Module
    from simsched.params import apply_params

    if task.command:
        filled_in(task, scenario)
    if task.module is None:
        return
    made = load_class(task.module, task.name, folder_of(scenario))
    if not issubclass(made, Module):
        raise LaunchError(
            f"task '{task.name}': {task.module} is no simsched.Module: let the class inherit from it"
        )
    apply_params(made.__new__(made), task, scenario.database)  # as its constructor does, without Setup
