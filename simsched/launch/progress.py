"""How far a run is, from what another thread may read of it: counters, and no more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from simsched.master.seats import RemoteSeat, Seat
from simsched.scheduler import Scheduler
from simsched.tasks import Task

NS = 1_000_000_000


@dataclass(frozen=True)
class Snapshot:
    """The counters of a run at one moment."""

    now_ns: int
    step: int
    """The step under way; -1 before the first."""
    exchanges: int
    repeats: int
    dropped: int
    slowest: tuple[str, float]
    """The task whose answers take longest, and how long [ns]."""


def snapshot(scheduler: Scheduler, now_ns: int) -> Snapshot:
    """Look at a run from another thread; nothing that the loop works with is touched."""
    step = scheduler.step
    remote = [seat for seat in scheduler.seats if isinstance(seat, RemoteSeat)]
    return Snapshot(
        now_ns,
        step,
        exchanges=sum(exchanges_until(seat.task, step) for seat in scheduler.seats if seat.present),
        repeats=sum(seat.requester.repeats for seat in remote),
        dropped=sum(sum(list(seat.requester.dropped.values())) for seat in remote),
        slowest=_slowest(scheduler.seats),
    )


def exchanges_until(task: Task, step: int) -> int:
    """How many answers a task has given before this step."""
    return 0 if task.no_answer else max((step - task.phase + task.every - 1) // task.every, 0)


def _slowest(seats: Iterable[Seat]) -> tuple[str, float]:
    trips = [(seat.task.name, seat.timings.recent_ns()) for seat in seats if not seat.task.no_answer]
    return max(trips, key=lambda trip: trip[1], default=("", 0.0))


class Progress:
    """Rates from the snapshots of the last moments."""

    def __init__(self, dt: float, steps: int | None, kept: int = 9) -> None:
        self._dt = dt
        self._steps = steps
        self._window: deque[Snapshot] = deque(maxlen=kept)

    def add(self, seen: Snapshot) -> None:
        """Take one more look; what came before the first step tells no rate."""
        if seen.step >= 0:
            self._window.append(seen)

    @property
    def last(self) -> Snapshot | None:
        return self._window[-1] if self._window else None

    @property
    def share(self) -> float | None:
        """How much of the run is done, from 0 to 1; None without an end."""
        if self._steps is None or self.last is None:
            return None
        return min(self.last.step / max(self._steps, 1), 1.0)

    @property
    def steps_per_s(self) -> float:
        return self._rate([seen.step for seen in self._window])

    @property
    def exchanges_per_s(self) -> float:
        return self._rate([seen.exchanges for seen in self._window])

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds in one of the wall clock."""
        return self.steps_per_s * self._dt

    @property
    def remaining_s(self) -> float | None:
        """How long the rest takes at the present rate [s]; None if nobody can tell."""
        if self._steps is None or self.last is None or not self.steps_per_s:
            return None
        return (self._steps - self.last.step) / self.steps_per_s

    def _rate(self, counts: list[int]) -> float:
        if len(counts) < 2:
            return 0.0
        elapsed_ns = self._window[-1].now_ns - self._window[0].now_ns
        return (counts[-1] - counts[0]) * NS / elapsed_ns if elapsed_ns > 0 else 0.0


def facts(progress: Progress, placement: str) -> list[str]:
    """What there is to say of a run beside how far it is."""
    seen = progress.last
    if seen is None:
        return []
    name, trip_ns = seen.slowest
    words = [
        f"{progress.real_time_factor:.3g}× real time",
        f"{progress.exchanges_per_s:,.0f} exchanges/s".replace(",", " "),
        f"{seen.repeats} repeated, {seen.dropped} dropped",
    ]
    if trip_ns:
        words.append(f"slowest {name} {duration(trip_ns / NS)}")
    return [*words, f"cores: {placement}"]


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> duration(31.2e-6), duration(0.0042), duration(3.0), duration(75.0), duration(7265.0)
    ('31 µs', '4.2 ms', '3 s', '1:15 min', '2:01 h')
    """
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 59.5:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
