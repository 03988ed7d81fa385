"""The help of every command of `simsched`, as the commands print it."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator

from simsched.cli.app import COMMANDS, call
from simsched.cli.new import project_files

WIDTH = 100
"""Columns of the printed help."""


def markdown(_: str = "") -> str:
    """One section for each command."""
    return "\n\n".join(f"## simsched {name}\n\n```text\n{printed(name)}\n```" for name in COMMANDS)


def printed(command: str) -> str:
    """What `simsched COMMAND --help` prints in a pipe."""
    out = io.StringIO()
    with _columns(WIDTH), contextlib.redirect_stdout(out):
        code = call([command, "--help"])
    if code:
        raise RuntimeError(f"simsched {command} --help ended with exit code {code}")
    return out.getvalue().strip()


def scaffold(file: str) -> str:
    """A file that `simsched new` makes."""
    return f'```python title="{file}"\n{project_files("pointing")[file].strip()}\n```'


@contextlib.contextmanager
def _columns(width: int) -> Iterator[None]:
    """A terminal's width, so that a page does not depend on who builds it."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
