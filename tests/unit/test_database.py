"""What a DataBase declares: types, shapes and initial values, and all that can be wrong with them."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import quaternion

from simsched.database import RESERVED, field, make_field, read_database


class Mode(enum.IntEnum):
    SAFE = 1


class Times:
    t = 0.0
    dt = 0.25
    tmax = 4.0
    cmd = 0


def problems_of(**attributes: Any) -> list[str]:
    """The problems of a DataBase with good times and these attributes."""
    _, problems = read_database(type("DataBase", (Times,), attributes))
    return [str(problem) for problem in problems]


def only_problem(**attributes: Any) -> str:
    (problem,) = problems_of(**attributes)
    return problem


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.5, "number", "x:f8"),
        (7, "number", "x:i8"),
        (True, "number", "x:b1"),
        (np.float32(1.5), "numpy", "x:f4"),
        (np.uint16(7), "numpy", "x:u2"),
        (np.bool_(True), "numpy", "x:b1"),
        (np.zeros(3), "array", "x:f8[3]"),
        (np.zeros((2, 3), np.float32), "array", "x:f4[2,3]"),
        (np.array(1.5), "array", "x:f8"),
        (np.zeros(3, ">f8"), "array", "x:f8[3]"),
        (np.zeros(2, np.longlong), "array", "x:i8[2]"),
        (quaternion.one, "quaternion", "x:quat"),
        (np.array([quaternion.one] * 2), "quaternions", "x:quat[2]"),
        (b"ab", "bytes", "x:S2"),
        (bytearray(3), "bytes", "x:S3"),
    ],
)
def test_a_value_declares_its_layout(value: Any, kind: str, text: str) -> None:
    made = make_field("x", value)
    assert (made.kind, made.layout.text) == (kind, text)


def test_arrays_of_any_order_become_little_endian_and_contiguous() -> None:
    big = np.arange(6, dtype=">i4").reshape(2, 3).T
    made = make_field("x", big)
    assert made.layout.text == "x:i4[3,2]"
    assert made.initial.dtype.str == "<i4" and made.initial.flags.c_contiguous
    assert np.array_equal(made.initial, big)


def test_a_non_contiguous_array_keeps_its_numbers() -> None:
    made = make_field("x", np.arange(10.0)[::3])
    assert made.initial.tolist() == [0.0, 3.0, 6.0, 9.0]


@pytest.mark.parametrize("value", [np.zeros(3), np.array([quaternion.one])])
def test_the_initial_array_is_not_the_one_of_the_declaration(value: np.ndarray[Any, Any]) -> None:
    made = make_field("x", value)
    fresh = made.fresh()
    fresh[0] = fresh[0] + fresh[0] + 1
    assert np.array_equal(made.initial, value)
    assert not np.shares_memory(made.initial, value)


def test_a_quaternion_changed_in_place_leaves_the_initial_one_alone() -> None:
    declared = quaternion.quaternion(1, 2, 3, 4)
    made = make_field("q", declared)
    made.fresh().w = 9.0
    declared.x = 9.0
    assert made.initial == quaternion.quaternion(1, 2, 3, 4)


def test_a_bytearray_becomes_bytes() -> None:
    declared = bytearray(b"ab")
    made = make_field("x", declared)
    declared[0] = 0
    assert made.initial == b"ab"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "is None (NoneType), which has no layout; wanted a float, int, bool, bytes, quaternion or"),
        ([1.0, 0.0], "is [1.0, 0.0] (list), which has no layout"),
        ([1.0, 0.0], "or a numpy array: write np.array([1.0, 0.0])"),
        ((1, 2), "write np.array([1, 2])"),
        ("abc", "is 'abc' (str), which has no layout"),
        ("abc", "write b'abc'"),
        ({"a": 1}, "is {'a': 1} (dict)"),
        (1j, "is 1j (complex)"),
        (2**63, "is 9223372036854775808, which does not fit 64 bits"),
        (-(2**63) - 1, "does not fit 64 bits"),
        (np.zeros(2, complex), "is an array of complex128, which has no layout; wanted one of f8, f4, i8"),
        (np.array([None]), "is an array of object, which has no layout"),
        (np.array(["a"]), "is an array of <U1, which has no layout"),
        (np.array([b"ab"]), "is an array of |S2, which has no layout"),
        (np.zeros(1, np.float16), "is an array of float16, which has no layout"),
        (np.zeros(1, "datetime64[ns]"), "is an array of datetime64[ns], which has no layout"),
        (np.datetime64("2024-01-01"), "is a numpy scalar of datetime64[D], which has no layout"),
        (np.zeros(1, [("a", "f8")]), "which has no layout"),
        (np.zeros(0), "has shape (0,), which holds nothing; wanted at least one element"),
        (np.zeros((3, 0)), "has shape (3, 0), which holds nothing"),
        (np.zeros(0, quaternion.quaternion), "has shape (0,), which holds nothing"),
        (b"", "is empty; fixed-size bytes need at least one, as in bytes(16)"),
        (np.zeros, "is <built-in function zeros>"),
        (float, "is <class 'float'> (type), which has no layout"),
        (Mode.SAFE, "(Mode), which has no layout"),
    ],
)
def test_a_value_without_a_layout_is_named_with_what_was_wanted(value: Any, said: str) -> None:
    problem = only_problem(x=value)
    assert problem.startswith("DataBase field 'x': ")
    assert said in problem


def test_the_message_about_a_long_list_is_short() -> None:
    assert len(only_problem(x=[0.0] * 10_000)) < 300


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_the_ends_of_64_bits_are_within(value: int) -> None:
    assert make_field("x", value).initial == value


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_field_cannot_hide_what_every_module_has(name: str) -> None:
    assert f"DataBase field '{name}': would hide what every module has" in only_problem(**{name: 0.0})


@pytest.mark.parametrize("name", ["a b", "a,b", "3x", "class", "a.b", ""])
def test_a_field_has_a_name_that_python_can_write(name: str) -> None:
    with pytest.raises(ValueError, match="is not a name; wanted letters, digits and '_'"):
        make_field(name, 0.0)


def test_what_is_not_a_field() -> None:
    class DataBase(Times):
        _private = 1.0
        U = 1.0

        class Mode(enum.IntEnum):
            SAFE = 1

        def method(self) -> None: ...

        @property
        def double(self) -> float:
            return 2.0

        @staticmethod
        def static() -> None: ...

        @classmethod
        def of_class(cls) -> None: ...

    for database in (DataBase, DataBase()):
        spec, problems = read_database(database)
        assert problems == []
        assert list(spec.fields) == ["t", "dt", "tmax", "cmd", "U"]


def test_fields_of_base_classes_come_first_and_keep_their_place_when_overridden() -> None:
    class Base(Times):
        a = 1.0
        b = 2.0

    class DataBase(Base):
        c = 3.0
        a = 4.0

    spec, _ = read_database(DataBase)
    assert list(spec.fields)[4:] == ["a", "b", "c"]
    assert spec.fields["a"].initial == 4.0


def test_attributes_of_an_instance_go_before_those_of_its_class() -> None:
    database = Times()
    database.dt = 0.5
    database.U = np.ones(3)  # type: ignore[attr-defined]
    spec, problems = read_database(database)
    assert problems == []
    assert spec.fields["dt"].initial == 0.5
    assert spec.fields["U"].layout.text == "U:f8[3]"


def test_a_dataclass_with_slots_is_a_database() -> None:
    @dataclass(slots=True)
    class DataBase:
        dt: float = 0.25
        tmax: float = 4.0
        gain: float = 2.0

    spec, problems = read_database(DataBase(gain=3.0))
    assert problems == []
    assert spec.fields["gain"].initial == 3.0


def test_a_name_with_a_type_and_no_value_is_reported() -> None:
    class DataBase(Times):
        w_B: float

    _, problems = read_database(DataBase)
    assert [str(problem) for problem in problems] == [
        "DataBase field 'w_B': has a type and no value; wanted one, as in w_B: float = 0.0"
    ]


def test_missing_times_are_named_with_the_nearest_name() -> None:
    class DataBase:
        Tmax = 4.0

    _, problems = read_database(DataBase)
    assert [str(problem) for problem in problems] == [
        "DataBase: field 'dt' is missing; wanted a number, as in dt = 1.0",
        "DataBase: field 'tmax' is missing; wanted a number, as in tmax = 1.0; did you mean 'Tmax'?",
    ]


def test_t_and_cmd_need_not_be_declared() -> None:
    class DataBase:
        dt = 1
        tmax = 4

    spec, problems = read_database(DataBase)
    assert problems == []
    assert {name: member.layout.text for name, member in spec.fields.items()} == {
        "dt": "dt:f8",
        "tmax": "tmax:f8",
        "t": "t:f8",
        "cmd": "cmd:i8",
    }
    assert type(spec.fields["tmax"].initial) is float


def test_a_time_of_a_wrong_type_is_reported_once_and_not_as_missing() -> None:
    assert problems_of(dt="0.1") == ["DataBase field 'dt': is '0.1' (str); wanted a number (float)"]
    assert problems_of(dt=True) == ["DataBase field 'dt': is True (bool); wanted a number (float)"]
    assert problems_of(cmd=1.5) == ["DataBase field 'cmd': is 1.5 (float); wanted a number (int)"]
    assert problems_of(cmd=math.inf) == ["DataBase field 'cmd': is inf (float); wanted a number (int)"]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({"dt": 0.0}, "DataBase field 'dt': is 0.0; wanted a step > 0 [s]"),
        ({"dt": -1.0}, "DataBase field 'dt': is -1.0; wanted a step > 0 [s]"),
        ({"dt": math.nan}, "DataBase field 'dt': is nan; wanted a step > 0 [s]"),
        ({"dt": math.inf}, "DataBase field 'dt': is inf; wanted a step > 0 [s]"),
        ({"tmax": 0.0}, "DataBase field 'tmax': is 0.0; wanted more than t = 0.0 [s]"),
        ({"tmax": math.nan}, "DataBase field 'tmax': is nan; wanted more than t = 0.0 [s]"),
        ({"t": math.nan}, "DataBase field 't': is nan; wanted the finite time of the first step [s]"),
        ({"t": -math.inf}, "DataBase field 't': is -inf; wanted the finite time of the first step [s]"),
        (
            {"dt": 1e-320},
            "DataBase field 'dt': is 1e-320; wanted more: tmax = 4.0 is over 9007199254740992 steps away",
        ),
    ],
)
def test_times_that_cannot_be_run(times: dict[str, float], said: str) -> None:
    assert problems_of(**times) == [said]


def test_a_run_without_end_is_a_run() -> None:
    assert problems_of(tmax=math.inf) == []


def test_remarks_of_a_field() -> None:
    spec, problems = read_database(
        type("DataBase", (Times,), {"w_B": field(np.zeros(3), finite="stop", comment="[rad/s]")})
    )
    assert problems == []
    assert (spec.fields["w_B"].finite, spec.fields["w_B"].comment) == ("stop", "[rad/s]")
    assert spec.fields["w_B"].layout.text == "w_B:f8[3]"
    assert spec.fields["t"].finite == "warn"


def test_a_misspelt_remark_is_refused() -> None:
    with pytest.raises(ValueError, match="finite is 'halt'; wanted one of warn, stop, ignore"):
        field(0.0, finite="halt")  # type: ignore[arg-type]


def test_the_layout_of_chosen_fields_has_their_order() -> None:
    spec, _ = read_database(Times)
    assert spec.layout(("tmax", "t")).text == "tmax:f8,t:f8"
    assert spec.layout().text == "t:f8,dt:f8,tmax:f8,cmd:i8"
