"""The recorder: what it writes, when it flushes, and that it never holds more than it may."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from simsched.database import make_field
from simsched.errors import MissingExtra, RecorderFailed, RecordingError, UnknownField
from simsched.measure import Timings
from simsched.record import Recorder, load
from simsched.record import recorder as recorder_module
from simsched.record.arrow import ArrowTable

FIELDS = {"t": make_field("t", 0.0), "w": make_field("w", np.zeros(3))}
ROW = np.arange(4.0).tobytes()


def new_recorder(path: Path, **options: Any) -> Recorder:
    return Recorder(path, FIELDS, metadata={}, initial=bytes(32), **options)


def wait_until(condition: Any) -> None:
    """Wait for what must come; the limit only ends a test that has failed."""
    end = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.005)


def test_every_bit_comes_back(sample: Any, recording: Path) -> None:
    r = load(recording)
    assert r.same_as(sample.results) == []
    assert r.shadows == ("Truth.w_B",)
    assert r.complete and r.summary == {"ended": "tmax"}
    assert r.metadata["scenario"] == "Tasks = …"


def test_fields_come_back_whole(sample: Any, recording: Path) -> None:
    for name, member in load(recording).members.items():
        original = sample.fields[name]
        assert (member.kind, member.layout, member.finite, member.comment) == (
            original.kind, original.layout, original.finite, original.comment
        )  # fmt: skip
        assert type(member.initial) is type(original.initial)
        assert np.array_equal(member.initial, original.initial)


def test_plain_pyarrow_reads_columns_that_people_expect(sample: Any, recording: Path) -> None:
    table = pa.ipc.open_stream(recording.read_bytes()).read_all()
    assert table.num_rows == 2500
    assert table.schema.field("w_B").type == pa.list_(pa.float64(), 3)
    assert table.schema.field("inertia").type == pa.list_(pa.float32(), 6)
    assert table.schema.field("q_IB").type == pa.list_(pa.float64(), 4)
    assert table.schema.field("mask").type == pa.list_(pa.bool_(), 3)
    assert table.schema.field("label").type == pa.binary(4)
    assert table.schema.field("ready").type == pa.bool_()
    assert table.schema.field("point").type == pa.float64()
    assert table.schema.field("u8").type == pa.uint64()
    assert table.column("u8").to_pylist() == sample.rows["u8"].tolist()
    assert table.column("mask").to_pylist() == sample.rows["mask"].tolist()
    assert table.column("label")[7].as_py() == sample.rows["label"][7].tobytes()
    remarks = table.schema.field("inertia").metadata or {}
    assert remarks[b"simsched.layout"] == b"inertia:f4[2,3]" and remarks[b"simsched.shape"] == b"[2, 3]"


def test_batches_have_at_most_1024_rows(recording: Path) -> None:
    sizes = [batch.num_rows for batch in pa.ipc.open_stream(recording.read_bytes())]
    assert max(sizes) <= 1024 and sum(sizes) == 2500


def test_wide_rows_make_small_batches(tmp_path: Path) -> None:
    fields = {"t": make_field("t", 0.0), "image": make_field("image", np.zeros(1 << 17, np.float64))}
    size = 8 + (1 << 20)
    recorder = Recorder(tmp_path / "wide.arrows", fields, metadata={}, initial=bytes(size))
    for _ in range(10):
        recorder.add(bytes(size))
    recorder.close({})
    batches = [batch for batch in pa.ipc.open_stream((tmp_path / "wide.arrows").read_bytes())]
    assert max(batch.nbytes for batch in batches) <= recorder_module.BATCH_BYTES
    assert sum(batch.num_rows for batch in batches) == 10


def test_any_non_zero_byte_is_true(tmp_path: Path) -> None:
    fields = {"t": make_field("t", 0.0), "ready": make_field("ready", False)}
    recorder = Recorder(tmp_path / "b.arrows", fields, metadata={}, initial=bytes(9))
    for byte in (0, 1, 2, 255):
        recorder.add(bytes(8) + bytes([byte]))
    recorder.close({})
    assert load(tmp_path / "b.arrows")["ready"].tolist() == [False, True, True, True]


def test_a_lone_row_is_flushed_without_another_step(tmp_path: Path) -> None:
    recorder = new_recorder(tmp_path / "slow.arrows")
    recorder.add(ROW)
    wait_until(lambda: recorder.safe_rows == 1)
    r = load(tmp_path / "slow.arrows")
    assert r["w"].tolist() == [[1.0, 2.0, 3.0]] and not r.complete
    recorder.close({})


def test_the_row_is_copied(tmp_path: Path) -> None:
    recorder, row = new_recorder(tmp_path / "copy.arrows"), bytearray(ROW)
    recorder.add(row)
    row[:] = bytes(32)
    recorder.add(row)
    recorder.close({})
    assert load(tmp_path / "copy.arrows")["w"].tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def test_decimation_and_choice_of_fields(sample: Any, tmp_path: Path) -> None:
    r = load(sample.record(tmp_path / "some.arrows", every=7, only=["q_IB", "Truth.w_B"]))
    assert list(r) == ["t", "q_IB", "Truth.w_B"]
    assert r["Truth.w_B"].tobytes() == sample.rows["Truth.w_B"][::7].tobytes()
    assert r.initial["q_IB"] == sample.results.initial["q_IB"] and set(r.initial) == set(r)
    assert r.metadata["simsched.every"] == "7"
    with pytest.raises(UnknownField, match="did you mean 'q_IB'"):
        sample.record(tmp_path / "none.arrows", only=["q_ib"])
    assert not (tmp_path / "none.arrows").exists()


def test_a_run_without_steps_is_a_recording(tmp_path: Path) -> None:
    new_recorder(tmp_path / "none.arrows").close({"ended": "stopped"})
    r = load(tmp_path / "none.arrows")
    assert len(r) == 0 and r.complete and r["w"].shape == (0, 3)
    assert r.initial["w"].tolist() == [0.0, 0.0, 0.0]


def test_the_summary_takes_what_a_run_has_to_say(tmp_path: Path) -> None:
    recorder = new_recorder(tmp_path / "s.arrows")
    timing = Timings()
    timing.add(10, 0, 5, 20)
    recorder.close({"timing": {"Control": timing.summary()}, "steps": np.int64(3), "path": Path("a/b")})
    recorder.close({"steps": 4})
    summary = load(tmp_path / "s.arrows").summary
    assert summary is not None
    assert summary["timing"]["Control"]["exchanges"] == 1
    assert summary["steps"] == 3 and summary["path"] == str(Path("a/b"))


def test_a_summary_that_is_no_json_does_not_cost_the_recording(tmp_path: Path) -> None:
    recorder = new_recorder(tmp_path / "s.arrows")
    recorder.add(ROW)
    with pytest.raises(TypeError):
        recorder.close({"counters": {("Control", "lost"): 1}})
    r = load(tmp_path / "s.arrows")
    assert len(r) == 1 and r.complete and r.summary == {}


def test_an_existing_file_is_kept_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "run.arrows"
    path.write_text("precious")
    with pytest.raises(RecordingError, match=r"run\.arrows' exists already: choose another name"):
        new_recorder(path)
    assert path.read_text() == "precious"
    new_recorder(path, overwrite=True).close({})
    assert load(path).complete


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(
        RecordingError, match=r"run\.arrows' cannot be made: No such file or directory; choose"
    ):
        new_recorder(tmp_path / "nowhere" / "run.arrows")


def test_a_row_of_another_size_is_refused_and_the_rest_kept(tmp_path: Path) -> None:
    recorder = new_recorder(tmp_path / "run.arrows")
    recorder.add(ROW)
    with pytest.raises(RecordingError, match="a row has 31 bytes, its fields need 32: t:f8,w:f8"):
        recorder.add(ROW[:31])
    recorder.add(ROW)
    recorder.close({})
    assert len(load(tmp_path / "run.arrows")) == 2


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    wanted = (
        r"recording needs the package 'pyarrow', which is not installed: pip install 'simsched\[record\]'"
    )
    with pytest.raises(MissingExtra, match=wanted):
        new_recorder(tmp_path / "run.arrows")
    assert not (tmp_path / "run.arrows").exists()


class Gate:
    """Holds the writer thread up, as a slow disk would."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.open.set()
        original = ArrowTable.batch

        def gated(table: ArrowTable, rows: Any) -> Any:
            assert self.open.wait(30.0)
            return original(table, rows)

        monkeypatch.setattr(ArrowTable, "batch", gated)


