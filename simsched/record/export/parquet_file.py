"""Parquet, with the columns and the metadata of the recording itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simsched.database import Field
from simsched.record.export.blocks import remarks, tables
from simsched.record.optional import need
from simsched.record.reader import Recording

GROUP_ROWS = 65_536


def write(recording: Recording, out: Path, fields: Mapping[str, Field]) -> None:
    """One row group for each 65 536 rows."""
    pa = need("pyarrow", "export to Parquet")
    parquet = need("pyarrow.parquet", "export to Parquet")
    schema = pa.schema([recording.schema.field(name) for name in fields], recording.schema.metadata)
    with parquet.ParquetWriter(out, schema) as writer:
        for table in tables(recording, fields, GROUP_ROWS):
            writer.write_table(table.replace_schema_metadata(schema.metadata))
        writer.add_key_value_metadata(remarks(recording))
