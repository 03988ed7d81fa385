"""Arguments and options that several commands share, and the words that they take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from simsched.errors import UserError

KEY_VARIABLE = "SIMSCHED_KEY"
LONGEST_KEY = 32
"""BLAKE2s takes no more [bytes]."""


class Coupling(StrEnum):
    seidel = "seidel"
    jacobi = "jacobi"


class OverrunPolicy(StrEnum):
    catchup = "catchup"
    slip = "slip"
    stop = "stop"


class PlacementMode(StrEnum):
    auto = "auto"
    one = "one"
    free = "free"


ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="The scenario: a Python or YAML file.", show_default=False)
]
Values = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="FIELD=VALUE", show_default=False,
        help="Another initial value for a field, written as in YAML: --set 'w_B=[0, 0, 0.1]'. Repeatable.",
    ),
]  # fmt: skip
Parameters = Annotated[
    list[str],
    typer.Option(
        "--param", metavar="TASK.NAME=VALUE", show_default=False,
        help="Another value for a parameter of a task: --param Control.gain=500. Repeatable.",
    ),
]  # fmt: skip
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", metavar="FILE", show_default=False,
        help=f"Sign every datagram with the key in this file; else with ${KEY_VARIABLE}, if that is set.",
    ),
]  # fmt: skip
FieldNames = Annotated[
    str | None,
    typer.Option("--fields", metavar="A,B", show_default=False, help="Only these fields, and t."),
]


def read_key(file: Path | None) -> bytes | None:
    """The key of a run, from a file or the environment: never from the command line, which all can see."""
    if file is None:
        text = os.environ.get(KEY_VARIABLE, "")
        return _checked(text.encode(), f"${KEY_VARIABLE}") if text else None
    try:
        return _checked(file.read_bytes().strip(), f"key file '{file}'")
    except OSError as error:
        raise UserError(f"key file '{file}' cannot be read: {error.strerror or error}") from None


def _checked(key: bytes, where: str) -> bytes:
    if not 1 <= len(key) <= LONGEST_KEY:
        raise UserError(f"{where} holds {len(key)} bytes; wanted a key of 1 to {LONGEST_KEY}")
    return key


def field_names(text: str | None) -> list[str] | None:
    """The names in `a,b`."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError(f"--fields '{text}' names no field; wanted some, as in --fields w_B,q_IB")
    return names


def field_values(texts: Sequence[str]) -> dict[str, Any]:
    """What `--set` gives: fields and their values."""
    return dict(_assigned("--set", text, "--set dt=0.1") for text in texts)


def task_params(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What `--param` gives: for each task its parameters."""
    found: dict[str, dict[str, Any]] = {}
    example = "--param Control.gain=500"
    for text in texts:
        name, value = _assigned("--param", text, example)
        task, _, parameter = name.partition(".")
        if not task or not parameter:
            raise UserError(f"--param '{text}': '{name}' is no Task.name; wanted one, as in {example}")
        found.setdefault(task, {})[parameter] = value
    return found


def _assigned(option: str, text: str, example: str) -> tuple[str, Any]:
    import yaml

    from simsched.loading import PlainLoader

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UserError(f"{option} '{text}': wanted a name, '=' and a value, as in {example}")
    try:
        return name.strip(), yaml.load(value, PlainLoader)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or error
        raise UserError(
            f"{option} '{text}': the value is no YAML: {problem}; quote it for the shell"
        ) from None
