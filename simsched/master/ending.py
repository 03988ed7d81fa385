"""The end of a run: FINAL to every module in it, and STOP to those that were started for it."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic_ns

from simsched.datagram import Kind
from simsched.errors import RunError
from simsched.image import Image
from simsched.master.seats import NS, RemoteSeat, Seat, Watch
from simsched.master.waiting import Notify, Waiter

FINAL_S = 2.0
"""How long modules may take to finalize when the run has failed already [s]."""


class Ending:
    """Sends the modules of a run back to Idle, whatever happened before."""

    def __init__(
        self, seats: Sequence[Seat], image: Image, waiter: Waiter, watch: Watch, started: frozenset[str]
    ) -> None:
        self._seats = tuple(seats)
        self._image = image
        self._waiter = waiter
        self._watch = watch
        self._started = started

    def finish(self) -> None:
        """End a run that went well; what a module raises now fails it, after the others have ended."""
        problems = self._finalize(None)
        self._stop_started()
        if problems:
            raise problems[0]

    def abandon(self, notify: Notify) -> None:
        """End a run that has failed: whoever does not answer is left."""
        for seat in self._seats:
            if seat.failure is not None:
                seat.is_lost = True
                if seat.is_remote:
                    seat.post(Kind.STOP, b"".join(seat.sources))  # it waits for no more than that
        for problem in self._finalize(FINAL_S):
            notify(f"while finalizing: {problem}")
        self._stop_started()

    def _finalize(self, most_s: float | None) -> list[RunError]:
        """FINAL to all that are in the run; why some did not do it."""
        self._image.set_command(Kind.FINAL)
        problems: list[RunError] = []
        pending: list[Seat] = []
        for seat in self._seats:
            if not self._is_reachable(seat) or not seat.initialized or not _knows_final(seat):
                continue
            seat.post(Kind.FINAL, b"".join(seat.sources))
            if isinstance(seat, RemoteSeat) and not seat.task.no_answer:
                _limit(seat, most_s)
                pending.append(seat)
            elif seat.failure is not None:
                problems.append(RunError(f"task '{seat.task.name}' failed at Finalize:\n{seat.failure}"))
        while pending:
            pending = self._answered(pending, problems)
        return problems

    def _answered(self, pending: list[Seat], problems: list[RunError]) -> list[Seat]:
        """Wait for one of these; those that will not answer are struck off with their problem."""
        try:
            seat = self._waiter.first(pending)
        except RunError as error:
            problems.append(error)
            return [seat for seat in pending if not seat.is_lost]
        if isinstance(seat, RemoteSeat) and seat.stopping and not seat.stop_reason:
            seat.stop_reason = seat.requester.text
        return [other for other in pending if other is not seat]

    def _is_reachable(self, seat: Seat) -> bool:
        return seat.present and not seat.is_lost and seat.task.name not in self._watch.ended()

    def _stop_started(self) -> None:
        """Modules that were started for this run are told to end; others wait for the next run."""
        for seat in self._seats:
            if seat.task.name in self._started and self._is_reachable(seat) and _knows_final(seat):
                seat.post(Kind.STOP, b"".join(seat.sources))


def _knows_final(seat: Seat) -> bool:
    """A raw device without `cmd` takes every datagram for a step."""
    return not seat.task.raw or not seat.is_remote or "cmd" in seat.task.reads


def _limit(seat: RemoteSeat, most_s: float | None) -> None:
    if most_s is not None:
        limit_ns = monotonic_ns() + round(most_s * NS)
        seat.deadline_ns = min(seat.deadline_ns or limit_ns, limit_ns)
