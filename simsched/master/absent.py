"""Optional tasks: they may be away at the start, leave, and join again while the run goes on."""

from __future__ import annotations

import select
from collections.abc import Sequence
from time import monotonic_ns
from typing import TYPE_CHECKING

from simsched.datagram import Flag
from simsched.errors import LayoutMismatch
from simsched.master.joining import check_hello
from simsched.master.seats import RemoteSeat, Seat
from simsched.master.waiting import Notify, Waiter

if TYPE_CHECKING:
    from simsched.scheduler import Scheduler

ASK_NS = 200_000_000
"""How often an absent module is asked whether it has come."""


class Absentees:
    """Looks after the Optional tasks of a run."""

    def __init__(self, seats: Sequence[Seat], started: frozenset[str], notify: Notify) -> None:
        self._seats = [seat for seat in seats if isinstance(seat, RemoteSeat) and seat.task.optional]
        self._notify = notify
        self._ask_ns = 0
        for seat in self._seats:
            seat.present = seat.task.name in started

    @property
    def is_needed(self) -> bool:
        """Whether there is anybody to look after."""
        return bool(self._seats)

    def look(self, scheduler: Scheduler) -> None:
        """Let in whoever has come, and ask the others again; never waits for one that is away."""
        now_ns = monotonic_ns()
        for seat in self._seats:
            if not seat.present and self._has_come(seat, scheduler.waiter):
                self._let_in(seat, scheduler)
        if now_ns >= self._ask_ns:
            self._ask_ns = now_ns + ASK_NS
            for seat in self._seats:
                if not seat.present:
                    seat.hello()

    def _has_come(self, seat: RemoteSeat, waiter: Waiter) -> bool:
        seat.refused = False
        answered = waiter.has_come(seat)
        if not answered and select.select([seat.endpoint.fileno()], [], [], 0)[0]:
            answered = seat.collect()
        return answered and not seat.requester.peer_flags & Flag.BUSY

    def _let_in(self, seat: RemoteSeat, scheduler: Scheduler) -> None:
        try:
            check_hello(seat)
        except LayoutMismatch as error:
            self._notify(f"{error}; the run goes on without it")
            return
        seat.present = True
        scheduler.initialize(seat)
        if seat.present:
            self._notify(f"task '{seat.task.name}' has joined at {scheduler.where()}")
