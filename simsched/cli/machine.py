"""What this machine has and lacks: one small function for each question of `simsched doctor`."""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import platform
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from simsched.launch.progress import duration
from simsched.tasks import BASE_PORT, LOOPBACK

OK, MISSING, WRONG = "ok", "missing", "wrong"

ROUND_TRIPS = 200
PORTS_LOOKED_AT = 20
RECEIVE_BUFFER = 1 << 20
"""What a module asks for, so that a burst is not lost [bytes]."""


@dataclass(frozen=True)
class Finding:
    """One answer: what was looked at, how it is, what was found, what to do."""

    what: str
    state: str
    found: str
    remedy: str = ""


def findings() -> Iterator[Finding]:
    """Everything that was looked at, one after another."""
    for look in LOOKS:
        yield from look()


def python() -> Iterator[Finding]:
    version = platform.python_version()
    is_new = sys.version_info >= (3, 11)
    yield Finding(
        "Python", OK if is_new else WRONG, version, "" if is_new else "install Python 3.11 or newer"
    )


def packages() -> Iterator[Finding]:
    """The packages that simsched depends on, then those of each extra."""
    for requirement in importlib.metadata.requires("simsched") or ():
        name = re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", requirement)
        if name != "simsched" and (extra is None or extra[1] not in DEVELOPERS_EXTRAS):
            yield _package(name, extra[1] if extra else "")


DEVELOPERS_EXTRAS = frozenset({"test", "docs", "bench", "all"})


def _package(name: str, extra: str) -> Finding:
    what = f"package {name}" + (f" [{extra}]" if extra else "")
    try:
        return Finding(what, OK, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        if extra:
            return Finding(what, MISSING, "not installed", f"pip install 'simsched[{extra}]'")
        return Finding(what, WRONG, "not installed", "pip install simsched")


def processes() -> Iterator[Finding]:
    can_fork = hasattr(os, "fork") and sys.platform == "linux"
    yield Finding(
        "fork", OK if can_fork else MISSING, "modules start as copies" if can_fork else "modules start afresh"
    )
    has_pidfd = hasattr(os, "pidfd_open")
    yield Finding(
        "pidfd", OK if has_pidfd else MISSING, "pidfd_open is there" if has_pidfd else "no pidfd_open"
    )


def cores() -> Iterator[Finding]:
    count = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else count
    remedy = "" if allowed > 1 else "independent tasks cannot run at the same time: allow another core"
    yield Finding("cores", OK if allowed > 1 else MISSING, f"{count}, of which {allowed} allowed", remedy)


def programs() -> Iterator[Finding]:
    """Programs that some commands and bridges use."""
    for name, purpose in (
        ("tmux", "for simsched run --terminals"),
        ("g++", "for modules in C++"),
        ("dot", "to draw simsched graph --format dot"),
    ):
        found = shutil.which(name)
        package = {"dot": "graphviz"}.get(name, name)
        remedy = "" if found else f"sudo apt-get install {package}  ({purpose})"
        yield Finding(name, OK if found else MISSING, found or "not installed", remedy)


def receive_buffer() -> Iterator[Finding]:
    limit = Path("/proc/sys/net/core/rmem_max")
    if not limit.exists():
        yield Finding("receive buffer", OK, "the system does not tell its limit")
        return
    size = int(limit.read_text())
    is_enough = size >= RECEIVE_BUFFER
    remedy = (
        "" if is_enough else f"sudo sysctl -w net.core.rmem_max={RECEIVE_BUFFER}  (else bursts may be lost)"
    )
    yield Finding("receive buffer", OK if is_enough else MISSING, f"rmem_max = {size} bytes", remedy)


def clock() -> Iterator[Finding]:
    """The finest difference that the monotonic clock really shows."""
    readings = [time.monotonic_ns() for _ in range(1000)]
    steps = [after - before for before, after in itertools.pairwise(readings) if after > before]
    finest_ns = min(steps, default=1_000_000_000)
    is_fine = finest_ns < 100_000
    remedy = "" if is_fine else "real time and timing will be coarse: check the clock source of the system"
    text = f"steps of {finest_ns} ns" if finest_ns < 1000 else f"steps of {duration(finest_ns / 1e9)}"
    yield Finding("monotonic clock", OK if is_fine else MISSING, text, remedy)


def real_time() -> Iterator[Finding]:
    """Tried on a child, so that this process stays as it is."""
    if not hasattr(os, "sched_setscheduler"):
        yield Finding("SCHED_FIFO", MISSING, "not known to this system")
        return
    is_allowed = _in_child(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
    remedy = (
        "" if is_allowed else "for less jitter in real time: an rtprio limit in /etc/security/limits.conf"
    )
    yield Finding(
        "SCHED_FIFO", OK if is_allowed else MISSING, "allowed" if is_allowed else "not allowed", remedy
    )


def _in_child(attempt: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            attempt()
            code = 0
        except OSError:
            code = 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def loopback() -> Iterator[Finding]:
    """A datagram to ourselves and back, many times."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two,
    ):
        try:
            trips_ns = _round_trips(one, two)
        except OSError as error:
            remedy = "bring the loopback interface up: sudo ip link set lo up"
            yield Finding("loopback UDP", WRONG, f"does not work: {error}", remedy)
            return
    trips_ns.sort()
    median = duration(trips_ns[len(trips_ns) // 2] / 1e9)
    yield Finding("loopback UDP", OK, f"works; a round trip in one process takes {median}")


def _round_trips(one: socket.socket, two: socket.socket) -> list[int]:
    for end in (one, two):
        end.bind((LOOPBACK, 0))
        end.settimeout(1.0)
    one.connect(two.getsockname())
    two.connect(one.getsockname())
    trips_ns = []
    for _ in range(ROUND_TRIPS):
        began_ns = time.monotonic_ns()
        one.send(b"ping")
        two.send(two.recv(16))
        one.recv(16)
        trips_ns.append(time.monotonic_ns() - began_ns)
    return trips_ns


def ports() -> Iterator[Finding]:
    """Whether modules started by hand find their default ports free."""
    held = [port for port in range(BASE_PORT, BASE_PORT + PORTS_LOOKED_AT) if not _is_free(port)]
    last = BASE_PORT + PORTS_LOOKED_AT - 1
    if not held:
        yield Finding("ports", OK, f"{BASE_PORT} to {last} are free")
    for port in held:
        yield Finding(
            f"port {port}", MISSING, f"held by {_holder(port)}", "end it, or choose another BasePort"
        )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attempt:
        try:
            attempt.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _holder(port: int) -> str:
    from simsched.transport.holders import holder_of

    return holder_of(port) or "another user's process"


LOOKS = (python, packages, processes, cores, programs, receive_buffer, clock, real_time, loopback, ports)
