"""`simsched new`: a project that runs at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

SUFFIX = ".txt"
"""Of the templates: so that nobody takes them for code of this package."""


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the project.", show_default=False)],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir", metavar="DIR", show_default=False, help="Where to make it; default: a folder NAME here."
        ),
    ] = None,
) -> None:
    """Make a small project that runs at once: two modules, a test."""
    from simsched.errors import UserError

    if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
        raise UserError(
            f"'{name}' is no name for a project; wanted letters, digits, '_' and '-', as in my_rig"
        )
    target = folder or Path(name)
    files = project_files(name)
    existing = [file for file in files if (target / file).exists()]
    if existing:
        raise UserError(f"'{target}' holds {', '.join(existing)} already: choose another name or --dir")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (target / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"'{target}' cannot be made: {error.strerror or error}") from None
    print(f"made {target}: {', '.join(files)}")
    print(f"run it with: simsched run {target / 'scenario.py'}")


def project_files(name: str) -> dict[str, str]:
    """The files of a new project and their texts."""
    from importlib.resources import files
    from string import Template

    templates = sorted(
        files("simsched").joinpath("templates", "project").iterdir(), key=lambda file: file.name
    )
    return {
        file.name.removesuffix(SUFFIX): Template(file.read_text(encoding="utf-8")).substitute(name=name)
        for file in templates
        if file.name.endswith(SUFFIX)
    }
