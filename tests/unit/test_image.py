"""The master's block of bytes: requests cut from it, answers merged into it, shadows kept."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import quaternion
from hypothesis import given
from hypothesis import strategies as st

from simsched.database import DataBaseSpec, field, read_database
from simsched.errors import ScenarioError
from simsched.image import Image, Overrides, shadows
from simsched.tasks import Task, read_tasks


class DataBase:
    t = 0.0
    dt = 0.25
    tmax = 4.0
    cmd = 0
    U = np.array([1.0, 2.0, 3.0])
    on = True
    w_B = np.zeros(3)
    q_IB = quaternion.quaternion(1, 2, 3, 4)
    small = np.zeros(2, np.float32)
    raw = field(np.zeros(2), finite="ignore")
    count = 7


def spec() -> DataBaseSpec:
    read, problems = read_database(DataBase)
    assert problems == []
    return read


def tasks_of(**tasks: dict[str, Any]) -> tuple[Task, ...]:
    read, problems = read_tasks(tasks, spec())
    assert problems == []
    return read


def request(image: Image, task: Task) -> bytes:
    return b"".join(image.sources(task))


def merge(image: Image, task: Task, payload: bytes, base: int = 0) -> None:
    for start, stop, begin, end in image.targets(task, base):
        image.data[start:stop] = payload[begin:end]


def test_the_initial_values_stand_in_the_image() -> None:
    image = Image(spec())
    row = np.frombuffer(bytes(image.data), image.layout.dtype)[0]
    assert row["U"].tolist() == [1.0, 2.0, 3.0]
    assert row["q_IB"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert (row["dt"], row["tmax"], row["on"], row["count"]) == (0.25, 4.0, True, 7)


def test_reset_brings_the_initial_values_back_in_place() -> None:
    image = Image(spec())
    before, block = bytes(image.data), image.data
    image.set("U", [9, 9, 9])
    image.set_time(3.0)
    image.set_command(2)
    assert (image.get("t"), image.get("cmd")) == (3.0, 2)
    image.reset()
    assert image.data is block and bytes(block) == before


def test_what_get_returns_is_a_copy() -> None:
    image = Image(spec())
    kept = image.get("U")
    kept[0] = 99.0
    assert image.get("U").tolist() == [1.0, 2.0, 3.0]


def test_a_value_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    image = Image(spec())
    before = bytes(image.data)
    for name, value in (("U", [1.0, 2.0]), ("count", 1.5), ("q_IB", 1.0), ("on", 2)):
        with pytest.raises(ValueError, match=r"shape|type"):
            image.set(name, value)
    assert bytes(image.data) == before


NAMES = [name for name in vars(DataBase) if not name.startswith("_")]


@given(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
def test_a_request_is_its_fields_one_after_another(names: list[str]) -> None:
    image = Image(spec())
    (task,) = tasks_of(A={"In": names})
    assert request(image, task) == b"".join(bytes(image.bytes_of(name)) for name in names)


@given(
    st.permutations([name for name in NAMES if name not in ("t", "dt", "tmax", "cmd")]), st.integers(0, 60)
)
def test_an_answer_lands_on_its_fields_and_nowhere_else(names: list[str], base: int) -> None:
    image = Image(spec())
    names = names[:3]
    (task,) = tasks_of(A={"Out": names})
    before = {name: bytes(image.bytes_of(name)) for name in NAMES}
    payload = bytes(range(1, task.layout_out.size + 1))
    merge(image, task, bytes(base) + payload, base)
    for name, offset in zip(task.layout_out.names, task.layout_out.offsets, strict=True):
        size = image.fields[name].layout.size
        assert image.bytes_of(name) == payload[offset : offset + size]
    for name in set(NAMES) - set(names):
        assert image.bytes_of(name) == before[name]


def test_requests_are_live_and_neighbours_are_one_piece() -> None:
    image = Image(spec())
    (task,) = tasks_of(A={"In": "t,dt,tmax,U"})
    pieces = image.sources(task)
    assert len(pieces) == 2  # cmd stands between tmax and U
    image.set_time(1.5)
    assert struct.unpack_from("<d", b"".join(pieces))[0] == 1.5


def test_the_masters_variables_are_not_taken_from_an_answer() -> None:
    image = Image(spec())
    (task,) = tasks_of(A={"Keys": "t,cmd,U"})
    merge(image, task, struct.pack("<dq3d", 9.0, 9, 7.0, 8.0, 9.0))
    assert (image.get("t"), image.get("cmd")) == (0.0, 0)
    assert image.get("U").tolist() == [7.0, 8.0, 9.0]


def test_a_multi_rate_task_sees_its_own_dt() -> None:
    image = Image(spec())
    slow, fast = tasks_of(A={"In": "t,dt,tmax", "Every": 4}, B={"In": "t,dt,tmax"})
    assert struct.unpack("<3d", request(image, slow)) == (0.0, 1.0, 4.0)
    assert struct.unpack("<3d", request(image, fast)) == (0.0, 0.25, 4.0)
    assert image.get("dt") == 0.25


def test_what_a_later_task_overwrites_is_kept_in_a_shadow() -> None:
    tasks = tasks_of(A={"Out": "U,w_B"}, B={"Out": "U"}, C={"Keys": "U", "noAnswer": True})
    assert shadows(tasks) == [("A", "U")]
    image = Image(spec(), tasks)
    assert "A.U" in image.fields and image.layout.names[-1] == "A.U"
    assert image.get("A.U").tolist() == [1.0, 2.0, 3.0]
    merge(image, tasks[0], struct.pack("<6d", 1, 1, 1, 2, 2, 2))
    merge(image, tasks[1], struct.pack("<3d", 5, 5, 5))
    assert image.get("A.U").tolist() == [1.0] * 3
    assert image.get("U").tolist() == [5.0] * 3
    assert image.get("w_B").tolist() == [2.0] * 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["U", "w_B", "q_IB", "small"])
def test_a_result_that_is_not_finite_shows_in_its_probe(name: str, bad: float) -> None:
    (task,) = tasks_of(A={"Out": "U,on,w_B,q_IB,small,raw,count"})
    image = Image(spec(), (task,))
    probes = image.finite_probes([task])

    def is_finite() -> bool:
        return all(np.isfinite(probe()) for probe in probes)

    assert is_finite()
    image.set("raw", [bad, bad])
    assert is_finite()
    value = image.get(name)
    image.set(name, quaternion.quaternion(1, bad, 0, 0) if name == "q_IB" else np.full_like(value, bad))
    assert not is_finite()
    image.reset()
    assert is_finite()


@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_few_and_many_floats_are_probed_alike_and_without_warnings(size: int, bad: float) -> None:
    database, problems = read_database(SimpleNamespace(dt=1.0, tmax=2.0, big=np.ones(size)))
    assert not problems
    (task,), _ = read_tasks({"A": {"Out": "big"}}, database)
    image = Image(database, (task,))
    (probe,) = image.finite_probes([task])
    assert np.isfinite(probe())
    values = np.ones(size)
    values[[0, -1]] = bad, -bad
    image.set("big", values)
    assert not np.isfinite(probe())


def test_neighbouring_floats_are_probed_together() -> None:
    (task,) = tasks_of(A={"Out": "w_B,q_IB"})
    assert len(Image(spec()).finite_probes([task])) == 1


def test_overrides_change_initial_values_and_nothing_else() -> None:
    database = spec()
    changed = Overrides({"U": [4, 5, 6], "tmax": 8, "on": False}).apply(database)
    assert changed.fields["U"].initial.tolist() == [4.0, 5.0, 6.0]
    assert changed.fields["tmax"].initial == 8.0
    assert changed.fields["on"].initial is False
    assert database.fields["U"].initial.tolist() == [1.0, 2.0, 3.0]
    assert changed.layout().text == database.layout().text
    assert changed.fields["raw"].finite == "ignore"


def test_all_overrides_that_do_not_fit_are_told_at_once() -> None:
    with pytest.raises(ScenarioError) as caught:
        Overrides({"u": 1.0, "U": [1.0], "count": 1.5, "dt": -1.0}).apply(spec())
    head, unknown, shape, kind, step = str(caught.value).splitlines()
    assert head == "initial values: 4 problems"
    assert unknown.startswith(
        "  initial value: 'u' is not a field of DataBase; did you mean 'U'? fields: t, dt"
    )
    assert shape == "  initial value 'U': has shape (1,): [1.0]; wanted 3 × f8"
    assert kind == "  initial value 'count': is of type float64: 1.5; wanted one i8"
    assert step == "  DataBase field 'dt': is -1.0; wanted a step > 0 [s]"
