"""How datagrams travel: UDP between processes and machines, or a pair of sockets in one process."""

from simsched.transport.base import TICK_S, Endpoint, Listener, Transport
from simsched.transport.local import LocalTransport
from simsched.transport.udp import UdpTransport

__all__ = ["TICK_S", "Endpoint", "Listener", "LocalTransport", "Transport", "UdpTransport"]
