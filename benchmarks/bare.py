"""The yardstick: a bare Python UDP ping-pong, as quick as the language lets one write it.

A master and N worker processes, blocking connected sockets, the whole payload packed and unpacked with
`struct` on both ends, the workers one after the other. Nothing is checked, counted or repeated. Without
a body the workers only unpack and pack; with it they also do the modules' numpy update.
"""

from __future__ import annotations

import socket
import time
from functools import partial

from children import Children
from cores import Pin, master_on
from frame import Contender
from payload import DT, INITIAL, SIZE, W_AT, WHOLE, body_on, check_turns

NAME = "bare UDP"
NAME_WITH_BODY = "bare UDP + body"
WARM_UP = 20


def _pair() -> tuple[socket.socket, socket.socket]:
    near, far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for end in near, far:
        end.bind(("127.0.0.1", 0))
    near.connect(far.getsockname())
    far.connect(near.getsockname())
    return near, far


def _worker(end: socket.socket, with_body: bool) -> None:
    buffer = bytearray(SIZE)
    receive, send, pack, unpack = end.recv_into, end.send, WHOLE.pack_into, WHOLE.unpack_from
    while True:
        receive(buffer)
        values = unpack(buffer)
        if with_body:
            values = body_on(values)
        pack(buffer, 0, *values)
        send(buffer)


def _run(ends: list[socket.socket], steps: int) -> tuple[float, ...]:
    buffer = bytearray(SIZE)
    calls = [(end.send, end.recv_into) for end in ends]
    pack, unpack = WHOLE.pack_into, WHOLE.unpack_from
    values: tuple[float, ...] = INITIAL
    for step in range(steps):
        values = (step * DT, *values[1:])
        for send, receive in calls:
            pack(buffer, 0, *values)
            send(buffer)
            receive(buffer)
            values = unpack(buffer)
    return values


def seconds_per_exchange(exchanges: int, n: int, pin: Pin, with_body: bool) -> float:
    """One run with fresh workers."""
    steps = max(1, exchanges // n)
    with Children() as children, master_on(pin):
        pairs = [_pair() for _ in range(n)]
        for _, far in pairs:
            children.fork(pin, _worker, far, with_body)
        ends = [near for near, _ in pairs]
        _run(ends, WARM_UP)
        started = time.perf_counter()
        values = _run(ends, steps)
        taken = time.perf_counter() - started
        for end in [end for pair in pairs for end in pair]:
            end.close()
    check_turns(values[W_AT], steps * n if with_body else 0)
    return taken / (steps * n)


def contenders(sizes: tuple[int, ...], pins: tuple[Pin, ...]) -> list[Contender]:
    """Without and with a body, for every size and pin."""
    return [
        Contender(name, pin, n, 6000, partial(seconds_per_exchange, n=n, pin=pin, with_body=with_body))
        for n in sizes
        for pin in pins
        for name, with_body in ((NAME, False), (NAME_WITH_BODY, True))
    ]
