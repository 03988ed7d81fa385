"""Between bytes and attributes: nothing is lost, nothing is shared, and what does not fit is named."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
import quaternion
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simsched.database import Field, make_field
from simsched.errors import ResultError
from simsched.layout import Layout
from simsched.values import Packer, Unpacker, pack_value, wanted

DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]

finite = st.floats(allow_nan=False)
dtypes = st.sampled_from(DTYPES).map(lambda code: np.dtype(code if code[1:] in ("", "1") else f"<{code}"))
shapes = hnp.array_shapes(min_dims=0, max_dims=3, max_side=3)
quaternions = st.builds(quaternion.quaternion, finite, finite, finite, finite)


def elements(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    return hnp.from_dtype(dtype, allow_nan=False)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    dtype = draw(dtypes)
    # a 0-d array, which hnp.arrays would give as a scalar
    return np.asarray(draw(hnp.arrays(dtype, draw(shapes), elements=elements(dtype))))


values = st.one_of(
    finite,
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.binary(min_size=1, max_size=9),
    dtypes.flatmap(elements),
    arrays(),
    quaternions,
    st.lists(quaternions, min_size=1, max_size=3).map(np.array),
)


def fields_of(several: list[Any]) -> list[Field]:
    return [make_field(f"x{place}", value) for place, value in enumerate(several)]


def payload_of(fields: list[Field]) -> bytearray:
    return bytearray(b"".join(pack_value(member, member.initial) for member in fields))


def scattered(fields: list[Field], payload: bytearray | None = None) -> dict[str, Any]:
    into: dict[str, Any] = {}
    Unpacker(fields).scatter(payload_of(fields) if payload is None else payload, into)
    return into


def gathered(member: Field, value: Any) -> bytes:
    return bytes(Packer([member], "Control").gather({member.name: value}))


def message(member: Field, value: Any) -> str:
    with pytest.raises(ResultError) as caught:
        gathered(member, value)
    return str(caught.value)


@given(st.lists(values, min_size=1, max_size=6))
def test_what_is_packed_is_unpacked_the_same(several: list[Any]) -> None:
    fields = fields_of(several)
    payload = payload_of(fields)
    assert len(payload) == Layout(member.layout for member in fields).size
    into = scattered(fields, bytearray(payload))
    for member in fields:
        got, initial = into[member.name], member.initial
        assert type(got) is type(initial)
        assert np.array_equal(got, initial)
        if isinstance(got, np.ndarray):
            assert (got.dtype, got.shape) == (initial.dtype, initial.shape)
            assert got.flags.writeable and got.flags.aligned
    assert Packer(fields, "Control").gather(into) == payload


@given(st.lists(values, min_size=1, max_size=6))
def test_numpy_reads_the_same_numbers_from_the_payload(several: list[Any]) -> None:
    fields = fields_of(several)
    layout = Layout(member.layout for member in fields)
    row = np.frombuffer(bytes(payload_of(fields)), layout.dtype)[0]
    for member in fields:
        expected: Any = member.initial
        if member.kind in ("quaternion", "quaternions"):
            expected = quaternion.as_float_array(expected)
        if member.kind == "bytes":
            expected = np.frombuffer(expected, np.uint8)
        assert np.array_equal(row[member.name], expected)


@pytest.mark.parametrize(
    "value",
    [np.zeros(3), np.zeros((2, 2)), np.zeros(3, np.float32), np.array(0.0), np.array([quaternion.zero] * 2)],
    ids=["vector", "matrix", "single", "0-d", "quaternions"],
)
@pytest.mark.parametrize("before", [[], [True], [0.0]], ids=["first", "unaligned", "aligned"])
def test_what_a_module_keeps_keeps_its_numbers(value: Any, before: list[Any]) -> None:
    fields = fields_of([*before, value])
    name = fields[-1].name
    unpacker, into = Unpacker(fields), dict[str, Any]()
    unpacker.scatter(payload_of(fields), into)
    kept = into[name]
    ones = bytearray(payload_of(fields[:-1]) + pack_value(fields[-1], value + 1))
    unpacker.scatter(ones, into)
    assert np.array_equal(kept, value)
    assert np.array_equal(into[name], value + 1)
    kept[...] = value + 5
    assert np.array_equal(into[name], value + 1)


def test_two_arrays_of_one_exchange_do_not_share_their_numbers() -> None:
    fields = fields_of([np.zeros(3), np.zeros(3)])
    into = scattered(fields)
    into["x0"][:] = 1.0
    assert into["x1"].tolist() == [0.0, 0.0, 0.0]


def test_rebinding_and_in_place_change_both_count() -> None:
    fields = fields_of([np.zeros(3), np.zeros(2)])
    into = scattered(fields)
    into["x0"] = np.array([1.0, 2.0, 3.0])
    into["x1"][1] = 4.0
    payload = Packer(fields, "Control").gather(into)
    assert np.frombuffer(payload, "<f8").tolist() == [1.0, 2.0, 3.0, 0.0, 4.0]


VECTOR = make_field("U", np.zeros(3))
MATRIX = make_field("J", np.zeros((2, 3)))
NUMBER = make_field("gain", 0.0)
WHOLE = make_field("count", 0)
FLAG = make_field("on", False)
SINGLE = make_field("s", np.float32(0))
SINGLES = make_field("ss", np.zeros(2, np.float32))
BYTE = make_field("b", np.uint8(0))
BYTES = make_field("bb", np.zeros(2, np.int8))
BIG = make_field("big", np.zeros(2, np.uint64))
POINT = make_field("p", np.array(0.0))
NAME = make_field("id", b"abcd")
TURN = make_field("q", quaternion.one)
TURNS = make_field("qq", np.array([quaternion.one] * 2))


@pytest.mark.parametrize(
    ("member", "value", "same_as"),
    [
        (VECTOR, [1, 2, 3], np.array([1.0, 2.0, 3.0])),
        (VECTOR, (1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0])),
        (VECTOR, np.arange(3), np.array([0.0, 1.0, 2.0])),
        (VECTOR, np.arange(3, dtype=">f8"), np.array([0.0, 1.0, 2.0])),
        (VECTOR, np.arange(3, dtype=np.float32), np.array([0.0, 1.0, 2.0])),
        (VECTOR, np.arange(6.0)[::2], np.array([0.0, 2.0, 4.0])),
        (VECTOR, np.array([True, False, True]), np.array([1.0, 0.0, 1.0])),
        (MATRIX, np.arange(6.0).reshape(3, 2).T, np.array([[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]])),
        (MATRIX, [[1, 2, 3], [4, 5, 6]], np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
        (NUMBER, 3, 3.0),
        (NUMBER, 10**30, 1e30),
        (NUMBER, True, 1.0),
        (NUMBER, np.float32(0.5), 0.5),
        (NUMBER, np.float64(0.5), 0.5),
        (NUMBER, np.int16(5), 5.0),
        (NUMBER, np.array(2.5), 2.5),
        (WHOLE, 2**63 - 1, 2**63 - 1),
        (WHOLE, np.uint8(7), 7),
        (WHOLE, np.int64(7), 7),
        (WHOLE, True, 1),
        (FLAG, np.bool_(True), True),
        (SINGLE, 0.5, np.float32(0.5)),
        (SINGLE, 2, np.float32(2)),
        (BYTE, 255, np.uint8(255)),
        (BIG, [0, 2**64 - 1], np.array([0, 2**64 - 1], np.uint64)),
        (POINT, 1.5, np.array(1.5)),
        (POINT, np.float64(1.5), np.array(1.5)),
        (NAME, bytearray(b"wxyz"), b"wxyz"),
        (NAME, memoryview(b"wxyz"), b"wxyz"),
        (TURNS, np.array([quaternion.x, quaternion.y])[::-1], np.array([quaternion.y, quaternion.x])),
    ],
)
def test_what_is_as_good_as_the_declared_type(member: Field, value: Any, same_as: Any) -> None:
    expected = pack_value(member, same_as)
    assert gathered(member, value) == expected
    assert pack_value(member, value) == expected


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        (
            VECTOR,
            np.zeros(4),
            "task 'Control', field 'U': has shape (4,): array([0., 0., 0., 0.]); wanted 3 × f8",
        ),
        (VECTOR, 1.0, "field 'U': has shape (): 1.0; wanted 3 × f8"),
        (VECTOR, np.zeros((3, 1)), "field 'U': has shape (3, 1)"),
        (VECTOR, [1, [2, 3]], "field 'U': "),
        (VECTOR, np.zeros(3, complex), "field 'U': is of type complex128"),
        (VECTOR, None, "field 'U': "),
        (VECTOR, "abc", "field 'U': "),
        (VECTOR, ["a", "b", "c"], "field 'U': is of type <U1: ['a', 'b', 'c']; wanted 3 × f8"),
        (MATRIX, np.zeros((3, 2)), "field 'J': has shape (3, 2)"),
        (MATRIX, np.zeros(6), "wanted 2 × 3 × f8"),
        (NUMBER, np.zeros(1), "field 'gain': has shape (1,): array([0.]); wanted one f8"),
        (NUMBER, 1j, "field 'gain': is of type complex128: 1j; wanted one f8"),
        (NUMBER, "1.0", "field 'gain': is of type <U3"),
        (NUMBER, None, "field 'gain': is of type object: None; wanted one f8"),
        (NUMBER, 10**400, "field 'gain': "),
        (WHOLE, 1.0, "field 'count': is of type float64: 1.0; wanted one i8"),
        (WHOLE, 2**63, "field 'count': does not fit i8: 9223372036854775808; wanted one i8"),
        (WHOLE, 10**30, "field 'count': "),
        (WHOLE, math.nan, "field 'count': is of type float64: nan"),
        (FLAG, 1, "field 'on': is of type int64: 1; wanted one b1"),
        (FLAG, 1.0, "field 'on': is of type float64"),
        (BYTE, 256, "field 'b': does not fit u1: 256; wanted one u1"),
        (BYTE, -1, "field 'b': does not fit u1: -1"),
        (BYTES, [1, 128], "field 'bb': does not fit i1: [1, 128]; wanted 2 × i1"),
        (BYTES, np.array([0.0, 1.0]), "field 'bb': is of type float64"),
        (SINGLE, 1e300, "field 's': does not fit f4: 1e+300; wanted one f4"),
        (SINGLES, [0.0, 1e300], "field 'ss': does not fit f4"),
        (NAME, b"abc", "field 'id': has 3 bytes: b'abc'; wanted 4 bytes"),
        (NAME, "abcd", "field 'id': is of type str: 'abcd'; wanted 4 bytes"),
        (TURN, np.zeros(4), "field 'q': is of type ndarray: array([0., 0., 0., 0.]); wanted one quaternion"),
        (TURN, 1.0, "field 'q': is of type float: 1.0; wanted one quaternion"),
        (TURNS, quaternion.one, "field 'qq': has shape ()"),
        (TURNS, np.array([quaternion.one] * 3), "field 'qq': has shape (3,)"),
    ],
)
def test_a_result_that_does_not_fit_is_named(member: Field, value: Any, said: str) -> None:
    text = message(member, value)
    assert text.startswith(f"task 'Control', field '{member.name}': ")
    assert said in text
    assert text.endswith(f"; wanted {wanted(member)}")
    assert len(text) < 300


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("member", [NUMBER, SINGLE])
def test_what_is_not_finite_is_packed_as_it_is(member: Field, value: float) -> None:
    into = scattered([member], bytearray(gathered(member, value)))
    assert np.array_equal(into[member.name], value, equal_nan=True)


def test_a_field_that_the_module_has_deleted_is_named() -> None:
    with pytest.raises(ResultError, match=r"task 'Control', field 'U': .*; wanted 3 × f8"):
        Packer([VECTOR], "Control").gather({})


def test_a_subclass_of_float_is_a_float() -> None:
    class Metres(float):
        pass

    assert gathered(NUMBER, Metres(1.5)) == pack_value(NUMBER, 1.5)


def test_a_payload_of_another_size_is_not_read() -> None:
    with pytest.raises(struct.error, match="24 bytes"):
        Unpacker([VECTOR]).scatter(bytearray(23), {})


def test_what_each_field_takes_in_words() -> None:
    said = [wanted(member) for member in (NUMBER, WHOLE, VECTOR, MATRIX, TURN, TURNS, NAME, POINT)]
    assert said == [
        "one f8", "one i8", "3 × f8", "2 × 3 × f8", "one quaternion", "2 × quaternion", "4 bytes", "one f8",
    ]  # fmt: skip
