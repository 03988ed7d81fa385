"""How a run went: what the console sums up, recordings keep, and callers get."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from simsched.measure import Summary
from simsched.pacing import Pacer


@dataclass(frozen=True)
class TaskReport:
    """One task's part in a run."""

    timing: Summary
    repeats: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    round_trip_histogram: tuple[tuple[int, int], ...] = ()
    """(upper edge [ns], count) of each doubling."""


@dataclass(frozen=True)
class RealTimeReport:
    """How well the schedule was kept."""

    period_s: float
    policy: str
    overruns: int
    late_p50_us: float
    late_p99_us: float
    late_max_us: float
    lateness_histogram: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Report:
    """One run."""

    steps: int
    t: float
    wall_s: float
    ended: str
    """Why: 'tmax', the reason that a module gave, or the error."""
    tasks: dict[str, TaskReport]
    real_time: RealTimeReport | None = None
    warnings: tuple[str, ...] = ()
    placement: str = ""

    @property
    def exchanges(self) -> int:
        return sum(task.timing.exchanges for task in self.tasks.values())

    @property
    def repeats(self) -> int:
        return sum(task.repeats for task in self.tasks.values())

    @property
    def dropped(self) -> int:
        return sum(sum(task.dropped.values()) for task in self.tasks.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for the summary of a recording."""
        return asdict(self)


def lateness_report(pacer: Pacer) -> RealTimeReport:
    """What a pacer has seen, for the report."""
    lateness = pacer.lateness
    return RealTimeReport(
        period_s=pacer.period_s,
        policy=pacer.policy,
        overruns=pacer.overruns,
        late_p50_us=lateness.quantile_ns(0.5) / 1e3,
        late_p99_us=lateness.quantile_ns(0.99) / 1e3,
        late_max_us=lateness.longest_ns / 1e3,
        lateness_histogram=tuple(lateness.octaves()),
    )
