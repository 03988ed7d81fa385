"""What it costs to record: the ring of five with and without a file, from start to the closed file.

A run is made short and long, and the difference counts, so starting and ending cancel; the long one
is long against what the recorder may hold back.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ring
from findings import Finding

from simsched.running import Options, execute

N = 5
SHORT = 64
MOST_PERCENT = 10.0


@dataclass(frozen=True)
class Way:
    """One way to run the ring."""

    name: str
    steps: int
    options: dict[str, Any] = field(default_factory=dict)


WAYS = (
    Way("UDP, one core", 10_000, {"placement": "one"}),
    Way("one process", 40_000, {"in_process": True}),
)
KINDS: dict[str, tuple[str, ...] | None] = {
    "every field and every answer": None,
    "every field": tuple(ring.FIELDS.split(",")),
}
"""What is recorded. On this ring each module's answer is overwritten by the next and recorded as well."""


def elapsed_s(steps: int, **options: Any) -> float:
    """Seconds of a whole run, until its file is closed."""
    started = time.perf_counter()
    execute(ring.scenario(N, steps), Options(keep=False, **options))
    return time.perf_counter() - started


def steps_s(steps: int, **options: Any) -> float:
    """Seconds of so many steps."""
    short_s = elapsed_s(SHORT, **options)
    return elapsed_s(SHORT + steps, **options) - short_s


def measure(rounds: int, quick: bool, tell: Callable[[str], None]) -> list[Finding]:
    """The cost of recording for each way and kind [%]."""
    cost: dict[tuple[str, str], list[float]] = {(way.name, kind): [] for way in WAYS for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ring.arrows"
        for number in range(rounds):
            for way in WAYS:
                tell(f"recording, round {number + 1} of {rounds}: {way.name}")
                steps = way.steps // 4 if quick else way.steps
                without_s = steps_s(steps, **way.options)
                for kind, fields in KINDS.items():
                    with_s = steps_s(steps, record=file, record_fields=fields, **way.options)
                    cost[way.name, kind].append((with_s / without_s - 1) * 100)
    return [
        Finding(f"recording {kind}, {way}, N = {N}", percents, "at most", MOST_PERCENT, "%")
        for (way, kind), percents in cost.items()
    ]
