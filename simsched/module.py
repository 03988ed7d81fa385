"""The class that models inherit from: four methods to write, fields as plain attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simsched.errors import Problem, ScenarioError, choices
from simsched.manager import Manager
from simsched.params import apply_params
from simsched.scenario import Scenario, make_scenario
from simsched.tasks import Task
from simsched.transport import Transport


class Module:
    """One model: override `Setup`, `Initialize`, `Run` and `Finalize` as needed.

    The fields that the task names in `Keys`, `In` and `Out` are attributes, set before each call;
    what `Run` leaves in them is sent back. Class attributes are parameters: `Params` may set them.
    """

    Manager: Manager
    params: dict[str, Any]

    def __init__(
        self,
        TaskList: Any = None,
        DB: Any = None,
        isSheduler: bool = False,
        isRealTime: bool = False,
        *,
        Name: str | None = None,
        scenario: Scenario | None = None,
        transport: Transport | None = None,
        key: bytes | None = None,
        record: str | Path | None = None,
    ) -> None:
        whole = scenario or make_scenario(DB, TaskList)
        if isRealTime:
            whole = whole.with_settings(real_time=True)
        task = place_in(whole, Name or type(self).__name__, exact=Name is not None)
        self.params = dict(task.params)
        apply_params(self, task, whole.database)
        self.Manager = Manager(
            self, whole, task, is_master=isSheduler, transport=transport, key=key, record=record
        )
        self.Manager.set_up()

    def Setup(self) -> None:
        """Called once, when the module is created; fields set here are its initial conditions."""

    def Initialize(self) -> None:
        """Called at the start of each run."""

    def Run(self) -> None:
        """Called once a step: from the fields at t, compute those after dt."""

    def Finalize(self) -> None:
        """Called at the end of each run, also when another module failed."""

    def Stop(self, reason: str = "") -> None:
        """Ask the master to end the run after this step; the reason is shown and recorded."""
        self.Manager.ask_to_stop(reason)


def place_in(scenario: Scenario, name: str, exact: bool) -> Task:
    """The task that a module is: named as its class, or nearly so and unmistakably.

    A class `Controller` takes the task 'Control', if no other begins like that.
    """
    for task in scenario.tasks:
        if task.name == name:
            return task
    if not exact:
        near = [task for task in scenario.tasks if _is_near(task.name.lower(), name.lower())]
        if len(near) == 1:
            return near[0]
    known = [task.name for task in scenario.tasks]
    raise ScenarioError(
        [
            Problem(
                f"module '{name}'",
                f"is not in Tasks{choices(name, known, 'tasks')}: name the class as its task, "
                f"or pass Name='...'",
            )
        ]
    )


def _is_near(task: str, name: str) -> bool:
    return task.startswith(name) or name.startswith(task)
