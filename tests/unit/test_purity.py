"""The pure files do no I/O and read no clock, and the arrows between packages go one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PURE = frozenset(
    f"simsched.{name}"
    for name in """_version errors database layout options tasks params scenario plain source
    codec datagram states exchange requester responder raw pacing values
    image plan measure report results graph""".split()
)
IMPURE = frozenset(
    """asyncio concurrent fcntl importlib logging multiprocessing os pty select selectors signal socket
    socketserver subprocess threading time""".split()
)
IMPURE_CALLS = frozenset({"open", "input", "print", "__import__"})

# what each package may not import: simsched_modules -> simsched <- simsched_cpp
ARROWS = {
    "simsched": frozenset({"simsched_modules", "simsched_cpp"}),
    "simsched_modules": frozenset({"simsched_cpp"}),
    "simsched_cpp": frozenset({"simsched_modules"}),
}
FOLDERS = {
    "simsched": ROOT / "simsched",
    "simsched_modules": ROOT / "modules/simsched_modules",
    "simsched_cpp": ROOT / "cpp_bridge/simsched_cpp",
}


def imports(source: str, package: str) -> set[str]:
    """The dotted names that a file of this package imports, anywhere in it.

    `from a import b` counts as `a.b`: whether b is a module or a name in a is for the caller to say.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{_origin(node, package)}.{alias.name}" for alias in node.names)
    return found


def _origin(node: ast.ImportFrom, package: str) -> str:
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def impurities(source: str) -> set[str]:
    """What a pure file imports or calls that it may not."""
    names = imports(source, "simsched")
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    outside = {name for name in names if name.split(".")[0] in IMPURE}
    inside = {name for name in names if name.split(".")[0] == "simsched" and not _is_pure(name)}
    return outside | inside | (calls & IMPURE_CALLS)


def _is_pure(name: str) -> bool:
    # `simsched.layout.Layout` is a name in a pure file; `simsched.Module` comes from the package itself
    return name in PURE or name.rpartition(".")[0] in PURE


def calls_itself_pure(source: str) -> bool:
    """Whether the opening docstring states the rule: a line that begins with `Pure`."""
    opening = ast.get_docstring(ast.parse(source)) or ""
    return any(line.startswith("Pure") for line in opening.splitlines())


def against_the_arrows(source: str, package: str) -> set[str]:
    """Imports of this file that go from its package to one that it must not know."""
    top = package.split(".", maxsplit=1)[0]
    return {name for name in imports(source, package) if name.split(".")[0] in ARROWS[top]}


@pytest.mark.parametrize("name", sorted(PURE))
def test_a_pure_file_imports_and_calls_nothing_impure(name: str) -> None:
    source = (ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
    assert impurities(source) == set()


def test_every_file_that_calls_itself_pure_is_checked() -> None:
    pure = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in FOLDERS["simsched"].rglob("*.py")
        if calls_itself_pure(file.read_text(encoding="utf-8"))
    }
    assert "simsched.datagram" in pure
    assert pure - PURE == set()


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_imports_between_packages_go_one_way(package: str) -> None:
    folder = FOLDERS[package]
    files = sorted(folder.rglob("*.py"))
    assert files
    wrong = {}
    for file in files:
        own = ".".join([package, *file.relative_to(folder).parent.parts])
        if names := against_the_arrows(file.read_text(encoding="utf-8"), own):
            wrong[str(file.relative_to(ROOT))] = names
    assert wrong == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import socket", {"socket"}),
        ("import os.path as p", {"os.path"}),
        ("from time import monotonic_ns", {"time.monotonic_ns"}),
        ("def f():\n    import threading", {"threading"}),
        ("if TYPE_CHECKING:\n    from logging import Logger", {"logging.Logger"}),
        ("from simsched.manager import Manager", {"simsched.manager.Manager"}),
        ("from simsched import Module", {"simsched.Module"}),
        ("import simsched", {"simsched"}),
        ("from . import manager", {"simsched.manager"}),
        ("from .transport.udp import Link", {"simsched.transport.udp.Link"}),
        ("text = open('x').read()", {"open"}),
        ("from simsched.layout import Layout\nimport struct, numpy as np", set()),
        ("from .errors import Problem\nfrom simsched import layout", set()),
        ("from timeit import default_timer", set()),
    ],
)
def test_an_impure_import_is_found(source: str, found: set[str]) -> None:
    assert impurities(source) == found


@pytest.mark.parametrize(
    ("package", "source", "found"),
    [
        ("simsched.cli", "import simsched_cpp.header", {"simsched_cpp.header"}),
        ("simsched", "def f():\n    from simsched_modules import control", {"simsched_modules.control"}),
        ("simsched_modules", "from simsched_cpp import header", {"simsched_cpp.header"}),
        ("simsched_modules", "from simsched import Module", set()),
        ("simsched.launch", "from ..errors import RunError", set()),
    ],
)
def test_an_import_against_the_arrows_is_found(package: str, source: str, found: set[str]) -> None:
    assert against_the_arrows(source, package) == found
