"""A scenario: the DataBase, the Tasks, and a few settings of the run, all checked at once.

Pure: no I/O; `loading.py` reads the files. `SETTINGS` is the one table of what a scenario may set
beside its DataBase and Tasks: the Python form, the YAML form and the command line are made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from simsched.database import DataBaseSpec, read_database
from simsched.errors import Problem, ScenarioError, choices
from simsched.pacing import POLICIES, divides
from simsched.plan import Plan, make_plan
from simsched.tasks import BASE_PORT, Task, read_tasks

COUPLINGS = ("seidel", "jacobi")


@dataclass(frozen=True)
class Settings:
    """How a run goes, where that is not a matter of one task."""

    coupling: str = "seidel"
    overrun: str = "catchup"
    real_time: bool = False
    strict: bool = False
    base_port: int = BASE_PORT
    wait_s: float | None = 30.0


@dataclass(frozen=True)
class Setting:
    """One row of the table: a name in scenario files, and what it takes."""

    attribute: str
    wanted: str
    meaning: str
    fits: Callable[[Any], bool]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_port(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1024 <= value <= 65_000


def _is_patience(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0)


SETTINGS: dict[str, Setting] = {
    "Coupling": Setting(
        "coupling",
        " or ".join(repr(name) for name in COUPLINGS),
        "'seidel': a task sees what the tasks before it have just answered; "
        "'jacobi': all tasks see the values of the last step",
        COUPLINGS.__contains__,
    ),
    "RealTime": Setting(
        "real_time", "True or False", "release each step when its t is due on the wall clock", _is_flag
    ),
    "Overrun": Setting(
        "overrun",
        ", ".join(repr(name) for name in POLICIES),
        "in real time, when a step ends late: run the next ones back to back until the schedule is "
        "met again, shift the schedule, or stop the run",
        POLICIES.__contains__,
    ),
    "Strict": Setting(
        "strict", "True or False", "a result that is not finite stops the run (else it warns once)", _is_flag
    ),
    "BasePort": Setting(
        "base_port", "a port from 1024 to 65000", "tasks without Addr listen there, in their order", _is_port
    ),
    "Wait": Setting(
        "wait_s",
        "seconds > 0, or None",
        "how long modules that somebody else starts are waited for",
        _is_patience,
    ),
}


@dataclass(frozen=True)
class Scenario:
    """What is to be run."""

    database: DataBaseSpec
    tasks: tuple[Task, ...]
    settings: Settings = field(default_factory=Settings)
    name: str = "scenario"
    path: Path | None = None
    """The file it came from: modules named by file are beside it."""
    text: str = ""

    def task(self, name: str) -> Task:
        """One task by its name; KeyError names those that there are."""
        for task in self.tasks:
            if task.name == name:
                return task
        known = tuple(task.name for task in self.tasks)
        raise KeyError(f"no task is named '{name}'{choices(name, known, 'tasks')}")

    def plan(self, early: bool = True) -> Plan:
        """Who waits for whom in a step in which all tasks run."""
        return make_plan(self.tasks, early)

    def with_settings(self, **changes: Any) -> Scenario:
        """The same with other settings; those that are None stay."""
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(self, settings=replace(self.settings, **given))


def make_scenario(
    database: Any,
    tasks: Any,
    settings: Mapping[str, Any] | None = None,
    *,
    name: str = "scenario",
    path: Path | None = None,
    text: str = "",
    found: list[Problem] | None = None,
) -> Scenario:
    """Check a DataBase, Tasks and settings; ScenarioError lists all that is wrong."""
    problems = list(found or [])
    chosen, wrong = read_settings(settings or {})
    problems += wrong
    spec, wrong = read_database(database)
    problems += wrong
    checked, wrong = read_tasks(tasks, spec, chosen.base_port)
    problems += wrong
    if problems:
        raise ScenarioError(problems, str(path or name))
    return Scenario(spec, checked, chosen, name, path, text)


def read_settings(given: Mapping[str, Any]) -> tuple[Settings, list[Problem]]:
    """The settings that are right, and all that is wrong with the others."""
    values: dict[str, Any] = {}
    problems = []
    for name, value in given.items():
        row = SETTINGS.get(name)
        if row is None:
            problems.append(
                Problem("settings", f"unknown setting '{name}'{choices(name, SETTINGS, 'settings')}")
            )
        elif not row.fits(value):
            problems.append(Problem(f"setting '{name}'", f"is {value!r}; wanted {row.wanted}"))
        else:
            values[row.attribute] = value
    return Settings(**values), problems


def warnings(scenario: Scenario) -> list[str]:
    """What is not wrong but perhaps not meant."""
    notes = []
    t, dt, tmax = (scenario.database.fields[name].initial for name in ("t", "dt", "tmax"))
    if not divides(t, dt, tmax):
        notes.append(
            f"tmax = {tmax} is no whole number of steps of dt = {dt} away from t = {t}: "
            f"the last step passes it"
        )
    touched = {name for task in scenario.tasks for name in (*task.reads, *task.writes)}
    idle = [
        name
        for name in scenario.database.fields
        if name not in touched and name not in ("t", "dt", "tmax", "cmd")
    ]
    if idle:
        notes.append(f"no task reads or writes {', '.join(repr(name) for name in idle)}")
    return notes


_ROWS = {row.attribute for row in SETTINGS.values()}
if {member.name for member in fields(Settings)} != _ROWS:
    raise TypeError("SETTINGS and Settings do not name the same things")
