"""What a value is in bytes: the one table of types, and the packed layout of a list of fields.

Pure: no I/O. Little-endian, packed, no padding, in declared order, so that a layout is at the same
time a `struct` format (which cppystruct clones in C++), a numpy dtype, a `construct` Struct and a
canonical text such as `t:f8,U:f8[3]`. The CRC-32 of that text is the *layout id* that every
datagram carries: two ends that disagree on a field find out before they exchange a number.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import construct

UDP_LIMIT = 65_507
"""The largest payload of a UDP datagram over IPv4 [bytes]."""


@dataclass(frozen=True)
class Type:
    """One row of the table: how one element of a field is written by each of our tools."""

    code: str
    dtype: str
    struct_code: str
    construct_name: str
    cpp: str
    per_element: int = 1
    """How many struct items one element takes (a quaternion: 4)."""

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize * self.per_element

    @property
    def is_float(self) -> bool:
        return self.struct_code in "fd"


TYPES: dict[str, Type] = {
    row.code: row
    for row in (
        Type("f8", "<f8", "d", "Float64l", "double"),
        Type("f4", "<f4", "f", "Float32l", "float"),
        Type("i8", "<i8", "q", "Int64sl", "std::int64_t"),
        Type("i4", "<i4", "i", "Int32sl", "std::int32_t"),
        Type("i2", "<i2", "h", "Int16sl", "std::int16_t"),
        Type("i1", "|i1", "b", "Int8sl", "std::int8_t"),
        Type("u8", "<u8", "Q", "Int64ul", "std::uint64_t"),
        Type("u4", "<u4", "I", "Int32ul", "std::uint32_t"),
        Type("u2", "<u2", "H", "Int16ul", "std::uint16_t"),
        Type("u1", "|u1", "B", "Int8ul", "std::uint8_t"),
        Type("b1", "|b1", "?", "Flag", "bool"),
        Type("quat", "<f8", "d", "Float64l", "simsched::quaternion", 4),
        Type("S", "|u1", "s", "Bytes", "simsched::bytes"),
    )
}
"""`code` is what canonical texts, YAML and messages call a type."""


@dataclass(frozen=True)
class FieldLayout:
    """Name, type and shape of one field.

    `shape` is `()` for a single number, be it Python's, numpy's or a 0-d array, and for a single
    quaternion; fixed-size bytes (`S`) have their length as their shape.
    """

    name: str
    type: Type
    shape: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many struct items the field has."""
        return math.prod(self.shape) * self.type.per_element

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.type.itemsize

    @property
    def text(self) -> str:
        """`U:f8[3]`, `q_IB:quat`, `id:S16`."""
        if self.type.code == "S":
            return f"{self.name}:S{self.shape[0]}"
        shape = f"[{','.join(map(str, self.shape))}]" if self.shape else ""
        return f"{self.name}:{self.type.code}{shape}"

    @property
    def struct_format(self) -> str:
        return self.type.struct_code if self.count == 1 and not self.shape else self._repeated

    @property
    def _repeated(self) -> str:
        return f"{self.count}{self.type.struct_code}"

    @property
    def dtype(self) -> np.dtype[Any]:
        shape = (*self.shape, 4) if self.type.code == "quat" else self.shape
        return np.dtype((self.type.dtype, shape))


@dataclass(frozen=True)
class Layout:
    """The packed bytes of some fields, in their order."""

    fields: tuple[FieldLayout, ...]
    offsets: tuple[int, ...] = field(init=False)
    size: int = field(init=False)

    def __init__(self, fields: Iterable[FieldLayout]) -> None:
        members = tuple(fields)
        offsets, position = [], 0
        for member in members:
            offsets.append(position)
            position += member.size
        object.__setattr__(self, "fields", members)
        object.__setattr__(self, "offsets", tuple(offsets))
        object.__setattr__(self, "size", position)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.fields)

    @property
    def text(self) -> str:
        """The canonical text, `t:f8,U:f8[3]`."""
        return ",".join(member.text for member in self.fields)

    @property
    def struct_format(self) -> str:
        """What `struct` and cppystruct call this layout, `<d3d`."""
        return "<" + "".join(member.struct_format for member in self.fields)

    @property
    def struct(self) -> struct.Struct:
        return struct.Struct(self.struct_format)

    @property
    def dtype(self) -> np.dtype[Any]:
        """A packed structured dtype: `np.frombuffer(payload, layout.dtype)`."""
        return np.dtype([(member.name, member.dtype) for member in self.fields])

    @property
    def construct(self) -> construct.Struct[Any, Any]:
        """The same as a `construct` Struct, for tools and as an independent decoder."""
        import construct

        parts = []
        for member in self.fields:
            if member.type.code == "S":
                parsed: Any = construct.Bytes(member.shape[0])
            else:
                parsed = getattr(construct, member.type.construct_name)
                if member.shape or member.type.per_element > 1:
                    parsed = construct.Array(member.count, parsed)
            parts.append(member.name / parsed)
        return construct.Struct(*parts)

    def offset(self, name: str) -> int:
        """Where a field begins [bytes]."""
        return self.offsets[self.names.index(name)]


def layout_id(*texts: str) -> int:
    """The number that stands for these canonical texts in every datagram."""
    return zlib.crc32("|".join(texts).encode())


def first_difference(ours: str, theirs: str) -> str:
    """Which field two canonical texts first disagree on, as words for a message.

    >>> first_difference("t:f8,U:f8[3]", "t:f8,U:f4[3]")
    "field 2 is 'U:f8[3]' here and 'U:f4[3]' there"
    """
    here, there = _split(ours), _split(theirs)
    for place in range(max(len(here), len(there))):
        mine = here[place] if place < len(here) else None
        other = there[place] if place < len(there) else None
        if mine != other:
            return f"field {place + 1} is {_quoted(mine)} here and {_quoted(other)} there"
    return "the layouts are equal"


def _quoted(text: str | None) -> str:
    return "missing" if text is None else f"'{text}'"


def _split(text: str) -> list[str]:
    """Split at the commas between fields, not at those inside `[3,3]`."""
    parts: list[str] = []
    for piece in text.split(",") if text else []:
        if parts and "[" in parts[-1] and "]" not in parts[-1]:
            parts[-1] += "," + piece
        else:
            parts.append(piece)
    return parts
