"""Between the packed bytes of a task and the plain attributes of its module.

Pure: no I/O. *Values, not views*: each exchange unpacks into a buffer of its own, so what a module
kept from the last step keeps its numbers. Arrays are views of that buffer, writable and the
module's own; rebinding and in-place change both count, because `gather` reads the attributes.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

import numpy as np

from simsched.database import Field
from simsched.errors import ResultError
from simsched.layout import Layout

Namespace = MutableMapping[str, Any]


class Unpacker:
    """Packed bytes → attributes."""

    def __init__(self, fields: Iterable[Field]) -> None:
        members = tuple(fields)
        self.layout = Layout(member.layout for member in members)
        pairs = tuple(zip(members, self.layout.offsets, strict=True))
        self._scalars = struct.Struct(_scalar_format(pairs))
        self._plain, self._wrapped = _scalar_plan(members)
        self._vectors = tuple(
            (member.name, slice(offset // 8, (offset + member.layout.size) // 8))
            for member, offset in pairs
            if is_vector(member, offset)
        )
        self._whole_f8 = self.layout.size // 8
        self._arrays = tuple(
            _array_plan(member, offset)
            for member, offset in pairs
            if is_array(member) and not is_vector(member, offset)
        )

    def scatter(self, payload: bytearray, into: Namespace) -> None:
        """Set each field; `payload` must be the caller's gift: arrays keep it alive."""
        items = self._scalars.unpack(payload)
        for name, place in self._plain:
            into[name] = items[place]
        for name, make, start, stop in self._wrapped:
            into[name] = make(*items[start:stop])
        if self._vectors:  # one array over all and a slice for each: half the cost of one array each
            block = np.frombuffer(payload, _F8, self._whole_f8)
            for name, place_of in self._vectors:
                into[name] = block[place_of]
        for name, shape, dtype, offset, aligned in self._arrays:
            view: Any = np.ndarray(shape, dtype, payload, offset)
            into[name] = view if aligned else view.copy()


_F8 = np.dtype("<f8")


def is_vector(member: Field, offset: int) -> bool:
    """The common case, worth a short cut: a one-dimensional array of aligned doubles."""
    return (
        member.kind == "array"
        and member.layout.type.code == "f8"
        and len(member.layout.shape) == 1
        and offset % 8 == 0
    )


def is_array(member: Field) -> bool:
    return member.kind in ("array", "quaternions")


def _scalar_format(pairs: Iterable[tuple[Field, int]]) -> str:
    """One struct for all scalars, arrays skipped as pad bytes."""
    parts = [f"{member.layout.size}x" if is_array(member) else _one_format(member) for member, _ in pairs]
    return "<" + "".join(parts)


def _scalar_plan(
    members: Iterable[Field],
) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, Callable[..., Any], int, int], ...]]:
    """Which struct items are a field as they stand, and which need a constructor."""
    plain: list[tuple[str, int]] = []
    wrapped: list[tuple[str, Callable[..., Any], int, int]] = []
    place = 0
    for member in members:
        if is_array(member):
            continue
        width = 4 if member.kind == "quaternion" else 1
        if member.kind == "quaternion":
            wrapped.append((member.name, sys.modules["quaternion"].quaternion, place, place + 4))
        elif member.kind == "numpy":
            wrapped.append((member.name, np.dtype(member.layout.type.dtype).type, place, place + 1))
        else:
            plain.append((member.name, place))
        place += width
    return tuple(plain), tuple(wrapped)


def _array_plan(member: Field, offset: int) -> tuple[str, tuple[int, ...], np.dtype[Any], int, bool]:
    dtype = value_dtype(member)
    aligned = offset % dtype.alignment == 0
    return member.name, member.layout.shape, dtype, offset, aligned


def value_dtype(member: Field) -> np.dtype[Any]:
    """The dtype of an array field as Python sees it."""
    if member.kind == "quaternions":
        kind: np.dtype[Any] = np.dtype(sys.modules["quaternion"].quaternion)
        return kind
    return np.dtype(member.layout.type.dtype)


class Packer:
    """Attributes → packed bytes, with the check that each value fits its field."""

    def __init__(self, fields: Iterable[Field], task: str) -> None:
        members = tuple(fields)
        self._task = task
        self._members = {member.name: member for member in members}
        self.layout = Layout(member.layout for member in members)
        self._plan = tuple((member.name, packer_of(member, task)) for member in members)

    def gather(self, values: Namespace) -> bytes:
        """The payload; ResultError names the task and the field that does not fit."""
        try:
            return b"".join([pack(values[name]) for name, pack in self._plan])
        except KeyError as error:
            member = self._members[error.args[0]]
            raise ResultError(
                f"task '{self._task}', field '{member.name}': is gone, the module deleted it; "
                f"wanted {wanted(member)}"
            ) from None


