"""The snippets of a page that are meant to be tried: what to write, what to run, what should come out.

A page is read from top to bottom, as its reader does, in a folder of its own:

- a fence with `title="name.py"` is written to that file;
- `<!-- folder: examples/two_modules -->` copies a folder of the project;
- `<!-- run -->` before a `python` fence runs it as a script, before a `console` fence runs its lines
  that begin with `$ `; what stands under a command is what it should print, `...` for anything;
- `<!-- run: exit 2 -->` expects that exit code, `<!-- run: background -->` goes on without waiting;
- `$ cd folder` holds for the rest of the page;
- `<!-- output -->` before a fence: what the Python script before it should print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>run|output|run: [^>]*?) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w+)(?P<attributes>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$"
    r"|^<!-- folder: (?P<folder>[^>]*?) -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Folder:
    """Copy a folder of the project."""

    path: str


@dataclass(frozen=True)
class File:
    """Write a file."""

    name: str
    text: str


@dataclass(frozen=True)
class Script:
    """Run Python and compare what it prints, if anything is expected."""

    text: str
    expected: str | None
    line: int


@dataclass(frozen=True)
class Command:
    """Run a command line and compare."""

    words: str
    expected: str
    line: int
    exit_code: int = 0
    background: bool = False


Action = Folder | File | Script | Command


class BadSnippet(Exception):
    """A page marks something to be run that cannot be."""


def actions(page: str) -> list[Action]:
    """All that a page asks for, in its order."""
    found: list[Action] = []
    for match in _FENCE.finditer(page):
        line = page.count("\n", 0, match.start()) + 1
        if match["folder"]:
            found.append(Folder(match["folder"]))
        elif match["mark"] == "output":
            found.append(_with_output(found, match["body"], line))
        else:
            found.extend(_fence(match, line))
    return found


def _with_output(found: list[Action], body: str, line: int) -> Script:
    last = found.pop() if found else None
    if not isinstance(last, Script):
        raise BadSnippet(f"line {line}: an output without a script before it")
    return Script(last.text, body, last.line)


def _fence(match: re.Match[str], line: int) -> Iterator[Action]:
    title = re.search(r'title="([\w./-]+\.\w+)"', match["attributes"])
    if title:
        yield File(title[1], match["body"])
    if match["mark"] is None:
        return
    if match["language"] == "console":
        yield from _commands(match["body"], match["mark"].removeprefix("run").lstrip(": "), line)
    elif match["language"] == "python":
        yield Script(match["body"], None, line)
    else:
        raise BadSnippet(f"line {line}: cannot run {match['language']}")


def _commands(body: str, how: str, line: int) -> Iterator[Command]:
    exit_code = re.fullmatch(r"exit (\d+)", how)
    if how not in ("", "background") and not exit_code:
        raise BadSnippet(f"line {line}: run how? '{how}'")
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        words, _, expected = part.replace("\\\n", " ").partition("\n")
        yield Command(words, expected, line, int(exit_code[1]) if exit_code else 0, how == "background")


def agrees(printed: str, expected: str) -> bool:
    """Whether a text is as expected, line by line; `...` stands for anything.

    >>> agrees("a 12 b\\nmore\\nend\\n", "a ... b\\n...\\nend\\n")
    True
    >>> agrees("a 12 c\\n", "a ... b\\n")
    False
    """
    lines = [
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\s*\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed if printed.endswith("\n") else printed + "\n") is not None
