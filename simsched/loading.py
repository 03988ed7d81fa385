"""From files to what they declare: scenarios in Python or YAML, and the classes that tasks name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from simsched.errors import LaunchError, Problem, ScenarioError, choices
from simsched.plain import plain_database
from simsched.scenario import SETTINGS, Scenario, make_scenario
from simsched.source import twice_declared

YAML_SUFFIXES = (".yaml", ".yml")

_SOURCE = "__simsched_source__"
"""Where a module keeps the text that it was made from."""


def load_scenario(path: str | Path) -> Scenario:
    """Read and check a scenario file; ScenarioError lists all that is wrong with it."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError([Problem(str(file), f"cannot be read: {_reason(error)}")], str(file)) from None
    if file.suffix in YAML_SUFFIXES:
        return _from_yaml(file, text)
    if file.suffix == ".py":
        return _from_python(file, text)
    wanted = ", ".join((".py", *YAML_SUFFIXES))
    raise ScenarioError(
        [Problem(str(file), f"is neither Python nor YAML; wanted a file that ends in {wanted}")], str(file)
    )


def _from_python(file: Path, text: str) -> Scenario:
    namespace = _executed(file)
    missing = [
        Problem(str(file), f"'{name}' is missing; wanted {wanted}")
        for name, wanted in (
            ("DataBase", "a class whose attributes are the fields"),
            ("Tasks", "a dict of tasks"),
        )
        if not hasattr(namespace, name)
    ]
    if missing:
        raise ScenarioError(missing, str(file))
    given = {name: getattr(namespace, name) for name in SETTINGS if hasattr(namespace, name)}
    return make_scenario(
        namespace.DataBase, namespace.Tasks, given,
        name=file.stem, path=file.resolve(), text=text, found=twice_declared(text),
    )  # fmt: skip


def _executed(file: Path) -> ModuleType:
    try:
        return import_file(file)
    except Exception as error:
        where = _line_in(file, error)
        raise ScenarioError([Problem(where, f"{type(error).__name__}: {error}")], str(file)) from error


def _line_in(file: Path, error: BaseException) -> str:
    """`scenario.py:12`, the last line of that file on the way to the error."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{file}:{error.lineno}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == file.resolve()
    ]
    return f"{file}:{lines[-1]}" if lines else str(file)


class PlainLoader(yaml.SafeLoader):
    """Safe YAML that refuses a name written twice and reads 1e-5 as a number."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key.value}' is declared twice; remove one", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


PlainLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d[\d_]*\.?[\d_]*|\.[\d_]+)[eE][-+]?\d+\Z"),
    list("-+.0123456789"),
)


def _from_yaml(file: Path, text: str) -> Scenario:
    try:
        data = yaml.load(text, PlainLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise ScenarioError([Problem(where, str(getattr(error, "problem", error)))], str(file)) from None
    if not isinstance(data, dict):
        raise ScenarioError([Problem(str(file), "wanted the words database: and tasks:")], str(file))
    known = ("database", "tasks", "settings")
    problems = [
        Problem(str(file), f"unknown word '{word}'{choices(str(word), known, 'words')}")
        for word in data
        if word not in known
    ]
    database, wrong = plain_database(data.get("database"))
    return make_scenario(
        database, data.get("tasks"), data.get("settings"),
        name=file.stem, path=file.resolve(), text=text, found=problems + wrong,
    )  # fmt: skip


def import_file(file: Path) -> ModuleType:
    """Run a Python file as a module of its own; files beside it can be imported by it.

    A file that has not changed since is not run again: two tasks of one file share its module.
    """
    full = file.resolve()
    source = full.read_bytes()
    name = f"simsched_file_{full.stem}_{abs(hash(str(full))):x}"
    known = sys.modules.get(name)
    if known is not None and vars(known).get(_SOURCE) == source:
        return known
    folder = str(full.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    vars(module)[_SOURCE] = source
    sys.modules[name] = module
    try:
        # not by the loader: its cached bytecode may be that of an edit of the same second
        exec(compile(source, str(full), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_class(spec: str, task: str, folder: Path | None) -> type[Any]:
    """The class that a task's `Module` names, `file.py:Class` or `package.module:Class`."""
    place, _, name = spec.rpartition(":")
    try:
        module = (
            import_file((folder or Path()) / place)
            if place.endswith(".py")
            else importlib.import_module(place)
        )
    except FileNotFoundError as error:
        raise LaunchError(f"task '{task}': Module '{spec}': there is no file {error.filename}") from None
    except Exception as error:
        raise LaunchError(
            f"task '{task}': Module '{spec}' cannot be imported: {type(error).__name__}: {error}"
        ) from error
    found = getattr(module, name, None)
    if not inspect.isclass(found):
        classes = [
            key for key, value in vars(module).items() if inspect.isclass(value) and not key.startswith("_")
        ]
        raise LaunchError(
            f"task '{task}': Module '{spec}': {place} has no class '{name}'"
            f"{choices(name, classes, 'classes')}"
        )
    return found


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)
