"""The master's DataBase: one block of packed bytes, from which requests are cut and into which
answers are merged.

Pure: no I/O. The master shuffles bytes and never needs to know what they mean, so an exchange costs
it two slices rather than a conversion of every field. Where several tasks write one field, the value
of each but the last is kept as well, in a *shadow* field named `Task.field`, so that a recording
tells what every task answered and any of them can be replayed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simsched.database import DataBaseSpec, Field, time_problems
from simsched.errors import Problem, ScenarioError, choices
from simsched.layout import Layout
from simsched.tasks import Task
from simsched.values import Unpacker, pack_value, wanted

_FEW = 128
_F8 = struct.Struct("<d")
_I8 = struct.Struct("<q")

Run = tuple[int, int, int, int]
"""Bytes that go together: from, to in the image; from, to in the payload."""


def shadows(tasks: Iterable[Task]) -> list[tuple[str, str]]:
    """(task, field) of every answer that a later task of the same step overwrites."""
    members = list(tasks)
    last = {name: task.name for task in members for name in task.merged}
    return [(task.name, name) for task in members for name in task.merged if last[name] != task.name]


class Image:
    """All fields, and the shadows, as bytes."""

    def __init__(self, database: DataBaseSpec, tasks: Iterable[Task] = ()) -> None:
        self.database = database
        self.fields: dict[str, Field] = dict(database.fields)
        for task, name in shadows(tasks):
            shadow = f"{task}.{name}"
            original = database.fields[name]
            layout = replace(original.layout, name=shadow)
            self.fields[shadow] = replace(original, name=shadow, layout=layout)
        self.layout = Layout(member.layout for member in self.fields.values())
        self._at = dict(zip(self.layout.names, self.layout.offsets, strict=True))
        self.data = bytearray(self.layout.size)
        self.reset()

    def reset(self) -> None:
        """Back to the declared initial values."""
        self.data[:] = b"".join(pack_value(member, member.initial) for member in self.fields.values())

    def set_time(self, t: float) -> None:
        _F8.pack_into(self.data, self._at["t"], t)

    def set_command(self, cmd: int) -> None:
        _I8.pack_into(self.data, self._at["cmd"], cmd)

    def get(self, name: str) -> Any:
        """One field's value now, as a copy."""
        member = self.fields[name]
        into: dict[str, Any] = {}
        Unpacker([member]).scatter(self.bytes_of(name), into)
        return into[name]

    def set(self, name: str, value: Any) -> None:
        """Change one field; ValueError if the value does not fit."""
        start = self._at[name]
        packed = pack_value(self.fields[name], value)
        self.data[start : start + len(packed)] = packed

    def bytes_of(self, name: str) -> bytearray:
        start = self._at[name]
        return self.data[start : start + self.fields[name].layout.size]

    def sources(self, task: Task) -> tuple[memoryview | bytes, ...]:
        """The pieces whose concatenation is the task's In payload, live views of the image."""
        own_dt = _F8.pack(task.every * self.fields["dt"].initial)
        view = memoryview(self.data)
        pieces: list[memoryview | bytes] = []
        for start, stop, is_dt in self._input_runs(task):
            pieces.append(own_dt if is_dt else view[start:stop])
        return tuple(pieces)

    def _input_runs(self, task: Task) -> list[tuple[int, int, bool]]:
        """Neighbouring fields joined; a multi-rate task's `dt` stands alone."""
        runs: list[tuple[int, int, bool]] = []
        for name in task.reads:
            start = self._at[name]
            stop = start + self.fields[name].layout.size
            own = name == "dt" and task.every > 1
            if runs and runs[-1][1] == start and not own and not runs[-1][2]:
                runs[-1] = (runs[-1][0], stop, False)
            else:
                runs.append((start, stop, own))
        return runs

    def targets(self, task: Task, base: int = 0) -> tuple[Run, ...]:
        """Where each piece of the task's Out payload goes; `base` is where that payload begins."""
        runs: list[Run] = []
        for name in task.merged:
            size = self.fields[name].layout.size
            source = base + task.layout_out.offset(name)
            for target in (name, f"{task.name}.{name}"):
                if target in self._at:
                    runs.append((self._at[target], self._at[target] + size, source, source + size))
        return _joined(runs)

    def results_of(self, tasks: Iterable[Task]) -> dict[str, str]:
        """Every field that these tasks leave results in, shadows included, and whose result it is."""
        found: dict[str, str] = {}
        for task in tasks:
            for name in task.merged:
                shadow = f"{task.name}.{name}"
                found[shadow if shadow in self._at else name] = task.name
        return found

    def finite_probes(self, tasks: Iterable[Task]) -> tuple[Callable[[], float], ...]:
        """Functions whose values are finite only if every result of these tasks is.

        A sum that overflows is a false alarm. Fields whose results need not be finite are left out.
        """
        runs: list[tuple[str, int, int]] = []
        for name in sorted(self.results_of(tasks), key=self._at.__getitem__):
            member = self.fields[name]
            if not member.layout.type.is_float or member.finite == "ignore":
                continue
            start = self._at[name]
            code, stop = member.layout.type.struct_code, start + member.layout.size
            if runs and runs[-1][0] == code and runs[-1][2] == start:
                runs[-1] = (code, runs[-1][1], stop)
            else:
                runs.append((code, start, stop))
        return tuple(_probe(self.data, *run) for run in runs)


def _probe(data: bytearray, code: str, start: int, stop: int) -> Callable[[], float]:
    """A few dozen numbers are summed without numpy: that is quicker, the more so with cold caches."""
    count = (stop - start) // struct.calcsize(code)
    if count <= _FEW:
        unpack = struct.Struct(f"<{count}{code}").unpack_from
        return lambda: sum(unpack(data, start))
    values = np.frombuffer(data, f"<{code}", count, start)
    zeros = np.zeros_like(values)
    # `vdot`, because `sum` and `dot` print numpy's own warning where a result is not finite
    return lambda: float(np.vdot(values, zeros))


def _joined(runs: Iterable[Run]) -> tuple[Run, ...]:
    joined: list[Run] = []
    for run in sorted(runs):
        if joined and joined[-1][1] == run[0] and joined[-1][3] == run[2]:
            joined[-1] = (joined[-1][0], run[1], joined[-1][2], run[3])
        else:
            joined.append(run)
    return tuple(joined)


@dataclass(frozen=True)
class Overrides:
    """Initial values that a caller sets in place of the declared ones."""

    values: Mapping[str, Any]

    def apply(self, database: DataBaseSpec) -> DataBaseSpec:
        """The same DataBase with other initial values; ScenarioError tells all that do not fit."""
        fields = dict(database.fields)
        problems: list[Problem] = []
        for name, value in self.values.items():
            if name not in fields:
                what = f"'{name}' is not a field of DataBase{choices(name, fields, 'fields')}"
                problems.append(Problem("initial value", what))
                continue
            try:
                fields[name] = _with_initial(fields[name], value)
            except (ValueError, TypeError, OverflowError) as error:
                what = f"{error}; wanted {wanted(fields[name])}"
                problems.append(Problem(f"initial value '{name}'", what))
        problems.extend(time_problems(fields))
        if problems:
            raise ScenarioError(problems, "initial values")
        return DataBaseSpec(fields)


def _with_initial(member: Field, value: Any) -> Field:
    into: dict[str, Any] = {}
    Unpacker([member]).scatter(bytearray(pack_value(member, value)), into)
    return replace(member, initial=into[member.name])
