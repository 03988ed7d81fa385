"""HELICS on the same ring: one process per federate, one broker, the zmq core, all on loopback.

Federate i reads what federate i−1 published, runs the body and publishes. Its time grid is shifted by
i/N of a step, so that within a step each sees what its predecessor published in that very step: the
sequential order of the other contenders. There is no master between them, so a value travels once per
module run where a dispatcher sends it there and back.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from children import Children
from cores import Pin
from frame import Contender
from helics_node import WARM_UP, Form, Ring
from payload import check_turns

PORTS = 100
"""A broker takes two, and each federate takes two more, counted up from the broker's."""

NODE = str(Path(__file__).with_name("helics_node.py"))
NAMES: dict[Form, str] = {
    "fields": "HELICS, field by field",
    "vector": "HELICS, one vector",
    "bytes": "HELICS, packed bytes",
}


def run(n: int, steps: int, pin: Pin, form: Form) -> dict[str, float]:
    """One ring from nothing to its end: seconds of the steps, and until the first one was done."""
    ring = Ring(n, steps, pin, form, _free_ports(), time.monotonic(), os.getpid())
    with Children() as children:
        broker = _start(children, ring, "broker", stdout=subprocess.PIPE)
        assert broker.stdout is not None
        broker.stdout.readline()
        for place in range(n - 1):
            _start(children, ring, str(place))
        last = _start(children, ring, str(n - 1), stdout=subprocess.PIPE)
        children.wait()
        assert last.stdout is not None
        measured: dict[str, float] = json.loads(last.stdout.read())
    check_turns(measured.pop("w"), (WARM_UP + steps) * n)
    return measured


def _start(children: Children, ring: Ring, role: str, **options: Any) -> subprocess.Popen[bytes]:
    return children.start([sys.executable, NODE, role, json.dumps(asdict(ring))], **options)


def _free_ports() -> int:
    """The first of a stretch of free ports, below those that the kernel gives away by itself."""
    for first in range(23000, 32000, PORTS):
        with ExitStack() as probes:
            try:
                for port in range(first, first + PORTS):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise OSError(f"no {PORTS} free ports in a row on 127.0.0.1 from 23000 to 32000: end what holds them")


def seconds_per_exchange(exchanges: int, n: int, pin: Pin, form: Form) -> float:
    steps = max(1, exchanges // n)
    return run(n, steps, pin, form)["taken_s"] / (steps * n)


def contenders(sizes: tuple[int, ...], pins: tuple[Pin, ...]) -> list[Contender]:
    return [
        Contender(name, pin, n, 1000, partial(seconds_per_exchange, n=n, pin=pin, form=form), most_rounds=3)
        for n in sizes
        for pin in pins
        for form, name in NAMES.items()
    ]
