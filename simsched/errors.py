"""Every error that simsched raises, one class per cause, all under `SimschedError`.

Two families, as in h11: what the user of this side did wrong (`UserError`: exit code 2) and what
went wrong while running (`RunError`: exit code 1). A message says which task, field or address,
what was found, what was wanted, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


class SimschedError(Exception):
    """Base of all errors of this package."""


class UserError(SimschedError):
    """The input is wrong: nothing was started."""


class RunError(SimschedError):
    """A run could not go on."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a scenario."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class ScenarioError(UserError):
    """All that is wrong with a scenario, at once."""

    def __init__(self, problems: Iterable[Problem], source: str = "scenario") -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = f"{source}: {count} problem{'s' if count != 1 else ''}"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems)]))
        self._made_of = (self.problems, source)

    def __reduce__(self) -> tuple[Any, ...]:
        # an exception is pickled by its message, which is not what these classes are made of
        return type(self), self._made_of


class ParameterError(UserError):
    """`Params` of a task do not fit the class that they are for."""


class RecordingError(UserError):
    """A recording cannot be read, or does not hold what was asked for."""


class UnknownField(RecordingError, KeyError):
    """A recording has no field of that name."""

    def __str__(self) -> str:
        # KeyError would show the repr of the message
        return str(self.args[0])


class MissingExtra(UserError):
    """A part of the package that was left out at installation is needed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package '{package}', which is not installed: pip install 'simsched[{extra}]'"
        )
        self._made_of = (what, package, extra)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of


class LaunchError(UserError):
    """A module cannot be loaded or started."""


class AddressError(UserError):
    """An address cannot be bound or reached."""


class BadKey(UserError):
    """A key is of no use for signing."""


class ResultError(RunError):
    """A module left a value that does not fit its field."""


class ModuleError(RunError):
    """A module reported an exception."""


class TaskTimeout(RunError):
    """A module did not answer in time."""


class TaskDied(RunError):
    """The process of a module ended, or nobody listens at its address any more."""


class NotJoined(RunError):
    """A module never came."""


class LayoutMismatch(RunError):
    """The two ends of a task disagree on what its datagrams hold."""


class SessionBusy(RunError):
    """A module is in a run of another master."""


class Overrun(RunError):
    """A real-time step ended after its deadline, and the policy is to stop."""


class RecorderFailed(RunError):
    """The recording cannot be continued; what was flushed before stays readable."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: `; did you mean 'r_eci'?`, or nothing.

    >>> nearest("r_ecl", ["r_eci", "v_eci"])
    "; did you mean 'r_eci'?"
    """
    folded = {candidate.lower(): candidate for candidate in known}
    match = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return f"; did you mean '{folded[match[0]]}'?" if match else ""


def choices(name: str, known: Iterable[str], heading: str) -> str:
    """What ends the message about an unknown name: the nearest one, if any is near, then all.

    >>> choices("r_ecl", ["r_eci", "v_eci"], "fields")
    "; did you mean 'r_eci'? fields: r_eci, v_eci"
    >>> choices("torque", ["r_eci", "v_eci"], "fields")
    '; fields: r_eci, v_eci'
    """
    names = list(known)
    hint = nearest(name, names)
    return f"{hint}{'' if hint else ';'} {heading}: {', '.join(names) or 'none'}"


def shortened(value: object, most: int = 60) -> str:
    """A value as it is written in Python, on one line that fits a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."
