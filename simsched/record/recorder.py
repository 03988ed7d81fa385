"""Recording while the run goes on: the loop appends a row, a thread writes the file.

The loop pays for one copy of the packed row. A writer thread turns the rows into Arrow batches and
flushes each to the system, at the latest `FLUSH_S` after a row came in, so that a killed process
loses less than half a second (a power cut may cost more: the disk is not forced). What waits for the
disk is bounded: memory does not grow with the run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from simsched.database import Field
from simsched.errors import MissingExtra, RecorderFailed, RecordingError
from simsched.record.arrow import (
    FORMAT,
    FORMAT_KEY,
    INITIAL_KEY,
    SUMMARY_KEY,
    ArrowTable,
    to_text,
)
from simsched.record.choice import Choice
from simsched.record.optional import need
from simsched.results import Results

BATCH_ROWS = 1024
BATCH_BYTES = 4 << 20
WAITING_BATCHES = 8
FLUSH_S = 0.25
_FILE_BUFFER = 1 << 20


def import_writer() -> None:
    """Load what the first recording needs, while there is time."""
    with contextlib.suppress(MissingExtra):  # told when the recording is opened
        need("pyarrow", "recording")


class StepRecorder(Protocol):
    """What the master needs of a recorder; anything with these two methods will do."""

    def add(self, row: bytes | bytearray) -> None:
        """Keep a copy of this step's packed row."""

    def close(self, summary: Mapping[str, object]) -> None:
        """End the recording with what the run says of itself."""


class NullRecorder:
    """Records nothing."""

    def add(self, row: bytes | bytearray) -> None:
        """Forget the row."""

    def close(self, summary: Mapping[str, object]) -> None:
        """Nothing to end."""


class MemoryRecorder:
    """Records into memory, for runs in one process; needs no package beyond numpy."""

    def __init__(
        self,
        fields: Mapping[str, Field],
        *,
        metadata: Mapping[str, str],
        initial: bytes,
        every: int = 1,
        only: Sequence[str] | None = None,
    ) -> None:
        self._choice = Choice(fields, only, every)
        self._metadata = self._choice.metadata(metadata)
        self._initial = self._choice.initial(initial)
        self._rows = bytearray()
        self._summary: dict[str, Any] | None = None

    def add(self, row: bytes | bytearray) -> None:
        """Keep a copy of the row, if it is one of those to keep."""
        if self._choice.wants(row):
            self._rows += row

    def close(self, summary: Mapping[str, object]) -> None:
        """Keep the summary, in the form in which a file would give it back."""
        if self._summary is None:
            self._summary = json.loads(summary_text(summary))

    def results(self) -> Results:
        """What was recorded until now."""
        rows = self._choice.chosen(self._rows)
        complete = self._summary is not None
        return Results(self._choice.fields, rows, self._initial, self._metadata, self._summary, complete)


