"""`simsched graph`: a drawing of a scenario as text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simsched.cli.options import ScenarioFile


class Language(StrEnum):
    mermaid = "mermaid"
    dot = "dot"


def graph(
    scenario: ScenarioFile,
    language: Annotated[
        Language, typer.Option("--format", help="For Mermaid or for Graphviz.")
    ] = Language.mermaid,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", show_default=False, help="Write to this file."),
    ] = None,
) -> None:
    """Draw who reads and writes what, by parallel stages."""
    from simsched.errors import UserError
    from simsched.graph import FORMATS
    from simsched.loading import load_scenario

    whole = load_scenario(scenario)
    text = FORMATS[language.value](whole.tasks, whole.settings.coupling == "jacobi")
    if out is None:
        print(text, end="")
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"'{out}' cannot be written: {error.strerror or error}") from None
