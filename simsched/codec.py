"""Both directions of one task at its module: packed In bytes → attributes → packed Out bytes.

Pure: no I/O. Where a task returns what it was sent (`Keys`), most fields were left alone. An
attribute that is still the very object that was set needs no packing: a number cannot have changed,
and an array is a view of the received bytes, so what was done to it in place stands there already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from simsched.database import COMMON, Field
from simsched.values import Namespace, Packer, Unpacker, is_vector, packer_of

Piece = tuple[str, int, int, Callable[[Any], bytes]]
"""A field, from where to where its bytes are, and how to pack it if it is another object now."""


class Codec:
    """What a module's manager does at each step."""

    def __init__(self, reads: Iterable[Field], writes: Iterable[Field], task: str) -> None:
        members, results = tuple(reads), tuple(writes)
        self._unpacker = Unpacker(members)
        self._packer = Packer(results, task)
        self._payload: bytearray | None = None
        self._vectors: list[Any] = []
        self.scatter = self._unpacker.scatter
        self.gather: Callable[[Namespace], bytes | bytearray] = self._packer.gather
        if members == results:
            self.scatter = self._scatter_and_note
            self.gather = self._gather_what_changed
        pieces = [
            (member, (member.name, start, start + member.layout.size, packer_of(member, task)))
            for member, start in zip(results, self._packer.layout.offsets, strict=True)
            if member.name not in COMMON  # the master's: what a module leaves there is not looked at
        ]
        self._vector_pieces = tuple(piece for member, piece in pieces if is_vector(member, piece[1]))
        self._other_pieces = tuple(piece for member, piece in pieces if not is_vector(member, piece[1]))

    def _scatter_and_note(self, payload: bytearray, into: Namespace) -> None:
        """Set each field; `payload` must be the caller's gift: arrays keep it alive."""
        self._unpacker.scatter(payload, into)
        self._payload = payload
        self._vectors = [into[piece[0]] for piece in self._vector_pieces]

    def _gather_what_changed(self, values: Namespace) -> bytes | bytearray:
        """The Out payload; ResultError names the task and the field that does not fit."""
        if self._payload is None:
            return self._packer.gather(values)
        out = self._payload[:]  # a copy: the module may have kept a view of what came
        try:
            for piece, given in zip(self._vector_pieces, self._vectors, strict=True):
                value = values[piece[0]]
                if value is not given:
                    out[piece[1] : piece[2]] = piece[3](value)
            for name, start, stop, pack in self._other_pieces:
                out[start:stop] = pack(values[name])
        except KeyError:
            return self._packer.gather(values)  # which says what is gone
        return out
