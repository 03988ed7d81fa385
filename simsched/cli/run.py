"""`simsched run`: everything started, watched, shown and ended by one command."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsched.cli.options import (
    Coupling,
    FieldNames,
    KeyFile,
    OverrunPolicy,
    Parameters,
    PlacementMode,
    ScenarioFile,
    Values,
)

if TYPE_CHECKING:
    from simsched.scenario import Scenario


def run(
    context: typer.Context,
    scenario: ScenarioFile,
    *,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", show_default=False,
            help="Record to this file; default: SCENARIO-<date>.arrows in the current folder.",
        ),
    ] = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="Record nothing.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
    record_every: Annotated[int, typer.Option(min=1, metavar="N", help="Record every N-th step.")] = 1,
    fields: FieldNames = None,
    tmax: Annotated[
        float | None,
        typer.Option(metavar="S", show_default=False, help="Simulate until this t [s]; inf: without end."),
    ] = None,
    dt: Annotated[
        float | None, typer.Option(metavar="S", show_default=False, help="Another step [s].")
    ] = None,
    set: Values = [],  # noqa: B006  typer's own way to say: none
    param: Parameters = [],  # noqa: B006
    without: Annotated[
        list[str],
        typer.Option(
            metavar="TASK", show_default=False, help="Leave a noAnswer or Optional task out. Repeatable."
        ),
    ] = [],  # noqa: B006
    in_process: Annotated[
        bool, typer.Option("--in-process", help="All modules in this one process: the same numbers.")
    ] = False,
    early: Annotated[
        bool, typer.Option(help="Ask independent tasks at the same time: the same numbers.")
    ] = True,
    coupling: Annotated[
        Coupling | None,
        typer.Option(show_default=False, help="seidel: tasks see what those before them have just answered."),
    ] = None,
    real_time: Annotated[
        bool | None,
        typer.Option(
            "--real-time/--free", show_default=False, help="Keep pace with the wall clock, or run freely."
        ),
    ] = None,
    overrun: Annotated[
        OverrunPolicy | None,
        typer.Option(show_default=False, help="In real time: what to do when a step ends late."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="A result that is not finite stops the run.")
    ] = False,
    placement: Annotated[
        PlacementMode,
        typer.Option(help="On which cores the modules are: by measurement, all on one, or any."),
    ] = PlacementMode.auto,
    key_file: KeyFile = None,
    wait: Annotated[
        float | None,
        typer.Option(
            metavar="S", show_default=False,
            help="How long to wait for modules that others start [s]; inf: for ever.",
        ),
    ] = None,
    terminals: Annotated[
        bool, typer.Option("--terminals", help="Each module in a pane of its own, by tmux.")
    ] = False,
    no_start: Annotated[
        bool, typer.Option("--no-start", help="Start no module: others do, with 'simsched module'.")
    ] = False,
    stop_modules: Annotated[str, typer.Option(hidden=True)] = "",
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show what modules print, warnings and errors alone.")
    ] = False,
) -> int:  # fmt: skip
    """Run a scenario: all its modules started, shown and ended.

    Their fields are exchanged step by step, in the order of Tasks, and recorded.

    Exit code: 0 all well, 1 the run failed, 2 wrong input, 130 ended by Ctrl-C.
    """
    from simsched.cli.conduct import Wanted, carry_out, check_params
    from simsched.cli.options import field_names, field_values, read_key, task_params
    from simsched.cli.shell import end_in_order

    end_in_order()
    times = {name: value for name, value in (("tmax", tmax), ("dt", dt)) if value is not None}
    whole = changed_scenario(
        scenario,
        {**field_values(set), **times},
        task_params(param),
        without,
        wait,
        coupling=coupling and coupling.value,
        real_time=real_time,
        overrun=overrun and overrun.value,
        strict=strict or None,
    )
    refuse_together(
        record=record, no_record=no_record, in_process=in_process, no_start=no_start, terminals=terminals
    )
    check_params(whole, task_params(param))
    if terminals:
        from simsched.launch.terminals import run_in_terminals

        return run_in_terminals(whole, context.obj, module_words(key_file, set, param, times))
    options = {
        "in_process": in_process,
        "early": early,
        "placement": placement.value,
        "key": read_key(key_file),
        "start": not no_start,
        "stop": frozenset(stop_modules.split(",")) if stop_modules else frozenset(),
    }
    wanted = Wanted(record, no_record, overwrite, record_every, field_names(fields))
    carry_out(whole, wanted, options, quiet)
    return 0


def module_words(
    key_file: Path | None, values: Sequence[str], params: Sequence[str], times: dict[str, float]
) -> list[str]:
    """The options with which each module of this run is started by hand."""
    words = [word for text in values for word in ("--set", text)]
    words += [word for text in params for word in ("--param", text)]
    for name, value in times.items():
        words += ["--set", f"{name}={'.inf' if math.isinf(value) else repr(value)}"]
    return [*words, *(("--key-file", str(key_file)) if key_file is not None else ())]


def changed_scenario(
    file: Path,
    values: dict[str, Any],
    params: dict[str, dict[str, Any]],
    without: Sequence[str] = (),
    wait_s: float | None = None,
    **settings: Any,
) -> Scenario:
    """The scenario of a file as the command line changes it."""
    from dataclasses import replace

    from simsched.errors import UserError
    from simsched.loading import load_scenario
    from simsched.running import changed

    whole = changed(load_scenario(file), values, params, without).with_settings(**settings)
    if wait_s is None:
        return whole
    if not wait_s > 0:
        raise UserError(f"--wait is {wait_s:g}; wanted seconds > 0, or inf")
    patience = replace(whole.settings, wait_s=None if math.isinf(wait_s) else wait_s)
    return replace(whole, settings=patience)


def refuse_together(
    *, record: Path | None, no_record: bool, in_process: bool, no_start: bool, terminals: bool
) -> None:
    """Options of which one makes the other meaningless; UserError names them."""
    from simsched.errors import UserError

    wrong = {
        ("--record", "--no-record"): record is not None and no_record,
        ("--in-process", "--no-start"): in_process and no_start,
        ("--in-process", "--terminals"): in_process and terminals,
        ("--no-start", "--terminals"): no_start and terminals,
    }
    for (one, other), applies in wrong.items():
        if applies:
            raise UserError(f"{one} and {other} contradict each other; wanted one of them")
