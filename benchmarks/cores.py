"""Which process runs on which core. Light to import, as every child does so."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Pin = Literal["one", "two", "free"]
"""one: everybody on core 0; two: the master on core 0, the others on core 1; free: as the kernel likes."""

_PR_SET_PDEATHSIG = 1
_ALL_CORES = frozenset(os.sched_getaffinity(0))


def cores(pin: Pin, master: bool) -> frozenset[int]:
    """The cores that one process may use; with a single core in the machine all pins are the same."""
    ordered = sorted(_ALL_CORES)
    if pin == "free":
        return _ALL_CORES
    return frozenset([ordered[0] if master or pin == "one" else ordered[-1]])


@contextmanager
def master_on(pin: Pin) -> Iterator[None]:
    """This process on the master's core for the length of the block."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores(pin, master=True))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def settle_as_child(pin: Pin, parent: int) -> None:
    """To be called first in a child: its core, and its end when the process `parent` ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # a parent that ended before that call sends no signal any more
    if os.getppid() != parent:
        sys.exit(f"process {parent}, which started this one, has ended: nothing to do")
    # an interrupt reaches the whole foreground group; the parent alone decides about its children
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.sched_setaffinity(0, cores(pin, master=False))
