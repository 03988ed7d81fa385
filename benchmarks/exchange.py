"""How long one exchange takes: the dispatcher's rivals and yardsticks, side by side in one run.

    python benchmarks/exchange.py [--quick] [--only bare,helics] [--json FILE] [--write]

`--write` puts the tables between the markers `<!-- exchange:begin -->` … `<!-- exchange:end -->` and
`<!-- startup:begin -->` … `<!-- startup:end -->` of docs/performance.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import bare
import frame
import hand
import helics_ring
import mosaik_ring
import startup
from cores import Pin
from rich.console import Console

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
LIMIT_S = 60
"""For one round of one contender."""

PINS: tuple[Pin, ...] = ("one", "two", "free")
RIVAL_PINS: tuple[Pin, ...] = ("one", "free")

Group = Callable[[bool], list[frame.Contender]]
"""All contenders of one kind; told whether the user is in a hurry."""


def _sizes(quick: bool) -> tuple[int, ...]:
    return (1, 5) if quick else (1, 5, 10, 20, 50)


def _rival_sizes(quick: bool) -> tuple[int, ...]:
    return (5,) if quick else (5, 10)


GROUPS: dict[str, Group] = {
    "bare": lambda quick: bare.contenders(_sizes(quick), PINS),
    "hand": lambda quick: hand.contenders(_rival_sizes(quick)),
    "helics": lambda quick: helics_ring.contenders(_rival_sizes(quick), RIVAL_PINS),
    "mosaik": lambda quick: mosaik_ring.contenders(_rival_sizes(quick), RIVAL_PINS),
}


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="time per exchange, side by side")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds, for a first look")
    parser.add_argument("--rounds", type=int, help="how often each contender has its turn")
    parser.add_argument("--only", default=",".join((*GROUPS, "startup")), help="some groups, by comma")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also every single round, as JSON")
    parser.add_argument("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help="into the docs")
    chosen = parser.parse_args(given)
    chosen.only = chosen.only.split(",")
    unknown = set(chosen.only) - set(GROUPS) - {"startup"}
    if unknown:
        parser.error(f"--only: no group {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}, startup")
    chosen.rounds = chosen.rounds or (3 if chosen.quick else 7)
    return chosen


def main(given: list[str]) -> int:
    chosen = arguments(given)
    console, progress = Console(width=120), Console(stderr=True)

    def tell(text: str) -> None:
        progress.print(text, highlight=False)

    groups = [group for name, group in GROUPS.items() if name in chosen.only]
    contenders = [contender for group in groups for contender in group(chosen.quick)]
    results = frame.take_turns(contenders, chosen.rounds, 0.3 if chosen.quick else 1.0, LIMIT_S, tell)
    cells = frame.rows(results, bare.NAME)
    tables = [("exchange", f"One exchange; yardstick: {bare.NAME}", frame.HEADINGS, cells)]
    failed = any(result.failure for result in results)
    if "startup" in chosen.only:
        starts = startup.measure(startup.STARTERS, min(chosen.rounds, 3), tell)
        tables.append(("startup", "Start-up", startup.HEADINGS, startup.rows(starts)))
        failed = failed or any(isinstance(taken, str) for taken in starts.values())
    for marker, title, headings, lines in tables:
        console.print(frame.table(title, headings, lines))
        if chosen.write:
            frame.write_between_markers(chosen.write, marker, frame.markdown(headings, lines))
    if chosen.json:
        frame.dump(results, chosen.json)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
