"""CSV: one column per number, `w_B[0]`, `q_IB.w`.

Floats are written with the digits that give back the same number, truth values as 0 and 1, bytes in
hexadecimal.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simsched.database import Field
from simsched.record.export.blocks import columns
from simsched.record.reader import Recording
from simsched.results import Array, flat_columns, flat_names


def write(recording: Recording, out: Path, fields: Mapping[str, Field]) -> None:
    """A header line, then one line per row."""
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([name for member in fields.values() for name in flat_names(member)])
        for block in columns(recording, fields):
            cells = [cell for name, member in fields.items() for cell in _cells(member, block[name])]
            writer.writerows(zip(*cells, strict=True))


def _cells(member: Field, raw: Array) -> list[list[Any]]:
    flat = flat_columns(member, raw).values()
    if member.kind == "bytes":
        return [[value.hex() for value in column] for column in flat]
    if member.layout.type.code == "b1":
        return [column.astype(int).tolist() for column in flat]
    return [column.tolist() for column in flat]
