"""What a network has to offer to carry our datagrams.

Whole datagrams, either way, with no promise that one arrives, arrives once, or arrives in order:
`exchange.py` sees to that. To run modules over another network, write the three classes below for
it and hand the transport to `Module(..., transport=...)` and to `simsched.run(..., transport=...)`.
"""

from __future__ import annotations

from typing import Any, Protocol

from simsched.tasks import Task

TICK_S = 0.01
"""How long an endpoint's `receive` blocks before the master looks around [s]."""

LISTEN_S = 0.5
"""How long a listener's `receive` blocks before the module looks around [s]."""

BUFFER_SIZE = 65_536
"""Larger than any datagram, so that one that is too long is seen to be."""


class Endpoint(Protocol):
    """The master's end of one task's line."""

    def send(self, data: bytes, /) -> Any:
        """Send one datagram; ConnectionRefusedError if it is known that nobody listens there."""

    def receive(self, buffer: bytearray, /) -> int:
        """Wait up to TICK_S for a datagram and return its size.

        BlockingIOError if none came, ConnectionRefusedError if nobody listens there.
        """

    def fileno(self) -> int:
        """What to `poll` for datagrams to receive."""

    def close(self) -> None: ...


class Listener(Protocol):
    """The module's end: it hears from any master and answers to where a request came from."""

    def receive(self, buffer: bytearray, /) -> tuple[int, Any]:
        """Wait up to LISTEN_S for a datagram: its size, and its sender; BlockingIOError if none came."""

    def send(self, data: bytes, peer: Any, /) -> Any: ...

    def fileno(self) -> int: ...

    def close(self) -> None: ...


class Transport(Protocol):
    """A kind of network."""

    def dial(self, task: Task) -> Endpoint:
        """A line from the master to a task's module, which need not be there yet."""

    def listen(self, task: Task) -> Listener:
        """The place where the module of a task listens; AddressError if it cannot."""
