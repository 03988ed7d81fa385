"""The wire, version 1: a header of 48 bytes, the payload, and with a key 16 bytes of BLAKE2s.

Pure: bytes in, values out; nothing here knows a socket or a clock. All numbers little-endian.

    offset  0  magic 'SSD1'      8  layout id     20  task number     24  sent_ns
            4  kind             12  session       22  payload length  32  echo_ns
            5  sender's state   16  sequence                          40  recv_ns
            6  flags

An answer is the request's kind with the top bit set, echoes `sent_ns` of the request and adds when
that request arrived, so every exchange measures round trip, compute time and clock offset.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from enum import IntEnum, IntFlag
from typing import NamedTuple

from simsched.states import Message

MAGIC = b"SSD1"
HEADER = struct.Struct("<4sBBHIIIHHqqq")
HEADER_SIZE = HEADER.size
MAC_SIZE = 16
MOST_KEY = 32
"""The longest key that BLAKE2s takes [bytes]."""
ANSWER = 0x80

TIMES = struct.Struct("<qqq")
TIMES_AT = 24
HEAD = struct.Struct("<4sBBHIIIHH")
"""What of a header is known before its times are."""
ECHOED = struct.Struct("<q8sq")
"""The times of an answer, the request's own carried over as bytes."""


class Kind(IntEnum):
    """What a datagram is for; the first four move the state machine and are the values of `cmd`."""

    INIT = Message.INIT
    STEP = Message.STEP
    FINAL = Message.FINAL
    STOP = Message.STOP
    HELLO = 8
    PING = 9
    ERROR = 10


class Flag(IntFlag):
    """Bits of the header's flags."""

    NO_ANSWER = 1
    """On a request: do not answer."""
    BUSY = 2
    """On an answer: the module is in a run of another session."""
    STOPPING = 4
    """On an answer: the module asks to end the run; FINAL's answer tells why."""
    SIGNED = 8
    """16 bytes of keyed BLAKE2s follow the payload."""


class Drop(IntEnum):
    """Why a datagram was dropped: counted and shown, never raised."""

    SHORT = 0
    FOREIGN = 1
    LENGTH = 2
    SIGNATURE = 3
    KIND = 4
    LAYOUT = 5
    TASK = 6
    SESSION = 7
    STALE = 8

    @property
    def label(self) -> str:
        return self.name.lower()


class Header(NamedTuple):
    """The twelve values of a header."""

    magic: bytes
    kind: int
    state: int
    flags: int
    layout_id: int
    session: int
    sequence: int
    task: int
    length: int
    sent_ns: int
    echo_ns: int
    recv_ns: int


def signature(key: bytes, data: bytes | bytearray | memoryview) -> bytes:
    """The 16 bytes that prove who sent these."""
    return hashlib.blake2s(data, key=key, digest_size=MAC_SIZE).digest()


def parse(buffer: bytearray, size: int, key: bytes | None) -> Header | Drop:
    """The header of a datagram whose frame is sound, or why it is not."""
    if size < HEADER_SIZE:
        return Drop.SHORT
    header = Header._make(HEADER.unpack_from(buffer))
    if header.magic != MAGIC:
        return Drop.FOREIGN
    trailer = MAC_SIZE if header.flags & Flag.SIGNED else 0
    if size != HEADER_SIZE + header.length + trailer:
        return Drop.LENGTH
    if bool(trailer) != (key is not None):
        return Drop.SIGNATURE
    if key is not None:
        body = memoryview(buffer)[: size - MAC_SIZE]
        if not hmac.compare_digest(signature(key, body), bytes(buffer[size - MAC_SIZE : size])):
            return Drop.SIGNATURE
    return header


def build(
    kind: int,
    payload: bytes | bytearray | memoryview = b"",
    *,
    state: int = 0,
    flags: int = 0,
    layout_id: int = 0,
    session: int = 0,
    sequence: int = 0,
    task: int = 0,
    sent_ns: int = 0,
    echo_ns: int = 0,
    recv_ns: int = 0,
    key: bytes | None = None,
) -> bytes:
    """One whole datagram."""
    if key is not None:
        flags |= Flag.SIGNED
    header = HEADER.pack(
        MAGIC, kind, state, flags, layout_id, session, sequence, task, len(payload),
        sent_ns, echo_ns, recv_ns,
    )  # fmt: skip
    data = header + payload
    return data if key is None else data + signature(key, data)


class Hello(NamedTuple):
    """What a HELLO carries: who one is, and how one reads the task."""

    name: str
    layout_in: str
    layout_out: str
    holder: str = ""
    """In answers: who has the module in a run, if anybody."""


def pack_hello(hello: Hello, size: int = 0) -> bytes:
    """The payload of a HELLO, padded to `size` with NULs (an answer may not be larger)."""
    return "\0".join(hello).encode().ljust(size, b"\0")


def unpack_hello(payload: bytes) -> Hello:
    """The reverse; missing parts are empty, unreadable bytes are replaced."""
    parts = payload.decode(errors="replace").split("\0")
    return Hello(*(parts + [""] * 4)[:4])


def is_newer(sequence: int, than: int) -> bool:
    """Whether a sequence number comes after another, across the wrap at 2**32."""
    return 0 < (sequence - than) & 0xFFFF_FFFF < 0x8000_0000
