"""What it costs to wake another process: one ping-pong over each kind of channel, per placement."""

from __future__ import annotations

import multiprocessing
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from typing import NamedTuple

from children import Children
from cores import Pin, master_on

PAYLOAD = bytes(176)
TRIPS = 2000
FIVE_SECONDS = struct.pack("@ll", 5, 0)
"""A timeval for SO_RCVTIMEO."""


class Channel(NamedTuple):
    """One end: how to wake the other, and how to sleep until woken."""

    wake: Callable[[], object]
    sleep: Callable[[], object]


def trip_s(make: Callable[[], tuple[Channel, Channel]], pin: Pin, trips: int = TRIPS) -> float:
    """Seconds for there and back."""
    near, far = make()
    with Children() as children, master_on(pin):
        children.fork(pin, _echo, far)
        _bounce(near, trips // 10)
        started = time.perf_counter()
        _bounce(near, trips)
        return (time.perf_counter() - started) / trips


def _bounce(end: Channel, trips: int) -> None:
    wake, sleep = end
    for _ in range(trips):
        wake()
        sleep()


def _echo(end: Channel) -> None:
    wake, sleep = end
    while True:
        sleep()
        wake()


def udp_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected UDP sockets on loopback."""
    ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for end in ends:
        end.bind(("127.0.0.1", 0))
    ends[0].connect(ends[1].getsockname())
    ends[1].connect(ends[0].getsockname())
    return ends[0], ends[1]


def _socket_channel(end: socket.socket, wait: Callable[[], object] | None = None) -> Channel:
    buffer = bytearray(2048)
    receive = end.recv_into
    if wait is None:
        return Channel(lambda: end.send(PAYLOAD), lambda: receive(buffer))
    return Channel(lambda: end.send(PAYLOAD), lambda: (wait(), receive(buffer)))


def blocking() -> tuple[Channel, Channel]:
    near, far = udp_pair()
    return _socket_channel(near), _socket_channel(far)


def kernel_timeout() -> tuple[Channel, Channel]:
    ends = udp_pair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, FIVE_SECONDS)
    return _socket_channel(ends[0]), _socket_channel(ends[1])


def python_timeout() -> tuple[Channel, Channel]:
    ends = udp_pair()
    for end in ends:
        end.settimeout(5.0)
    return _socket_channel(ends[0]), _socket_channel(ends[1])


def poll_first() -> tuple[Channel, Channel]:
    near, far = udp_pair()
    poller = select.poll()
    poller.register(near, select.POLLIN)
    return _socket_channel(near, lambda: poller.poll(5000)), _socket_channel(far)


def epoll_first() -> tuple[Channel, Channel]:
    near, far = udp_pair()
    poller = select.epoll()
    poller.register(near, select.EPOLLIN)
    return _socket_channel(near, lambda: poller.poll(5.0)), _socket_channel(far)


def unix_datagrams() -> tuple[Channel, Channel]:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return _socket_channel(near), _socket_channel(far)


def eventfds() -> tuple[Channel, Channel]:
    there, back = os.eventfd(0), os.eventfd(0)
    near = Channel(lambda: os.eventfd_write(there, 1), lambda: os.eventfd_read(back))
    far = Channel(lambda: os.eventfd_write(back, 1), lambda: os.eventfd_read(there))
    return near, far


def semaphores() -> tuple[Channel, Channel]:
    context = multiprocessing.get_context("fork")
    there, back = context.Semaphore(0), context.Semaphore(0)
    return Channel(there.release, back.acquire), Channel(back.release, there.acquire)


CHANNELS = {
    "UDP 176 B, blocking recv_into": blocking,
    "UDP, SO_RCVTIMEO both ends": kernel_timeout,
    "UDP, settimeout both ends": python_timeout,
    "UDP, near end poll + recv_into": poll_first,
    "UDP, near end epoll + recv_into": epoll_first,
    "Unix datagram socketpair": unix_datagrams,
    "eventfd": eventfds,
    "semaphore (futex)": semaphores,
}
