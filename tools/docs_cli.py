"""The commands of `simsched`, their arguments and options, as Markdown."""

from __future__ import annotations

from typing import Any


def markdown(_: str = "") -> str:
    return ""
