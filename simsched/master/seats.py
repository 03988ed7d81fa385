"""The master's seat for each task: what to cut for it, how to ask it, where its answer goes.

A `RemoteSeat` asks over the network, an `InlineSeat` calls the module in this very process. To the
scheduler they are the same: `post` a request, `collect` its answer, merge `targets`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import monotonic_ns
from typing import Any, Protocol

from simsched.datagram import Flag, Kind
from simsched.errors import ModuleError
from simsched.exchange import Reply
from simsched.image import Image
from simsched.manager import Manager
from simsched.measure import Timings
from simsched.raw import RawRequester
from simsched.requester import Requester
from simsched.serving import wire_of
from simsched.states import Message, State
from simsched.tasks import Task
from simsched.transport import Endpoint, Transport
from simsched.transport.base import BUFFER_SIZE

NS = 1_000_000_000

# plain names for what the loop uses: on Python 3.11 a member of an enumeration is found by a hook, slowly
_STEP = Kind.STEP
_ANSWER = Reply.ANSWER
_STOPPING = int(Flag.STOPPING)


class Seat(ABC):
    """What all seats have."""

    payload_at = 0
    is_remote = False

    def __init__(self, task: Task, image: Image) -> None:
        self.task = task
        self.present = True
        """False while an Optional task is away."""
        self.stopping = False
        self.stop_reason = ""
        self.buffer = bytearray()
        self.timings = Timings()
        self.sources = image.sources(task)
        self.targets = image.targets(task, self.payload_at)
        self.failure: str | None = None
        """The words of an ERROR answer that nobody has dealt with yet."""
        self.refused = False
        """Nobody listens at the address."""
        self.initialized = False
        self.is_lost = False
        """Died, or silent beyond its Timeout: nothing more is sent to it."""
        self.state = State.IDLE

    @abstractmethod
    def post(self, kind: Kind, payload: bytes) -> None:
        """Begin a request."""

    @abstractmethod
    def collect(self) -> bool:
        """Wait a tick for the answer; True if it is there, `failure` or `refused` if it won't be."""

    def close(self) -> None:  # noqa: B027  # most hold nothing
        """Let go of what the seat holds."""


class InlineSeat(Seat):
    """A module in the master's own process: asked by a call."""

    def __init__(self, task: Task, image: Image, manager: Manager) -> None:
        super().__init__(task, image)
        self.manager = manager

    def post(self, kind: Kind, payload: bytes) -> None:
        manager = self.manager
        started_ns = monotonic_ns()
        try:
            if kind is _STEP:
                self.buffer = manager.step(bytearray(payload))  # type: ignore[assignment]
            else:
                self.buffer = bytearray(manager.handle(Message(int(kind)), bytearray(payload)))
        except ModuleError as error:
            self.failure = str(error)
        self.state = manager.state
        if manager.stop_reason is not None:
            self.stopping, self.stop_reason = True, manager.stop_reason
        ended_ns = monotonic_ns()
        self.timings.add(ended_ns, started_ns, started_ns, ended_ns)

    def collect(self) -> bool:
        return self.failure is None


class RemoteSeat(Seat):
    """A module behind an endpoint."""

    is_remote = True

    def __init__(
        self, task: Task, image: Image, transport: Transport, session: int, key: bytes | None
    ) -> None:
        wire = wire_of(task, key)
        self.requester: Requester | RawRequester = (
            RawRequester(wire, session) if task.raw else Requester(wire, session)
        )
        self.payload_at = self.requester.payload_at
        super().__init__(task, image)
        self.endpoint: Endpoint = transport.dial(task)
        self.buffer = bytearray(BUFFER_SIZE)
        self.busy: str | None = None
        self.deadline_ns: int | None = None
        self._flags = int(Flag.NO_ANSWER) if task.no_answer else 0
        self._timeout_ns = None if task.timeout is None else round(task.timeout * NS)
        self._period_ns = 0 if task.max_rate is None else round(NS / task.max_rate)
        self._next_ns = 0

    def post(self, kind: Kind, payload: bytes) -> None:
        now_ns = monotonic_ns()
        if self._period_ns and kind is _STEP:
            if now_ns < self._next_ns:
                return
            behind = now_ns - self._next_ns > self._period_ns  # after a pause the count begins anew
            self._next_ns = (now_ns if behind else self._next_ns) + self._period_ns
        self.deadline_ns = None if self._timeout_ns is None else now_ns + self._timeout_ns
        self.send(self.requester.request(kind, payload, now_ns, self._flags))

    def hello(self) -> None:
        """Ask who is there."""
        now_ns = monotonic_ns()
        self.deadline_ns = None
        if isinstance(self.requester, Requester):
            self.send(self.requester.hello(now_ns))

    def send(self, data: bytes) -> None:
        """Send; a refusal may speak of an earlier datagram, so it is tried twice."""
        try:
            self.endpoint.send(data)
        except ConnectionRefusedError:
            self.refused = True
            try:
                self.endpoint.send(data)
            except ConnectionRefusedError:
                return

    def collect(self) -> bool:
        try:
            size = self.endpoint.receive(self.buffer)
        except BlockingIOError:
            return False
        except ConnectionRefusedError:
            self.refused = True
            return False
        now_ns = monotonic_ns()
        requester = self.requester
        reply = requester.receive(self.buffer, size, now_ns)
        if reply is not _ANSWER:
            return self._unusual(reply)
        self.timings.add_packed(requester.packed_times, now_ns)
        if requester.peer_flags and requester.peer_flags & _STOPPING:
            self.stopping = True
        return True

    def _unusual(self, reply: Reply) -> bool:
        text = self.requester.text
        if reply is Reply.ERROR:
            self.failure = text
        elif reply is Reply.BUSY:
            self.busy = text
        return False

    @property
    def peer_state(self) -> State:
        return State(self.requester.peer_state)

    def close(self) -> None:
        self.endpoint.close()


class Watch(Protocol):
    """Who knows of the processes behind the seats."""

    def fileno(self) -> int:
        """Readable when a process has ended."""

    def ended(self) -> dict[str, str]:
        """Tasks whose process has ended, and how."""

    def last_words(self, task: str) -> str:
        """What the process of a task printed last."""


class NoWatch:
    """For modules that somebody else has started."""

    def fileno(self) -> int:
        return -1

    def ended(self) -> dict[str, str]:
        return {}

    def last_words(self, task: str) -> str:
        return ""


def describe_counters(seat: Seat) -> dict[str, Any]:
    """What was repeated and dropped at a seat."""
    if not isinstance(seat, RemoteSeat):
        return {"repeats": 0, "dropped": {}}
    dropped = {reason.label: count for reason, count in seat.requester.dropped.items()}
    return {"repeats": seat.requester.repeats, "dropped": dropped}
