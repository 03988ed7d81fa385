"""One layout, five descriptions: struct, numpy, construct, canonical text and offsets agree byte for byte."""

from __future__ import annotations

import string
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.layout import TYPES, FieldLayout, Layout, first_difference, layout_id

_LIMITS = {"b": 8, "h": 16, "i": 32, "q": 64, "B": 8, "H": 16, "I": 32, "Q": 64}

names = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=8).filter(str.isidentifier)


@st.composite
def field_layouts(draw: st.DrawFn) -> list[FieldLayout]:
    fields = []
    for name in draw(st.lists(names, min_size=1, max_size=6, unique=True)):
        row = TYPES[draw(st.sampled_from(sorted(TYPES)))]
        if row.code == "S":
            shape: tuple[int, ...] = (draw(st.integers(1, 9)),)
        else:
            shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
        fields.append(FieldLayout(name, row, shape))
    return fields


def items_of(field: FieldLayout) -> st.SearchStrategy[Any]:
    """What struct packs for one field: its items as a list."""
    code = field.type.struct_code
    if code == "s":
        return st.binary(min_size=field.size, max_size=field.size).map(lambda data: [data])
    if code in "fd":
        one: st.SearchStrategy[Any] = st.floats(width=32 if code == "f" else 64, allow_nan=False)
    elif code == "?":
        one = st.booleans()
    else:
        bits = _LIMITS[code]
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if code.islower() else (0, 2**bits - 1)
        one = st.integers(low, high)
    return st.lists(one, min_size=field.count, max_size=field.count)


def flat(value: Any) -> list[Any]:
    """Any decoder's value of a field as struct's items."""
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1).tolist())
    return list(value) if isinstance(value, list) else [value]


@given(st.data())
def test_struct_numpy_and_construct_read_the_same_numbers(data: st.DataObject) -> None:
    fields = data.draw(field_layouts())
    layout = Layout(fields)
    items = [data.draw(items_of(field)) for field in fields]
    payload = layout.struct.pack(*(item for group in items for item in group))

    row = np.frombuffer(payload, layout.dtype)[0]
    parsed = layout.construct.parse(payload)

    assert len(payload) == layout.size == layout.dtype.itemsize == layout.construct.sizeof()
    for field, group in zip(fields, items, strict=True):
        by_numpy = row[field.name]
        decoded = by_numpy.tobytes() if field.type.code == "S" else by_numpy
        assert flat(decoded) == group
        assert flat(parsed[field.name]) == group
    assert layout.construct.build(parsed) == payload
    assert row.tobytes() == payload


@given(field_layouts())
def test_offsets_are_those_of_numpy_and_there_is_no_padding(fields: list[FieldLayout]) -> None:
    layout = Layout(fields)
    by_numpy = layout.dtype.fields
    assert by_numpy is not None
    assert {name: layout.offset(name) for name in layout.names} == {
        name: by_numpy[name][1] for name in layout.names
    }
    assert layout.size == sum(field.size for field in fields)
    assert struct.calcsize(layout.struct_format) == layout.size


@given(field_layouts())
def test_the_canonical_text_tells_every_field_apart(fields: list[FieldLayout]) -> None:
    layout = Layout(fields)
    assert first_difference(layout.text, layout.text) == "the layouts are equal"
    for place, field in enumerate(fields):
        shorter = Layout(fields[:place] + fields[place + 1 :])
        said = first_difference(layout.text, shorter.text)
        assert said.startswith(f"field {place + 1} is '{field.text}' here")


def test_the_texts_of_one_field_of_each_form() -> None:
    fields = [
        FieldLayout("t", TYPES["f8"]),
        FieldLayout("U", TYPES["f8"], (3,)),
        FieldLayout("J", TYPES["f4"], (3, 3)),
        FieldLayout("q_IB", TYPES["quat"]),
        FieldLayout("on", TYPES["b1"]),
        FieldLayout("id", TYPES["S"], (16,)),
    ]
    layout = Layout(fields)
    assert layout.text == "t:f8,U:f8[3],J:f4[3,3],q_IB:quat,on:b1,id:S16"
    assert layout.struct_format == "<d3d9f4d?16s"
    assert layout.offsets == (0, 8, 32, 68, 100, 101)
    assert layout.names == ("t", "U", "J", "q_IB", "on", "id")


def test_a_shape_of_one_is_not_a_single_number() -> None:
    one, single = FieldLayout("x", TYPES["f8"], (1,)), FieldLayout("x", TYPES["f8"])
    assert (one.text, single.text) == ("x:f8[1]", "x:f8")
    assert one.size == single.size


def test_names_that_are_methods_of_a_container_are_read_all_the_same() -> None:
    layout = Layout([FieldLayout("keys", TYPES["u1"]), FieldLayout("Task.U", TYPES["u1"])])
    parsed = layout.construct.parse(b"\x01\x02")
    assert (parsed["keys"], parsed["Task.U"]) == (1, 2)


def test_a_layout_of_nothing_has_no_bytes() -> None:
    assert Layout([]).size == 0
    assert Layout([]).struct.pack() == b""


def test_every_type_is_as_wide_for_struct_as_for_numpy() -> None:
    for row in TYPES.values():
        assert struct.calcsize(f"<{row.per_element}{row.struct_code}") == row.itemsize
    assert [code for code, row in TYPES.items() if row.is_float] == ["f8", "f4", "quat"]


def test_the_layout_id_is_the_crc_of_both_directions() -> None:
    assert layout_id("t:f8", "U:f8[3]") == zlib.crc32(b"t:f8|U:f8[3]")
    assert layout_id("t:f8", "") != layout_id("", "t:f8")


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("t:f8,U:f8[3]", "t:f8,U:f4[3]", "field 2 is 'U:f8[3]' here and 'U:f4[3]' there"),
        ("t:f8,J:f8[3,3]", "t:f8,J:f8[3,4]", "field 2 is 'J:f8[3,3]' here and 'J:f8[3,4]' there"),
        ("t:f8", "t:f8,U:f8", "field 2 is missing here and 'U:f8' there"),
        ("t:f8", "", "field 1 is 't:f8' here and missing there"),
        ("", "", "the layouts are equal"),
    ],
)
def test_the_first_difference_names_the_field(ours: str, theirs: str, said: str) -> None:
    assert first_difference(ours, theirs) == said
