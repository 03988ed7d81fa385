"""What every contender exchanges, and what every module does with it.

t, dt and cmd, five 3-vectors and a quaternion: 176 bytes each way. The body of a module is one small
numpy update, the same everywhere. Light to import, as every child does so.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

DT = 0.25  # [s]
STEP = 2
WHOLE = struct.Struct("<ddq15d4d")
SIZE = WHOLE.size
U_AT = 3
W_AT = 6
"""Where U and w_B begin among the values of WHOLE."""

INITIAL = (0.0, DT, STEP, *[0.1, 0.2, 0.3], *[0.0] * 12, *[1.0, 0.0, 0.0, 0.0])


def body(w_B: Array, dt: float, U: Array) -> Array:
    """The next w_B."""
    return w_B + dt * U


def body_on(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The body where the fields are one flat tuple."""
    w_B = body(np.array(values[W_AT : W_AT + 3]), values[1], np.array(values[U_AT : U_AT + 3]))
    return (*values[:W_AT], *w_B.tolist(), *values[W_AT + 3 :])


def check_turns(w_B_first: float, turns: int) -> None:
    """ValueError unless the body ran so many times: a contender that skips its work must not win."""
    expected = turns * DT * INITIAL[U_AT]
    if not np.isclose(w_B_first, expected, rtol=1e-9):
        raise ValueError(f"w_B[0] is {w_B_first!r} after {turns} module runs, expected {expected!r}")
