"""Exports, each read back by the independent reader of its format, to the last bit."""

from __future__ import annotations

import base64
import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow.parquet
import pytest
import scipy.io
from mcap.reader import make_reader

from simsched.database import Field
from simsched.errors import MissingExtra, RecordingError, UnknownField, UserError
from simsched.record import FORMATS, Recorder, Recording, export
from simsched.record.export import mat_file, mcap_file
from simsched.results import flat_columns, flat_names


def same_bits(read: Any, wanted: np.ndarray[Any, Any]) -> bool:
    found: np.ndarray[Any, Any] = np.asarray(read)
    return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def test_parquet(sample: Any, recording: Path, tmp_path: Path) -> None:
    table = pyarrow.parquet.read_table(export(recording, tmp_path / "run.parquet"))
    assert table.column_names == list(sample.fields) and table.num_rows == 2500
    for name, member in sample.fields.items():
        column = table.column(name).combine_chunks()
        assert same_bits(Recording(recording).table.values(member, column), sample.rows[name]), name
    assert table.column("w_B")[3].as_py() == sample.rows["w_B"][3].tolist()
    stored = pyarrow.parquet.read_metadata(tmp_path / "run.parquet").metadata or {}
    assert json.loads(stored[b"summary"]) == {"ended": "tmax"} and stored[b"complete"] == b"True"
    assert stored[b"scenario"].decode() == "Tasks = …"
    remarks = table.schema.field("w_B").metadata or {}
    assert remarks[b"simsched.comment"] == b"angular velocity [rad/s]"


def test_csv(sample: Any, recording: Path, tmp_path: Path) -> None:
    with open(export(recording, tmp_path / "run.csv"), newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header == [name for member in sample.fields.values() for name in flat_names(member)]
    cells = dict(zip(header, zip(*lines, strict=True), strict=True))
    assert len(lines) == 2500
    for name, member in sample.fields.items():
        for column, wanted in flat_columns(member, sample.rows[name]).items():
            check_cells(cells[column], member, wanted)


def check_cells(cells: tuple[str, ...], member: Field, wanted: np.ndarray[Any, Any]) -> None:
    if member.kind == "bytes":
        assert [bytes.fromhex(cell) for cell in cells] == wanted.tolist()
    elif member.layout.type.is_float:
        found = np.array([float(cell) for cell in cells]).astype(wanted.dtype)
        numbers = ~np.isnan(wanted)  # which NaN it was is not for text to tell
        assert np.isnan(found[~numbers]).all()
        assert found[numbers].tobytes() == wanted[numbers].tobytes(), member.name
    else:
        assert [int(cell) for cell in cells] == wanted.astype(object).tolist(), member.name


def test_mat(sample: Any, recording: Path, tmp_path: Path) -> None:
    read = scipy.io.loadmat(export(recording, tmp_path / "run.mat"), mat_dtype=False)
    names = json.loads(str(read["simsched_names"][0]))
    assert names["Truth_w_B"] == "Truth.w_B" and set(names.values()) == set(sample.fields)
    for variable, name in names.items():
        wanted = sample.rows[name]
        if wanted.dtype == np.bool_:
            wanted = wanted.astype(np.uint8)  # MATLAB's logical, as SciPy reads it
        assert same_bits(read[variable], wanted.reshape(-1, 1) if wanted.ndim == 1 else wanted), name
    about = json.loads(str(read["simsched_metadata"][0]))
    assert about["scenario"] == "Tasks = …" and json.loads(about["summary"]) == {"ended": "tmax"}
    assert [entry[2] for entry in scipy.io.whosmat(tmp_path / "run.mat") if entry[0] == "ready"] == [
        "logical"
    ]


def test_mat_names_are_valid_and_different() -> None:
    fields = ["w_B", "Truth.w_B", "Truth_w_B", "end", "größe", "x" * 80, "x" * 90, "simsched_names"]
    names = mat_file.valid_names(fields)
    assert names["w_B"] == "w_B" and names["Truth.w_B"] == "Truth_w_B"
    assert names["Truth_w_B"] == "Truth_w_B_2" and names["end"] == "f_end"
    assert len(set(names.values())) == len(fields)
    assert all(len(name) <= 63 and name.isidentifier() and name.isascii() for name in names.values())


def test_mat_says_when_a_variable_is_too_large(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mat_file, "LIMIT", 30_000)
    with pytest.raises(RecordingError, match=r"field 'w_B' has more than 30000 bytes.*: export to \.h5"):
        export(recording, tmp_path / "run.mat")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".h5", ".hdf5"])
