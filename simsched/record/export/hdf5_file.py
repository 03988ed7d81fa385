"""HDF5: one dataset per field, time along the first dimension.

Quaternions are rows of w, x, y, z; bytes are rows of uint8. The group `_recording` (no field begins
with an underscore) holds the initial values and what the recording says of its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simsched.database import Field
from simsched.layout import Layout
from simsched.record.export.blocks import columns, remarks
from simsched.record.optional import need
from simsched.record.reader import Recording

CHUNK_ROWS = 1024
CHUNK_BYTES = 1 << 20


def write(recording: Recording, out: Path, fields: Mapping[str, Field]) -> None:
    """Datasets that grow block by block."""
    h5py = need("h5py", "export to HDF5")
    with h5py.File(out, "w") as file:
        datasets = {name: _dataset(file, member) for name, member in fields.items()}
        for block in columns(recording, fields):
            for name, values in block.items():
                datasets[name].resize(len(datasets[name]) + len(values), axis=0)
                datasets[name][-len(values) :] = values
        _describe(file.create_group("_recording"), recording, fields)


def _dataset(file: Any, member: Field) -> Any:
    layout = member.layout
    shape = layout.dtype.shape
    rows = max(1, min(CHUNK_ROWS, CHUNK_BYTES // layout.size))
    dataset = file.create_dataset(
        member.name, (0, *shape), layout.dtype.base, maxshape=(None, *shape), chunks=(rows, *shape)
    )
    dataset.attrs["layout"] = layout.text
    dataset.attrs["comment"] = member.comment
    return dataset


def _describe(group: Any, recording: Recording, fields: Mapping[str, Field]) -> None:
    """Texts as datasets: an attribute could not hold a long scenario."""
    for key, text in remarks(recording).items():
        group.require_group("metadata").create_dataset(key.replace("/", "_"), data=text)
    if recording.initial is None:
        return
    layout = Layout(member.layout for member in recording.fields.values())
    (initial,) = np.frombuffer(recording.initial, layout.dtype)
    for name in fields:
        group.require_group("initial").create_dataset(name, data=initial[name])
