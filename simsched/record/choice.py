"""Which fields and which steps of a run are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simsched._version import __version__
from simsched.database import Field
from simsched.errors import RecordingError
from simsched.layout import Layout
from simsched.record.arrow import EVERY_KEY, VERSION_KEY
from simsched.results import Array, find


class Choice:
    """Some fields (t always among them) of every n-th step."""

    def __init__(self, fields: Mapping[str, Field], only: Sequence[str] | None, every: int) -> None:
        if every < 1:
            raise RecordingError(f"recording every {every} steps is not possible; wanted 1 or more")
        self.every = every
        self.layout = Layout(member.layout for member in fields.values())
        wanted = set(fields) if only is None else {"t", *(find(fields, name).name for name in only)}
        self.fields = {name: member for name, member in fields.items() if name in wanted}
        self._steps = 0
        self._size = self.layout.size
        self._dtype = self.layout.dtype

    def wants(self, row: bytes | bytearray) -> bool:
        """Count a step and tell whether its row is kept."""
        if len(row) != self._size:
            raise self._misfit("a row", row)
        step = self._steps
        self._steps = step + 1
        return step % self.every == 0

    def structured(self, rows: bytes | bytearray) -> Array:
        """Packed rows of all fields as an array, without a copy."""
        return np.frombuffer(rows, self._dtype)

    def chosen(self, rows: bytes | bytearray) -> Array:
        """The kept rows with the chosen fields alone, as a copy."""
        every_field = self.structured(rows)
        dtype = Layout(member.layout for member in self.fields.values()).dtype
        chosen = np.empty(len(every_field), dtype)
        for name in self.fields:
            chosen[name] = every_field[name]
        return chosen

    def initial(self, row: bytes) -> bytes:
        """The chosen fields of the row before step 0."""
        if len(row) != self._size:
            raise self._misfit("the initial row", row)
        return self.chosen(row).tobytes()

    def _misfit(self, what: str, row: bytes | bytearray) -> RecordingError:
        return RecordingError(
            f"{what} has {len(row)} bytes, its fields need {self._size}: {self.layout.text}"
        )

    def metadata(self, given: Mapping[str, str]) -> dict[str, str]:
        """What a recording says of the run, with our version and the decimation."""
        return {**given, VERSION_KEY: __version__, EVERY_KEY: str(self.every)}
