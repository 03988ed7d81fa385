"""Raw tasks: the packed fields alone, for legacy modules and simple devices that know no header.

Pure. Both ends have the face of `exchange.py`'s, so that the rest of the house need not know. The
state machine travels in the field `cmd`, if the task names it; there is no protection against loss,
save that INIT is repeated until the device has answered for the first time.
"""

from __future__ import annotations

import struct
from collections import Counter

from simsched.datagram import TIMES, Drop, Hello, Kind
from simsched.exchange import HELLO_PATIENCE_NS, MOST_PATIENCE_NS, Reply, Send, Wire, Work
from simsched.states import State

_NEVER = 1 << 62
_CMD = struct.Struct("<q")


class RawRequester:
    """The master's end of a raw task."""

    payload_at = 0

    def __init__(self, wire: Wire, session: int, sequence: int = 0) -> None:
        self.wire = wire
        self.session = session
        self.sequence = sequence
        self.dropped: Counter[Drop] = Counter()
        self.repeats = 0
        self.peer_state = State.IDLE
        self.peer_flags = 0
        self.text = ""
        self.packed_times = bytes(TIMES.size)
        self.repeat_ns = _NEVER
        self.is_starting = True
        """Whether the first answer is still waited for: the device may not be there yet."""
        self._request = b""
        self._is_init = False
        self._sent_ns = 0

    def request(self, kind: Kind, payload: bytes | bytearray, now_ns: int, flags: int = 0) -> bytes:
        """The packed fields are the datagram."""
        self._request, self._sent_ns = bytes(payload), now_ns
        self._is_init = kind is Kind.INIT
        self.repeat_ns = now_ns + MOST_PATIENCE_NS if self._is_init else _NEVER
        return self._request

    def repeat(self, now_ns: int) -> bytes | None:
        """INIT again, if its time has come: the device may have been switched on late."""
        if now_ns < self.repeat_ns:
            return None
        self.repeats += 1
        self.repeat_ns = now_ns + MOST_PATIENCE_NS if self._is_init else _NEVER
        return self._request

    def retry_soon(self, now_ns: int) -> None:
        """Nobody was there to hear the request, so that it can be repeated without harm."""
        self.repeat_ns = min(self.repeat_ns, now_ns + HELLO_PATIENCE_NS)

    def waited_ns(self, now_ns: int) -> int:
        return now_ns - self._sent_ns

    def receive(self, buffer: bytearray, size: int, now_ns: int) -> Reply:
        """Whatever has the right size is the answer."""
        if size != self.wire.size_out:
            self.dropped[Drop.LENGTH] += 1
            return Reply.NOTHING
        self.packed_times = TIMES.pack(now_ns, self._sent_ns, now_ns)
        self.repeat_ns = _NEVER
        self.is_starting = False
        return Reply.ANSWER

    def heard(self) -> Hello:
        return Hello(self.wire.name, self.wire.layout_in, self.wire.layout_out)


class RawResponder:
    """A Python module at the end of a raw line."""

    payload_at = 0

    def __init__(self, wire: Wire, cmd_at: int | None, no_answer: bool = False) -> None:
        self.wire = wire
        self.state = State.IDLE
        self.flags = 0
        self.session: int | None = None
        self.holder = ""
        self.dropped: Counter[Drop] = Counter()
        self.repeats = 0
        self._cmd_at = cmd_at
        self._no_answer = no_answer

    def receive(self, buffer: bytearray, size: int, now_ns: int, peer: str = "") -> Work | Send | None:
        """What `cmd` says; without one, every datagram is a step and the first one the start too."""
        if size != self.wire.size_in:
            self.dropped[Drop.LENGTH] += 1
            return None
        kind = Kind.STEP if self._cmd_at is None else self._kind(buffer)
        if kind is None:
            self.dropped[Drop.KIND] += 1
            return None
        return Work(self._kinds(kind), not self._no_answer)

    def _kind(self, buffer: bytearray) -> Kind | None:
        number = _CMD.unpack_from(buffer, self._cmd_at or 0)[0]
        return Kind(number) if Kind.INIT <= number <= Kind.STOP else None

    def _kinds(self, kind: Kind) -> tuple[Kind, ...]:
        running = self.state is State.RUN
        if kind is Kind.STEP and not running:
            return Kind.INIT, Kind.STEP
        if kind is Kind.INIT and running:
            return Kind.FINAL, Kind.INIT
        return (kind,)

    def answer(self, payload: bytes | bytearray, now_ns: int) -> bytes:
        """The packed fields are the datagram, also where a header would carry words."""
        return bytes(payload) if len(payload) == self.wire.size_out else bytes(self.wire.size_out)

    def error(self, text: str, now_ns: int, flags: int = 0) -> bytes:
        """A raw line has no words for an error: the master will miss the answer."""
        return b""

    def release(self) -> None:
        self.session = None