def test_hdf5(sample: Any, recording: Path, tmp_path: Path, suffix: str) -> None:
    with h5py.File(export(recording, tmp_path / f"run{suffix}")) as file:
        assert set(file) == {*sample.fields, "_recording"}
        for name, member in sample.fields.items():
            assert same_bits(file[name][:], sample.rows[name]), name
            assert file[name].attrs["layout"] == member.layout.text
        assert file["w_B"].attrs["comment"] == "angular velocity [rad/s]"
        about = file["_recording"]
        assert about["metadata/scenario"][()].decode() == "Tasks = …"
        assert json.loads(about["metadata/summary"][()]) == {"ended": "tmax"}
        assert about["initial/label"][:].tobytes() == sample.results.initial["label"]
        assert about["initial/t"][()] == -1.0


def test_hdf5_takes_a_long_scenario(sample_of: Any, tmp_path: Path) -> None:
    sample = sample_of(1)
    recorder = Recorder(
        tmp_path / "run.arrows", sample.fields, metadata={"scenario": "x" * 200_000}, initial=sample.initial
    )
    recorder.close({})
    with h5py.File(export(tmp_path / "run.arrows", tmp_path / "run.h5")) as file:
        assert len(file["_recording/metadata/scenario"][()]) == 200_000
        assert file["w_B"].shape == (0, 3)


