"""Reading a recording back, whole or batch by batch, also one whose run was killed.

A stream that ends in the middle of a batch is read up to the batch before it. Only the last, empty
batch with its summary tells that a recording is complete: a stream may also end between two batches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from simsched.database import Field
from simsched.errors import RecordingError
from simsched.record.arrow import (
    FORMAT,
    FORMAT_KEY,
    INITIAL_KEY,
    PREFIX,
    SUMMARY_KEY,
    ArrowTable,
    arrow_type,
    from_text,
    read_field,
)
from simsched.record.optional import need
from simsched.results import Array, Results


def load(path: str | os.PathLike[str]) -> Results:
    """Read a whole recording; RecordingError if there is none that can be read.

    Of a run that was killed all flushed rows are there, and `complete` is False.
    """
    recording = Recording(path)
    parts = list(recording.rows())
    rows = np.concatenate(parts) if parts else np.empty(0, recording.table.dtype)
    return Results(
        recording.fields, rows, recording.initial, recording.metadata, recording.summary, recording.complete
    )


class Recording:
    """A recording on disk that is read batch by batch, in constant memory.

    `summary` and `complete` are known once `batches` or `rows` has come to its end.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._pa = need("pyarrow", "reading a recording")
        self._ipc = need("pyarrow.ipc", "reading a recording")
        self.summary: dict[str, Any] | None = None
        self.complete = False
        with self._stream() as stream:
            self.schema = stream.schema
        self.metadata = {key.decode(): value.decode() for key, value in (self.schema.metadata or {}).items()}
        self._check_format()
        self.fields = self._read_fields()
        self.initial = self._read_initial()
        self.table = ArrowTable(self.fields)

    def rows(self) -> Iterator[Array]:
        """The packed rows of each batch, as structured arrays."""
        for batch in self.batches():
            yield self.table.rows(batch)

    def batches(self) -> Iterator[Any]:
        """The record batches, up to the last whole one."""
        with self._stream() as stream:
            while (item := self._next(stream)) is not None:
                metadata = item.custom_metadata
                if metadata is not None and SUMMARY_KEY in metadata:
                    self.summary = json.loads(metadata[SUMMARY_KEY])
                    self.complete = True
                elif item.batch.num_rows:
                    yield item.batch

    def _next(self, stream: Any) -> Any:
        """The next batch, or None at the end, be it torn or not."""
        try:
            return stream.read_next_batch_with_custom_metadata()
        except StopIteration:
            return None
        except (OSError, self._pa.ArrowException) as error:
            # a torn tail has no errno; the disk's own errors have one
            if isinstance(error, OSError) and error.errno:
                raise self._unreadable(error) from None
            return None

    @contextmanager
    def _stream(self) -> Iterator[Any]:
        try:
            # not memory-mapped: the file may still be growing, or be cut
            source = self._pa.OSFile(str(self.path), "rb")
        except FileNotFoundError:
            raise RecordingError(f"recording '{self.path}' is not there: check the name") from None
        except OSError as error:
            raise self._unreadable(error) from None
        with source:
            try:
                stream = self._ipc.open_stream(source)
            except (OSError, self._pa.ArrowException):
                raise RecordingError(f"'{self.path}' {self._why_no_stream()}") from None
            yield stream

    def _unreadable(self, error: OSError) -> RecordingError:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return RecordingError(f"recording '{self.path}' cannot be read: {reason}")

    def _why_no_stream(self) -> str:
        with open(self.path, "rb") as file:
            start = file.read(8)
        if not start:
            return "is empty: its run was stopped before it recorded anything"
        if start.startswith(b"ARROW1"):
            return "is an Arrow file; wanted an Arrow stream, as simsched records it (.arrows)"
        if start.startswith(b"\xff\xff\xff\xff"):
            return "ends within its header: its run was stopped before it recorded anything"
        return "is not an Arrow stream; wanted a recording of simsched (.arrows)"

    def _check_format(self) -> None:
        found = self.metadata.pop(FORMAT_KEY, None)
        if found is None:
            raise RecordingError(
                f"'{self.path}' is an Arrow stream, but not a recording of simsched: its schema has no "
                f"metadata '{FORMAT_KEY}'; read it with pyarrow.ipc.open_stream"
            )
        if found != FORMAT:
            raise RecordingError(
                f"recording '{self.path}' has format {found}, this version of simsched reads {FORMAT}: "
                f"use the version that recorded it, {self.metadata.get(PREFIX + 'version', 'unknown')}"
            )

    def _read_fields(self) -> dict[str, Field]:
        fields: dict[str, Field] = {}
        for column in self.schema:
            try:
                member = read_field(column)
            except (KeyError, ValueError) as error:
                raise self._damaged(f"column '{column.name}' lacks its layout ({error})") from None
            wanted = arrow_type(self._pa, member.layout)
            if column.type != wanted:
                raise self._damaged(f"column '{column.name}' is {column.type}; wanted {wanted}")
            fields[column.name] = member
        return fields

    def _read_initial(self) -> bytes | None:
        text = self.metadata.pop(INITIAL_KEY, None)
        try:
            return None if text is None else from_text(text)
        except ValueError as error:
            raise self._damaged(f"its initial row is not base64 ({error})") from None

    def _damaged(self, what: str) -> RecordingError:
        return RecordingError(f"recording '{self.path}' is damaged or was rewritten by another tool: {what}")
