"""How quick simsched is: beside bare sockets, a loop by hand, HELICS and mosaik, in one run.

    python benchmarks/exchange.py [--quick] [--only bare,udp] [--rounds 5] [--json FILE] [--write]

`--write` puts the tables between the markers `<!-- name:begin -->` … `<!-- name:end -->` of
docs/performance.md. A further contender is a file with a function `contenders` and a line in GROUPS
here; for the start-up, a line in startup.STARTERS; for anything else, a line in STUDIES.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import bare
import bounds
import dispatcher
import findings
import frame
import hand
import helics_ring
import memory
import mosaik_ring
import overlap
import recording
import startup
from cores import Pin
from rich.console import Console

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
ROUND_LIMIT_S = 60
"""For one round of one contender."""
STUDY_LIMIT_S = 180
YARDSTICKS = (bare.NAME, bare.NAME_WITH_BODY, dispatcher.NAME)

PINS: tuple[Pin, ...] = ("one", "free")

Tell = Callable[[str], None]
Group = Callable[[bool], list[frame.Contender]]
"""All contenders of one kind; told whether the user is in a hurry."""
Study = Callable[[int, bool, Tell], list[findings.Finding]]
"""Findings of another kind than time per exchange."""


def _sizes(quick: bool) -> tuple[int, ...]:
    return (1, 5, 50) if quick else (1, 5, 10, 20, 50)


def _rival_pins(quick: bool) -> tuple[Pin, ...]:
    return ("free",) if quick else PINS


def _rival_sizes(quick: bool) -> tuple[int, ...]:
    return (5,) if quick else (5, 10)


GROUPS: dict[str, Group] = {
    "bare": lambda quick: bare.contenders(_sizes(quick), PINS),
    "udp": lambda quick: dispatcher.contenders(_sizes(quick), PINS),
    "hand": lambda quick: hand.contenders(_rival_sizes(quick)),
    "inprocess": lambda quick: dispatcher.in_process(_rival_sizes(quick)),
    "helics": lambda quick: helics_ring.contenders(_rival_sizes(quick), _rival_pins(quick)),
    "mosaik": lambda quick: mosaik_ring.contenders(_rival_sizes(quick), _rival_pins(quick)),
}
STUDIES: dict[str, Study] = {
    "overlap": overlap.measure,
    "recording": recording.measure,
    "memory": memory.measure,
}
NAMES = (*GROUPS, *STUDIES, "startup")


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="how quick simsched is, beside others")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds, for a first look")
    parser.add_argument("--rounds", type=int, help="how often each contender has its turn")
    parser.add_argument("--only", default=",".join(NAMES), help=f"some groups, by comma: {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also every single round, as JSON")
    parser.add_argument("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help="into the docs")
    parser.add_argument("--limit", type=float, help="minutes in all, after which no further turn begins")
    chosen = parser.parse_args(given)
    chosen.only = chosen.only.split(",")
    unknown = set(chosen.only) - set(NAMES)
    if unknown:
        parser.error(f"--only: no group {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if chosen.write and set(chosen.only) != set(NAMES):
        parser.error("--write and --only: the page holds numbers of one run; leave one of the two out")
    chosen.rounds = chosen.rounds or (2 if chosen.quick else 5)
    chosen.limit = chosen.limit or (1.3 if chosen.quick else 7.5)
    return chosen


def machine() -> str:
    """What the numbers were measured on, as far as it matters to a reader."""
    cores = len(os.sched_getaffinity(0))
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"Measured on {cores} cores ({platform.machine()}), Linux {platform.release()}, {python}."


def _compare(chosen: argparse.Namespace, tell: Tell, deadline_s: float) -> list[frame.Result]:
    groups = [group for name, group in GROUPS.items() if name in chosen.only]
    contenders = [contender for group in groups for contender in group(chosen.quick)]
    # those that are compared with each other right after each other
    contenders.sort(key=lambda one: (one.n, one.pin))
    left_s = deadline_s - time.monotonic()
    plan = frame.Plan(chosen.rounds, 0.3 if chosen.quick else 1.0, ROUND_LIMIT_S, left_s)
    return frame.take_turns(contenders, plan, tell)


def _rounds_beside(chosen: argparse.Namespace) -> int:
    """For what is not an exchange: in a hurry, once must do."""
    return 1 if chosen.quick else int(chosen.rounds)


def _study(chosen: argparse.Namespace, tell: Tell) -> tuple[list[findings.Finding], list[str]]:
    """The findings of the studies, and which of them failed and why."""
    found: list[findings.Finding] = []
    failures: list[str] = []
    for name, measure in STUDIES.items():
        if name in chosen.only:
            try:
                with frame.time_limit(STUDY_LIMIT_S, name):
                    found += measure(_rounds_beside(chosen), chosen.quick, tell)
            except frame.FAILURES as failure:
                failures.append(f"{name}: {type(failure).__name__}: {failure}")
    return found, failures


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def main(given: list[str]) -> int:
    # as an exception, so that the blocks on the way out end their processes
    signal.signal(signal.SIGTERM, _end)
    chosen = arguments(given)
    console, progress = Console(width=140), Console(stderr=True)

    def tell(text: str) -> None:
        progress.print(text, highlight=False)

    deadline_s = time.monotonic() + chosen.limit * 60
    starters = startup.STARTERS if "startup" in chosen.only else ()
    starts = startup.measure(starters, _rounds_beside(chosen), tell)
    studied, failures = _study(chosen, tell)
    results = _compare(chosen, tell, deadline_s)
    failures += [f"{result.contender.name}: {result.failure}" for result in results if result.failure]
    failures += [f"{name}: {taken}" for name, taken in starts.items() if isinstance(taken, str)]
    found = [*bounds.exchange_findings(results), *startup.findings(starts), *studied]
    tables = [
        ("bounds", "Bounds", findings.HEADINGS, [finding.row() for finding in found]),
        ("exchange", "One exchange", frame.headings(YARDSTICKS), frame.rows(results, YARDSTICKS)),
        ("startup", "Start-up", startup.HEADINGS, startup.rows(starts)),
    ]
    for _, title, headings, lines in tables:
        if lines:
            console.print(frame.table(title, headings, lines))
    console.print(machine(), highlight=False)
    if chosen.json:
        frame.dump(results, chosen.json)
    for failure in failures:
        tell(f"failed: {failure}")
    if chosen.write and failures:
        tell("not everything could be measured: no page written")
    elif chosen.write:
        frame.write_between_markers(chosen.write, "machine", machine())
        for marker, _, headings, lines in tables:
            frame.write_between_markers(chosen.write, marker, frame.markdown(headings, lines))
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted: all processes ended, nothing written", file=sys.stderr)
        sys.exit(130)
