"""Where a microsecond goes: the parts of an exchange, each measured alone.

    python benchmarks/where.py [--quick]

The first table holds what one process does by itself, the second holds wake-ups between two
processes, there and back, with both on one core, on two, and where the kernel puts them. Each round
goes through all rows, so that a disturbance falls on one round of many rows rather than on one row.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

from cores import Pin
from parts import Part, pollers, sockets, statements
from rich.console import Console
from rich.table import Table
from wakeups import CHANNELS, trip_s

PINS: tuple[Pin, ...] = ("one", "two", "free")


def rounds_of(parts: list[Part], rounds: int) -> dict[str, list[float]]:
    """Seconds of each part in each round."""
    taken: dict[str, list[float]] = {name: [] for name, _ in parts}
    for _ in range(rounds):
        for name, once in parts:
            taken[name].append(once())
    return taken


def alone(rounds: int) -> Table:
    table = Table("in one process", "median [µs]", "least [µs]", title="Parts of an exchange")
    for name, taken in rounds_of(statements() + sockets() + pollers(), rounds).items():
        table.add_row(name, f"{statistics.median(taken) * 1e6:.3f}", f"{min(taken) * 1e6:.3f}")
    return table


def wakeups(rounds: int) -> Table:
    columns = [f"{pin}: median, least [µs]" for pin in PINS]
    table = Table("two processes, there and back", *columns, title="Wake-ups")
    parts = [(f"{pin} {name}", _trip(name, pin)) for name in CHANNELS for pin in PINS]
    taken = rounds_of(parts, rounds)
    for name in CHANNELS:
        cells = [taken[f"{pin} {name}"] for pin in PINS]
        table.add_row(name, *(f"{statistics.median(t) * 1e6:7.1f} {min(t) * 1e6:7.1f}" for t in cells))
    return table


def _trip(name: str, pin: Pin) -> Callable[[], float]:
    return lambda: trip_s(CHANNELS[name], pin)


def main() -> None:
    parser = argparse.ArgumentParser(description="where a microsecond goes")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    console = Console(width=110)
    console.print(alone(5 if quick else 25))
    console.print(wakeups(1 if quick else 5))


if __name__ == "__main__":
    main()
