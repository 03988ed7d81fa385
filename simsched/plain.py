"""A DataBase written as plain data, as YAML gives it: numbers, lists, and dicts that say more.

Pure: no I/O. `w_B: [0, 0, 0]` is an array of doubles, whatever its numbers look like; a dict names
type, shape, value, finite and comment, where a list alone cannot: `id: {type: u2}`,
`q_IB: {type: quat}`, `mode: {type: S16}`, `J: {value: [[1, 0], [0, 1]], comment: inertia}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from simsched.database import field
from simsched.errors import Problem, choices
from simsched.layout import TYPES

_WORDS = ("type", "shape", "value", "finite", "comment")


def plain_database(declared: Any) -> tuple[Any, list[Problem]]:
    """An object whose attributes are the fields, and what is wrong with the others."""
    if not isinstance(declared, Mapping):
        return SimpleNamespace(), [Problem("database", f"is {declared!r}; wanted names and values")]
    values: dict[str, Any] = {}
    problems = []
    for name, value in declared.items():
        try:
            values[str(name)] = _value(value)
        except (ValueError, TypeError) as error:
            problems.append(Problem(f"DataBase field '{name}'", str(error)))
    return SimpleNamespace(**values), problems


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return _array(value, "f8")
    if isinstance(value, Mapping):
        return _described(value)
    return value


def _described(words: Mapping[str, Any]) -> Any:
    for word in words:
        if word not in _WORDS:
            raise ValueError(f"unknown word '{word}'{choices(str(word), _WORDS, 'words')}")
    remarks = {word: words[word] for word in ("finite", "comment") if word in words}
    return field(_typed(words), **remarks)


def _typed(words: Mapping[str, Any]) -> Any:
    code = str(words.get("type", "f8"))
    if match := re.fullmatch(r"S(\d+)", code):
        return str(words.get("value", "")).encode().ljust(int(match[1]), b"\0")
    if code == "quat":
        return _quaternions(words)
    if code not in TYPES:
        raise ValueError(f"has type '{code}'{choices(code, TYPES, 'types')}")
    if "value" in words and "shape" not in words and not isinstance(words["value"], list):
        return _scalar(words["value"], code, "type" in words)
    return _array(words.get("value", 0), code, words.get("shape"))


def _scalar(value: Any, code: str, typed: bool) -> Any:
    return np.dtype(TYPES[code].dtype).type(value) if typed else value


def _array(value: Any, code: str, shape: Any = None) -> Any:
    try:
        array = np.array(value, dtype=TYPES[code].dtype)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            f"is {value!r}; wanted numbers of type {code}, each row as long as the others"
        ) from None
    if shape is None:
        return array if array.shape else array[()]
    wanted = tuple(shape) if isinstance(shape, list) else (shape,)
    if array.shape == wanted:
        return array
    if array.shape:
        raise ValueError(f"has shape {array.shape}; wanted {wanted}, as declared")
    return np.full(wanted, array)


def _quaternions(words: Mapping[str, Any]) -> Any:
    import quaternion

    value = np.array(words.get("value", [1.0, 0.0, 0.0, 0.0]), dtype=float)
    if value.shape[-1:] != (4,):
        raise ValueError(f"is {words['value']!r}; wanted the components [w, x, y, z]")
    found = quaternion.as_quat_array(value)
    return found[()] if value.ndim == 1 else found