def read_mcap(path: Path) -> tuple[dict[str, list[tuple[int, Any]]], dict[str, Any], dict[str, str]]:
    """(time [ns], message) of each topic, the schemas, and the metadata."""
    messages: dict[str, list[tuple[int, Any]]] = {}
    schemas: dict[str, Any] = {}
    with open(path, "rb") as file:
        reader = make_reader(file)
        for schema, channel, message in reader.iter_messages():
            assert (
                schema is not None and schema.encoding == "jsonschema" and channel.message_encoding == "json"
            )
            content = json.loads(message.data, parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
            messages.setdefault(channel.topic, []).append((message.log_time, content))
            schemas[channel.topic] = json.loads(schema.data)
        (metadata,) = reader.iter_metadata()
    return messages, schemas, dict(metadata.metadata)


def numbers_of(member: Field, message: Any) -> list[Any]:
    """The flat numbers of a message, in the order of memory."""
    if member.kind == "quaternion":
        return [message[part] for part in "wxyz"]
    value = message["value"]
    if member.kind == "quaternions":
        return [quaternion[part] for quaternion in value for part in "wxyz"]
    if member.kind == "bytes":
        return list(base64.b64decode(value))
    return list(value) if member.layout.shape else [value]


def test_mcap(sample_of: Any, tmp_path: Path) -> None:
    sample = sample_of(300)
    sample.record(tmp_path / "run.arrows")
    messages, schemas, metadata = read_mcap(export(tmp_path / "run.arrows", tmp_path / "run.mcap"))
    assert set(messages) == {f"/{name}" for name in sample.fields}
    assert schemas["/w_B"]["properties"]["value"] == {"type": "array", "items": {"type": "number"}}
    assert schemas["/i4"]["properties"]["value"] == {"type": "integer"}
    assert set(schemas["/q_IB"]["properties"]) == set("wxyz")
    assert metadata["scenario"] == "Tasks = …" and metadata["t_shift_s"] == "1.0"
    for name, member in sample.fields.items():
        times = [time_ns for time_ns, _ in messages[f"/{name}"]]
        assert times == [round((t + 1.0) * 1e9) for t in sample.rows["t"].tolist()]
        wanted = sample.rows[name].reshape(300, -1).tolist()
        for (_, message), row in zip(messages[f"/{name}"], wanted, strict=True):
            finite = [number if math.isfinite(number) else None for number in row]
            assert numbers_of(member, message) == finite, name


def test_mcap_schemas_stay_within_what_the_tools_take(sample: Any) -> None:
    """Foxglove wants an object at the top, types as single words, and no lists of lists."""
    for member in sample.fields.values():
        schema = mcap_file.message_schema(member)
        assert schema["type"] == "object"
        for part in schema["properties"].values():
            assert isinstance(part["type"], str)
            if part["type"] == "array":
                assert part["items"]["type"] in ("number", "integer", "boolean", "object")


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_run_of_many_tiny_batches_and_chosen_fields(sample_of: Any, tmp_path: Path, suffix: str) -> None:
    sample = sample_of(30)
    path = tmp_path / "run.arrows"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simsched.record.recorder.BATCH_ROWS", 1)
        sample.record(path)
    assert len(list(Recording(path).batches())) == 30
    out = export(path, tmp_path / f"run{suffix}", ["w_B", "label"])
    assert rows_and_names(out) == (30, {"t", "w_B", "label"})


def rows_and_names(path: Path) -> tuple[int, set[str]]:
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        return table.num_rows, set(table.column_names)
    if path.suffix == ".csv":
        lines = path.read_text().splitlines()
        return len(lines) - 1, {name.partition("[")[0] for name in lines[0].split(",")}
    if path.suffix == ".mat":
        names = {name for name in scipy.io.loadmat(path) if not name.startswith(("_", "simsched"))}
        return len(scipy.io.loadmat(path)["t"]), names
    if path.suffix == ".mcap":
        messages, _, _ = read_mcap(path)
        return len(messages["/t"]), {topic[1:] for topic in messages}
    with h5py.File(path) as file:
        return len(file["t"]), set(file) - {"_recording"}


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_incomplete_run_is_exported_as_such(
    sample: Any, recording: Path, tmp_path: Path, suffix: str
) -> None:
    torn = tmp_path / "torn.arrows"
    torn.write_bytes(recording.read_bytes()[:-2000])
    rows = sum(batch.num_rows for batch in Recording(torn).batches())
    assert rows_and_names(export(torn, tmp_path / f"run{suffix}", ["w_B"]))[0] == rows > 0


def test_an_unknown_suffix_lists_the_known(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"has suffix '\.xls'; wanted one of \.parquet, \.csv, \.mat, \.h5, \.hdf5, \.mcap"
    ):
        export(recording, tmp_path / "run.xls")
    with pytest.raises(UserError, match="it has no suffix; wanted one of"):
        export(recording, tmp_path / "run")


def test_an_unknown_field_is_named(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownField, match="'w_C' is not a recorded field; did you mean 'w_B'"):
        export(recording, tmp_path / "run.csv", ["w_C"])
    assert list(tmp_path.iterdir()) == []


PACKAGES = {".parquet": "pyarrow.parquet", ".mat": "scipy.io", ".h5": "h5py", ".mcap": "mcap.writer"}


@pytest.mark.parametrize("suffix", PACKAGES)
def test_a_missing_package_is_named(
    recording: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, PACKAGES[suffix], None)
    package = PACKAGES[suffix].partition(".")[0]
    with pytest.raises(
        MissingExtra, match=rf"export to \w+ needs the package '{package}'.*simsched\[record\]"
    ):
        export(recording, tmp_path / f"run{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_crash_leaves_the_old_file_and_no_half_one(
    recording: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / f"run{suffix}"
    out.write_text("the old one")
    original = Recording.batches

    def breaks_off(self: Recording) -> Any:
        yield next(iter(original(self)))
        raise RuntimeError("crash")

    monkeypatch.setattr(Recording, "batches", breaks_off)
    with pytest.raises(RuntimeError, match="crash"):
        export(recording, out)
    assert out.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_place_that_cannot_be_written(recording: Path, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(
        RecordingError, match=r"cannot be written: .*; the recording '.*run\.arrows' is untouched"
    ):
        export(recording, tmp_path / "nowhere" / f"run{suffix}")
