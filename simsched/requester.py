"""The master's end of a task's line: requests out, answers in, each exactly once.

Pure: see `exchange.py`.
"""

from __future__ import annotations

from collections import Counter

from simsched.datagram import (
    ANSWER,
    HEADER_SIZE,
    TIMES,
    TIMES_AT,
    Drop,
    Flag,
    Header,
    Hello,
    Kind,
    build,
    pack_hello,
    parse,
    unpack_hello,
)
from simsched.exchange import (
    FIRST_PATIENCE_NS,
    HELLO_PATIENCE_NS,
    HELLO_ROOM,
    LEAST_PATIENCE_NS,
    MOST_PATIENCE_NS,
    SEQUENCE,
    Reply,
    Wire,
)
from simsched.states import State

# plain names for what the loop uses: on Python 3.11 a member of an enumeration is found by a hook, slowly
_STEP = Kind.STEP
_RUN = State.RUN
_ANSWER = Reply.ANSWER
_STATES = tuple(State(min(number, State.STOPPED)) for number in range(256))


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
        self._step_head, self._answer_head = wire.heads(session)
        self._short = False
        """Whether the request under way is a STEP whose answer is known by its head."""
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
        self._short = kind is _STEP and bool(self._step_head) and not flags
        if self._short:
            self._step_head[SEQUENCE] = self._answer_head[SEQUENCE] = sequence.to_bytes(4, "little")
            self._request = request = b"".join((self._step_head, TIMES.pack(now_ns, 0, 0), payload))
        else:
            self._request = request = build(
                kind, payload, flags=flags, layout_id=wire.layout_id, session=self.session,
                sequence=sequence, task=wire.number, sent_ns=now_ns, key=wire.key,
            )  # fmt: skip
        self._open = True
        self._tries = 0
        self._sent_ns = now_ns
        self._repeat_ns = now_ns + self.patience_ns
        return request

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
        if self._short and size == self._answer_size and buffer[:TIMES_AT] == self._answer_head:
            self.peer_state, self.peer_flags = _RUN, 0
            self.packed_times = buffer[TIMES_AT:HEADER_SIZE]
            self._short = self._open = False
            if not self._tries:
                self._measure(now_ns)
            return _ANSWER
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
            self._short = self._open = False
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
        self._short = self._open = False
        return Reply.ANSWER

    def _drop(self, reason: Drop) -> Reply:
        self.dropped[reason] += 1
        return Reply.NOTHING

    def heard(self) -> Hello:
        """What the last HELLO's answer said."""
        return unpack_hello(self.text.encode())
