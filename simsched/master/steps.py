"""One step of a run, in the three ways it can go: in order, overlapping, or Jacobi.

The result is by definition that of the order of `Tasks`; overlapping gives the same bytes sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from simsched.datagram import Kind
from simsched.image import Image
from simsched.master.seats import Seat
from simsched.master.waiting import Waiter
from simsched.plan import Plan, make_plan

_STEP = Kind.STEP


@dataclass(frozen=True)
class Order:
    """The seats of a step and what is known of them beforehand."""

    seats: tuple[Seat, ...]
    plan: Plan
    can_overlap: bool
    probes: tuple[Callable[[], float], ...]
    """Finite as long as all that these seats answer with is."""

    def is_finite(self) -> bool:
        """Whether every result of the step is; False may be a false alarm, if a sum overflows."""
        return all([isfinite(probe()) for probe in self.probes])


@dataclass
class Stepper:
    """Carries out steps on an image."""

    image: Image
    waiter: Waiter
    stopping: bool = False
    """A module has asked to end the run."""

    def in_order(self, seats: Sequence[Seat]) -> None:
        """Each task sees what those before it have just answered."""
        data = self.image.data
        join = b"".join
        step = _STEP
        for seat in seats:
            if not seat.present:
                continue
            seat.post(step, join(seat.sources))
            if seat.task.no_answer:
                continue
            if not seat.collect() and not self.waiter.one(seat):
                continue
            buffer = seat.buffer
            for start, stop, first, last in seat.targets:
                data[start:stop] = buffer[first:last]
            if seat.stopping:
                self.stopping = True

    def overlapping(self, seats: Sequence[Seat], plan: Plan) -> None:
        """The same bytes: a task is asked as soon as nothing before it can change what it is told."""
        blockers = list(plan.blockers)
        ready = [place for place, count in enumerate(blockers) if not count]
        pending: dict[int, Seat] = {}
        while ready or pending:
            for place in sorted(ready, key=lambda place: not seats[place].is_remote):
                ready.remove(place)
                self._dispatch(place, seats, plan, blockers, ready, pending)
            if pending and not ready:
                seat = self.waiter.first(pending.values())
                place = next(key for key, value in pending.items() if value is seat)
                del pending[place]
                self._answered(place, seat, plan, blockers, ready)

    def _dispatch(
        self, place: int, seats: Sequence[Seat], plan: Plan, blockers: list[int], ready: list[int],
        pending: dict[int, Seat],
    ) -> None:  # fmt: skip
        seat = seats[place]
        if seat.present:
            seat.post(Kind.STEP, b"".join(seat.sources))
        _release(plan.dispatches_release[place], blockers, ready)
        if not seat.present or seat.task.no_answer or not seat.is_remote:
            if not seat.is_remote and not seat.collect():
                self.waiter.one(seat)
            self._answered(place, seat, plan, blockers, ready)
        else:
            pending[place] = seat

    def _answered(self, place: int, seat: Seat, plan: Plan, blockers: list[int], ready: list[int]) -> None:
        if seat.present and not seat.task.no_answer:
            self.merge(seat)
        _release(plan.answers_release[place], blockers, ready)

    def jacobi(self, seats: Sequence[Seat]) -> None:
        """Every task sees the values of the last step; answers are merged in order of `Tasks`."""
        present = [seat for seat in seats if seat.present]
        payloads = [b"".join(seat.sources) for seat in present]
        for seat, payload in zip(present, payloads, strict=True):
            seat.post(Kind.STEP, payload)
        answering = [seat for seat in present if not seat.task.no_answer]
        pending = {id(seat): seat for seat in answering}
        for seat in answering:
            if not seat.is_remote:
                if not seat.collect():
                    self.waiter.one(seat)
                del pending[id(seat)]
        while pending:
            del pending[id(self.waiter.first(pending.values()))]
        for seat in answering:
            if seat.present:
                self.merge(seat)

    def merge(self, seat: Seat) -> None:
        """Take a seat's answer into the image."""
        data, buffer = self.image.data, seat.buffer
        for start, stop, first, last in seat.targets:
            data[start:stop] = buffer[first:last]
        if seat.stopping:
            self.stopping = True


def _release(places: Sequence[int], blockers: list[int], ready: list[int]) -> None:
    for place in places:
        blockers[place] -= 1
        if not blockers[place]:
            ready.append(place)


class Orders:
    """Which seats run at a step, and in what plan: worked out once for each pattern of rates."""

    def __init__(self, seats: Sequence[Seat], image: Image, early: bool) -> None:
        self._image = image
        self._seats = tuple(seats)
        self._early = early
        self._every_step = all(seat.task.every == 1 and seat.task.phase == 0 for seat in seats)
        self._known: dict[tuple[bool, ...], Order] = {}
        self._always = self._order((True,) * len(self._seats))

    def at(self, step: int) -> Order:
        """The order of a step."""
        if self._every_step:
            return self._always
        return self._order(tuple(seat.task.active(step) for seat in self._seats))

    def _order(self, active: tuple[bool, ...]) -> Order:
        if active not in self._known:
            seats = tuple(seat for seat, runs in zip(self._seats, active, strict=True) if runs)
            tasks = [seat.task for seat in seats]
            plan = make_plan(tasks, self._early)
            can_overlap = self._early and _can_overlap(plan, seats)
            self._known[active] = Order(seats, plan, can_overlap, self._image.finite_probes(tasks))
        return self._known[active]


def _can_overlap(plan: Plan, seats: Sequence[Seat]) -> bool:
    answering = {seat.task.name: seat.is_remote for seat in seats if not seat.task.no_answer}
    stages = ([answering[task.name] for task in stage if task.name in answering] for stage in plan.stages)
    return any(len(remote) > 1 and any(remote) for remote in stages)
