"""Exactly once over a lossy network: the master's end and the module's end of one task.

Pure, as in h11: bytes and a clock reading in, events and bytes out. The master numbers its requests
and repeats each until it is answered; a module answers a repeat from its cached answer without
running again. Whatever does not belong to the exchange is dropped and counted by reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from simsched.datagram import (
    ANSWER,
    ECHOED,
    HEAD,
    HEADER_SIZE,
    MAGIC,
    TIMES,
    TIMES_AT,
    Drop,
    Flag,
    Header,
    Hello,
    Kind,
    build,
    is_newer,
    pack_hello,
    parse,
    unpack_hello,
)
from simsched.states import State

MS = 1_000_000
FIRST_PATIENCE_NS = 50 * MS
LEAST_PATIENCE_NS = 5 * MS
MOST_PATIENCE_NS = 1000 * MS
HELLO_PATIENCE_NS = 100 * MS
"""A module that is just being started answers as soon as it can."""

HOLD_NS = 5_000 * MS
"""A module in a run gives way to another master after its own was silent for so long."""

HELLO_ROOM = 512
"""HELLO requests are padded by so much, for the answer may not be larger than the request."""


# Plain names for what the loop uses: a look into an enumeration costs as much as a system call.
_STEP = Kind.STEP
_STEP_NUMBER = int(Kind.STEP)
_STEP_ANSWER = int(Kind.STEP | ANSWER)
_RUN = State.RUN
_RUN_NUMBER = int(State.RUN)


class Reply(Enum):
    """What a datagram that came to the master meant."""

    NOTHING = 0
    ANSWER = 1
    ERROR = 2
    BUSY = 3


_ANSWERED = Reply.ANSWER


@dataclass
class Wire:
    """What both ends of a task agree on."""

    name: str
    number: int
    layout_id: int
    layout_in: str
    layout_out: str
    size_in: int
    size_out: int
    key: bytes | None = None


class Requester:
    """The master's end of one task."""

    payload_at = HEADER_SIZE
    """Where the payload of an answer begins."""

    def __init__(self, wire: Wire, session: int, sequence: int = 0) -> None:
        self.wire = wire
        self.session = session
        self.sequence = sequence
        self.dropped: Counter[Drop] = Counter()
        self.repeats = 0
        self.peer_state = State.IDLE
        self.peer_flags = 0
        self.text = ""
        """The words of the last ERROR or BUSY."""
        self.packed_times: bytes | bytearray = bytes(TIMES.size)
        """sent_ns, echo_ns, recv_ns of the last answer, as they came."""
        self._request = b""
        self._open = False
        """Whether an answer is waited for: a second copy of one is stale."""
        self._step_head = b""
        self._answer_head = b""
        """How the answer to the STEP under way begins, if all is well with the module."""
        self._next_answer_head = b""
        self._answer_size = HEADER_SIZE + wire.size_out
        self._tries = 0
        self._sent_ns = 0
        self._repeat_ns = 0
        self._round_trip_ns = FIRST_PATIENCE_NS
        self._spread_ns = 0
        self.patience_ns = FIRST_PATIENCE_NS
        """How long to wait for the first answer before repeating: measured mean and spread."""

    def request(self, kind: Kind, payload: bytes | bytearray, now_ns: int, flags: int = 0) -> bytes:
        """A new request: the datagram to send."""
        wire = self.wire
        self.sequence = sequence = (self.sequence + 1) & 0xFFFF_FFFF
        if kind is _STEP and self._step_head and not flags:
            self._request = request = self._step_head + TIMES.pack(now_ns, 0, 0) + payload
            self._answer_head = self._next_answer_head
        else:
            self._answer_head = b""
            self._request = request = build(
                kind, payload, flags=flags, layout_id=wire.layout_id, session=self.session,
                sequence=sequence, task=wire.number, sent_ns=now_ns, key=wire.key,
            )  # fmt: skip
        self._step_head = b""
        self._open = True
        self._tries = 0
        self._sent_ns = now_ns
        self._repeat_ns = now_ns + self.patience_ns
        return request

    def prepare(self) -> None:
        """Make what the next STEP and its answer begin with; best called while nobody waits for it.

        Not with a key: a signed answer takes the slow way, where it is verified.
        """
        wire = self.wire
        if wire.key is None:
            ids = wire.layout_id, self.session
            following = (self.sequence + 1) & 0xFFFF_FFFF
            self._step_head = HEAD.pack(MAGIC, _STEP_NUMBER, 0, 0, *ids, following, wire.number, wire.size_in)
            self._next_answer_head = HEAD.pack(
                MAGIC, _STEP_ANSWER, _RUN_NUMBER, 0, *ids, following, wire.number, wire.size_out
            )

    @property
    def times(self) -> tuple[int, int, int]:
        """sent_ns, echo_ns, recv_ns of the last answer."""
        sent_ns, echo_ns, recv_ns = TIMES.unpack(self.packed_times)
        return sent_ns, echo_ns, recv_ns

    def hello(self, now_ns: int) -> bytes:
        """A HELLO request."""
        wire = self.wire
        words = Hello(wire.name, wire.layout_in, wire.layout_out)
        room = sum(map(len, words)) + HELLO_ROOM
        return self.request(Kind.HELLO, pack_hello(words, room), now_ns)

    def ping(self, now_ns: int) -> bytes:
        """A sign of life for a module that nothing is asked of now; its answer means nothing."""
        wire = self.wire
        return build(
            Kind.PING, layout_id=wire.layout_id, session=self.session, sequence=self.sequence,
            task=wire.number, sent_ns=now_ns, key=wire.key,
        )  # fmt: skip

    @property
    def repeat_ns(self) -> int:
        """When the outstanding request is to be repeated."""
        return self._repeat_ns

    def repeat(self, now_ns: int) -> bytes | None:
        """The outstanding request again, if its time has come; each time twice as patient."""
        if now_ns < self._repeat_ns:
            return None
        self._tries += 1
        self.repeats += 1
        most_ns = HELLO_PATIENCE_NS if self._request[4] == Kind.HELLO else MOST_PATIENCE_NS
        self._repeat_ns = now_ns + min(self.patience_ns << min(self._tries, 10), most_ns)
        return self._request

    def waited_ns(self, now_ns: int) -> int:
        """How long the outstanding request has been out."""
        return now_ns - self._sent_ns

    def receive(self, buffer: bytearray, size: int, now_ns: int) -> Reply:
        """What a datagram means; an answer's payload starts at HEADER_SIZE of the buffer."""
        if size == self._answer_size and buffer[:TIMES_AT] == self._answer_head:
            self.peer_state, self.peer_flags = _RUN, 0
            self.packed_times = buffer[TIMES_AT:HEADER_SIZE]
            self._answer_head, self._open = b"", False
            if not self._tries:
                self._measure(now_ns)
            return _ANSWERED
        return self._receive_slowly(buffer, size, now_ns)

    def _measure(self, now_ns: int) -> None:
        """Learn from a round trip; by our own clock, for what an answer echoes may be wrong."""
        error_ns = now_ns - self._sent_ns - self._round_trip_ns
        self._round_trip_ns += error_ns >> 3
        self._spread_ns += (abs(error_ns) - self._spread_ns) >> 2
        patience_ns = self._round_trip_ns + 4 * self._spread_ns
        self.patience_ns = min(max(patience_ns, LEAST_PATIENCE_NS), MOST_PATIENCE_NS)

    def _receive_slowly(self, buffer: bytearray, size: int, now_ns: int) -> Reply:
        header = parse(buffer, size, self.wire.key)
        if isinstance(header, Drop):
            return self._drop(header)
        if header.session != self.session:
            return self._drop(Drop.SESSION)
        if header.kind == Kind.PING | ANSWER:
            return Reply.NOTHING
        if header.sequence != self.sequence or not self._open:
            return self._drop(Drop.STALE)
        if header.task != self.wire.number:
            return self._drop(Drop.TASK)
        wanted = self._request[4] | ANSWER
        if header.kind not in (wanted, Kind.ERROR | ANSWER):
            return self._drop(Drop.KIND)
        self.packed_times = buffer[TIMES_AT:HEADER_SIZE]
        self.peer_state = _STATES[header.state]
        self.peer_flags = header.flags
        payload = bytes(buffer[HEADER_SIZE : HEADER_SIZE + header.length])
        if header.kind == Kind.ERROR | ANSWER:
            self._open, self._answer_head = False, b""
            self.text = payload.decode(errors="replace")
            return Reply.BUSY if header.flags & Flag.BUSY else Reply.ERROR
        return self._answered(header, payload, now_ns)

    def _answered(self, header: Header, payload: bytes, now_ns: int) -> Reply:
        kind = header.kind & ~ANSWER
        if kind in (Kind.HELLO, Kind.FINAL, Kind.STOP):
            self.text = payload.decode(errors="replace")
        elif header.layout_id != self.wire.layout_id:
            return self._drop(Drop.LAYOUT)
        elif header.length != self.wire.size_out:
            return self._drop(Drop.LENGTH)
        elif not self._tries:
            self._measure(now_ns)
        self._open, self._answer_head = False, b""
        return Reply.ANSWER

    def _drop(self, reason: Drop) -> Reply:
        self.dropped[reason] += 1
        return Reply.NOTHING

    def heard(self) -> Hello:
        """What the last HELLO's answer said."""
        return unpack_hello(self.text.encode())