def packer_of(member: Field, task: str) -> Callable[[Any], bytes]:
    """A function from a field's value to its bytes; ResultError names the task, found and wanted."""

    def convert(value: Any) -> bytes:
        try:
            return pack_value(member, value)
        except (ValueError, TypeError, OverflowError) as error:
            raise ResultError(
                f"task '{task}', field '{member.name}': {error}; wanted {wanted(member)}"
            ) from None

    if is_array(member):
        return _array_packer(value_dtype(member), member.layout.shape, convert)
    if member.kind == "quaternion":
        return _quaternion_packer(convert)
    return _number_packer(member, convert)


def _array_packer(
    dtype: np.dtype[Any], shape: tuple[int, ...], convert: Callable[[Any], bytes]
) -> Callable[[Any], bytes]:
    array_type = np.ndarray

    def pack(value: Any) -> bytes:
        if type(value) is array_type and value.dtype is dtype and value.shape == shape:
            return value.tobytes()
        return convert(value)

    return pack


def _quaternion_packer(convert: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    quaternion_type = sys.modules["quaternion"].quaternion

    def pack(value: Any) -> bytes:
        if type(value) is quaternion_type:
            packed: bytes = value.components.tobytes()
            return packed
        return convert(value)

    return pack


def _number_packer(member: Field, convert: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    as_is = struct.Struct("<" + _one_format(member)).pack
    types = _EXACT.get(member.layout.type.code, frozenset())

    def pack(value: Any) -> bytes:
        if type(value) in types:
            try:
                return as_is(value)
            except (struct.error, OverflowError):
                return convert(value)
        return convert(value)

    return pack


_EXACT: dict[str, frozenset[type]] = {
    "f8": frozenset({float, int, np.float64}),
    "i8": frozenset({int, np.int64}),
    "b1": frozenset({bool, np.bool_}),
}
"""Types that `struct` packs as they are; it refuses an int that is too long by itself."""


def _one_format(member: Field) -> str:
    return "4d" if member.kind == "quaternion" else member.layout.struct_format


def wanted(member: Field) -> str:
    """What a field takes, in words: `3 × f8`."""
    if member.kind == "bytes":
        return f"{member.layout.size} bytes"
    shape = " × ".join(map(str, member.layout.shape))
    name = "quaternion" if member.layout.type.code == "quat" else member.layout.type.code
    return f"{shape} × {name}" if shape else f"one {name}"


def pack_value(member: Field, value: Any) -> bytes:
    """The bytes of any value that fits the field; ValueError says why it does not.

    A list is as good as an array, an int as good as a float; a float for an int field, another
    shape or a complex number is a mistake, and said to be one.
    """
    if member.kind == "bytes":
        return _pack_bytes(member, value)
    if member.layout.type.code == "quat":
        return _pack_quaternion(member, value)
    target = np.dtype(member.layout.type.dtype)
    array = _as_array(value, target)
    if array.shape != member.layout.shape:
        raise ValueError(f"has shape {array.shape}: {_short(value)}")
    both_integers = array.dtype.kind in "iu" and target.kind in "iu"
    if not both_integers and not np.can_cast(array.dtype, target, "same_kind"):
        raise ValueError(f"is of type {array.dtype}: {_short(value)}")
    with np.errstate(over="ignore"):
        cast = array.astype(target)
    overflow = target.kind == "f" and bool(np.any(np.isinf(cast) & np.isfinite(array)))
    if overflow or (target.kind in "iu" and not np.array_equal(cast, array)):
        raise ValueError(f"does not fit {member.layout.type.code}: {_short(value)}")
    return cast.tobytes()


def _as_array(value: Any, target: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """As numpy sees it, save that whole numbers too long for its guess keep every digit."""
    array = np.asarray(value)
    if isinstance(value, np.ndarray | np.generic) or array.dtype.kind not in "fO" or target.kind not in "iuf":
        return array
    exact = np.asarray(value, dtype=object)
    if not all(type(item) is int for item in exact.flat):
        return array
    try:
        return exact.astype(target)
    except OverflowError:
        raise ValueError(f"does not fit {target.str[1:]}: {_short(value)}") from None


def _pack_bytes(member: Field, value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise ValueError(f"is of type {type(value).__name__}: {_short(value)}")
    if len(value) != member.layout.size:
        raise ValueError(f"has {len(value)} bytes: {_short(value)}")
    return bytes(value)


def _pack_quaternion(member: Field, value: Any) -> bytes:
    quaternion = sys.modules["quaternion"]
    if isinstance(value, quaternion.quaternion):
        components = np.array([value.w, value.x, value.y, value.z])
    elif isinstance(value, np.ndarray) and value.dtype == np.dtype(quaternion.quaternion):
        components = quaternion.as_float_array(value)
    else:
        raise ValueError(f"is of type {type(value).__name__}: {_short(value)}")
    if components.shape != (*member.layout.shape, 4):
        raise ValueError(f"has shape {components.shape[:-1]}: {_short(value)}")
    return np.ascontiguousarray(components, dtype="<f8").tobytes()


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."
