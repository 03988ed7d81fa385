"""What was wanted and what was found: one line for each bound, from all groups."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Literal

from frame import Result, Row

HEADINGS: Row = ("what", "wanted", "median", "spread", "met")
Sense = Literal["at most", "at least", ""]


@dataclass(frozen=True)
class Finding:
    """One number of the page, round by round, and what is wanted of it; without a sense it is only told."""

    what: str
    rounds: list[float] = field(default_factory=list)
    sense: Sense = ""
    bound: float = 0.0
    unit: str = "×"

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def met(self) -> bool | None:
        """None where nothing is wanted."""
        if not self.sense:
            return None
        return self.median <= self.bound if self.sense == "at most" else self.median >= self.bound

    def row(self) -> Row:
        """Cells for HEADINGS."""
        wanted = f"{self.sense} {self.bound:g} {self.unit}" if self.sense else ""
        spread = f"{min(self.rounds):.2f}–{max(self.rounds):.2f}"
        met = {True: "yes", False: "no", None: ""}[self.met]
        return (self.what, wanted, f"{self.median:.2f} {self.unit}", spread, met)


Key = tuple[str, str, int]
"""Name, pin and N of a contender."""


def by_key(results: list[Result]) -> dict[Key, Result]:
    """Those that did not fail."""
    return {
        (result.contender.name, result.contender.pin, result.contender.n): result
        for result in results
        if result.rounds_s and not result.failure
    }


def ratio(
    what: str, over: Result | None, under: Result | None, sense: Sense = "", bound: float = 0.0
) -> list[Finding]:
    """One's time over the other's, within each round; nothing if one of them was not measured."""
    if over is None or under is None:
        return []
    return [Finding(what, over.ratios(under), sense, bound)]


def worst(found: list[Finding]) -> list[Finding]:
    """Of findings that shall all be small, the largest."""
    return [max(found, key=lambda one: one.median)] if found else []
