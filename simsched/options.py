"""The one table of what a task's dict may hold: the checks, their messages and the reference page
are made from it.

Pure: no I/O. Each parser returns the clean value or raises ValueError or TypeError; the words about
what was found and what was wanted are the reader's, who knows the task.
"""

from __future__ import annotations

import math
import operator
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Address = tuple[str, int]

LAST_PORT = 65_535


@dataclass(frozen=True)
class Option:
    """One row of the table: what an option takes, and what it means."""

    wanted: str
    meaning: str
    default: Any
    parse: Callable[[Any], Any]


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _whole(least: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or operator.index(value) < least:
            raise ValueError
        return operator.index(value)

    return parse


def _positive(value: Any) -> float:
    if isinstance(value, bool | str):
        raise TypeError
    number = float(value)
    if not 0.0 < number < math.inf:
        raise ValueError
    return number


def _positive_or_none(value: Any) -> float | None:
    return None if value is None else _positive(value)


def _names(value: Any) -> tuple[str, ...]:
    """Names between commas, blanks and newlines, as the paper's listings split them over lines."""
    if isinstance(value, str):
        return tuple(name for name in re.split(r"[\s,]+", value) if name)
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(name.strip() for name in value)
    raise TypeError


def _address(value: Any) -> Address:
    """(host, port), `host:port` or `[::1]:port`."""
    if isinstance(value, str):
        host, _, number = value.rpartition(":")
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        if bare == host and ":" in host:
            raise ValueError
        value = (bare, int(number))
    if not isinstance(value, list | tuple):
        raise TypeError
    host, port = value
    if not isinstance(host, str) or not host or re.search(r"\s", host) or isinstance(port, bool):
        raise ValueError
    if not 1 <= operator.index(port) <= LAST_PORT:
        raise ValueError
    return host, operator.index(port)


def _module(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[^:]+:[A-Za-z_]\w*", value):
        raise ValueError
    return value


def _command(value: Any) -> tuple[str, ...]:
    words = shlex.split(value) if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise TypeError
    if not words or not words[0]:
        raise ValueError
    return tuple(words)


def _params(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return dict(value)


_FIELDS = "field names, as in 't,cmd,w_B'"

OPTIONS: dict[str, Option] = {
    "Keys": Option(
        _FIELDS, "fields sent to the module and returned by it, in this order on the wire", None, _names
    ),
    "In": Option(_FIELDS, "fields sent to the module", None, _names),
    "Out": Option(_FIELDS, "fields returned by the module", None, _names),
    "Addr": Option(
        "(host, port)",
        "where the module listens; default: loopback, base port + place in Tasks",
        None,
        _address,
    ),
    "noAnswer": Option(
        "True or False", "send and go on; the module may come and go at any time", False, _flag
    ),
    "MaxRate": Option(
        "a number > 0 [1/s]",
        "with noAnswer: at most so many datagrams a second of wall time",
        None,
        _positive,
    ),
    "Module": Option(
        "'file.py:Class' or 'package.module:Class'",
        "what `simsched run` starts; absent: somebody else starts it",
        None,
        _module,
    ),
    "Command": Option(
        "a list of words",
        "an executable to start instead of a Module; {addr}, {host}, {port}, {name} are filled in",
        None,
        _command,
    ),
    "Params": Option(
        "a dict of names and values", "parameters of the module: its attributes, and self.params", {}, _params
    ),
    "Every": Option(
        "a whole number >= 1",
        "runs at steps k where (k - Phase) mod Every = 0; its dt is Every·dt",
        1,
        _whole(1),
    ),
    "Phase": Option(
        "a whole number from 0 to Every - 1", "the first step of a task with Every", 0, _whole(0)
    ),
    "Timeout": Option(
        "seconds > 0, or None",
        "how long one answer may take before the run is stopped; None waits for ever",
        5.0,
        _positive_or_none,
    ),
    "Raw": Option(
        "True or False",
        "the wire carries the packed fields alone, without header or loss protection",
        False,
        _flag,
    ),
    "Optional": Option(
        "True or False",
        "may join, leave and join again during a run; its fields keep their last value",
        False,
        _flag,
    ),
}
