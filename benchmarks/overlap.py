"""Four independent tasks of 5 ms each: what early dispatch makes of two cores.

The work is a fixed number of turns, counted out at the start, so that a result can be compared to the
last bit and a core that is slower beside a busy neighbour shows. Beside the ratio stands what two
bare processes gain over one on the same work: no dispatcher can do better.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from children import Children
from findings import Finding

import simsched
from simsched import Module
from simsched.scenario import Scenario, make_scenario

TASKS = 4
WORK_S = 0.005
DT = 0.25  # [s]
SHORT = 3
LEAST_GAIN = 1.8


def work(x: float, turns: int) -> float:
    """A chaotic map: each turn needs the one before it, and the last bit of all of them."""
    for _ in range(turns):
        x = 3.9 * x * (1.0 - x)
    return x


def turns_for(seconds: float) -> int:
    """How many turns take so long here; the best of some, as others only take time away."""
    probe = 20_000
    best = min(_cpu_s(lambda: work(0.3, probe)) for _ in range(20))
    return round(seconds / best * probe)


def _cpu_s(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


class Worker(Module):
    """Reads and writes a field of its own."""

    turns = 1
    field = ""

    def Run(self) -> None:
        setattr(self, self.field, work(getattr(self, self.field), self.turns))


def scenario(turns: int, steps: int) -> Scenario:
    """Four of them, none of which needs another."""
    fields: dict[str, Any] = {f"x{place}": 0.2 + place / 10 for place in range(TASKS)}
    database = type("DataBase", (), {"t": 0.0, "dt": DT, "tmax": steps * DT, "cmd": 0, **fields})
    tasks = {
        f"W{place}": {
            "In": f"t,x{place}",
            "Out": f"x{place}",
            "Module": f"{Path(__file__).name}:Worker",
            "Params": {"turns": turns, "field": f"x{place}"},
        }
        for place in range(TASKS)
    }
    return make_scenario(database, tasks, name="overlap", path=Path(__file__).resolve())


def step_s(turns: int, steps: int, early: bool) -> tuple[float, simsched.Results]:
    """Seconds of a steady step, and the results."""
    results = [simsched.run(scenario(turns, SHORT + more), early=early) for more in (0, steps)]
    short_s, long_s = (_wall_s(result) for result in results)
    return (long_s - short_s) / steps, results[-1]


def _wall_s(results: simsched.Results) -> float:
    if results.report is None:
        raise ValueError("a run without a report")
    return float(results.report.wall_s)


def _bare_s(turns: int, steps: int, processes: int) -> float:
    """Seconds until so many bare processes have done the work of all steps together."""
    with Children() as children:
        started = time.perf_counter()
        pids = [children.fork("free", _work_off, turns, steps * TASKS // processes) for _ in range(processes)]
        for pid in pids:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return time.perf_counter() - started


def _work_off(turns: int, times: int) -> None:
    for _ in range(times):
        work(0.3, turns)


def measure(rounds: int, quick: bool, tell: Callable[[str], None]) -> list[Finding]:
    """ValueError if early dispatch changes a single bit."""
    steps = 10 if quick else 40
    turns = turns_for(WORK_S)
    gains: list[float] = []
    possible: list[float] = []
    overheads: list[float] = []
    for number in range(rounds):
        tell(f"overlap, round {number + 1} of {rounds}")
        sequential_s, expected = step_s(turns, steps, early=False)
        early_s, found = step_s(turns, steps, early=True)
        differing = found.same_as(expected)
        if differing:
            raise ValueError(
                f"early dispatch changes {', '.join(differing)}; wanted the same to the last bit"
            )
        one_s, two_s = (_bare_s(turns, steps, processes) for processes in (1, 2))
        gains.append(sequential_s / early_s)
        possible.append(one_s / two_s)
        overheads.append(sequential_s / (one_s / steps))
    return [
        Finding("overlap, 4 × 5 ms: early faster than one after the other", gains, "at least", LEAST_GAIN),
        Finding("the same work by two bare processes, faster than by one", possible),
        Finding("one after the other, over one bare process", overheads),
    ]
