"""Waiting for modules: every wait has a deadline and says whom it waits for.

The scheduler takes the short way where it can (one blocking receive). Here is the long one: several
answers at once, requests to repeat, processes that die, addresses that refuse, deadlines that pass.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterable
from time import monotonic_ns

from simsched.errors import ModuleError, NotJoined, SessionBusy, TaskDied, TaskTimeout
from simsched.master.seats import NS, RemoteSeat, Seat, Watch
from simsched.raw import RawRequester
from simsched.requester import Requester

NOTICE_NS = 2 * NS
"""A wait this long is spoken of, and again each time it has doubled."""
PING_NS = NS
"""How often modules that nothing is asked of hear from the master during a long wait."""
LONGEST_POLL_NS = 250_000_000

Notify = Callable[[str], None]


class Waiter:
    """Waits for answers on behalf of the scheduler."""

    def __init__(self, seats: Iterable[Seat], watch: Watch, notify: Notify, where: Callable[[], str]) -> None:
        self.seats = tuple(seats)
        self._watch = watch
        self._notify = notify
        self._where = where
        self._selector = selectors.DefaultSelector()
        for seat in self.seats:
            if isinstance(seat, RemoteSeat) and not seat.task.no_answer:
                self._selector.register(seat.endpoint.fileno(), selectors.EVENT_READ, seat)
        if watch.fileno() >= 0:
            self._selector.register(watch.fileno(), selectors.EVENT_READ, None)
        self._ping_ns = 0
        self._notice_ns = 0
        self._came: set[Seat] = set()

    def close(self) -> None:
        self._selector.close()

    def one(self, seat: Seat) -> bool:
        """Wait for a seat whose answer did not come at once; False if it is Optional and has left."""
        if seat.failure is not None and not seat.is_remote:
            raise ModuleError(f"task '{seat.task.name}' failed at {self._where()}:\n{seat.failure}")
        self.first((seat,))
        return seat.present

    def first(self, pending: Iterable[Seat]) -> Seat:
        """The first of these seats to be answered; an Optional one that is gone counts as answered.

        Raises TaskTimeout, TaskDied, ModuleError or SessionBusy, with the name of the task.
        """
        waiting = [seat for seat in pending if isinstance(seat, RemoteSeat)]
        started_ns = monotonic_ns()
        self._ping_ns, self._notice_ns = started_ns + PING_NS, started_ns + NOTICE_NS
        while True:
            gone = self._check(waiting)
            if gone is not None:
                return gone
            for seat in self._ready(self._patience_s(waiting)):
                if self._collect(seat) and seat in waiting:
                    return seat
            self._look_around(waiting, started_ns)

    def _collect(self, seat: Seat) -> bool:
        answered = seat.collect()
        if answered and not seat.present:
            self._came.add(seat)
        return answered

    def has_come(self, seat: Seat) -> bool:
        """Whether an absent module's HELLO came in while others were waited for; told once."""
        came = seat in self._came
        self._came.discard(seat)
        return came

    def _ready(self, timeout_s: float) -> list[Seat]:
        """Seats with something to receive; a death is noted on the way."""
        return [key.data for key, _ in self._selector.select(timeout_s) if key.data is not None]

    def _patience_s(self, waiting: list[RemoteSeat]) -> float:
        now_ns = monotonic_ns()
        until = [now_ns + LONGEST_POLL_NS, *(seat.requester.repeat_ns for seat in waiting)]
        until += [seat.deadline_ns for seat in waiting if seat.deadline_ns is not None]
        return max(min(until) - now_ns, 0) / NS

    def _check(self, waiting: list[RemoteSeat]) -> RemoteSeat | None:
        """Deal with what stands against an answer; a seat that is given up, if there is one."""
        now_ns = monotonic_ns()
        ended = self._watch.ended()
        for seat in waiting:
            problem = self._problem(seat, ended, now_ns)
            if problem is not None and seat.task.optional:
                self._notify(f"{problem}; the run goes on without it")
                leave(seat)
                return seat
            if problem is not None:
                seat.is_lost = True
                raise problem
            again = seat.requester.repeat(now_ns)
            if again is not None:
                seat.send(again)
        return None

    def _problem(self, seat: RemoteSeat, ended: dict[str, str], now_ns: int) -> Exception | None:
        name = seat.task.name
        if seat.failure is not None:
            return ModuleError(f"task '{name}' failed at {self._where()}:\n{seat.failure}")
        if name in ended:
            return TaskDied(f"task '{name}' {ended[name]} at {self._where()}{self._last(name)}")
        if seat.busy is not None:
            return SessionBusy(f"task '{name}': {seat.busy}; wait for that run to end, or stop it")
        if isinstance(seat.requester, RawRequester) and seat.requester.is_starting:
            return self._not_switched_on(seat, now_ns)
        if seat.refused:
            return TaskDied(
                f"task '{name}': nobody listens at {address_of(seat)} any more, at {self._where()}"
                f"{self._last(name)}"
            )
        if seat.deadline_ns is not None and now_ns >= seat.deadline_ns:
            return TaskTimeout(
                f"task '{name}' at {address_of(seat)} did not answer within {seat.task.timeout} s at "
                f"{self._where()}; it was in state {seat.peer_state.label} last{self._last(name)}; "
                f"a longer Timeout gives it more time, Timeout = None any"
            )
        return None

    def _not_switched_on(self, seat: RemoteSeat, now_ns: int) -> NotJoined | None:
        """A raw device cannot say HELLO: until its first answer a refusal means that it is late."""
        if seat.refused and isinstance(seat.requester, RawRequester):
            seat.refused = False
            seat.requester.retry_soon(now_ns)
        if seat.deadline_ns is None or now_ns < seat.deadline_ns:
            return None
        return NotJoined(
            f"task '{seat.task.name}' at {address_of(seat)} did not answer within "
            f"{seat.requester.waited_ns(now_ns) / NS:.1f} s: switch it on, and let it answer each datagram "
            f"of {seat.task.layout_in.size} bytes with one of {seat.task.layout_out.size}"
            f"{self._last(seat.task.name)}"
        )

    def _last(self, name: str) -> str:
        words = self._watch.last_words(name)
        return f"; it printed last:\n{words}" if words else ""

    def _look_around(self, waiting: list[RemoteSeat], started_ns: int) -> None:
        now_ns = monotonic_ns()
        if now_ns >= self._ping_ns:
            self._ping_ns = now_ns + PING_NS
            self.ping(seat for seat in self.seats if seat not in waiting)
        if now_ns >= self._notice_ns:
            waited_ns = now_ns - started_ns
            self._notice_ns = now_ns + waited_ns
            for seat in waiting:
                self._notify(
                    f"waiting for '{seat.task.name}' at {address_of(seat)} ({seat.peer_state.label}) "
                    f"for {waited_ns / NS:.0f} s, at {self._where()}"
                )

    def notice_ended(self) -> None:
        """Speak once of each noAnswer task whose process has ended: nobody waits for it."""
        ended = self._watch.ended()
        for seat in self.seats if ended else ():
            if seat.task.no_answer and seat.task.name in ended and not seat.is_lost:
                seat.is_lost = True
                name = seat.task.name
                self._notify(f"task '{name}' (noAnswer) {ended[name]}; the run goes on{self._last(name)}")

    def ping(self, seats: Iterable[Seat]) -> None:
        """Tell modules that their master is alive, lest another one take them."""
        now_ns = monotonic_ns()
        for seat in seats:
            if isinstance(seat, RemoteSeat) and seat.present and isinstance(seat.requester, Requester):
                seat.send(seat.requester.ping(now_ns))

    def sleep_until(self, due_ns: int) -> None:
        """Wait for the next step's time; a module that dies meanwhile is noticed at once."""
        while True:
            now_ns = monotonic_ns()
            left_ns = due_ns - now_ns
            if left_ns <= 0:
                return
            if self._watch.fileno() < 0 or left_ns < 2_000_000:
                time.sleep(min(left_ns, PING_NS) / NS)
            else:
                self._watch_for((min(left_ns, PING_NS) - 1_000_000) / NS)
            if left_ns > PING_NS:
                self.ping(self.seats)

    def _watch_for(self, seconds: float) -> None:
        for seat in self._ready(seconds):
            self._collect(seat)  # an answer to a PING, or a late copy: nothing that is waited for
        ended = self._watch.ended()
        for seat in self.seats:
            if (
                isinstance(seat, RemoteSeat)
                and seat.present
                and not seat.task.no_answer
                and seat.task.name in ended
            ):
                problem = self._problem(seat, ended, 0)
                if seat.task.optional:
                    self._notify(f"{problem}; the run goes on without it")
                    leave(seat)
                elif problem is not None:
                    seat.is_lost = True
                    raise problem


def leave(seat: RemoteSeat) -> None:
    """An Optional task is gone: its fields keep their last values until it joins again."""
    seat.present = False
    seat.failure, seat.busy, seat.refused, seat.stopping = None, None, False, False


def address_of(seat: Seat) -> str:
    host, port = seat.task.addr
    return f"{host}:{port}"