class Recorder:
    """Records into an Arrow stream; raises RecordingError if the file cannot be made.

    `only` chooses fields (t is always among them), `every` keeps the rows of steps k with
    k mod every = 0. `overwrite` permits replacing a file that exists.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fields: Mapping[str, Field],
        *,
        metadata: Mapping[str, str],
        initial: bytes,
        every: int = 1,
        only: Sequence[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self._choice = Choice(fields, only, every)
        size = self._choice.layout.size
        self._full = size * max(1, min(BATCH_ROWS, BATCH_BYTES // size))
        self._limit = self._full * WAITING_BATCHES
        self._call_at = self._full
        self._table = ArrowTable(
            self._choice.fields,
            {
                **self._choice.metadata(metadata),
                FORMAT_KEY: FORMAT,
                INITIAL_KEY: to_text(self._choice.initial(initial)),
            },
        )
        # the loop appends at the end and the writer cuts from the front, each in one operation of the
        # interpreter: a lock would cost the loop more than the copy of the row
        self._block = bytearray()
        self._append = self._block.extend
        self._changed = threading.Condition()
        self._summary: str | None = None
        self._failure: Exception | None = None
        self._failure_told = False
        self.safe_rows = 0
        """How many rows are flushed to the file."""
        self._safe_size = 0
        self._open(overwrite)
        self._thread = threading.Thread(target=self._write_until_closed, name="recorder", daemon=True)
        self._thread.start()

    def add(self, row: bytes | bytearray) -> None:
        """Keep a copy of this step's packed row; takes about a microsecond.

        Waits for the disk only when it is so far behind that eight batches are waiting. Raises
        RecorderFailed in the first call after writing failed.
        """
        if self._failure is not None:
            raise self._failed()
        if self._choice.wants(row):
            self._append(row)
            if len(self._block) >= self._call_at:
                self._hand_over()

    def close(self, summary: Mapping[str, object]) -> None:
        """Write the rest, the summary and the end of the stream; further calls do nothing.

        Raises RecorderFailed if writing failed and no `add` has told so.
        """
        text = "{}"
        try:
            text = summary_text(summary)
        finally:
            self._end(text)
        if self._failure is not None and not self._failure_told:
            raise self._failed()

    def _end(self, text: str) -> None:
        with self._changed:
            if self._summary is None:
                self._summary = text
            self._changed.notify_all()
        self._thread.join()

    def _hand_over(self) -> None:
        """Wake the writer, once for each batch; wait for it when it is too far behind."""
        with self._changed:
            self._call_at = self._limit
            self._changed.notify_all()
            while len(self._block) >= self._limit and self._failure is None:
                self._changed.wait()

    def _failed(self) -> RecorderFailed:
        self._failure_told = True
        return RecorderFailed(
            f"recording '{self.path}' cannot be continued: {_cause(self._failure)}; "
            f"{self._safe_words()} on disk and readable: make room or record to another place, "
            f"and run again"
        )

    def _safe_words(self) -> str:
        if not self.safe_rows:
            return "no step is safe"
        last = (self.safe_rows - 1) * self._choice.every
        return f"{self.safe_rows} rows (steps 0 to {last}) are safe"

    def _open(self, overwrite: bool) -> None:
        """Make the file and flush its schema, so that a bad place is found before the run starts."""
        ipc = need("pyarrow.ipc", "recording")
        empty = self._empty_batch()
        try:
            self._file = open(self.path, "wb" if overwrite else "xb", _FILE_BUFFER)  # noqa: SIM115
        except FileExistsError:
            raise RecordingError(
                f"recording '{self.path}' exists already: choose another name, or permit overwriting"
            ) from None
        except OSError as error:
            raise RecordingError(
                f"recording '{self.path}' cannot be made: {_cause(error)}; choose a place that exists "
                f"and that you may write to"
            ) from None
        try:
            self._stream = ipc.new_stream(self._file, self._table.schema)
            # pyarrow keeps the schema back until the first batch
            self._stream.write_batch(empty)
            self._flushed(0)
        except OSError as error:
            self._give_up(error)
            if self.path.is_file():
                self.path.unlink()
            raise self._failed() from None

    def _write_until_closed(self) -> None:
        """The writer thread; whatever goes wrong in it is told by the next `add` or `close`."""
        try:
            while self._summary is None:
                self._write(self._take())
            self._write(self._take())
            self._finish(self._summary)
        except Exception as error:  # noqa: BLE001  nothing may end this thread unheard
            self._give_up(error)

    def _take(self) -> bytearray:
        """All waiting rows, once there is a batch of them, time has come, or the run has ended."""
        with self._changed:
            self._changed.wait_for(self._is_due, FLUSH_S)
            taken = self._block[:]
            del self._block[: len(taken)]
            self._call_at = self._full
            self._changed.notify_all()
        return taken

    def _is_due(self) -> bool:
        return len(self._block) >= self._full or self._summary is not None

    def _write(self, taken: bytearray) -> None:
        rows = self._choice.structured(taken)
        step = self._full // self._choice.layout.size
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            self._stream.write_batch(self._table.batch(part))
            self._flushed(len(part))

    def _flushed(self, rows: int) -> None:
        self._file.flush()
        self._safe_size = self._file.tell()
        self.safe_rows += rows

    def _finish(self, summary: str) -> None:
        """A last, empty batch carries what was not known when the schema was written."""
        self._stream.write_batch(self._empty_batch(), custom_metadata={SUMMARY_KEY: summary})
        self._stream.close()
        self._file.close()

    def _empty_batch(self) -> Any:
        return self._table.batch(self._choice.structured(b""))

    def _give_up(self, error: Exception) -> None:
        """Cut the file after its last whole batch, so that any Arrow reader takes it."""
        descriptor = os.dup(self._file.fileno())
        # closing flushes again and fails for the reason that is reported already
        with contextlib.suppress(OSError):
            self._file.close()
        # a device or pipe has no length to cut; the reader copes with a torn tail as well
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, self._safe_size)
        os.close(descriptor)
        with self._changed:
            self._failure = error
            self._block.clear()
            self._changed.notify_all()


def summary_text(summary: Mapping[str, object]) -> str:
    """The summary as JSON; dataclasses and numpy values as what they hold, others as text."""
    return json.dumps(dict(summary), default=_plain)


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    listed = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    # a quaternion is a numpy scalar too, and its own list
    return str(value) if listed is value or isinstance(listed, np.generic) else listed


def _cause(error: Exception | None) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}"
