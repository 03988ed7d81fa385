"""Packages that come with the extra `record`, imported only where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from simsched.errors import MissingExtra

EXTRA = "record"


def need(module: str, what: str) -> Any:
    """Import a module of an optional package; MissingExtra says what needs it and how to get it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == package:
            raise MissingExtra(what, package, EXTRA) from None
        raise
