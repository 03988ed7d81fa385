"""mosaik on the same ring: one process per simulator, started by `cmd`, TCP on loopback.

Simulator i takes what simulator i−1 gave within the same step, the first takes what the last gave in
the step before: the sequential order of the other contenders. mosaik's own process stands between
them, as a dispatcher does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path

from children import Children
from cores import Pin
from frame import Contender
from mosaik_node import WARM_UP
from mosaik_world import Form, Ring
from payload import check_turns

WORLD = str(Path(__file__).with_name("mosaik_world.py"))
NAMES: dict[Form, str] = {"fields": "mosaik, field by field", "vector": "mosaik, one list"}


def run(n: int, steps: int, pin: Pin, form: Form) -> dict[str, float]:
    """One ring from nothing to its end: seconds of the steps, and until the first one was done."""
    ring = Ring(n, steps, pin, form, time.monotonic(), os.getpid())
    with Children() as children:
        world = children.start(
            [sys.executable, WORLD, json.dumps(asdict(ring))],
            stdout=subprocess.PIPE,
        )
        children.wait()
        assert world.stdout is not None
        measured: dict[str, float] = json.loads(world.stdout.read())
    check_turns(measured.pop("w"), (WARM_UP + steps + 1) * n)
    return measured


def seconds_per_exchange(exchanges: int, n: int, pin: Pin, form: Form) -> float:
    steps = max(1, exchanges // n)
    return run(n, steps, pin, form)["taken_s"] / (steps * n)


def contenders(sizes: tuple[int, ...], pins: tuple[Pin, ...]) -> list[Contender]:
    return [
        Contender(name, pin, n, 700, partial(seconds_per_exchange, n=n, pin=pin, form=form), most_rounds=3)
        for n in sizes
        for pin in pins
        for form, name in NAMES.items()
    ]
