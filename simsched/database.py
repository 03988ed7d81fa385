"""The shared DataBase: a plain class whose attributes are the fields that modules exchange.

Pure: no I/O. A field's type, shape and initial value are those of the attribute. `field()` says
more about one where the value alone cannot: what to do when a result is not finite, or a comment.
Names that begin with an underscore, methods, properties and classes written inside the class are
not fields. The fields of base classes come first, and the attributes of an instance go before
those of its class.
"""

from __future__ import annotations

import inspect
import keyword
import math
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from simsched.errors import Problem, nearest, shortened
from simsched.layout import TYPES, FieldLayout, Layout

Finite = Literal["warn", "stop", "ignore"]
"""What a result that is not finite does: warn once, stop the run, or nothing."""

Kind = Literal["number", "numpy", "array", "quaternion", "quaternions", "bytes"]
"""How a field looks to Python: which constructor makes its value from bytes."""

COMMON = {"t": float, "dt": float, "tmax": float, "cmd": int}
"""The four common variables: the master's; modules read them and cannot change them."""

RESERVED = frozenset({"Setup", "Initialize", "Run", "Finalize", "Stop", "Manager", "params"})
"""Attributes of every module, which a field of that name would hide."""

MOST_STEPS = 2**53
"""Beyond so many steps k·dt cannot be told from (k+1)·dt."""

_NUMBERS = {bool: "b1", int: "i8", float: "f8"}


@dataclass(frozen=True)
class Field:
    """One field of a DataBase: layout, initial value, and what is wanted of its results."""

    name: str
    kind: Kind
    layout: FieldLayout
    initial: Any
    finite: Finite = "warn"
    comment: str = ""

    def fresh(self) -> Any:
        """A copy of the initial value that the caller may change."""
        return _own(self.kind, self.layout, self.initial)


@dataclass(frozen=True)
class Declared:
    """What `field()` returns: a value with remarks."""

    value: Any
    finite: Finite = "warn"
    comment: str = ""


def field(value: Any, *, finite: Finite = "warn", comment: str = "") -> Any:
    """Declare a DataBase field with remarks: `w_B = field(np.zeros(3), finite='stop')`."""
    if finite not in get_args(Finite):
        raise ValueError(f"finite is {finite!r}; wanted one of {', '.join(get_args(Finite))}")
    return Declared(value, finite, comment)


@dataclass(frozen=True)
class DataBaseSpec:
    """The fields of a DataBase, by name, in declared order."""

    fields: Mapping[str, Field]

    def layout(self, names: tuple[str, ...] | None = None) -> Layout:
        """The packed layout of some fields, or of all."""
        chosen = self.fields if names is None else names
        return Layout(self.fields[name].layout for name in chosen)


def read_database(database: Any) -> tuple[DataBaseSpec, list[Problem]]:
    """The fields of a DataBase class or instance, and all that is wrong with them."""
    fields: dict[str, Field] = {}
    problems: list[Problem] = []
    declared, empty = _attributes(database)
    for name, value in declared.items():
        try:
            fields[name] = make_field(name, value)
        except ValueError as error:
            problems.append(_wrong(name, str(error)))
    for name in empty:
        problems.append(_wrong(name, f"has a type and no value; wanted one, as in {name}: float = 0.0"))
    problems.extend(_missing_times({*declared, *empty}))
    for name in ("t", "cmd"):
        if name not in declared:
            fields[name] = make_field(name, COMMON[name](0))
    problems.extend(time_problems(fields))
    return DataBaseSpec(fields), problems


def _wrong(name: str, what: str) -> Problem:
    return Problem(f"DataBase field '{name}'", what)


def _missing_times(declared: set[str]) -> list[Problem]:
    candidates = sorted(declared - COMMON.keys())
    return [
        Problem(
            "DataBase",
            f"field '{name}' is missing; wanted a number, as in {name} = 1.0{nearest(name, candidates)}",
        )
        for name in ("dt", "tmax")
        if name not in declared
    ]


