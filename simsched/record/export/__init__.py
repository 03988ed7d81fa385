"""A recording for other tools: one small file per format, found by the suffix of the target.

Each exporter goes through the recording block by block, so that memory does not grow with it
(MAT excepted, whose writer wants whole variables). The target appears under its name only when it is
whole: it is written beside it and renamed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from simsched.database import Field
from simsched.errors import RecordingError, UserError
from simsched.record.export import csv_file, hdf5_file, mat_file, mcap_file, parquet_file
from simsched.record.reader import Recording
from simsched.results import find

Exporter = Callable[[Recording, Path, Mapping[str, Field]], None]

FORMATS: dict[str, Exporter] = {
    ".parquet": parquet_file.write,
    ".csv": csv_file.write,
    ".mat": mat_file.write,
    ".h5": hdf5_file.write,
    ".hdf5": hdf5_file.write,
    ".mcap": mcap_file.write,
}


def export(
    path: str | os.PathLike[str], out: str | os.PathLike[str], fields: Sequence[str] | None = None
) -> Path:
    """Write a recording in the format of `out`'s suffix, replacing a file of that name.

    `fields` chooses some (t is always among them). Raises UserError for an unknown suffix or field,
    MissingExtra where the format's package is not installed.
    """
    target = Path(out)
    exporter = exporter_for(target)
    recording = Recording(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        exporter(recording, part, _chosen(recording, fields))
        part.replace(target)
    except OSError as error:
        raise RecordingError(
            f"'{target}' cannot be written: {error.strerror or error}; the recording '{path}' is untouched"
        ) from error
    finally:
        # where the folder is none there is nothing to remove either
        with contextlib.suppress(NotADirectoryError):
            part.unlink(missing_ok=True)
    return target


def exporter_for(target: Path) -> Exporter:
    """The exporter for a file name; UserError lists the known suffixes."""
    suffix = target.suffix.lower()
    if suffix not in FORMATS:
        found = f"suffix '{target.suffix}'" if suffix else "no suffix"
        raise UserError(f"cannot export to '{target}': it has {found}; wanted one of {', '.join(FORMATS)}")
    return FORMATS[suffix]


def _chosen(recording: Recording, fields: Sequence[str] | None) -> Mapping[str, Field]:
    if fields is None:
        return recording.fields
    wanted = {"t", *(find(recording.fields, name).name for name in fields)}
    return {name: member for name, member in recording.fields.items() if name in wanted}
