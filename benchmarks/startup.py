"""From nothing to the first step with ten modules.

Beside the rivals stands what no Python dispatcher can beat without tricks: ten interpreters that
import numpy at the same time.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import helics_ring
import mosaik_ring
import startup_simsched
from children import Children
from findings import Finding
from frame import FAILURES, Row, time_limit

MODULES = 10
LIMIT_S = 60
HEADINGS: Row = ("start-up of ten", "s to the first step", "spread")


@dataclass(frozen=True)
class Starter:
    """Somebody who starts ten modules; a call gives the seconds until all did their first step."""

    name: str
    seconds: Callable[[], float]


def ten_imports() -> float:
    """Ten interpreters side by side, each importing numpy, until the last has ended."""
    started = time.monotonic()
    with Children() as children:
        for _ in range(MODULES):
            children.start([sys.executable, "-c", "import numpy"])
        children.wait()
        return time.monotonic() - started


COMMAND = "simsched run"
MOST_S = 0.8

STARTERS = (
    Starter(COMMAND, startup_simsched.command_recording),
    Starter("simsched run --no-record", startup_simsched.command),
    Starter("a script with simsched.run()", startup_simsched.script),
    Starter("simsched.run(), imported before", startup_simsched.call),
    Starter('ten times python -c "import numpy"', ten_imports),
    Starter("HELICS", lambda: helics_ring.run(MODULES, 1, "free", "vector")["first_s"]),
    Starter("mosaik", lambda: mosaik_ring.run(MODULES, 1, "free", "vector")["first_s"]),
)


def measure(
    starters: tuple[Starter, ...], rounds: int, tell: Callable[[str], None]
) -> dict[str, list[float] | str]:
    """Seconds of each round by name, or why it failed; the starters take turns."""
    taken: dict[str, list[float] | str] = {starter.name: [] for starter in starters}
    for number in range(rounds):
        for starter in starters:
            so_far = taken[starter.name]
            if isinstance(so_far, list):
                tell(f"start-up, round {number + 1} of {rounds}: {starter.name}")
                try:
                    with time_limit(LIMIT_S, f"start-up of {starter.name}"):
                        so_far.append(starter.seconds())
                except FAILURES as failure:
                    taken[starter.name] = f"{type(failure).__name__}: {failure}"
    return taken


def findings(taken: dict[str, list[float] | str]) -> list[Finding]:
    """What is wanted of the start-up."""
    seconds = taken.get(COMMAND)
    if not isinstance(seconds, list) or not seconds:
        return []
    return [Finding(f"{COMMAND}: to the first step of {MODULES} modules", seconds, "at most", MOST_S, "s")]


def rows(taken: dict[str, list[float] | str]) -> list[Row]:
    return [_row(name, seconds) for name, seconds in taken.items()]


def _row(name: str, seconds: list[float] | str) -> Row:
    if isinstance(seconds, str):
        return (name, "failed", seconds)
    return (name, f"{statistics.median(seconds):.2f}", f"{min(seconds):.2f}–{max(seconds):.2f}")
