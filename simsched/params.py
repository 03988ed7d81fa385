"""`Params` of a task: values for the parameters that a model's class declares.

Pure. A parameter is a public class attribute that is no method. A class that declares none takes
whatever it is given, in `self.params`; one that declares some takes those, and nothing misspelt.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simsched.database import DataBaseSpec
from simsched.errors import ParameterError, choices
from simsched.tasks import Task

_OF_EVERY_MODULE = frozenset({"Manager", "params"})


def declared_params(model: type[Any]) -> dict[str, Any]:
    """The parameters of a class and their defaults."""
    found: dict[str, Any] = {}
    for base in reversed(model.__mro__[:-1]):
        found.update(
            (name, value)
            for name, value in vars(base).items()
            if not name.startswith("_")
            and not callable(value)
            and not isinstance(value, property | staticmethod | classmethod)
            and name not in _OF_EVERY_MODULE
        )
    return found


def apply_params(model: Any, task: Task, database: DataBaseSpec) -> None:
    """Set the declared parameters as attributes; ParameterError says what does not fit."""
    declared = declared_params(type(model))
    for name, value in task.params.items():
        if name in database.fields:
            raise ParameterError(
                f"task '{task.name}': parameter '{name}' has the name of a DataBase field; rename one of them"
            )
        if declared and name not in declared:
            raise ParameterError(
                f"task '{task.name}': {type(model).__name__} has no parameter '{name}'"
                f"{choices(name, declared, 'parameters')}"
            )
        setattr(model, name, _fitted(task.name, name, value, declared.get(name)))
    _refuse_hidden(model, task, declared)


def _refuse_hidden(model: Any, task: Task, declared: dict[str, Any]) -> None:
    for name in (*task.reads, *task.writes):
        if name in declared or callable(getattr(type(model), name, None)):
            raise ParameterError(
                f"task '{task.name}': {type(model).__name__} has an attribute '{name}' of its own, "
                f"and the task a field of that name; rename one of them"
            )


def _fitted(task: str, name: str, value: Any, default: Any) -> Any:
    """The value in the type of the default, where there is one to follow."""
    wanted = f"wanted {type(default).__name__}, as the default {default!r}"
    problem = ParameterError(f"task '{task}': parameter '{name}' is {value!r}; {wanted}")
    if default is None:
        return value
    if isinstance(default, np.ndarray):
        try:
            array = np.asarray(value, dtype=default.dtype)
        except (ValueError, TypeError):
            raise problem from None
        return array
    if isinstance(default, bool) or isinstance(value, bool):
        if type(value) is not type(default):
            raise problem
        return value
    if isinstance(default, float) and isinstance(value, int | float | np.number):
        return float(value)
    if isinstance(default, float) and isinstance(value, list | tuple | np.ndarray):
        return np.asarray(value, dtype=float)  # a gain may be one number or one for each axis
    if not isinstance(value, type(default)):
        raise problem
    return value
