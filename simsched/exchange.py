"""Exactly once over a lossy network: what the two ends of a task's line have in common.

Pure, as in h11: bytes and a clock reading in, events and bytes out. The master (`requester.py`)
numbers its requests and repeats each until it is answered; a module (`responder.py`) answers a
repeat from its cached answer without running again. Whatever does not belong to the exchange is
dropped and counted by reason.

All of a STEP's header but its times is known beforehand, at both ends. Each keeps the heads of a
STEP and of its answer, sets the sequence number in them, and takes what begins with exactly those
bytes on the short way; everything else is parsed and judged field by field.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from simsched.datagram import ANSWER, HEAD, MAGIC, Kind
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

# plain numbers for what the loop uses: on Python 3.11 a member of an enumeration is found by a hook, slowly
STEP_NUMBER = int(Kind.STEP)
SEQUENCE = slice(16, 20)
"""Where a head holds its sequence number."""
_STEP_ANSWER = int(Kind.STEP | ANSWER)
_RUN = int(State.RUN)


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

    def heads(self, session: int) -> tuple[bytearray, bytearray]:
        """How a STEP and its answer begin, up to their times, if all is well with the module.

        With a key there are none: what is signed takes the long way, where it is verified.
        """
        if self.key is not None:
            return bytearray(), bytearray()
        ids = self.layout_id, session, 0, self.number
        step = HEAD.pack(MAGIC, STEP_NUMBER, 0, 0, *ids, self.size_in)
        return bytearray(step), bytearray(HEAD.pack(MAGIC, _STEP_ANSWER, _RUN, 0, *ids, self.size_out))


class Reply(Enum):
    """What a datagram that came to the master meant."""

    NOTHING = 0
    ANSWER = 1
    ERROR = 2
    BUSY = 3


@dataclass(frozen=True)
class Work:
    """The module shall run: INIT, STEP, FINAL or STOP, in this order."""

    kinds: tuple[Kind, ...]
    answer: bool


@dataclass(frozen=True)
class Send:
    """Send this and do nothing else."""

    data: bytes


STEP_ONLY = (Kind.STEP,)
