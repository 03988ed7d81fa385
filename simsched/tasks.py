"""`Tasks`: who takes part, in which order, and which fields each one reads and writes.

Pure: no I/O. What an option takes stands in `options.py`; here is what a whole task must be, and
all that can be wrong with it is collected rather than raised at the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simsched.database import COMMON, DataBaseSpec
from simsched.datagram import HEADER_SIZE, MAC_SIZE
from simsched.errors import Problem, choices, shortened
from simsched.layout import UDP_LIMIT, Layout, layout_id
from simsched.options import LAST_PORT, OPTIONS, Address

__all__ = ["BASE_PORT", "LOOPBACK", "OPTIONS", "Address", "Task", "read_tasks"]

BASE_PORT = 6500
LOOPBACK = "127.0.0.1"

MOST_TASKS = 2**16
"""A task's number has two bytes in the header."""

_HELLO_SPARE = 1024
"""What a HELLO may carry beside the task's name and layouts [bytes]."""


@dataclass(frozen=True)
class Task:
    """One task, checked, with the layout of its two directions."""

    name: str
    number: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    """On the wire in answers; the master's own variables among them are ignored there."""
    layout_in: Layout
    layout_out: Layout
    addr: Address
    has_addr: bool = False
    no_answer: bool = False
    max_rate: float | None = None
    module: str | None = None
    command: tuple[str, ...] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    every: int = 1
    phase: int = 0
    timeout: float | None = 5.0
    raw: bool = False
    optional: bool = False

    @property
    def merged(self) -> tuple[str, ...]:
        """The fields that the master takes from this task's answers."""
        return () if self.no_answer else tuple(name for name in self.writes if name not in COMMON)

    @property
    def layout_id(self) -> int:
        return layout_id(self.layout_in.text, self.layout_out.text)

    def active(self, step: int) -> bool:
        """Whether the task runs at this step."""
        return (step - self.phase) % self.every == 0


def read_tasks(
    tasks: Any, database: DataBaseSpec, base_port: int = BASE_PORT
) -> tuple[tuple[Task, ...], list[Problem]]:
    """All tasks that are right, and all that is wrong with the others."""
    if not isinstance(tasks, Mapping) or not tasks:
        return (), [Problem("Tasks", f"is {shortened(tasks)}; wanted a dict of task names and their options")]
    found: list[Task] = []
    problems: list[Problem] = []
    for number, (name, options) in enumerate(tasks.items()):
        reader = _TaskReader(name, number, database, base_port)
        task = reader.read(options)
        problems.extend(reader.problems)
        if task is not None:
            found.append(task)
    problems.extend(_same_addresses(found))
    if len(tasks) > MOST_TASKS:
        problems.append(Problem("Tasks", f"has {len(tasks)} tasks; wanted {MOST_TASKS} at most"))
    return tuple(found), problems


def _same_addresses(tasks: list[Task]) -> list[Problem]:
    seen: dict[Address, str] = {}
    problems = []
    for task in tasks:
        host, port = task.addr
        place = (LOOPBACK if host.lower() == "localhost" else host.lower(), port)
        if place in seen:
            what = f"Addr {host}:{port} is that of task '{seen[place]}' too; wanted one of its own"
            problems.append(Problem(f"task '{task.name}'", what))
        seen.setdefault(place, task.name)
    return problems


