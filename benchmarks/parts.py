"""The parts of an exchange that one process does by itself, as things to time.

Each part is a name and a function that returns the seconds of one call, taken over a short batch, so
that a caller can go round all parts several times and let noise fall on each alike.
"""

from __future__ import annotations

import select
import socket
import struct
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import quaternion
from wakeups import FIVE_SECONDS, PAYLOAD, udp_pair

Part = tuple[str, Callable[[], float]]

HEADER = struct.Struct("<4sBBHIIIHHqqq")
TIMES = struct.Struct("<qqq")
WHOLE = struct.Struct("<ddq15d4d")
CALLS = 2000
BATCH = 64
"""Datagrams that surely fit a socket's receive buffer."""

_five_copies = "; ".join(f"ndarray(3, f8, buffer, {72 + 24 * i}).copy()" for i in range(5))
_five_slices = "; ".join(f"whole[{3 * i}:{3 * i + 3}]" for i in range(1, 6))

STATEMENTS = {
    "empty loop (contained in each of those below)": "pass",
    "call of an empty function": "nothing()",
    "time.monotonic_ns()": "monotonic_ns()",
    "time.perf_counter_ns()": "perf_counter_ns()",
    "struct: pack_into header (12 values)": "HEADER.pack_into(buffer, 0, *header)",
    "struct: unpack_from header": "HEADER.unpack_from(buffer, 0)",
    "struct: pack_into 3 times only": "TIMES.pack_into(buffer, 24, 1, 2, 3)",
    "struct: pack_into whole payload (22 values)": "WHOLE.pack_into(buffer, 48, *values)",
    "struct: unpack_from whole payload": "WHOLE.unpack_from(buffer, 48)",
    "bytes: bytearray slice assignment of 176 B": "buffer[48:224] = source",
    "bytes: memoryview slice assignment of 176 B": "view[48:224] = source_view",
    "bytes: b''.join of 3 pieces": "join(pieces)",
    "numpy: ndarray(3, f8, buffer, offset), a view": "ndarray(3, f8, buffer, 72)",
    "numpy: frombuffer(buffer, f8, 3, offset), a view": "frombuffer(buffer, f8, 3, 72)",
    "numpy: slice of a standing array, a view": "row[3:6]",
    "numpy: slice of a standing array, then .copy()": "row[3:6].copy()",
    "numpy: 5 vectors by standing.copy() and 5 slices": f"whole = row.copy(); {_five_slices}",
    "numpy: 5 vectors by frombuffer.copy() and 5 slices": (
        f"whole = frombuffer(buffer, f8, 22, 48).copy(); {_five_slices}"
    ),
    "numpy: 5 vectors by ndarray(...).copy() each": _five_copies,
    "numpy: array of a tuple of 3 floats": "array(three)",
    "numpy: standing[3:6] = vector": "row[3:6] = vector",
    "numpy: vector.tobytes()": "vector.tobytes()",
    "numpy: isfinite(22 values).all()": "isfinite(row).all()",
    "numpy: row.dot(zeros) == 0 as test of finiteness": "row.dot(zeros) == 0.0",
    "module body: w + dt * U": "vector + 0.25 * vector",
    "quaternion: quaternion(w, x, y, z)": "quaternion(1.0, 0.0, 0.0, 0.0)",
    "quaternion: .components into a standing array": "row[0:4] = unit.components",
    "quaternion: w, x, y, z read one by one": "unit.w, unit.x, unit.y, unit.z",
    "object: setattr by name": "setattr(thing, 'w_B', vector)",
    "object: 9 attributes by __dict__.update(zip())": "thing.__dict__.update(zip(names, nine))",
}


class Thing:
    """Stands for a module."""


def _scope() -> dict[str, Any]:
    buffer = bytearray(256)
    plain = dict(
        nothing=lambda: None, monotonic_ns=time.monotonic_ns, perf_counter_ns=time.perf_counter_ns,
        HEADER=HEADER, TIMES=TIMES, WHOLE=WHOLE, header=(b"SSD1", 2, 1, 0, 7, 8, 9, 1, 176, 1, 2, 3),
        values=(0.0, 0.25, 2, *[1.0] * 19), buffer=buffer, view=memoryview(buffer), source=bytes(176),
        source_view=memoryview(bytearray(176)), join=b"".join, pieces=(bytes(48), bytes(24), bytes(152)),
        thing=Thing(), names=tuple("abcdefghi"), nine=tuple(range(9)), three=(1.0, 2.0, 3.0),
    )  # fmt: skip
    arrays = dict(
        ndarray=np.ndarray, frombuffer=np.frombuffer, array=np.array, isfinite=np.isfinite,
        f8=np.dtype("<f8"), row=np.zeros(22), zeros=np.zeros(22), vector=np.ones(3),
        quaternion=quaternion.quaternion, unit=quaternion.one,
    )  # fmt: skip
    return plain | arrays


