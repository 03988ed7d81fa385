"""The numbers of a run by field name: what `simsched.run` and `simsched.load` return.

Pure: no I/O. A run is a block of packed rows, one per recorded step, in the layout of its fields; a
column is cut out when it is first asked for. Beside the fields of the DataBase stand the *shadows*
`Task.field`: what a task answered where a later task of the same step wrote the same field.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simsched.database import Field
from simsched.errors import MissingExtra, RecordingError, UnknownField, nearest
from simsched.layout import Layout
from simsched.values import Unpacker

if TYPE_CHECKING:
    import pandas

    from simsched.report import Report

Array = np.ndarray[Any, Any]
Buffer = bytes | bytearray | memoryview

QUATERNION_PARTS = "wxyz"


class Results:
    """Recorded values by field name: `r.t`, `r['w_B']`, `r.initial['w_B']`.

    `len(r)` is the number of rows, iterating gives the names. `complete` tells whether the run was
    closed in order; `summary` is what it then said of itself (counters, timing, how it ended).
    """

    def __init__(
        self,
        fields: Mapping[str, Field],
        rows: Buffer | Array,
        initial: bytes | None = None,
        metadata: Mapping[str, str] | None = None,
        summary: Mapping[str, Any] | None = None,
        complete: bool = True,
    ) -> None:
        self.members = dict(fields)
        self.rows = _structured(self.members, rows)
        self.initial = InitialValues(self.members, initial)
        self.metadata = dict(metadata or {})
        self.summary = None if summary is None else dict(summary)
        self.complete = complete
        self.report: Report | None = None
        """How the run went, where these are its results and not a recording's."""
        self._columns: dict[str, Array] = {}

    @property
    def fields(self) -> tuple[str, ...]:
        """The recorded fields of the DataBase, in declared order."""
        return tuple(name for name in self.members if not is_shadow(name))

    @property
    def shadows(self) -> tuple[str, ...]:
        """The recorded answers `Task.field` that a later task overwrote in the same step."""
        return tuple(name for name in self.members if is_shadow(name))

    @property
    def t(self) -> Array:
        """Simulated time of each row [s]."""
        return self["t"]

    def __getitem__(self, name: str) -> Array:
        """All rows of a field, shape (rows, *shape); quaternions as such, bytes as objects."""
        if name not in self._columns:
            self._columns[name] = python_values(find(self.members, name), self.rows[name])
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        parts = [f"{len(self)} row{'s' if len(self) != 1 else ''}"]
        if len(self) and "t" in self.members:
            parts.append(f"t = {self.rows['t'][0]} … {self.rows['t'][-1]} s")
        parts.append(f"fields {' '.join(self.fields)}")
        if self.shadows:
            parts.append(f"shadows {' '.join(self.shadows)}")
        if not self.complete:
            parts.append("incomplete")
        return f"<Results: {', '.join(parts)}>"

    def same_as(self, other: Results) -> list[str]:
        """The fields that are not the same to the last bit in both, initial values included.

        NaN equals itself, 0.0 differs from -0.0. With another number of rows every field differs.
        """
        names = dict.fromkeys([*self.members, *other.members])
        return [name for name in names if not self._same(other, name)]

    def _same(self, other: Results, name: str) -> bool:
        if name not in self.members or name not in other.members or len(self) != len(other):
            return False
        if self.members[name].layout != other.members[name].layout:
            return False
        if self.initial.bytes_of(name) != other.initial.bytes_of(name):
            return False
        return np.array_equal(_raw_bytes(self.rows[name]), _raw_bytes(other.rows[name]))

    def to_pandas(self, fields: Sequence[str] | None = None) -> pandas.DataFrame:
        """A DataFrame indexed by t, with columns such as `w_B[0]`, `M[0,1]`, `q_IB.w`."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise MissingExtra("to_pandas()", "pandas", "record") from None
        columns: dict[str, Any] = {}
        for name in self.members if fields is None else fields:
            if name != "t":
                columns.update(flat_columns(find(self.members, name), self.rows[name]))
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))


class InitialValues(Mapping[str, Any]):
    """The values before step 0, after every module has initialized, as a module sees them."""

    def __init__(self, fields: Mapping[str, Field], packed: bytes | None) -> None:
        self._fields = fields if packed is not None else {}
        self.packed = packed
        layout = Layout(member.layout for member in self._fields.values())
        if packed is not None and len(packed) != layout.size:
            raise RecordingError(
                f"the initial row has {len(packed)} bytes, its fields {layout.text} need {layout.size}"
            )
        self._at = dict(zip(layout.names, layout.offsets, strict=True))

    def bytes_of(self, name: str) -> bytes | None:
        """The packed initial value; None if none was recorded."""
        if self.packed is None or name not in self._at:
            return None
        return self.packed[self._at[name] : self._at[name] + self._fields[name].layout.size]

    def __getitem__(self, name: str) -> Any:
        if self.packed is None:
            raise UnknownField(f"no initial values were recorded, so none of '{name}'")
        member = find(self._fields, name)
        return unpacked(member, self.bytes_of(name) or b"")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def is_shadow(name: str) -> bool:
    """Whether a name is `Task.field` rather than a field of the DataBase."""
    return "." in name


def find(fields: Mapping[str, Field], name: str) -> Field:
    """The field of that name; UnknownField names the nearest and all there are."""
    if name in fields:
        return fields[name]
    hint = nearest(name, fields) or ";"
    raise UnknownField(f"'{name}' is not a recorded field{hint} fields: {', '.join(fields)}")


def unpacked(member: Field, packed: bytes) -> Any:
    """One value of a field from its bytes."""
    if member.layout.type.code == "quat":
        import quaternion  # noqa: F401  values.py takes it from the loaded modules
    into: dict[str, Any] = {}
    Unpacker([member]).scatter(bytearray(packed), into)
    return into[member.name]


def python_values(member: Field, raw: Array) -> Array:
    """Rows of a packed column as the user wants them: contiguous, quaternions as such.

    Fixed-size bytes become objects: numpy's own `S` type would drop trailing zeros.
    """
    if member.kind == "bytes":
        return _bytes_objects(raw)
    values = raw.copy()
    if member.layout.type.code != "quat":
        return values
    import quaternion

    quaternions: Array = quaternion.as_quat_array(values)
    return quaternions


def flat_columns(member: Field, raw: Array) -> dict[str, Array]:
    """One plain column per number: `w_B[0]`, `M[0,1]`, `q_IB.w`, `qs[1].x`; bytes stay whole."""
    if member.kind == "bytes":
        return {member.name: _bytes_objects(raw)}
    flat = raw.reshape(len(raw), member.layout.count)
    return {name: flat[:, place].copy() for place, name in enumerate(flat_names(member))}


def flat_names(member: Field) -> list[str]:
    """The names of a field's plain columns, in their order in memory."""
    if member.kind == "bytes":
        return [member.name]
    places = itertools.product(*(range(extent) for extent in member.layout.shape))
    elements = [member.name + _subscript(place) for place in places]
    if member.layout.type.code != "quat":
        return elements
    return [f"{element}.{part}" for element in elements for part in QUATERNION_PARTS]


def _subscript(place: Iterable[int]) -> str:
    inner = ",".join(map(str, place))
    return f"[{inner}]" if inner else ""


def _bytes_objects(raw: Array) -> Array:
    objects = np.empty(len(raw), object)
    objects[:] = [row.tobytes() for row in raw]
    return objects


def _raw_bytes(column: Array) -> Array:
    return np.frombuffer(column.tobytes(), np.uint8)


def _structured(fields: Mapping[str, Field], rows: Buffer | Array) -> Array:
    layout = Layout(member.layout for member in fields.values())
    if isinstance(rows, np.ndarray):
        if rows.dtype != layout.dtype:
            raise RecordingError(f"rows are of type {rows.dtype}; the fields need {layout.dtype}")
        return rows
    if not layout.size or len(rows) % layout.size:
        raise RecordingError(
            f"{len(rows)} bytes of rows do not divide into rows of {layout.size} bytes: {layout.text}"
        )
    return np.frombuffer(rows, layout.dtype)
