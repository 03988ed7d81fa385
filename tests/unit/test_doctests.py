"""The examples in the docstrings of the pure files are true."""

from __future__ import annotations

import doctest
import importlib

import pytest

WITH_EXAMPLES = ["errors", "layout", "pacing", "source"]
WITHOUT = [
    "database",
    "datagram",
    "exchange",
    "image",
    "measure",
    "options",
    "plan",
    "states",
    "tasks",
    "values",
]


@pytest.mark.parametrize("name", WITH_EXAMPLES + WITHOUT)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"simsched.{name}"))
    assert result.failed == 0
    assert result.attempted or name in WITHOUT