def statements() -> list[Part]:
    """Packing, numpy, objects: whatever needs no socket."""
    scope = _scope()
    timers = {name: timeit.Timer(code, globals=scope) for name, code in STATEMENTS.items()}
    return [(name, _per_call(timer, CALLS)) for name, timer in timers.items()]


def _per_call(timer: timeit.Timer, calls: int) -> Callable[[], float]:
    return lambda: timer.timeit(calls) / calls


def _calling(function: Callable[[], object]) -> Callable[[], float]:
    return _per_call(timeit.Timer(function), CALLS)


def _filling(fill: Callable[[], object], drain: Callable[[], object]) -> Callable[[], float]:
    """Seconds of one `fill`; what it filled is drained again, untimed."""

    def once() -> float:
        taken = timeit.timeit(fill, number=BATCH) / BATCH
        timeit.timeit(drain, number=BATCH)
        return taken

    return once


def _draining(fill: Callable[[], object], drain: Callable[[], object]) -> Callable[[], float]:
    """Seconds of one `drain` of what is already there."""

    def once() -> float:
        timeit.timeit(fill, number=BATCH)
        return timeit.timeit(drain, number=BATCH) / BATCH

    return once


def _receiver(
    timeout_s: float | None = None, kernel_timeout: bool = False
) -> tuple[socket.socket, socket.socket]:
    near, far = udp_pair()
    far.settimeout(timeout_s)
    if kernel_timeout:
        far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, FIVE_SECONDS)
    return near, far


def _receiving(ends: tuple[socket.socket, socket.socket]) -> Callable[[], float]:
    near, far = ends
    buffer = bytearray(2048)
    return _draining(lambda: near.send(PAYLOAD), lambda: far.recv_into(buffer))


def sockets() -> list[Part]:
    """Each way to send, and to receive what has already arrived, so without any wake-up."""
    buffer = bytearray(2048)
    near, far = udp_pair()
    # a timeout in Python makes its socket ask poll() first, in send too
    spare, _ = udp_pair()
    return [
        ("socket: send 176 B, connected", _filling(
            lambda: near.send(PAYLOAD), lambda: far.recv_into(buffer))),
        *_unconnected(),
        ("socket: recv_into, blocking", _receiving(_receiver())),
        ("socket: recv_into, SO_RCVTIMEO", _receiving(_receiver(kernel_timeout=True))),
        ("socket: recv_into, settimeout", _receiving(_receiver(timeout_s=5.0))),
        ("socket: recv_into, non-blocking", _receiving(_receiver(timeout_s=0.0))),
        ("socket: recvfrom_into, connected", _draining(
            lambda: near.send(PAYLOAD), lambda: far.recvfrom_into(buffer))),
        ("socket: recv, new bytes", _draining(lambda: near.send(PAYLOAD), lambda: far.recv(2048))),
        ("socket: setsockopt(SO_RCVTIMEO) itself", _calling(
            lambda: spare.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, FIVE_SECONDS))),
        ("socket: settimeout(5.0) itself", _calling(lambda: spare.settimeout(5.0))),
    ]  # fmt: skip


def _unconnected() -> list[Part]:
    near, far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    near.bind(("127.0.0.1", 0))
    far.bind(("127.0.0.1", 0))
    address, buffer = far.getsockname(), bytearray(2048)
    both = (lambda: near.sendto(PAYLOAD, address)), (lambda: far.recvfrom_into(buffer))
    return [
        ("socket: sendto 176 B, unconnected", _filling(*both)),
        ("socket: recvfrom_into, unconnected", _draining(*both)),
    ]


def pollers() -> list[Part]:
    """Asking 4 sockets of which one is readable."""
    pairs = [udp_pair() for _ in range(4)]
    readers = [far for _, far in pairs]
    poll, epoll = select.poll(), select.epoll()
    for reader in readers:
        poll.register(reader, select.POLLIN)
        epoll.register(reader, select.EPOLLIN)
    pairs[2][0].send(PAYLOAD)
    # the near ends stay open as long as the parts, or their ports would be closed
    return [
        ("poll: select.poll, 4 fds, 1 ready", _calling(lambda: (pairs, poll.poll(5000)))),
        ("poll: select.epoll, 4 fds, 1 ready", _calling(lambda: (pairs, epoll.poll(5.0)))),
        (
            "poll: select.select, 4 fds, 1 ready",
            _calling(lambda: (pairs, select.select(readers, [], [], 5.0))),
        ),
    ]