def make_field(name: str, value: Any) -> Field:
    """The field that a value declares; ValueError says why it cannot be one."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError("is not a name; wanted letters, digits and '_', as in w_B")
    if name in RESERVED:
        raise ValueError(f"would hide what every module has under this name: rename it, as in {name}_")
    remarks = value if isinstance(value, Declared) else Declared(value)
    initial = _common(name, remarks.value)
    kind, type_code, shape = _classify(initial)
    layout = FieldLayout(name, TYPES[type_code], shape)
    return Field(name, kind, layout, _own(kind, layout, initial), remarks.finite, remarks.comment)


def _own(kind: Kind, layout: FieldLayout, value: Any) -> Any:
    """A copy that shares nothing with the original, an array in the byte order of the wire."""
    if kind == "quaternion":  # can be changed in place, and copy.copy() returns the same one
        return type(value)(value.w, value.x, value.y, value.z)
    if kind == "quaternions":
        return np.array(value, order="C")
    if kind == "array":
        return np.array(value, dtype=layout.type.dtype, order="C")
    return bytes(value) if kind == "bytes" else value


def _attributes(database: Any) -> tuple[dict[str, Any], list[str]]:
    """What a DataBase declares with a value, and the names that it only annotates."""
    klass = database if inspect.isclass(database) else type(database)
    found: dict[str, Any] = {}
    annotated: dict[str, Any] = {}
    for base in reversed(klass.__mro__[:-1]):
        found.update((name, value) for name, value in vars(base).items() if not _is_nested(base, value))
        annotated.update(vars(base).get("__annotations__", {}))
    if klass is not database:
        found.update((name, getattr(database, name)) for name in _slots(found) if hasattr(database, name))
        found.update(getattr(database, "__dict__", {}))
    fields = {name: value for name, value in found.items() if name[0] != "_" and not _is_behaviour(value)}
    empty = [name for name in annotated if name[0] != "_" and name not in fields]
    return fields, empty


def _slots(attributes: Mapping[str, Any]) -> list[str]:
    return [name for name, value in attributes.items() if isinstance(value, types.MemberDescriptorType)]


def _is_nested(owner: type, value: Any) -> bool:
    """Whether a class was written inside another: an Enum of modes, say, beside the fields."""
    return inspect.isclass(value) and value.__qualname__.startswith(f"{owner.__qualname__}.")


def _is_behaviour(value: Any) -> bool:
    """Functions, properties and their like: what Python binds to an instance when it is asked for."""
    return hasattr(type(value), "__get__")


def _common(name: str, value: Any) -> Any:
    """`tmax = 4` means 4.0: the common variables have types of their own."""
    wanted = COMMON.get(name)
    if wanted is None:
        return value
    allowed = (int, np.integer) if wanted is int else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise ValueError(f"is {_described(value)}; wanted a number ({wanted.__name__})")
    return wanted(value)


def _classify(value: Any) -> tuple[Kind, str, tuple[int, ...]]:
    """Kind, type code and shape."""
    if type(value) in _NUMBERS:
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise ValueError(f"is {shortened(value)}, which does not fit 64 bits")
        return "number", _NUMBERS[type(value)], ()
    if isinstance(value, bytes | bytearray):
        if not value:
            raise ValueError("is empty; fixed-size bytes need at least one, as in bytes(16)")
        return "bytes", "S", (len(value),)
    quaternion = sys.modules.get("quaternion")  # 0.4 s to import: only if the user has done so
    if quaternion is not None:
        if isinstance(value, quaternion.quaternion):
            return "quaternion", "quat", ()
        if isinstance(value, np.ndarray) and value.dtype == np.dtype(quaternion.quaternion):
            return "quaternions", "quat", _filled_shape(value)
    if isinstance(value, np.generic | np.ndarray):
        return _classify_numpy(value)
    raise ValueError(
        f"is {_described(value)}, which has no layout; wanted a float, int, bool, bytes, "
        f"quaternion or a numpy array{_hint(value)}"
    )


def _classify_numpy(value: Any) -> tuple[Kind, str, tuple[int, ...]]:
    code = value.dtype.str[1:]
    if code not in TYPES:
        wanted = ", ".join(code for code in TYPES if code not in ("S", "quat"))
        form = "an array" if isinstance(value, np.ndarray) else "a numpy scalar"
        raise ValueError(f"is {form} of {value.dtype}, which has no layout; wanted one of {wanted}")
    if isinstance(value, np.ndarray):
        return "array", code, _filled_shape(value)
    return "numpy", code, ()


def _filled_shape(value: np.ndarray[Any, Any]) -> tuple[int, ...]:
    if value.size == 0:
        raise ValueError(f"has shape {value.shape}, which holds nothing; wanted at least one element")
    return tuple(value.shape)


def _hint(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        return f": write np.array({shortened(list(value))})"
    if isinstance(value, str) and value:
        return f": write {shortened(value.encode())}"
    return ""


def _described(value: Any) -> str:
    return f"{shortened(value)} ({type(value).__name__})"


def time_problems(fields: Mapping[str, Field]) -> list[Problem]:
    """What is wrong with t, dt and tmax together."""
    problems = []
    dt, tmax, t = (fields[name].initial if name in fields else None for name in ("dt", "tmax", "t"))
    dt_is_good = dt is not None and 0.0 < dt < math.inf
    if dt is not None and not dt_is_good:
        problems.append(_wrong("dt", f"is {dt}; wanted a step > 0 [s]"))
    if t is not None and not math.isfinite(t):
        return [*problems, _wrong("t", f"is {t}; wanted the finite time of the first step [s]")]
    if t is not None and tmax is not None and not tmax > t:
        problems.append(_wrong("tmax", f"is {tmax}; wanted more than t = {t} [s]"))
    elif dt_is_good and tmax is not None and math.isfinite(tmax) and not (tmax - t) / dt < MOST_STEPS:
        problems.append(_wrong("dt", f"is {dt}; wanted more: tmax = {tmax} is over {MOST_STEPS} steps away"))
    return problems
