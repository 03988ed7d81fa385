"""UDP: connected sockets at the master, blocking waits at both ends, no spinning."""

from __future__ import annotations

import errno
import ipaddress
import socket
import struct
from collections.abc import Mapping
from typing import Any

from simsched.errors import AddressError
from simsched.tasks import LOOPBACK, Address, Task
from simsched.transport.base import LISTEN_S, TICK_S
from simsched.transport.holders import holder_of

RECEIVE_BUFFER = 1 << 20
"""Room for a burst of datagrams while a module computes [bytes]."""


class UdpEndpoint:
    """The master's connected socket; a refusal (nobody listens) comes back as an exception."""

    def __init__(self, address: Address, name: str) -> None:
        self._socket = socket.socket(_family(address), socket.SOCK_DGRAM)
        try:
            self._socket.connect(_resolved(address, name))
        except AddressError:
            self._socket.close()
            raise
        except OSError as error:
            self._socket.close()
            raise AddressError(
                f"task '{name}': {address[0]}:{address[1]} cannot be reached: {error.strerror or error}; "
                f"check Addr and the network"
            ) from None
        block_for(self._socket, TICK_S)
        self.send = self._socket.send
        self.receive = self._socket.recv_into
        self.fileno = self._socket.fileno
        self.close = self._socket.close


class UdpListener:
    """The module's bound socket."""

    def __init__(self, bound: socket.socket) -> None:
        block_for(bound, LISTEN_S)
        self.address = bound.getsockname()[:2]
        self.receive = bound.recvfrom_into
        self.send = bound.sendto
        self.fileno = bound.fileno
        self.close = bound.close


class UdpTransport:
    """Modules at the addresses that their tasks give; `sockets` are those bound beforehand."""

    def __init__(self, sockets: Mapping[str, socket.socket] | None = None) -> None:
        self._sockets = dict(sockets or {})

    def dial(self, task: Task) -> UdpEndpoint:
        return UdpEndpoint(task.addr, task.name)

    def listen(self, task: Task) -> UdpListener:
        ready = self._sockets.pop(task.name, None)
        return UdpListener(ready or bind(task.addr, task.name))


def bind(address: Address, name: str) -> socket.socket:
    """A socket bound to an address; AddressError says who has it, or why it cannot be had."""
    bound = socket.socket(_family(address), socket.SOCK_DGRAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        bound.bind(_resolved(address, name))
    except AddressError:
        bound.close()
        raise
    except OSError as error:
        bound.close()
        raise AddressError(_why_not_bound(address, name, error)) from None
    return bound


def free_socket(host: str = LOOPBACK) -> socket.socket:
    """A socket bound to a port that nobody has."""
    return bind((host, 0), "")


def _why_not_bound(address: Address, name: str, error: OSError) -> str:
    where = f"task '{name}': {address[0]}:{address[1]}"
    if error.errno == errno.EADDRINUSE:
        holder = holder_of(address[1]) or "another process"
        return f"{where} is in use by {holder}: end it, or give the task another Addr"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{where} is no address of this machine: start the module on the machine that has it"
    if error.errno == errno.EACCES:
        return f"{where} may not be bound by this user: choose a port above 1023"
    return f"{where} cannot be bound: {error.strerror or error}"


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET


def _resolved(address: Address, name: str) -> Any:
    host, port = address
    try:
        ipaddress.ip_address(host)
    except ValueError:
        try:
            host = socket.gethostbyname(host)
        except OSError as error:
            raise AddressError(
                f"task '{name}': the host name '{host}' of Addr is unknown: {error.strerror or error}"
            ) from None
    return host, port


def block_for(bound: socket.socket, seconds: float) -> None:
    """Let the kernel end a blocking receive: `settimeout` would cost one more call each time."""
    whole = int(seconds)
    interval = struct.pack("@ll", whole, round((seconds - whole) * 1e6))
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, interval)
