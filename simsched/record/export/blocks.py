"""A recording cut into blocks that suit an export: slow runs are recorded in very small batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from simsched.database import Field
from simsched.record.optional import need
from simsched.record.reader import Recording
from simsched.results import Array

BLOCK_ROWS = 8192
BLOCK_BYTES = 32 << 20


def tables(recording: Recording, fields: Mapping[str, Field], rows: int = BLOCK_ROWS) -> Iterator[Any]:
    """Arrow tables of about `rows` rows each, with these columns."""
    pa = need("pyarrow", "export")
    waiting: list[Any] = []
    for batch in recording.batches():
        waiting.append(batch.select(list(fields)))
        if _is_enough(waiting, rows):
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _is_enough(waiting: list[Any], rows: int) -> bool:
    size: int = sum(batch.nbytes for batch in waiting)
    return size >= BLOCK_BYTES or sum(batch.num_rows for batch in waiting) >= rows


def columns(recording: Recording, fields: Mapping[str, Field]) -> Iterator[dict[str, Array]]:
    """Blocks of raw columns by name, each in the shape and type of the packed layout."""
    for table in tables(recording, fields):
        (batch,) = table.combine_chunks().to_batches()
        yield {name: recording.table.values(member, batch.column(name)) for name, member in fields.items()}


def remarks(recording: Recording) -> dict[str, str]:
    """What the recording says of its run, as texts; the summary is known after the last block."""
    summary = {} if recording.summary is None else {"summary": json.dumps(recording.summary)}
    return {**recording.metadata, "complete": str(recording.complete), **summary}
