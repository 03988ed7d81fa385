"""In one process: each line is a pair of connected sockets, for modules that run as threads."""

from __future__ import annotations

import socket
from typing import Any

from simsched.tasks import Task
from simsched.transport.base import LISTEN_S, TICK_S
from simsched.transport.udp import block_for


class LocalEndpoint:
    """The master's end of a pair."""

    def __init__(self, end: socket.socket) -> None:
        block_for(end, TICK_S)
        self.send = end.send
        self.receive = end.recv_into
        self.fileno = end.fileno
        self.close = end.close


class LocalListener:
    """The module's end: there is one peer only."""

    def __init__(self, end: socket.socket) -> None:
        block_for(end, LISTEN_S)
        self._end = end
        self.fileno = end.fileno
        self.close = end.close

    def receive(self, buffer: bytearray, /) -> tuple[int, Any]:
        return self._end.recv_into(buffer), "this process"

    def send(self, data: bytes, peer: Any, /) -> int:
        return self._end.send(data)


class LocalTransport:
    """Lines between threads of this process, made on demand from either end."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[socket.socket, socket.socket]] = {}

    def dial(self, task: Task) -> LocalEndpoint:
        return LocalEndpoint(self._pair(task.name)[0])

    def listen(self, task: Task) -> LocalListener:
        return LocalListener(self._pair(task.name)[1])

    def _pair(self, name: str) -> tuple[socket.socket, socket.socket]:
        if name not in self._waiting:
            self._waiting[name] = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        return self._waiting[name]
