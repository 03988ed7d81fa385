"""How long one exchange takes: the dispatcher's rivals and yardsticks, side by side in one run.

    python benchmarks/exchange.py [--quick] [--only bare,helics] [--json FILE] [--write]

`--write` puts the tables between the markers `<!-- exchange:begin -->` … `<!-- exchange:end -->` and
`<!-- startup:begin -->` … `<!-- startup:end -->` of docs/performance.md. A further contender is a file
with a function `contenders` and a line in GROUPS here; for the start-up, a line in startup.STARTERS.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import bare
import frame
import hand
import helics_ring
import mosaik_ring
import startup
from cores import Pin
from rich.console import Console

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
ROUND_LIMIT_S = 60
"""For one round of one contender."""

PINS: tuple[Pin, ...] = ("one", "two", "free")

Group = Callable[[bool], list[frame.Contender]]
"""All contenders of one kind; told whether the user is in a hurry."""


def _sizes(quick: bool) -> tuple[int, ...]:
    return (1, 5) if quick else (1, 5, 10, 20, 50)


def _rival_pins(quick: bool) -> tuple[Pin, ...]:
    return ("free",) if quick else ("one", "free")


def _rival_sizes(quick: bool) -> tuple[int, ...]:
    return (5,) if quick else (5, 10)


GROUPS: dict[str, Group] = {
    "bare": lambda quick: bare.contenders(_sizes(quick), PINS),
    "hand": lambda quick: hand.contenders(_rival_sizes(quick)),
    "helics": lambda quick: helics_ring.contenders(_rival_sizes(quick), _rival_pins(quick)),
    "mosaik": lambda quick: mosaik_ring.contenders(_rival_sizes(quick), _rival_pins(quick)),
}


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="time per exchange, side by side")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds, for a first look")
    parser.add_argument("--rounds", type=int, help="how often each contender has its turn")
    parser.add_argument("--only", default=",".join((*GROUPS, "startup")), help="some groups, by comma")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also every single round, as JSON")
    parser.add_argument("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help="into the docs")
    parser.add_argument("--limit", type=float, help="minutes after which no further turn begins")
    chosen = parser.parse_args(given)
    chosen.only = chosen.only.split(",")
    unknown = set(chosen.only) - set(GROUPS) - {"startup"}
    if unknown:
        parser.error(f"--only: no group {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}, startup")
    chosen.rounds = chosen.rounds or (3 if chosen.quick else 5)
    chosen.limit = chosen.limit or (2.0 if chosen.quick else 15.0)
    return chosen


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def main(given: list[str]) -> int:
    # as an exception, so that the blocks on the way out end their processes
    signal.signal(signal.SIGTERM, _end)
    chosen = arguments(given)
    console, progress = Console(width=120), Console(stderr=True)

    def tell(text: str) -> None:
        progress.print(text, highlight=False)

    groups = [group for name, group in GROUPS.items() if name in chosen.only]
    contenders = [contender for group in groups for contender in group(chosen.quick)]
    plan = frame.Plan(chosen.rounds, 0.3 if chosen.quick else 1.0, ROUND_LIMIT_S, chosen.limit * 60)
    results = frame.take_turns(contenders, plan, tell)
    cells = frame.rows(results, bare.NAME)
    tables = [("exchange", f"One exchange; yardstick: {bare.NAME}", frame.HEADINGS, cells)]
    failed = any(result.failure for result in results)
    if "startup" in chosen.only:
        starts = startup.measure(startup.STARTERS, min(chosen.rounds, 3), tell)
        tables.append(("startup", "Start-up", startup.HEADINGS, startup.rows(starts)))
        failed = failed or any(isinstance(taken, str) for taken in starts.values())
    for marker, title, headings, lines in tables:
        console.print(frame.table(title, headings, lines))
        if chosen.write and not failed:
            frame.write_between_markers(chosen.write, marker, frame.markdown(headings, lines))
    if chosen.json:
        frame.dump(results, chosen.json)
    if failed:
        tell("a contender failed: no page written" if chosen.write else "a contender failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted: all processes ended, nothing written", file=sys.stderr)
        sys.exit(130)
