"""MATLAB's MAT file, version 5: one variable per field, time along the first dimension.

Quaternions are rows of w, x, y, z; bytes are rows of uint8. `Task.field` becomes `Task_field`, and
`simsched_names` tells which variable is which field. The format holds at most 2 GB per variable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simsched.database import Field
from simsched.errors import RecordingError
from simsched.record.export.blocks import columns, remarks
from simsched.record.optional import need
from simsched.record.reader import Recording
from simsched.results import Array

LIMIT = 2**31 - 1
"""The largest variable of the format [bytes]."""

NAME_LENGTH = 63

_KEYWORDS = frozenset(
    "break case catch classdef continue else elseif end for function global if otherwise parfor "
    "persistent return spmd switch try while".split()
)


def write(recording: Recording, out: Path, fields: Mapping[str, Field]) -> None:
    """Gather every column, then write them at once: the writer knows no other way."""
    scipy_io = need("scipy.io", "export to MAT")
    names = valid_names(fields)
    gathered = _gather(recording, fields)
    variables: dict[str, Any] = {names[name]: values for name, values in gathered.items()}
    variables["simsched_metadata"] = json.dumps(remarks(recording))
    variables["simsched_names"] = json.dumps({variable: name for name, variable in names.items()})
    scipy_io.savemat(out, variables, appendmat=False, oned_as="column", long_field_names=True)


def _gather(recording: Recording, fields: Mapping[str, Field]) -> dict[str, Array]:
    parts: dict[str, list[Array]] = {
        name: [np.empty((0, *member.layout.dtype.shape), member.layout.dtype.base)]
        for name, member in fields.items()
    }
    rows = 0
    for block in columns(recording, fields):
        rows += len(block["t"])
        _check_size(fields, rows)
        for name, values in block.items():
            parts[name].append(values)
    return {name: np.concatenate(blocks) for name, blocks in parts.items()}


def _check_size(fields: Mapping[str, Field], rows: int) -> None:
    for name, member in fields.items():
        if rows * member.layout.size > LIMIT:
            raise RecordingError(
                f"field '{name}' has more than {LIMIT} bytes, which a MAT file cannot hold: export to .h5, "
                f"which MATLAB reads too (h5read), or choose fewer fields"
            )


def valid_names(fields: Iterable[str]) -> dict[str, str]:
    """A name that MATLAB accepts for each field, all different."""
    names: dict[str, str] = {}
    taken = {"simsched_metadata", "simsched_names"}
    for field in fields:
        names[field] = _unused(_valid(field), taken)
        taken.add(names[field])
    return names


def _valid(field: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", "_", field)
    if not re.match(r"[A-Za-z]", name) or name in _KEYWORDS:
        name = f"f_{name}"
    return name[:NAME_LENGTH]


def _unused(name: str, taken: set[str]) -> str:
    candidate, count = name, 1
    while candidate in taken:
        count += 1
        ending = f"_{count}"
        candidate = name[: NAME_LENGTH - len(ending)] + ending
    return candidate
