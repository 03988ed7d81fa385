"""Whether a long run stays as small as a short one: one tiny module in the master's own process.

    python benchmarks/memory.py STEPS

prints the memory of the process [MiB] after a tenth of the steps and after all, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from findings import Finding

from simsched import Module
from simsched.running import Options, execute
from simsched.scenario import Scenario, make_scenario

DT = 0.25  # [s]
LIMIT_S = 120
MOST_GROWTH = 1.02


def resident_mib() -> float:
    """What this process holds in memory just now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Counter(Module):
    """Counts, and weighs the process where it is told to."""

    steps = 1
    x: float

    def Initialize(self) -> None:
        self.weighed: list[float] = []
        self.next = self.steps // 10

    def Run(self) -> None:
        self.x = self.x + 1.0
        if self.x >= self.next:
            self.weighed.append(resident_mib())
            self.next = self.steps

    def Finalize(self) -> None:
        print(json.dumps(self.weighed), flush=True)


def scenario(steps: int) -> Scenario:
    """One task for so many steps."""
    database = type("DataBase", (), {"t": 0.0, "dt": DT, "tmax": steps * DT, "cmd": 0, "x": 0.0})
    tasks = {
        "Counter": {
            "In": "t,x",
            "Out": "x",
            "Module": f"{Path(__file__).name}:Counter",
            "Params": {"steps": steps},
        }
    }
    return make_scenario(database, tasks, name="memory", path=Path(__file__).resolve())


def weigh(steps: int) -> tuple[float, float]:
    """MiB after a tenth of the steps and after all, in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), str(steps)]
    told = subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S, text=True).stdout
    tenth, whole = json.loads(told.splitlines()[-1])
    return float(tenth), float(whole)


def measure(rounds: int, quick: bool, tell: Callable[[str], None]) -> list[Finding]:
    """The growth of a recorded run; memory is the same every time, so one round says it all."""
    steps = 100_000 if quick else 1_000_000
    tell(f"memory over {steps:,} steps")
    tenth, whole = weigh(steps)
    return [
        Finding(f"memory after {steps // 10:,} steps, recording to a file", [tenth], unit="MiB"),
        Finding(f"memory after {steps:,} steps, over that", [whole / tenth], "at most", MOST_GROWTH),
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        execute(scenario(int(sys.argv[1])), Options(in_process=True, record=Path(folder) / "memory.arrows"))
