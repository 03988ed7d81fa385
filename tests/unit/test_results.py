"""Results: the numbers of a run by field name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import quaternion
from hypothesis import given
from hypothesis import strategies as st

from simsched.database import DataBaseSpec, Field, field, read_database
from simsched.errors import MissingExtra, RecordingError, UnknownField
from simsched.image import Image
from simsched.layout import Layout
from simsched.record.recorder import MemoryRecorder, NullRecorder
from simsched.results import Results, flat_names
from simsched.tasks import read_tasks


class DataBase:
    t = 0.0
    dt = 0.5
    tmax = 2.0
    cmd = 0
    ready = False
    count = np.int32(-7)
    w_B = field(np.zeros(3), comment="angular velocity [rad/s]")
    inertia = np.arange(6, dtype=np.float32).reshape(2, 3)
    mask = np.array([True, False, True])
    q_IB = quaternion.one
    stars = np.array([quaternion.x, quaternion.z])
    label = b"ab\0\0"


def spec() -> DataBaseSpec:
    database, problems = read_database(DataBase)
    assert not problems
    return database


def values(step: int) -> dict[str, Any]:
    return {
        "t": 0.5 * step,
        "ready": step % 2 == 1,
        "count": np.int32(step - 7),
        "w_B": np.array([step, -0.0, np.nan]),
        "inertia": np.full((2, 3), step / 3, np.float32),
        "mask": np.array([step > 1, True, False]),
        "q_IB": quaternion.quaternion(step, 1.0, 2.0, 3.0),
        "stars": np.array([quaternion.quaternion(0.0, step, 0.0, 0.0), quaternion.one]),
        "label": bytes([step, 1, 0, 0]),
    }


def recorded(steps: int = 4, **options: Any) -> Results:
    image = Image(spec())
    recorder = MemoryRecorder(
        image.fields, metadata={"scenario": "text"}, initial=bytes(image.data), **options
    )
    for step in range(steps):
        for name, value in values(step).items():
            image.set(name, value)
        recorder.add(image.data)
    recorder.close({"ended": "tmax", "steps": steps})
    return recorder.results()


def rows_of(fields: Mapping[str, Field], count: int) -> np.ndarray[Any, Any]:
    return np.zeros(count, Layout(member.layout for member in fields.values()).dtype)


def test_columns_have_the_shape_and_type_of_their_field() -> None:
    r = recorded()
    assert len(r) == 4
    assert r.t.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert r["w_B"].shape == (4, 3) and r["w_B"].dtype == np.float64
    assert r["inertia"].shape == (4, 2, 3) and r["inertia"].dtype == np.float32
    assert r["ready"].tolist() == [False, True, False, True]
    assert r["mask"].dtype == np.bool_ and r["mask"][3].tolist() == [True, True, False]
    assert r["count"].dtype == np.int32 and r["count"][2] == -5


def test_a_column_is_cut_once_and_ready_for_fast_code() -> None:
    r = recorded()
    assert r["w_B"] is r["w_B"]
    assert r["w_B"].flags.c_contiguous and r["w_B"].flags.aligned and r["w_B"].flags.writeable


def test_quaternions_come_as_quaternions() -> None:
    r = recorded()
    assert r["q_IB"].dtype == np.dtype(quaternion.quaternion)
    assert r["q_IB"][2] == quaternion.quaternion(2, 1, 2, 3)
    assert r["stars"].shape == (4, 2)
    assert r["stars"][3, 0] == quaternion.quaternion(0, 3, 0, 0)


def test_bytes_keep_their_trailing_zeros() -> None:
    assert recorded()["label"].tolist()[1] == b"\x01\x01\0\0"


def test_initial_values_are_those_before_step_0_as_a_module_sees_them() -> None:
    initial = recorded().initial
    assert set(initial) == set(spec().fields) and len(initial) == 12
    assert initial["w_B"].tolist() == [0.0, 0.0, 0.0]
    assert initial["q_IB"] == quaternion.one
    assert initial["label"] == b"ab\0\0"
    assert initial["ready"] is False
    assert initial["inertia"].shape == (2, 3)


def test_without_initial_values_the_mapping_is_empty_and_says_so() -> None:
    fields = spec().fields
    r = Results(fields, rows_of(fields, 1))
    assert len(r.initial) == 0
    with pytest.raises(UnknownField, match="no initial values were recorded, so none of 'w_B'"):
        r.initial["w_B"]


def test_an_unknown_field_names_the_nearest() -> None:
    r = recorded()
    with pytest.raises(UnknownField) as caught:
        r["w_b"]
    assert str(caught.value).startswith(
        "'w_b' is not a recorded field; did you mean 'w_B'? fields: t, dt, tmax"
    )
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, RecordingError)
    with pytest.raises(UnknownField, match="'zzzzzz' is not a recorded field; fields: t, dt"):
        r.initial["zzzzzz"]


def test_shadows_are_listed_apart() -> None:
    database = spec()
    tasks, problems = read_tasks({"Truth": {"Out": "w_B"}, "Sensor": {"In": "w_B", "Out": "w_B"}}, database)
    assert not problems
    image = Image(database, tasks)
    recorder = MemoryRecorder(image.fields, metadata={}, initial=bytes(image.data))
    image.set("Truth.w_B", [1.0, 2.0, 3.0])
    recorder.add(image.data)
    r = recorder.results()
    assert r.shadows == ("Truth.w_B",) and "Truth.w_B" not in r.fields
    assert "Truth.w_B" in r and "Truth.w_B" in list(r)
    assert r["Truth.w_B"].tolist() == [[1.0, 2.0, 3.0]]
    assert "shadows Truth.w_B" in repr(r)


def test_repr_tells_rows_times_and_fields() -> None:
    assert repr(recorded()).startswith("<Results: 4 rows, t = 0.0 … 1.5 s, fields t dt tmax cmd ready")
    assert repr(recorded(1)).startswith("<Results: 1 row, t = 0.0 … 0.0 s")
    fields = spec().fields
    empty = Results(fields, b"", complete=False)
    assert repr(empty).startswith("<Results: 0 rows, fields t") and repr(empty).endswith(", incomplete>")


def test_metadata_and_summary() -> None:
    r = recorded()
    assert r.metadata["scenario"] == "text" and r.metadata["simsched.every"] == "1"
    assert r.summary == {"ended": "tmax", "steps": 4}
    assert r.complete


def test_same_as_itself_with_nan() -> None:
    assert recorded().same_as(recorded()) == []


def test_same_as_is_bitwise() -> None:
    one, other = recorded(), recorded()
    changed = other.rows.copy()
    changed["w_B"][2, 1] = 0.0  # was -0.0
    changed["label"][0, 3] = 1
    assert one.same_as(Results(other.members, changed, other.initial.packed)) == ["w_B", "label"]


def test_same_as_compares_initial_values_lengths_and_names() -> None:
    one = recorded()
    packed = bytearray(one.initial.packed or b"")
    packed[0] ^= 1
    assert one.same_as(Results(one.members, one.rows, bytes(packed))) == ["t"]
    assert one.same_as(recorded(3)) == list(one)
    fewer = recorded(only=["w_B"])
    assert set(one.same_as(fewer)) == set(one) - {"t", "w_B"}


@given(st.lists(st.floats(width=64, allow_nan=True), min_size=1, max_size=20))
def test_floats_come_back_to_the_last_bit(numbers: list[float]) -> None:
    fields = {name: member for name, member in spec().fields.items() if name in ("t", "w_B")}
    rows = rows_of(fields, len(numbers))
    rows["t"] = numbers
    r = Results(fields, rows.tobytes())
    assert r.t.tobytes() == np.array(numbers).tobytes()
    assert r.same_as(Results(fields, rows)) == []


def test_decimation_and_choice_of_fields() -> None:
    r = recorded(5, every=2, only=["w_B"])
    assert r.fields == ("t", "w_B")
    assert r.t.tolist() == [0.0, 1.0, 2.0]
    assert r["w_B"][:, 0].tolist() == [0.0, 2.0, 4.0]
    assert set(r.initial) == {"t", "w_B"}
    assert r.metadata["simsched.every"] == "2"


def test_wrong_choices_are_refused() -> None:
    with pytest.raises(UnknownField, match="'w_X' is not a recorded field; did you mean 'w_B'"):
        recorded(only=["w_X"])
    with pytest.raises(RecordingError, match="every 0 steps is not possible; wanted 1 or more"):
        recorded(every=0)


def test_rows_that_do_not_fit_are_refused() -> None:
    fields = spec().fields
    size = Layout(member.layout for member in fields.values()).size
    with pytest.raises(
        RecordingError, match=f"7 bytes of rows do not divide into rows of {size} bytes: t:f8"
    ):
        Results(fields, b"1234567")
    with pytest.raises(RecordingError, match="rows are of type float64; the fields need"):
        Results(fields, np.zeros(3))
    with pytest.raises(RecordingError, match=f"the initial row has 3 bytes, .* need {size}"):
        Results(fields, b"", b"123")
    recorder = MemoryRecorder(fields, metadata={}, initial=bytes(size))
    with pytest.raises(RecordingError, match=f"a row has 3 bytes, its fields need {size}: t:f8"):
        recorder.add(b"123")
    with pytest.raises(RecordingError, match=f"the initial row has 2 bytes, its fields need {size}"):
        MemoryRecorder(fields, metadata={}, initial=b"12")


def test_to_pandas() -> None:
    r = recorded()
    frame = r.to_pandas()
    assert frame.index.name == "t" and frame.index.tolist() == r.t.tolist()
    assert "t" not in frame.columns
    assert frame["w_B[0]"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert frame["inertia[1,2]"].dtype == np.float32
    assert frame["q_IB.w"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert frame["stars[0].x"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert frame["label"].tolist()[2] == b"\x02\x01\0\0"
    assert frame["ready"].dtype == np.bool_
    assert r.to_pandas(["w_B"]).columns.tolist() == ["w_B[0]", "w_B[1]", "w_B[2]"]
    with pytest.raises(UnknownField, match="did you mean 'w_B'"):
        r.to_pandas(["w_b"])


def test_to_pandas_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"to_pandas\(\) needs the package 'pandas'.*simsched\[record\]"):
        recorded().to_pandas()


def test_flat_names_follow_memory() -> None:
    fields = spec().fields
    assert flat_names(fields["t"]) == ["t"]
    assert flat_names(fields["inertia"])[:4] == [
        "inertia[0,0]",
        "inertia[0,1]",
        "inertia[0,2]",
        "inertia[1,0]",
    ]
    assert flat_names(fields["stars"])[3:6] == ["stars[0].z", "stars[1].w", "stars[1].x"]
    assert flat_names(fields["label"]) == ["label"]


def test_a_memory_recorder_that_was_not_closed_is_incomplete() -> None:
    image = Image(spec())
    recorder = MemoryRecorder(image.fields, metadata={}, initial=bytes(image.data))
    recorder.add(image.data)
    assert not recorder.results().complete and recorder.results().summary is None
    recorder.close({"n": np.int64(3), "a": np.zeros(2), "nested": {"q": quaternion.one}})
    recorder.close({"n": 4})
    assert recorder.results().summary == {"n": 3, "a": [0.0, 0.0], "nested": {"q": str(quaternion.one)}}


def test_the_null_recorder_takes_everything() -> None:
    recorder = NullRecorder()
    recorder.add(b"anything")
    recorder.close({})
