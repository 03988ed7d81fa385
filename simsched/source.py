"""What only the text of a scenario tells: a name that is declared twice, of which Python keeps the last.

Pure: no I/O; the text is parsed and never run. A second assignment that makes use of the first, as
in `Tasks = {**Tasks, ...}`, is meant; so are those in the branches of an `if`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from simsched.errors import Problem

_WINS = "Python keeps the last alone: remove one"


def twice_declared(source: str) -> list[Problem]:
    """Fields, tasks and options that a Python scenario declares more than once.

    Raises SyntaxError where the text is not Python.

    >>> print(twice_declared("class DataBase:\\n    U = 0.0\\n    U = 1.0")[0])
    DataBase field 'U': is declared twice, in lines 2 and 3; Python keeps the last alone: remove one
    """
    body = ast.parse(source).body
    problems = [
        Problem(name, f"is declared {_times(lines)}; {_WINS}")
        for name, lines in _repeated(_declarations(body))
        if name in ("DataBase", "Tasks")
    ]
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name == "DataBase":
            problems.extend(_fields_twice(statement))
        if "Tasks" in _assigned(statement):
            problems.extend(_tasks_twice(getattr(statement, "value", None)))
    return problems


def _fields_twice(database: ast.ClassDef) -> list[Problem]:
    return [
        Problem(f"DataBase field '{name}'", f"is declared {_times(lines)}; {_WINS}")
        for name, lines in _repeated(_declarations(database.body))
        if not name.startswith("_")
    ]


def _tasks_twice(tasks: ast.expr | None) -> list[Problem]:
    problems = [
        Problem(f"task '{name}'", f"stands in Tasks {_times(lines)}; {_WINS}")
        for name, lines in _repeated(_keys(tasks))
    ]
    for task, options in _items(tasks):
        problems.extend(_options_twice(f"task '{task}'", options))
    return problems


def _options_twice(where: str, options: ast.expr, inside: str = "") -> list[Problem]:
    problems = [
        Problem(where, f"{inside}'{name}' stands there {_times(lines)}; {_WINS}")
        for name, lines in _repeated(_keys(options))
    ]
    for name, value in _items(options):
        problems.extend(_options_twice(where, value, f"{inside}{name}: "))
    return problems


def _declarations(body: Iterable[ast.stmt]) -> Iterator[tuple[str, int]]:
    """(name, line) of each declaration that does not build on an earlier one."""
    for statement in body:
        used = _used(statement)
        for name in _assigned(statement):
            if name not in used:
                yield name, statement.lineno


def _used(statement: ast.stmt) -> set[str]:
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Load)}


def _assigned(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    else:
        return []
    return [name for target in targets for name in _target_names(target)]


def _target_names(target: ast.expr) -> list[str]:
    """`a`, or those of `a, b`; an item or attribute of something is not a declaration."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in _target_names(element)]
    return []


def _items(literal: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(literal, ast.Dict):
        for key, value in zip(literal.keys, literal.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value), value


def _keys(literal: ast.expr | None) -> Iterator[tuple[str, int]]:
    if isinstance(literal, ast.Dict):
        for key in literal.keys:
            if isinstance(key, ast.Constant):
                yield str(key.value), key.lineno


def _repeated(declared: Iterable[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    lines: dict[str, list[int]] = {}
    for name, line in declared:
        lines.setdefault(name, []).append(line)
    return [(name, found) for name, found in lines.items() if len(found) > 1]


def _times(lines: list[int]) -> str:
    count = "twice" if len(lines) == 2 else f"{len(lines)} times"
    *others, last = lines
    return f"{count}, in lines {', '.join(map(str, others))} and {last}"