class _TaskReader:
    """Reads the dict of one task and collects what is wrong with it."""

    def __init__(self, name: Any, number: int, database: DataBaseSpec, base_port: int) -> None:
        self.name, self.number, self.database, self.base_port = name, number, database, base_port
        self.problems: list[Problem] = []

    def problem(self, what: str) -> None:
        self.problems.append(Problem(f"task '{self.name}'", what))

    def read(self, options: Any) -> Task | None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z_][\w-]*", self.name):
            self.problem("is not a name; wanted a word of letters, digits, '_' and '-', as in 'Rotation'")
        if not isinstance(options, Mapping):
            self.problem(f"is {shortened(options)}; wanted a dict of options, as in {{'Keys': 't,cmd'}}")
            return None
        values = self._parsed(options)
        self._check_fields_given(options)
        self._check_together(values)
        reads, writes = self._directions(values)
        if self.problems:
            return None
        task = self._made(values, reads, writes)
        self._check_whole(task)
        return None if self.problems else task

    def _parsed(self, options: Mapping[Any, Any]) -> dict[str, Any]:
        values = {name: option.default for name, option in OPTIONS.items()}
        for name, value in options.items():
            option = OPTIONS.get(name)
            if option is None:
                self.problem(f"unknown option '{name}'{choices(str(name), OPTIONS, 'options')}")
                continue
            try:
                values[name] = option.parse(value)
            except (ValueError, TypeError):
                self.problem(f"{name} is {shortened(value)}; wanted {option.wanted}")
        return values

    def _check_fields_given(self, options: Mapping[str, Any]) -> None:
        given = [name for name in ("Keys", "In", "Out") if name in options]
        if not given:
            self.problem("has neither Keys nor In/Out; wanted the fields it exchanges, as in 'Keys': 't,cmd'")
        if "Keys" in given and len(given) > 1:
            self.problem("has Keys and In/Out; wanted one or the other (Keys = both directions)")

    def _check_together(self, values: Mapping[str, Any]) -> None:
        """Options that are right each and wrong together; the words begin with those concerned."""
        every, phase = values["Every"], values["Phase"]
        wrong = {
            "Module and Command: wanted one of them": values["Module"] and values["Command"],
            "MaxRate without noAnswer: an answered task runs at every step; leave MaxRate out": (
                values["MaxRate"] and not values["noAnswer"]
            ),
            "Optional and noAnswer: a noAnswer task may come and go as it is; leave Optional out": (
                values["Optional"] and values["noAnswer"]
            ),
            "Optional and Raw: joining needs the header that Raw leaves out; leave one out": (
                values["Optional"] and values["Raw"]
            ),
            "Out and noAnswer: nobody waits for the answer, so nothing can be returned; leave one out": (
                values["Out"] and values["noAnswer"]
            ),
            f"Phase is {phase} and Every is {every}; wanted a Phase from 0 to {every - 1}": (
                phase >= every and not any("Every" in str(problem) for problem in self.problems)
            ),
        }
        for what, applies in wrong.items():
            if applies:
                self.problem(what)

    def _directions(self, values: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if values["Keys"] is not None:
            self._check_names("Keys", values["Keys"])
            return values["Keys"], values["Keys"]
        reads, writes = values["In"] or (), values["Out"] or ()
        self._check_names("In", reads)
        self._check_names("Out", writes)
        for name in writes:
            if name in COMMON:
                self.problem(f"Out: '{name}' belongs to the master: a module reads it and cannot change it")
        return reads, writes

    def _check_names(self, option: str, names: tuple[str, ...]) -> None:
        known = self.database.fields
        for place, name in enumerate(names):
            if name not in known:
                self.problem(f"{option}: '{name}' is not a field of DataBase{choices(name, known, 'fields')}")
            elif name in names[:place]:
                self.problem(f"{option}: '{name}' stands there twice; wanted each field once")

    def _made(self, values: Mapping[str, Any], reads: tuple[str, ...], writes: tuple[str, ...]) -> Task:
        return Task(
            name=self.name,
            number=self.number,
            reads=reads,
            writes=writes,
            layout_in=self.database.layout(reads),
            layout_out=self.database.layout(writes),
            addr=values["Addr"] or (LOOPBACK, self.base_port + self.number),
            has_addr=values["Addr"] is not None,
            no_answer=values["noAnswer"],
            max_rate=values["MaxRate"],
            module=values["Module"],
            command=values["Command"],
            params=dict(values["Params"]),
            every=values["Every"],
            phase=values["Phase"],
            timeout=values["Timeout"],
            raw=values["Raw"],
            optional=values["Optional"],
        )

    def _check_whole(self, task: Task) -> None:
        if not task.reads and not task.writes:
            self.problem("exchanges no field; wanted at least one, as in 'Keys': 't'")
        if task.raw and not task.reads:
            self.problem("Raw and no field in In: an empty datagram tells nothing; wanted at least one")
        if task.addr[1] > LAST_PORT:
            self.problem(
                f"its port would be {task.addr[1]} (base port {self.base_port} + place {task.number}); "
                f"wanted {LAST_PORT} at most: choose a smaller base port or give it an Addr"
            )
        self._check_size("In", task.layout_in, task.raw)
        if not task.no_answer:
            self._check_size("Out", task.layout_out, task.raw)
        self._check_hello(task)

    def _check_size(self, direction: str, layout: Layout, raw: bool) -> None:
        size = layout.size + (0 if raw else HEADER_SIZE + MAC_SIZE)
        if size > UDP_LIMIT:
            largest = max(layout.fields, key=lambda member: member.size)
            self.problem(
                f"{direction} makes a datagram of {size} bytes; UDP carries {UDP_LIMIT} at most: "
                f"largest field '{largest.name}' has {largest.size}; split the task or send less"
            )

    def _check_hello(self, task: Task) -> None:
        words = len(f"{task.name}{task.layout_in.text}{task.layout_out.text}".encode())
        if not task.raw and words + _HELLO_SPARE + HEADER_SIZE + MAC_SIZE > UDP_LIMIT:
            count = len(task.reads) + len(task.writes)
            self.problem(
                f"the names and types of its {count} fields take {words} bytes, too many for the datagram "
                "that compares them: make arrays of fields, or split the task"
            )
