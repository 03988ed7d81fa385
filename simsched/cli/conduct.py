"""A run with a console around it: where it is recorded, what is said at its start and at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from simsched.cli.check import problems_of
from simsched.cli.place import Place, chosen_place, default_place, has_arrow
from simsched.cli.summary import show_summary
from simsched.errors import ParameterError
from simsched.image import Image
from simsched.launch.console import Console, make_console
from simsched.pacing import step_count
from simsched.report import Report
from simsched.results import find
from simsched.running import Options, Run, execute
from simsched.scenario import Scenario
from simsched.scheduler import Scheduler


@dataclass(frozen=True)
class Wanted:
    """What to record, as far as the user has said."""

    path: Path | None = None
    nothing: bool = False
    overwrite: bool = False
    every: int = 1
    fields: Sequence[str] | None = None


def check_params(scenario: Scenario, params: dict[str, dict[str, Any]]) -> None:
    """Before anything starts: that the classes take the parameters that the command line gives them."""
    problems = problems_of(scenario, [task for task in scenario.tasks if task.name in params])
    if problems:
        raise ParameterError("\n".join(problems))


def carry_out(scenario: Scenario, wanted: Wanted, options: dict[str, Any], quiet: bool) -> Run:
    """Run with a console around it, and sum up however it ends; what ended it is raised again."""
    check_fields(scenario, wanted.fields)
    console = make_console(quiet)
    place = recording_place(scenario, wanted, console)
    given = Options(
        record=place.path, record_every=wanted.every, record_fields=wanted.fields,
        notify=console.notify, show=console.show, **{"keep": False, **options},
    )  # fmt: skip
    shown = _Shown(console)
    given.on_start = shown.started
    console.say(opening(scenario, place.path))
    try:
        with console:
            ended = execute(scenario, given)
    except BaseException as error:
        shown.sum_up_after(error, scenario, place)
        raise
    finally:
        place.give_back()
    if not quiet:
        shown.sum_up(ended.report, scenario, place)
    return ended


class _Shown:
    """Keeps the scheduler, which alone can tell how far a failed run came."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._scheduler: Scheduler | None = None

    def started(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._console.started(scheduler)

    def sum_up(self, report: Report, scenario: Scenario, place: Place) -> None:
        show_summary(report, float(scenario.database.fields["dt"].initial), place.written)

    def sum_up_after(self, error: BaseException, scenario: Scenario, place: Place) -> None:
        """The same after a failure, if a step was taken at all."""
        place.give_back()
        is_interrupted = isinstance(error, KeyboardInterrupt)
        if self._scheduler is None or self._scheduler.step < 0:
            self._console.say("interrupted before the first step" if is_interrupted else "no step was taken")
            return
        if self._console.quiet:
            return
        why = "interrupted" if is_interrupted else type(error).__name__
        self.sum_up(self._scheduler.report(why), scenario, place)


def check_fields(scenario: Scenario, names: Sequence[str] | None) -> None:
    """Before anything starts: that the fields to record exist."""
    known = Image(scenario.database, scenario.tasks).fields
    for name in names or ():
        find(known, name)


def recording_place(scenario: Scenario, wanted: Wanted, console: Console) -> Place:
    """Where to record, or nowhere, and then one line says why."""
    if wanted.nothing:
        return Place(None)
    if wanted.path is not None:
        return chosen_place(wanted.path, wanted.overwrite)
    if not has_arrow():
        console.say("nothing is recorded: that needs pyarrow, which pip install 'simsched[record]' brings")
        return Place(None)
    return default_place(scenario.name, datetime.now(), Path())


def opening(scenario: Scenario, recording: Path | None) -> str:
    """`run of oscillator: Plant, Control; 1000 steps of 0.01 s; recording to ...`."""
    first, dt, tmax = (float(scenario.database.fields[name].initial) for name in ("t", "dt", "tmax"))
    steps = step_count(first, dt, tmax)
    names = ", ".join(task.name for task in scenario.tasks)
    words = [
        f"run of {scenario.name}: {names}",
        f"{'steps' if steps is None else f'{steps} steps'} of {dt:g} s",
    ]
    if scenario.settings.real_time:
        words.append("in real time")
    if recording is not None:
        words.append(f"recording to {recording}")
    return "; ".join(words)
