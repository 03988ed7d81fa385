"""Recordings of processes that are killed, run out of disk, or run for long."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import simsched.results
from simsched.database import make_field
from simsched.errors import RecorderFailed
from simsched.record import Recorder, load
from simsched.results import Results

CHILD = Path(__file__).with_name("record_child.py")
LIMIT_S = 50.0


def start(*arguments: object) -> subprocess.Popen[str]:
    source = str(Path(simsched.results.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, str(CHILD), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        text=True,
    )


def read_with_pyarrow(path: Path) -> tuple[list[float], bool]:
    """Times of all whole batches, and whether the stream ended between two of them."""
    times: list[float] = []
    with pa.OSFile(str(path), "rb") as source:
        reader = pa.ipc.open_stream(source)
        while True:
            try:
                times += reader.read_next_batch().column("t").to_numpy().tolist()
            except StopIteration:
                return times, True
            except (OSError, pa.ArrowInvalid):
                return times, False


def check_rows(r: Results) -> None:
    assert r.t.tolist() == list(range(len(r)))
    assert np.array_equal(r["x"], np.repeat(r.t[:, None], 29, axis=1))


@pytest.mark.parametrize("pause_s", [0.0, 0.02], ids=["fast", "trickle"])
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment(tmp_path: Path, pause_s: float, seed: int) -> None:
    path = tmp_path / "run.arrows"
    with start("until_killed", path, pause_s) as child:
        assert child.stdout is not None
        for line in child.stdout:  # the first flushed row
            if int(line) > 0:
                break
        time.sleep(random.Random(seed).uniform(0.0, 0.6))  # any moment will do
        child.kill()
        said = [int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    r = load(path)
    assert not r.complete and r.summary is None
    assert len(r) >= max(said, default=1)
    check_rows(r)
    assert read_with_pyarrow(path)[0] == r.t.tolist()


def test_a_full_disk_keeps_all_that_was_flushed(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    with start("until_full", path, 1_000_000) as child:
        output, _ = child.communicate(timeout=LIMIT_S)
    assert child.returncode == 0
    message = output.splitlines()[-1]
    r = load(path)
    check_rows(r)
    assert len(r) > 1000 and not r.complete
    assert message == (
        f"recording '{path}' cannot be continued: File too large; {len(r)} rows (steps 0 to {len(r) - 1}) "
        f"are safe on disk and readable: make room or record to another place, and run again"
    )
    assert read_with_pyarrow(path) == (r.t.tolist(), True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_is_full_from_the_start() -> None:
    fields = {"t": make_field("t", 0.0)}
    with pytest.raises(RecorderFailed, match=r"'/dev/full' .*: No space left on device; no step is safe"):
        Recorder("/dev/full", fields, metadata={}, initial=bytes(8), overwrite=True)
    assert Path("/dev/full").exists()


def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    with start("memory", tmp_path / "run.arrows") as child:
        output, _ = child.communicate(timeout=LIMIT_S)
    resident = [int(line) for line in output.split()]
    assert len(load(tmp_path / "run.arrows")) == 200_000
    kept_would_be = 150_000 * 240
    assert resident[-1] - resident[0] < kept_would_be / 3


def test_only_what_is_used_is_imported(tmp_path: Path) -> None:
    """pyarrow would import pandas, half a second, at the first conversion of its own."""
    with start("light", tmp_path / "run.arrows") as child:
        output, _ = child.communicate(timeout=LIMIT_S)
    assert output.splitlines() == ["[]", "['pyarrow']"]
