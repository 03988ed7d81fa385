"""The frame of all comparisons: contenders take turns, and their ratios come from the same rounds.

A machine is never quiet for long, so a contender is not measured once and compared with numbers of
another day: every round lets each of them run briefly, the ratio to the yardstick is taken within the
round, and medians over the rounds are shown with their spread.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from cores import Pin
from rich.table import Table

from simsched.errors import SimschedError


class TimeLimitError(Exception):
    """A contender took longer than it may."""


FAILURES = (TimeLimitError, ValueError, OSError, subprocess.SubprocessError, SimschedError)
"""What may go wrong with a contender without ending the comparison."""


@dataclass(frozen=True)
class Contender:
    """Somebody who exchanges the payload with n modules; a call gives the seconds of one exchange."""

    name: str
    pin: Pin
    n: int
    exchanges: int
    """How many make a fair round: some tenths of a second."""
    seconds_per_exchange: Callable[[int], float]
    most_rounds: int = 1000
    """Those far away from the others need fewer rounds to be told from them."""


@dataclass
class Result:
    """What a contender did in each round, or why it failed."""

    contender: Contender
    rounds_s: list[float] = field(default_factory=list)
    failure: str = ""

    @property
    def median_s(self) -> float:
        return statistics.median(self.rounds_s)

    def ratios(self, yardstick: Result) -> list[float]:
        """Round by round, this one's time over the yardstick's."""
        return [own / other for own, other in zip(self.rounds_s, yardstick.rounds_s, strict=False)]


@contextmanager
def time_limit(seconds: int, what: str) -> Iterator[None]:
    """TimeLimitError in the block once the time is over, also out of a blocking call."""

    def expire(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitError(f"{what} took more than {seconds} s: ended")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Plan:
    """How long a comparison may take."""

    rounds: int
    share: float
    """Scales the length of a round."""
    round_limit_s: int
    overall_limit_s: float


def take_turns(contenders: list[Contender], plan: Plan, tell: Callable[[str], None]) -> list[Result]:
    """All contenders, round by round. One that fails is out; nobody starts after the overall limit."""
    results = [Result(contender) for contender in contenders]
    deadline = time.monotonic() + plan.overall_limit_s
    for number in range(plan.rounds):
        for result in results:
            if result.failure or number >= result.contender.most_rounds:
                continue
            if time.monotonic() < deadline:
                tell(f"round {number + 1} of {plan.rounds}: {_title(result.contender)}")
                _one_round(result, plan)
            elif not result.rounds_s:
                result.failure = f"{plan.overall_limit_s:.0f} s were over before its first turn"
    return results


def _one_round(result: Result, plan: Plan) -> None:
    contender = result.contender
    exchanges = max(contender.n, int(contender.exchanges * plan.share))
    try:
        with time_limit(plan.round_limit_s, _title(contender)):
            result.rounds_s.append(contender.seconds_per_exchange(exchanges))
    except FAILURES as failure:
        result.failure = f"{type(failure).__name__}: {failure}"


def _title(contender: Contender) -> str:
    return f"{contender.name}, N = {contender.n}, {contender.pin}"


Row = tuple[str, ...]
HEADINGS: Row = ("contender", "N", "cores", "µs per exchange", "spread", "exchanges/s")


def headings(yardsticks: tuple[str, ...]) -> Row:
    """Those of `rows`."""
    return (*HEADINGS, *(f"× {name}" for name in yardsticks))


def rows(results: list[Result], yardsticks: tuple[str, ...]) -> list[Row]:
    """The table's cells; ratios are to the yardsticks with the same N and the same cores."""
    measured = {(r.contender.name, r.contender.pin, r.contender.n): r for r in results if not r.failure}
    return [
        _row(result, [measured.get((name, result.contender.pin, result.contender.n)) for name in yardsticks])
        for result in sorted(results, key=lambda r: (r.contender.n, r.contender.pin))
    ]


def _row(result: Result, yardsticks: list[Result | None]) -> Row:
    contender = result.contender
    head = (contender.name, str(contender.n), contender.pin)
    if result.failure:
        return (*head, "failed", result.failure, "", *("" for _ in yardsticks))
    spread = f"{min(result.rounds_s) * 1e6:.1f}–{max(result.rounds_s) * 1e6:.1f}"
    ratios = [
        "" if yardstick is None else f"{statistics.median(result.ratios(yardstick)):.2f}"
        for yardstick in yardsticks
    ]
    return (*head, f"{result.median_s * 1e6:.1f}", spread, f"{1 / result.median_s:,.0f}", *ratios)


def table(title: str, headings: Row, cells: list[Row]) -> Table:
    """For the terminal: the first column as text, the others to the right."""
    made = Table(title=title)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number else "left")
    for row in cells:
        made.add_row(*row)
    return made


def markdown(headings: Row, cells: list[Row]) -> str:
    """The same for the documentation."""
    lines = [headings, ("---",) + ("---:",) * (len(headings) - 1), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_between_markers(path: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name:begin -->` and `<!-- name:end -->`; ValueError without them."""
    page = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"{path}: wanted the lines '{begin}' and '{end}' once each, to write between them")
    head, rest = page.split(begin)
    _, tail = rest.split(end)
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def dump(results: list[Result], path: Path) -> None:
    """Every round of every contender as JSON."""
    plain = [
        {
            "name": result.contender.name,
            "pin": result.contender.pin,
            "n": result.contender.n,
            "seconds_per_exchange": result.rounds_s,
            "failure": result.failure,
        }
        for result in results
    ]
    path.write_text(json.dumps(plain, indent=1), encoding="utf-8")
