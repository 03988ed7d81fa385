"""Reading recordings: whole, torn at any byte, and files that are none."""

from __future__ import annotations

import errno
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simsched.errors import MissingExtra, RecordingError
from simsched.record import Recording, load
from simsched.record.arrow import parse_layout


@pytest.fixture(scope="module")
def whole(sample_of: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, int, Any]:
    """The bytes of a recording of 1500 rows, where its schema ends, and its rows."""
    folder = tmp_path_factory.mktemp("whole")
    sample = sample_of(1500)
    data = sample.record(folder / "run.arrows").read_bytes()
    with pa.BufferReader(data) as source:
        pa.ipc.open_stream(source)
        return data, source.tell(), sample


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(share=st.floats(0.0, 1.0, exclude_max=True))
def test_torn_anywhere_after_its_schema(whole: tuple[bytes, int, Any], tmp_path: Path, share: float) -> None:
    data, start, sample = whole
    path = tmp_path / "torn.arrows"
    path.write_bytes(data[: start + int(share * (len(data) - start))])
    r = load(path)
    assert len(r) in (0, 1024, 1500)
    assert r.rows.tobytes() == sample.rows[: len(r)].tobytes()
    assert r.complete == (r.summary is not None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(share=st.floats(0.0, 1.0, exclude_max=True))
def test_torn_within_its_schema(whole: tuple[bytes, int, Any], tmp_path: Path, share: float) -> None:
    data, start, _ = whole
    path = tmp_path / "torn.arrows"
    path.write_bytes(data[: int(share * start)])
    with pytest.raises(RecordingError, match=r"torn\.arrows' (is empty|ends within its header|is not an)"):
        load(path)


def test_a_stream_that_ends_between_batches_is_not_complete(
    whole: tuple[bytes, int, Any], tmp_path: Path
) -> None:
    data, start, _ = whole
    path = tmp_path / "torn.arrows"
    path.write_bytes(data[:start])
    r = load(path)
    assert len(r) == 0 and not r.complete and r.summary is None


@pytest.mark.parametrize("garbage", [bytes(5000), b"\xff" * 5000, b"any text" * 600])
def test_garbage_after_the_last_batch_is_ignored(
    whole: tuple[bytes, int, Any], tmp_path: Path, garbage: bytes
) -> None:
    data, start, _ = whole
    path = tmp_path / "garbage.arrows"
    path.write_bytes(data[:start] + garbage)
    assert len(load(path)) == 0
    path.write_bytes(data + garbage)
    assert len(load(path)) == 1500 and load(path).complete


def test_batch_by_batch(sample: Any, recording: Path) -> None:
    opened = Recording(recording)
    parts = list(opened.rows())
    assert opened.complete and opened.summary == {"ended": "tmax"}
    assert len(parts) >= 3 and np.concatenate(parts).tobytes() == sample.rows.tobytes()
    assert sum(batch.num_rows for batch in opened.batches()) == 2500  # again from the start


def test_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"recording '.*none\.arrows' is not there: check the name"):
        load(tmp_path / "none.arrows")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot be read: .* is a directory"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: its run was stopped before it recorded anything"),
        (b"t,w_B\n0,1\n2,3\n", r"is not an Arrow stream; wanted a recording of simsched \(\.arrows\)"),
        (b"ARROW1\0\0more", "is an Arrow file; wanted an Arrow stream"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "ends within its header"),
    ],
    ids=["empty", "text", "arrow file", "header only"],
)
def test_files_that_are_no_recordings(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.arrows"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=message):
        load(path)


def write_stream(path: Path, schema: pa.Schema) -> Path:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(schema.empty_table())
    path.write_bytes(sink.getvalue())
    return path


def test_a_foreign_arrow_stream(tmp_path: Path) -> None:
    path = write_stream(tmp_path / "foreign.arrows", pa.schema([("t", pa.float64())]))
    with pytest.raises(
        RecordingError, match=r"not a recording of simsched: its schema has no metadata 'simsched\.form"
    ):
        load(path)


def test_a_later_format(tmp_path: Path) -> None:
    about: dict[bytes | str, bytes | str] = {"simsched.format": "99", "simsched.version": "7.1"}
    path = write_stream(tmp_path / "later.arrows", pa.schema([("t", pa.float64())], about))
    with pytest.raises(RecordingError, match=r"has format 99, this version of simsched reads 1: .*, 7\.1"):
        load(path)


def test_a_recording_that_another_tool_has_rewritten(recording: Path, tmp_path: Path) -> None:
    schema = pa.ipc.open_stream(recording.read_bytes()).schema
    path = tmp_path / "rewritten.arrows"
    bare = schema.set(0, schema.field(0).remove_metadata())
    with pytest.raises(RecordingError, match=r"damaged .*: column 't' lacks its layout"):
        load(write_stream(path, bare))
    retyped = schema.set(0, schema.field(0).with_type(pa.float32()))
    with pytest.raises(RecordingError, match="column 't' is float; wanted double"):
        load(write_stream(path, retyped))
    spoilt = schema.with_metadata({**schema.metadata, b"simsched.initial": b"not base64!"})
    with pytest.raises(RecordingError, match="its initial row is not base64"):
        load(write_stream(path, spoilt))


def test_an_error_of_the_disk_is_not_taken_for_a_torn_tail(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def read_next_batch_with_custom_metadata(self) -> None:
            raise OSError(errno.EIO, "Input/output error")

    opened = Recording(recording)
    with pytest.raises(RecordingError, match="cannot be read: Input/output error"):
        opened._next(Failing())


def test_without_pyarrow(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="reading a recording needs the package 'pyarrow'"):
        load(recording)


@pytest.mark.parametrize(
    "text", ["t:f8", "U:f8[3]", "M:u2[2,3]", "q:quat", "qs:quat[2]", "id:S16", "Task.f:b1"]
)
def test_layouts_are_read_from_their_text(text: str) -> None:
    assert parse_layout(text).text == text


@pytest.mark.parametrize("text", ["", "t", "t:f9", "t:f8[]", ":f8", "t:f8[3]x"])
def test_a_text_that_is_no_layout(text: str) -> None:
    with pytest.raises(ValueError, match="is not the layout of a field; wanted something like 'U:f8"):
        parse_layout(text)
