"""What the tests of recordings share: a DataBase with every kind of field, and some rows of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quaternion

from simsched.database import Field, field, read_database
from simsched.image import Image
from simsched.record import Recorder
from simsched.results import Results
from simsched.tasks import read_tasks


class DataBase:
    t = -1.0
    dt = 0.1
    tmax = 100.0
    cmd = 0
    ready = False
    w_B = field(np.zeros(3), finite="stop", comment="angular velocity [rad/s]")
    inertia = np.zeros((2, 3), np.float32)
    mask = np.array([True, False, True])
    point = np.array(1.5)
    q_IB = quaternion.one
    stars = np.array([quaternion.x, quaternion.z])
    label = field(b"ab\0\0", finite="ignore")
    i1, i2, i4 = np.int8(-1), np.int16(-2), np.int32(-4)
    u1, u2, u4, u8 = np.uint8(1), np.uint16(2), np.uint32(4), np.uint64(2**63 + 1)
    f4 = np.float32(0.1)


TASKS = {"Truth": {"Out": "w_B,q_IB"}, "Sensor": {"In": "w_B", "Out": "w_B"}}


class Sample:
    """A run's worth of packed rows, random in every bit where any bit pattern is a value."""

    def __init__(self, steps: int) -> None:
        database, wrong = read_database(DataBase)
        tasks, also_wrong = read_tasks(TASKS, database)
        assert not wrong and not also_wrong
        image = Image(database, tasks)
        self.fields: dict[str, Field] = image.fields
        self.initial = bytes(image.data)
        self.rows = _random_rows(image.layout.dtype, steps)
        self.results = Results(self.fields, self.rows, self.initial)

    def packed(self) -> list[bytes]:
        """The rows, one by one, as the master hands them over."""
        return [row.tobytes() for row in self.rows]

    def record(self, path: Path, summary: dict[str, object] | None = None, **options: Any) -> Path:
        """Record all rows into a file and close it."""
        recorder = Recorder(
            path, self.fields, metadata={"scenario": "Tasks = …"}, initial=self.initial, **options
        )
        for row in self.packed():
            recorder.add(row)
        recorder.close(summary or {"ended": "tmax"})
        return path


def _random_rows(dtype: np.dtype[Any], steps: int) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(4711)
    rows = np.frombuffer(generator.bytes(steps * dtype.itemsize), dtype).copy()
    for name in ("ready", "mask"):
        rows[name] = generator.integers(0, 2, rows[name].shape)
    rows["t"] = -1.0 + 0.1 * np.arange(steps)
    if steps:
        rows["w_B"][0] = [np.nan, -np.inf, -0.0]
    return rows


@pytest.fixture(scope="session")
def sample_of() -> Callable[[int], Sample]:
    """Makes a sample of so many steps."""
    return Sample


@pytest.fixture(scope="session")
def sample() -> Sample:
    """A sample that fills two batches and a part of a third."""
    return Sample(2500)


@pytest.fixture(scope="session")
def recording(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, recorded and closed."""
    return sample.record(tmp_path_factory.mktemp("recorded") / "run.arrows")
