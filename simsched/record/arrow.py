"""How fields stand in an Arrow stream, and how they are read from one.

One column per field: numbers as such, vectors and matrices as fixed-size lists in C order,
quaternions as lists of w, x, y, z, fixed-size bytes as fixed-size binary. The metadata of a column
holds all that is needed to make the `Field` again, under keys that begin with `simsched.`; so does
the metadata of the schema for what belongs to the whole run.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simsched.database import Field
from simsched.layout import TYPES, FieldLayout, Layout
from simsched.record.optional import need
from simsched.results import Array, unpacked
from simsched.values import pack_value

FORMAT = "1"
"""Changes when an older reader could no longer understand a recording."""

PREFIX = "simsched."
FORMAT_KEY = PREFIX + "format"
VERSION_KEY = PREFIX + "version"
INITIAL_KEY = PREFIX + "initial"
EVERY_KEY = PREFIX + "every"
SUMMARY_KEY = PREFIX + "summary"

_ARROW_NAMES = {
    "f8": "float64",
    "f4": "float32",
    "i8": "int64",
    "i4": "int32",
    "i2": "int16",
    "i1": "int8",
    "u8": "uint64",
    "u4": "uint32",
    "u2": "uint16",
    "u1": "uint8",
    "b1": "bool_",
    "quat": "float64",
}

_CODES = "|".join(code for code in TYPES if code != "S")
_LAYOUT_TEXT = re.compile(rf"(.+):(?:S(?P<length>\d+)|(?P<code>{_CODES})(?:\[(?P<shape>[\d,]+)\])?)")


class ArrowTable:
    """Some fields as Arrow columns: their schema, and rows to batches and back."""

    def __init__(self, fields: Mapping[str, Field], metadata: Mapping[str, str] | None = None) -> None:
        self.pa = need("pyarrow", "recording")
        self.fields = dict(fields)
        self.dtype = Layout(member.layout for member in fields.values()).dtype
        columns = [self._column(member) for member in fields.values()]
        self.schema = self.pa.schema(columns, metadata=dict(metadata or {}))

    def _column(self, member: Field) -> Any:
        kind = arrow_type(self.pa, member.layout)
        return self.pa.field(member.name, kind, metadata=_remarks(member))

    def batch(self, rows: Array) -> Any:
        """A record batch of packed rows, which may hold further fields."""
        arrays = [self._array(member, rows[name].copy()) for name, member in self.fields.items()]
        return self.pa.record_batch(arrays, schema=self.schema)

    def _array(self, member: Field, values: Array) -> Any:
        kind = arrow_type(self.pa, member.layout)
        if not _is_list(member.layout):
            return self._plain(kind, member.layout, values)
        items = self._plain(kind.value_type, member.layout, values)
        return self.pa.FixedSizeListArray.from_arrays(items, member.layout.count)

    def _plain(self, kind: Any, layout: FieldLayout, values: Array) -> Any:
        """An array straight from its buffer: pyarrow's own conversion would import pandas."""
        count = values.size // layout.size if layout.type.code == "S" else values.size
        if layout.type.code == "b1":
            # Arrow has bits; a C++ peer may send any non-zero byte as true
            values = np.packbits(values.reshape(-1).view(np.uint8) != 0, bitorder="little")
        return self.pa.Array.from_buffers(kind, count, [None, self.pa.py_buffer(values)])

    def rows(self, batch: Any) -> Array:
        """The packed rows of a record batch."""
        rows = np.empty(batch.num_rows, self.dtype)
        for name, member in self.fields.items():
            rows[name] = self.values(member, batch.column(name))
        return rows

    def values(self, member: Field, column: Any) -> Array:
        """One column of a batch in the shape and type of the packed layout."""
        layout = member.layout
        items = column.flatten() if _is_list(layout) else column
        return _flat(layout, items).reshape(len(column), *layout.dtype.shape)


def _flat(layout: FieldLayout, items: Any) -> Array:
    """The numbers of an Arrow array without nulls, which may be a slice of a longer one."""
    buffer, first = items.buffers()[1], items.offset
    if layout.type.code == "b1":
        bits = np.frombuffer(buffer, np.uint8)
        return np.unpackbits(bits, count=first + len(items), bitorder="little")[first:].view(np.bool_)
    width = layout.size if layout.type.code == "S" else 1
    dtype = layout.dtype.base
    return np.frombuffer(buffer, dtype, len(items) * width, first * width * dtype.itemsize)


def _is_list(layout: FieldLayout) -> bool:
    return layout.type.code != "S" and (bool(layout.shape) or layout.type.per_element > 1)


def arrow_type(pa: Any, layout: FieldLayout) -> Any:
    """The Arrow type of a field's column."""
    if layout.type.code == "S":
        return pa.binary(layout.size)
    item = getattr(pa, _ARROW_NAMES[layout.type.code])()
    return pa.list_(item, layout.count) if _is_list(layout) else item


def _remarks(member: Field) -> dict[str, str]:
    return {
        PREFIX + "layout": member.layout.text,
        PREFIX + "kind": member.kind,
        PREFIX + "shape": json.dumps(member.layout.dtype.shape),
        PREFIX + "finite": member.finite,
        PREFIX + "comment": member.comment,
        PREFIX + "declared": to_text(pack_value(member, member.initial)),
    }


def read_field(column: Any) -> Field:
    """The field that a column was made from; KeyError or ValueError if it was not."""
    remarks = {key.decode(): value.decode() for key, value in (column.metadata or {}).items()}
    layout = parse_layout(remarks[PREFIX + "layout"])
    member = Field(
        column.name,
        remarks[PREFIX + "kind"],
        replace(layout, name=column.name),
        None,
        remarks[PREFIX + "finite"],
        remarks[PREFIX + "comment"],
    )
    return replace(member, initial=unpacked(member, from_text(remarks[PREFIX + "declared"])))


def parse_layout(text: str) -> FieldLayout:
    """The layout of one field from its canonical text.

    >>> parse_layout("U:f8[3]").size
    24
    """
    match = _LAYOUT_TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not the layout of a field; wanted something like 'U:f8[3]'")
    if match["length"]:
        return FieldLayout(match[1], TYPES["S"], (int(match["length"]),))
    shape = tuple(map(int, match["shape"].split(","))) if match["shape"] else ()
    return FieldLayout(match[1], TYPES[match["code"]], shape)


def to_text(packed: bytes) -> str:
    """Bytes as text for metadata."""
    return base64.b64encode(packed).decode()


def from_text(text: str) -> bytes:
    """The bytes that `to_text` wrote; ValueError if it did not."""
    return base64.b64decode(text, validate=True)
