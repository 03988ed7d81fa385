"""Signatures and docstrings of the public API, as Markdown."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}

WIDTH = 90
"""Longer signatures are written one parameter a line."""


def markdown(path: str) -> str:
    """One object by its dotted path, `simsched.run` or `simsched.results:Results`, and its members."""
    module, _, name = path.partition(":")
    found = getattr(importlib.import_module(module), name)
    if dataclasses.is_dataclass(found) and isinstance(found, type):
        return "\n\n".join([f"**`{name}`**: {_text(found)}", _attributes(found)])
    if inspect.isclass(found):
        is_protocol = getattr(found, "_is_protocol", False)  # its constructor is not ours to describe
        head = f"**`{name}`**" if is_protocol else _signature(name, found.__init__, drop_self=True)
        return "\n\n".join([head, _text(found), *_members(found)])
    return "\n\n".join([_signature(name, found), _text(found)])


def _members(found: type) -> Iterator[str]:
    for name, member in vars(found).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"`.{name}`\n:   {_flat(member)}"
        elif inspect.isfunction(member):
            yield f"`.{name}{_parameters(member, drop_self=True)}`\n:   {_flat(member)}"


def _attributes(found: type) -> str:
    """The fields of a dataclass, with the strings written under them."""
    words = _words_under(inspect.getsource(found))
    rows = [
        (f"`{member.name}`", f"`{member.type}`", _default(member), words.get(member.name, ""))
        for member in dataclasses.fields(found)
    ]
    columns = zip(("attribute", "type", "default", "what"), *rows, strict=True)
    filled = [column for column in columns if any(column[1:])]
    head, *lines = (f"| {' | '.join(cells)} |" for cells in zip(*filled, strict=True))
    return "\n".join([head, "| --- " * len(filled) + "|", *lines])


def _words_under(source: str) -> dict[str, str]:
    pairs = re.findall(r'^    (\w+):[^\n]*\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in pairs}


def _default(member: dataclasses.Field[Any]) -> str:
    if member.default is dataclasses.MISSING:
        return ""
    return "" if callable(member.default) else f"`{member.default!r}`"


def _signature(name: str, function: Any, drop_self: bool = False) -> str:
    line = f"{name}{_parameters(function, drop_self)}"
    if len(line) > WIDTH:
        inner = ",\n    ".join(_parts(function, drop_self))
        line = f"{name}(\n    {inner},\n){_returns(function)}"
    return f"```python\n{line}\n```"


def _parameters(function: Any, drop_self: bool = False) -> str:
    return f"({', '.join(_parts(function, drop_self))}){_returns(function)}"


def _parts(function: Any, drop_self: bool) -> list[str]:
    parts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if drop_self and parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        parts.append(_parameter(parameter))
    return parts


def _parameter(parameter: inspect.Parameter) -> str:
    """As it is written in the source: annotations are texts there, and shown without quotes."""
    stars = STARS.get(parameter.kind, "")
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}{kind}{default}"


def _returns(function: Any) -> str:
    returned = inspect.signature(function).return_annotation
    return "" if returned in (inspect.Signature.empty, "None", None) else f" -> {returned}"


def _text(found: Any) -> str:
    return inspect.getdoc(found) or ""


def _flat(found: Any) -> str:
    return " ".join((inspect.getdoc(found) or "").split())
