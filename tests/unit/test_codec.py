"""A module's two directions together: what was left alone, rebound or changed in place goes back right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import quaternion
from hypothesis import given
from hypothesis import strategies as st

from simsched.codec import Codec
from simsched.database import Field, make_field
from simsched.errors import ResultError
from simsched.values import Packer

FIELDS = tuple(
    make_field(name, value)
    for name, value in {
        "t": 0.0,
        "cmd": 2,
        "U": np.array([1.0, 2.0, 3.0]),
        "on": True,
        "J": np.arange(9.0).reshape(3, 3),
        "w_B": np.zeros(3),
        "small": np.ones(2, np.float32),
        "q": quaternion.quaternion(1.0, 0.0, 0.0, 0.0),
        "n": 7,
    }.items()
)
NAMES = [field.name for field in FIELDS if field.name not in ("t", "cmd")]


def start(fields: tuple[Field, ...] = FIELDS) -> tuple[Codec, dict[str, Any], bytearray]:
    """A codec of `Keys`, attributes set from a payload, and a copy of that payload."""
    payload = bytearray(Packer(fields, "A").gather({field.name: field.fresh() for field in fields}))
    codec, values = Codec(fields, fields, "A"), dict[str, Any]()
    codec.scatter(payload[:], values)
    return codec, values, payload


def changed(name: str, value: Any, in_place: bool) -> Any:
    """Another value of the same kind; arrays in place if asked for."""
    if isinstance(value, np.ndarray):
        if in_place:
            value += 1
            return value
        return value + 1
    if isinstance(value, quaternion.quaternion):
        if in_place:
            value.x = 5.0
            return value
        return value * quaternion.quaternion(0.0, 1.0, 0.0, 0.0)
    return not value if isinstance(value, bool) else value + 1


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=8))
def test_whatever_a_module_does_is_packed_as_if_all_were(changes: list[tuple[str, bool]]) -> None:
    codec, values, _ = start()
    for name, in_place in changes:
        values[name] = changed(name, values[name], in_place)
    assert bytes(codec.gather(values)) == Packer(FIELDS, "A").gather(values)


def test_nothing_touched_is_what_came() -> None:
    codec, values, payload = start()
    assert codec.gather(values) == payload


def test_the_masters_own_variables_cannot_be_changed() -> None:
    codec, values, payload = start()
    values["t"], values["cmd"] = 99.0, 4
    assert codec.gather(values) == payload


def test_what_was_kept_keeps_its_numbers() -> None:
    codec, values, payload = start()
    kept = values["U"]
    values["U"] = np.array([7.0, 8.0, 9.0])
    codec.gather(values)
    assert kept.tolist() == [1.0, 2.0, 3.0]
    codec.scatter(payload[:], values)
    assert kept.tolist() == [1.0, 2.0, 3.0]
    assert kept is not values["U"]


def test_what_was_sent_does_not_change_afterwards() -> None:
    codec, values, _ = start()
    sent = codec.gather(values)
    before = bytes(sent)
    values["U"] += 100.0
    assert bytes(sent) == before


def test_before_the_first_request_all_is_packed() -> None:
    values = {field.name: field.fresh() for field in FIELDS}
    codec = Codec(FIELDS, FIELDS, "A")
    assert bytes(codec.gather(values)) == Packer(FIELDS, "A").gather(values)


def test_one_direction_each() -> None:
    reads, writes = FIELDS[:3], FIELDS[4:6]
    codec = Codec(reads, writes, "A")
    values: dict[str, Any] = {"J": np.eye(3), "w_B": np.array([1.0, 2.0, 3.0])}
    codec.scatter(bytearray(Packer(reads, "A").gather({f.name: f.fresh() for f in reads})), values)
    assert values["U"].tolist() == [1.0, 2.0, 3.0]
    assert codec.gather(values) == Packer(writes, "A").gather(values)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("U", np.zeros(4), "task 'A', field 'U': has shape \\(4,\\)"),
        ("n", 1.5, "task 'A', field 'n': is of type float64"),
        ("q", 1.0, "task 'A', field 'q': is of type float"),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: Any, said: str) -> None:
    codec, values, _ = start()
    values[name] = value
    with pytest.raises(ResultError, match=said):
        codec.gather(values)


def test_a_deleted_field_is_named() -> None:
    codec, values, _ = start()
    del values["w_B"]
    with pytest.raises(ResultError, match="field 'w_B': is gone, the module deleted it"):
        codec.gather(values)
