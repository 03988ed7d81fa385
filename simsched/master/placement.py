"""On which cores the processes of a run are: chosen by what is measured.

A wake-up on another core costs several times one on the same core, so small modules exchange
fastest when all share one core with the master; large ones gain more from running side by side.
`auto` starts free, looks at the compute times that every answer carries, and decides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from simsched.master.seats import Seat
from simsched.plan import Plan

MODES = ("auto", "one", "free")

WAKE_NS = 40_000
"""What an exchange loses when it crosses cores, at the least: benchmarks/where.py tells how much here."""
SMALL_NS = 300_000
"""Above this mean compute time a wake-up no longer matters, and cores are left to the system."""


class Placement:
    """Where the master and the modules that it started run."""

    def __init__(self, mode: str = "auto", pids: Callable[[], Mapping[str, int]] = dict) -> None:
        self.mode = mode
        self._pids = pids
        self._packed = False
        self._seen: dict[str, tuple[int, int]] = {}
        self._allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._next = 15

    @property
    def overlaps(self) -> bool:
        """Whether independent tasks are worth running at the same time."""
        return not self._packed

    @property
    def described(self) -> str:
        return "one core" if self._packed else "free"

    def consider(self, step: int, seats: Sequence[Seat], plan: Plan) -> None:
        """Decide anew, now and then; the numbers of the run do not depend on it."""
        if step < self._next or self.mode == "free" or len(self._allowed) < 2:
            return
        self._next = min(self._next * 16 + 15, self._next + 4096)
        pids = self._pids()
        local = [seat for seat in seats if seat.task.name in pids]
        if not local:
            return
        packs = self.mode == "one" or is_better_packed(self._computes(plan, seats), plan)
        if packs != self._packed:
            self._move(
                packs, {seat.task.name: pids[seat.task.name] for seat in local if not seat.task.no_answer}
            )

    def _computes(self, plan: Plan, seats: Sequence[Seat]) -> list[float]:
        """The mean compute time of each task of the plan since the last look [ns]."""
        by_name = {seat.task.name: seat for seat in seats}
        means = []
        for task in plan.tasks:
            total, count = by_name[task.name].timings.compute_total()
            before = self._seen.get(task.name, (0, 0))
            self._seen[task.name] = total, count
            means.append((total - before[0]) / max(count - before[1], 1))
        return means

    def _move(self, packs: bool, pids: Mapping[str, int]) -> None:
        cores = {self._core()} if packs else self._allowed
        for pid in (0, *pids.values()):
            try:
                os.sched_setaffinity(pid, cores)
            except (ProcessLookupError, PermissionError):
                continue  # it has just ended, or is another user's: the run itself will notice
        self._packed = packs

    def _core(self) -> int:
        """The core that the master is on just now."""
        status = Path("/proc/self/stat")
        if status.exists():
            core = int(status.read_text().rpartition(")")[2].split()[36])
            if core in self._allowed:
                return core
        return min(self._allowed)

    def restore(self) -> None:
        """Give the master its cores back."""
        if self._packed:
            os.sched_setaffinity(0, self._allowed)


def is_better_packed(computes_ns: Sequence[float], plan: Plan) -> bool:
    """Whether all on one core are quicker than side by side, given each task's compute time."""
    answering = [place for place, task in enumerate(plan.tasks) if not task.no_answer]
    if not answering:
        return False
    total_ns = sum(computes_ns[place] for place in answering)
    if total_ns / len(answering) > SMALL_NS:
        return False
    return total_ns - critical_path_ns(computes_ns, plan) < WAKE_NS * len(answering)


def critical_path_ns(computes_ns: Sequence[float], plan: Plan) -> float:
    """How long a step takes with a core for each task and no cost of asking."""
    done: list[float] = []
    for place in range(len(plan.tasks)):
        start = max((done[before] for before in plan.after_answer[place]), default=0.0)
        done.append(start + computes_ns[place])
    return max(done, default=0.0)
