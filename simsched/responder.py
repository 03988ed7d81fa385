"""The module's end of a task's line: requests in, work and answers out, each exactly once.

Pure: see `exchange.py`.
"""

from __future__ import annotations

from collections import Counter

from simsched.datagram import (
    ANSWER,
    ECHOED,
    HEADER_SIZE,
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
)
from simsched.exchange import HOLD_NS, SEQUENCE, STEP_NUMBER, STEP_ONLY, Send, Wire, Work
from simsched.states import State

_STEP_WORK = Work(STEP_ONLY, True)
_REQUESTS = frozenset({Kind.INIT, Kind.STEP, Kind.FINAL, Kind.STOP, Kind.PING})


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
        self._step_head = self._answer_head = bytearray()
        """How the next STEP and the answer to this one begin, if all is well."""
        self._short = False
        """Whether the request under way came on the short way."""
        self._size_in = HEADER_SIZE + wire.size_in

    def receive(self, buffer: bytearray, size: int, now_ns: int, peer: str = "") -> Work | Send | None:
        """What a datagram asks for; a request's payload starts at HEADER_SIZE of the buffer."""
        if size == self._size_in and buffer[:TIMES_AT] == self._step_head:
            self._answer_head[SEQUENCE] = self._step_head[SEQUENCE]
            self._expect_after((self._sequence + 1) & 0xFFFF_FFFF)
            self._heard_ns = now_ns
            self._request = (STEP_NUMBER, buffer[TIMES_AT : TIMES_AT + 8], now_ns)
            self._answer, self._short = None, True
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
        if Kind.INIT in kinds:
            self.session = header.session
            self.holder = f"session {header.session:08x} of {peer}"
            self._step_head, self._answer_head = self.wire.heads(header.session)
        self._note(header, now_ns)
        if kinds[-1] in (Kind.FINAL, Kind.STOP):
            self.release()
        return Work(kinds, not header.flags & Flag.NO_ANSWER)

    def _note(self, header: Header, now_ns: int) -> None:
        self._served, self._heard_ns = header.session, now_ns
        self._expect_after(header.sequence)
        self._request = (header.kind, header.sent_ns.to_bytes(8, "little", signed=True), now_ns)
        self._answer, self._short = None, False

    def release(self) -> None:
        """The run is over: any master may start the next."""
        self.session, self.holder, self._step_head = None, "", bytearray()

    def _expect_after(self, sequence: int) -> None:
        """Note the number of the request under way, and make the head of the STEP that follows."""
        self._sequence = sequence
        if self._step_head:
            self._step_head[SEQUENCE] = ((sequence + 1) & 0xFFFF_FFFF).to_bytes(4, "little")

    def answer(self, payload: bytes | bytearray, now_ns: int) -> bytes:
        """The answer to the request under way; kept for repeats."""
        if self._short and not self.flags:
            _, echo, recv_ns = self._request
            times = ECHOED.pack(now_ns, echo, recv_ns)
            self._answer = data = b"".join((self._answer_head, times, payload))
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