_STATES = tuple(State(min(number, State.STOPPED)) for number in range(256))


@dataclass(frozen=True)
class Work:
    """The module shall run: INIT, STEP, FINAL or STOP, in this order."""

    kinds: tuple[Kind, ...]
    answer: bool


@dataclass(frozen=True)
class Send:
    """Send this and do nothing else."""

    data: bytes


class Responder:
    """The module's end of its task."""

    payload_at = HEADER_SIZE

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.state = State.IDLE
        self.flags = 0
        self.session: int | None = None
        """The run that holds the module."""
        self.holder = ""
        self.dropped: Counter[Drop] = Counter()
        self.repeats = 0
        self._sequence = 0
        self._served = 0
        """The session of the last request, also after its FINAL."""
        self._answer: bytes | None = None
        self._heard_ns = 0
        self._request: tuple[int, bytes | bytearray, int] = (0, bytes(8), 0)
        """kind, sent_ns (as it came) and arrival of the request under way."""
        self._step_head = b""
        """How the next STEP begins, if all is well."""
        self._answer_head = b""
        self._size_in = HEADER_SIZE + wire.size_in

    def receive(self, buffer: bytearray, size: int, now_ns: int, peer: str = "") -> Work | Send | None:
        """What a datagram asks for; a request's payload starts at HEADER_SIZE of the buffer."""
        if size == self._size_in and buffer[:TIMES_AT] == self._step_head:
            self._sequence = (self._sequence + 1) & 0xFFFF_FFFF
            self._heard_ns = now_ns
            self._request = (_STEP_NUMBER, buffer[TIMES_AT : TIMES_AT + 8], now_ns)
            self._answer, self._step_head = None, b""
            return _STEP_WORK
        header = parse(buffer, size, self.wire.key)
        if isinstance(header, Drop):
            return self._drop(header)
        if header.task != self.wire.number and header.kind != Kind.HELLO:
            return self._drop(Drop.TASK)
        if header.kind == Kind.HELLO:
            return self._hello(header, now_ns)
        return self._request_of(header, now_ns, peer)

    def _request_of(self, header: Header, now_ns: int, peer: str) -> Work | Send | None:
        if header.kind not in _REQUESTS:
            return self._drop(Drop.KIND)
        if header.session == self._served and header.kind != Kind.PING:
            if header.sequence == self._sequence:
                return self._again(now_ns)
            if not is_newer(header.sequence, self._sequence):
                return self._drop(Drop.STALE)
        if header.kind != Kind.PING and header.layout_id != self.wire.layout_id:
            return self._drop(Drop.LAYOUT)
        if header.kind in (Kind.INIT, Kind.STEP, Kind.FINAL) and header.length != self.wire.size_in:
            return self._drop(Drop.LENGTH)
        if self.session is not None and header.session != self.session:
            return self._of_another(header, now_ns, peer)
        if header.kind == Kind.PING:
            return self._ping(header, now_ns)
        return self._in_session(header, now_ns, peer)

    def _of_another(self, header: Header, now_ns: int, peer: str) -> Work | Send | None:
        """A master that does not hold the module takes it over if the one that does has gone."""
        no_answer = bool(header.flags & Flag.NO_ANSWER)
        if now_ns - self._heard_ns >= HOLD_NS:
            if header.kind == Kind.INIT:
                return self._accept(header, now_ns, peer, (Kind.FINAL, Kind.INIT))
            if header.kind == Kind.STEP and no_answer:
                return self._accept(header, now_ns, peer, (Kind.FINAL, Kind.INIT, Kind.STEP))
        return self._drop(Drop.SESSION) if no_answer else self._busy(header)

    def _in_session(self, header: Header, now_ns: int, peer: str) -> Work | Send | None:
        no_answer = bool(header.flags & Flag.NO_ANSWER)
        kind = Kind(header.kind)
        if kind is Kind.STEP and self.session is None:
            if not no_answer:
                text = "the module is not in this run: was it started anew?"
                return self._reply(header._replace(kind=Kind.ERROR), text.encode(), 0, now_ns)
            return self._accept(header, now_ns, peer, (Kind.INIT, Kind.STEP))
        if kind is Kind.INIT and self.session == header.session:
            return self._drop(Drop.KIND)
        return self._accept(header, now_ns, peer, (kind,))

    def _accept(self, header: Header, now_ns: int, peer: str, kinds: tuple[Kind, ...]) -> Work:
        self._note(header, now_ns)
        if Kind.INIT in kinds:
            self.session = header.session
            self.holder = f"session {header.session:08x} of {peer}"
        if kinds[-1] in (Kind.FINAL, Kind.STOP):
            self.release()
        return Work(kinds, not header.flags & Flag.NO_ANSWER)

    def _note(self, header: Header, now_ns: int) -> None:
        self._served, self._sequence, self._heard_ns = header.session, header.sequence, now_ns
        self._request = (header.kind, header.sent_ns.to_bytes(8, "little", signed=True), now_ns)
        self._answer, self._step_head, self._answer_head = None, b"", b""

    def release(self) -> None:
        """The run is over: any master may start the next."""
        self.session, self.holder, self._step_head = None, "", b""

    def prepare(self) -> None:
        """Make what the next STEP and its answer begin with; best called while nobody waits for it.

        Not with a key: a signed STEP takes the slow way, where it is verified.
        """
        wire = self.wire
        if self.session is None or wire.key is not None:
            return
        ids = wire.layout_id, self.session
        following = (self._sequence + 1) & 0xFFFF_FFFF
        self._step_head = HEAD.pack(MAGIC, _STEP_NUMBER, 0, 0, *ids, following, wire.number, wire.size_in)
        self._answer_head = HEAD.pack(
            MAGIC, _STEP_ANSWER, _RUN_NUMBER, 0, *ids, following, wire.number, wire.size_out
        )

    def answer(self, payload: bytes | bytearray, now_ns: int) -> bytes:
        """The answer to the request under way; kept for repeats."""
        if self._answer_head and not self.flags:
            _, echo, recv_ns = self._request
            self._answer = data = self._answer_head + ECHOED.pack(now_ns, echo, recv_ns) + payload
            return data
        return self._made(self._request[0], payload, self.flags, now_ns)

    def error(self, text: str, now_ns: int, flags: int = 0) -> bytes:
        """The same, when the request could not be served."""
        room = 60_000
        return self._made(Kind.ERROR, text.encode()[:room], flags, now_ns)

    def _made(self, kind: int, payload: bytes | bytearray, flags: int, now_ns: int) -> bytes:
        _, echo, recv_ns = self._request
        echo_ns = int.from_bytes(echo, "little", signed=True)
        wire = self.wire
        self._answer = data = build(
            kind | ANSWER, payload, state=self.state, flags=flags, layout_id=wire.layout_id,
            session=self._served, sequence=self._sequence, task=wire.number,
            sent_ns=now_ns, echo_ns=echo_ns, recv_ns=recv_ns, key=wire.key,
        )  # fmt: skip
        return data

    def _again(self, now_ns: int) -> Send | None:
        self.repeats += 1
        if self._served == self.session:
            self._heard_ns = now_ns
        return Send(self._answer) if self._answer is not None else None

    def _hello(self, header: Header, now_ns: int) -> Send:
        wire = self.wire
        silent = now_ns - self._heard_ns >= HOLD_NS
        held = self.session is not None and self.session != header.session and not silent
        words = Hello(wire.name, wire.layout_in, wire.layout_out, self.holder if held else "")
        return self._reply(header, pack_hello(words), Flag.BUSY if held else 0, now_ns)

    def _ping(self, header: Header, now_ns: int) -> Send | None:
        if header.session == self.session:
            self._heard_ns = now_ns
        return self._reply(header, b"", 0, now_ns)

    def _busy(self, header: Header) -> Send:
        text = f"the module is held by {self.holder}"
        reply = Header._replace(header, kind=Kind.ERROR)
        return self._reply(reply, text.encode(), Flag.BUSY, header.sent_ns)

    def _reply(self, header: Header, payload: bytes, flags: int, now_ns: int) -> Send:
        """An answer outside the exchange, never larger than what asked for it."""
        data = build(
            header.kind | ANSWER, payload[: header.length], state=self.state, flags=flags,
            layout_id=self.wire.layout_id, session=header.session, sequence=header.sequence,
            task=header.task, sent_ns=now_ns, echo_ns=header.sent_ns, recv_ns=now_ns, key=self.wire.key,
        )  # fmt: skip
        return Send(data)

    def _drop(self, reason: Drop) -> Work | Send | None:
        self.dropped[reason] += 1
        return None


STEP_ONLY = (Kind.STEP,)
_STEP_WORK = Work(STEP_ONLY, True)
_REQUESTS = frozenset({Kind.INIT, Kind.STEP, Kind.FINAL, Kind.STOP, Kind.PING})