def test_a_slow_disk_makes_the_loop_wait_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(monkeypatch)
    recorder = new_recorder(tmp_path / "slow.arrows")
    gate.open.clear()
    waits = threading.Event()
    original = recorder._changed.wait

    def add_many() -> None:
        for step in range(40_000):
            recorder.add(np.array([step, 0.0, 0.0, 0.0]).tobytes())

    def observed(timeout: float | None = None) -> bool:
        if threading.current_thread() is loop:
            waits.set()
        return original(timeout)

    monkeypatch.setattr(recorder._changed, "wait", observed)
    loop = threading.Thread(target=add_many)
    loop.start()
    wait_until(lambda: waits.is_set() or not loop.is_alive())
    assert loop.is_alive()
    assert len(recorder._block) == recorder_module.WAITING_BATCHES * recorder_module.BATCH_ROWS * len(ROW)
    gate.open.set()
    loop.join()
    recorder.close({})
    assert load(tmp_path / "slow.arrows").t.tolist() == list(range(40_000))


def test_whatever_fails_in_the_writer_is_told_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorder = new_recorder(tmp_path / "run.arrows")
    recorder.add(ROW)
    wait_until(lambda: recorder.safe_rows == 1)

    def broken(table: ArrowTable, rows: Any) -> Any:
        raise MemoryError("no memory")

    monkeypatch.setattr(ArrowTable, "batch", broken)
    with pytest.raises(RecorderFailed) as caught:
        for _ in range(10**7):
            recorder.add(ROW)
    assert "MemoryError: no memory; 1 rows (steps 0 to 0) are safe on disk" in str(caught.value)
    recorder.close({"ended": "error"})
    r = load(tmp_path / "run.arrows")
    assert len(r) == 1 and not r.complete


def test_a_failure_that_no_step_has_told_is_told_by_close(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(monkeypatch)
    recorder = new_recorder(tmp_path / "run.arrows")
    gate.open.clear()
    recorder.add(ROW)
    monkeypatch.setattr(
        recorder, "_flushed", lambda rows: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    gate.open.set()
    with pytest.raises(RecorderFailed, match="No space left; no step is safe on disk"):
        recorder.close({})
    recorder.close({})
    assert json.dumps(load(tmp_path / "run.arrows").summary) == "null"
