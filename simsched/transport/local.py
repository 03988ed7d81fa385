"""In one process: unnamed sockets of the system, for modules that run as threads."""

from __future__ import annotations

import socket
import threading

from simsched.tasks import Task
from simsched.transport.base import LISTEN_S, TICK_S
from simsched.transport.udp import block_for


class LocalEndpoint:
    """The master's end of a line."""

    def __init__(self, end: socket.socket) -> None:
        block_for(end, TICK_S)
        self.send = end.send
        self.receive = end.recv_into
        self.fileno = end.fileno
        self.close = end.close


class LocalListener:
    """The module's end: it answers to whichever master asked."""

    def __init__(self, bound: socket.socket) -> None:
        block_for(bound, LISTEN_S)
        self.receive = bound.recvfrom_into
        self.send = bound.sendto
        self.fileno = bound.fileno
        self.close = bound.close


class LocalTransport:
    """Lines between threads of this process, made on demand from either end."""

    def __init__(self) -> None:
        self._places: dict[str, socket.socket] = {}
        self._lock = threading.Lock()

    def dial(self, task: Task) -> LocalEndpoint:
        end = _unnamed()
        end.connect(self._place(task.name).getsockname())
        return LocalEndpoint(end)

    def listen(self, task: Task) -> LocalListener:
        return LocalListener(self._place(task.name))

    def _place(self, name: str) -> socket.socket:
        """Where a task's module listens; it may be dialled before anybody does."""
        with self._lock:  # both ends may be the first
            if name not in self._places or self._places[name].fileno() < 0:
                self._places[name] = _unnamed()
            return self._places[name]


def _unnamed() -> socket.socket:
    """A datagram socket at an address that the system makes up."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind("")
    return made
