"""Before a run: find out whether each module is there, and whether both ends mean the same bytes."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterable
from time import monotonic_ns

from simsched.datagram import Flag
from simsched.errors import LayoutMismatch, NotJoined, SessionBusy, TaskDied
from simsched.exchange import HOLD_NS
from simsched.layout import first_difference
from simsched.master.seats import NS, RemoteSeat, Seat, Watch
from simsched.master.waiting import Notify, address_of
from simsched.requester import Requester

FIRST_NOTICE_NS = NS
POLL_S = 0.05

HowToStart = Callable[[str], str]
"""The command that starts the module of a task."""


def join(
    seats: Iterable[Seat], wait_s: float | None, watch: Watch, notify: Notify, how_to_start: HowToStart
) -> None:
    """Wait until every module has said who it is, however late it was started.

    NotJoined names those that never came, LayoutMismatch the field that differs, SessionBusy who has
    a module in another run.
    """
    waiting = [seat for seat in seats if is_asked(seat)]
    _Joining(waiting, wait_s, watch, notify, how_to_start).wait()


def is_asked(seat: Seat) -> bool:
    """Whether a seat's module says HELLO: a raw one cannot, one that need not answer may be away."""
    return (
        isinstance(seat, RemoteSeat)
        and seat.present
        and not seat.task.no_answer
        and isinstance(seat.requester, Requester)
    )


class _Joining:
    """The wait for some modules."""

    def __init__(
        self,
        waiting: list[Seat],
        wait_s: float | None,
        watch: Watch,
        notify: Notify,
        how_to_start: HowToStart,
    ) -> None:
        self._waiting = [seat for seat in waiting if isinstance(seat, RemoteSeat)]
        self._watch, self._notify, self._how = watch, notify, how_to_start
        self._started_ns = monotonic_ns()
        self._give_up_ns = None if wait_s is None else self._started_ns + round(wait_s * NS)
        self._notice_ns = self._started_ns + FIRST_NOTICE_NS
        self._wait_s = wait_s

    def wait(self) -> None:
        """Until all have come; whoever has not is lost to this run, should that end here."""
        try:
            self._hear_all()
        except BaseException:
            for seat in self._waiting:
                seat.is_lost = True
            raise

    def _hear_all(self) -> None:
        for seat in self._waiting:
            seat.hello()
        with selectors.DefaultSelector() as selector:
            for seat in self._waiting:
                selector.register(seat.endpoint.fileno(), selectors.EVENT_READ, seat)
            if self._watch.fileno() >= 0:
                selector.register(self._watch.fileno(), selectors.EVENT_READ, None)
            while self._waiting:
                for key, _ in selector.select(POLL_S):
                    if key.data is not None:
                        self._heard(key.data)
                self._look_around()

    def _heard(self, seat: RemoteSeat) -> None:
        answered = seat.collect()
        seat.refused = False  # nobody there yet
        if answered and seat in self._waiting and not self._is_held(seat):
            check_hello(seat)
            self._waiting.remove(seat)

    def _is_held(self, seat: RemoteSeat) -> bool:
        """In another run: ask again until that must have ended, had its master died."""
        if not seat.requester.peer_flags & Flag.BUSY:
            return False
        if monotonic_ns() - self._started_ns > HOLD_NS + NS:
            raise SessionBusy(
                f"task '{seat.task.name}' at {address_of(seat)} is held by {seat.requester.heard().holder}: "
                f"wait for that run to end, or stop it"
            )
        seat.hello()
        return True

    def _look_around(self) -> None:
        now_ns = monotonic_ns()
        ended = self._watch.ended()
        for seat in self._waiting:
            name = seat.task.name
            if name in ended:
                words = self._watch.last_words(name)
                tail = f"; it printed last:\n{words}" if words else ""
                raise TaskDied(f"task '{name}' {ended[name]} before the run began{tail}")
            again = seat.requester.repeat(now_ns)
            if again is not None:
                seat.send(again)
        if self._give_up_ns is not None and now_ns > self._give_up_ns and self._waiting:
            raise NotJoined(self._missing("did not come within", f"{self._wait_s:g} s") + self._about_keys())
        if now_ns > self._notice_ns and self._waiting:
            waited_ns = now_ns - self._started_ns
            self._notice_ns = now_ns + waited_ns
            self._notify(self._missing("is waited for, since", f"{waited_ns / NS:.0f} s"))

    def _about_keys(self) -> str:
        if all(seat.requester.wire.key is None for seat in self._waiting):
            return ""
        return "\nthis run has a key: a module with another key, or with none, stays silent"

    def _missing(self, what: str, how_long: str) -> str:
        lines = [
            f"task '{seat.task.name}' {what} {how_long}, at {address_of(seat)}: {self._how(seat.task.name)}"
            for seat in self._waiting
        ]
        return "\n".join(lines)


def check_hello(seat: RemoteSeat) -> None:
    """Compare what both ends think the task is; LayoutMismatch says what differs."""
    wire, heard = seat.requester.wire, seat.requester.heard()
    where = f"task '{wire.name}' at {address_of(seat)}"
    if heard.name != wire.name:
        raise LayoutMismatch(f"{where}: the module there is that of task '{heard.name}'; check Addr of both")
    for direction, ours, theirs in (
        ("In", wire.layout_in, heard.layout_in),
        ("Out", wire.layout_out, heard.layout_out),
    ):
        if ours != theirs:
            raise LayoutMismatch(
                f"{where}: {direction} differs: {first_difference(ours, theirs)}; start both from the same "
                f"scenario, or generate the module's header anew"
            )
