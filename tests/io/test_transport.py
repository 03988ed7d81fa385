"""One contract for every transport: whole datagrams, either way, with waits that end."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from simsched.errors import AddressError
from simsched.scenario import Scenario, make_scenario
from simsched.tasks import Task
from simsched.transport import Endpoint, Listener, LocalTransport, Transport, UdpTransport
from simsched.transport.base import BUFFER_SIZE
from simsched.transport.udp import UdpEndpoint, bind, free_socket


class DataBase:
    dt = 0.1
    tmax = 1.0
    n = 0


def two_tasks() -> Scenario:
    """Two tasks at ports that are free."""
    with free_socket() as first, free_socket() as second:
        places = [first.getsockname(), second.getsockname()]
    return make_scenario(
        DataBase, {"First": {"Keys": "n", "Addr": places[0]}, "Second": {"Keys": "n", "Addr": places[1]}}
    )


def received(end: Endpoint | Listener) -> bytes:
    """One datagram that must come."""
    buffer = bytearray(BUFFER_SIZE)
    assert select.select([end.fileno()], [], [], 10.0)[0], "nothing came"
    got: Any = end.receive(buffer)
    size = got if isinstance(got, int) else got[0]
    return bytes(buffer[:size])


class TransportContract:
    """What a transport has to keep; a subclass says which one."""

    def make(self) -> Transport:
        raise NotImplementedError

    @pytest.fixture
    def tasks(self) -> tuple[Task, ...]:
        return two_tasks().tasks

    @pytest.fixture
    def transport(self) -> Transport:
        return self.make()

    @pytest.fixture
    def line(self, transport: Transport, tasks: tuple[Task, ...]) -> Iterator[tuple[Endpoint, Listener]]:
        """Both ends of the first task's line."""
        listener = transport.listen(tasks[0])
        endpoint = transport.dial(tasks[0])
        yield endpoint, listener
        endpoint.close()
        listener.close()

    def test_there_and_back(self, line: tuple[Endpoint, Listener]) -> None:
        endpoint, listener = line
        endpoint.send(b"request")
        buffer = bytearray(BUFFER_SIZE)
        size, peer = listener.receive(buffer)
        assert buffer[:size] == b"request"
        listener.send(b"answer", peer)
        assert received(endpoint) == b"answer"

    def test_datagrams_stay_whole(self, line: tuple[Endpoint, Listener]) -> None:
        endpoint, listener = line
        for text in (b"a", b"bb", b"ccc"):
            endpoint.send(text)
        assert [received(listener) for _ in range(3)] == [b"a", b"bb", b"ccc"]

    @pytest.mark.parametrize("size", [1, 48, 1472, 9000, 60_000, 65_507])
    def test_any_size_that_udp_carries(self, line: tuple[Endpoint, Listener], size: int) -> None:
        endpoint, listener = line
        data = bytes(range(256)) * (size // 256 + 1)
        endpoint.send(data[:size])
        buffer = bytearray(BUFFER_SIZE)
        found, peer = listener.receive(buffer)
        assert buffer[:found] == data[:size]
        listener.send(data[:size], peer)
        assert received(endpoint) == data[:size]

    def test_a_wait_for_nothing_ends(self, line: tuple[Endpoint, Listener]) -> None:
        endpoint, listener = line
        with pytest.raises(BlockingIOError):
            endpoint.receive(bytearray(BUFFER_SIZE))
        with pytest.raises(BlockingIOError):
            listener.receive(bytearray(BUFFER_SIZE))

    def test_a_wait_ends_when_something_comes(self, line: tuple[Endpoint, Listener]) -> None:
        endpoint, listener = line
        sender = threading.Timer(0.05, lambda: endpoint.send(b"late"))
        sender.start()
        buffer = bytearray(BUFFER_SIZE)
        size, _ = listener.receive(buffer)
        sender.join()
        assert buffer[:size] == b"late"

    def test_it_can_be_polled(self, line: tuple[Endpoint, Listener]) -> None:
        endpoint, listener = line
        assert select.select([endpoint.fileno(), listener.fileno()], [], [], 0.0)[0] == []
        endpoint.send(b"!")
        assert select.select([endpoint.fileno(), listener.fileno()], [], [], 10.0)[0] == [listener.fileno()]

    def test_each_task_has_its_own_line(self, transport: Transport, tasks: tuple[Task, ...]) -> None:
        listeners = [transport.listen(task) for task in tasks]
        endpoints = [transport.dial(task) for task in tasks]
        for endpoint, task in zip(endpoints, tasks, strict=True):
            endpoint.send(task.name.encode())
        assert [received(listener) for listener in listeners] == [b"First", b"Second"]
        for endpoint, listener in zip(endpoints, listeners, strict=True):
            endpoint.close()
            listener.close()

    def test_a_module_may_come_after_its_master(self, transport: Transport, tasks: tuple[Task, ...]) -> None:
        endpoint = transport.dial(tasks[0])
        listener = transport.listen(tasks[0])
        endpoint.send(b"hello")
        assert received(listener) == b"hello"
        endpoint.close()
        listener.close()

    def test_a_module_serves_one_master_after_another(
        self, transport: Transport, tasks: tuple[Task, ...]
    ) -> None:
        """The first run has ended and its master closed its end; the module still listens."""
        listener = transport.listen(tasks[0])
        for text in (b"first", b"second"):
            endpoint = transport.dial(tasks[0])
            endpoint.send(text)
            assert received(listener) == text
            endpoint.close()
        listener.close()


class TestUdpTransport(TransportContract):
    def make(self) -> UdpTransport:
        return UdpTransport()

    def test_nobody_listens(self, transport: Transport, tasks: tuple[Task, ...]) -> None:
        """The system says so, at the next call or the one after."""
        endpoint = transport.dial(tasks[0])
        endpoint.send(b"is anybody there?")
        with pytest.raises(ConnectionRefusedError):
            endpoint.receive(bytearray(BUFFER_SIZE))
        endpoint.close()

    def test_a_socket_bound_beforehand_is_used(self, tasks: tuple[Task, ...]) -> None:
        ready = bind(tasks[0].addr, tasks[0].name)
        listener = UdpTransport({tasks[0].name: ready}).listen(tasks[0])
        assert listener.fileno() == ready.fileno()
        listener.close()

    def test_a_stranger_cannot_answer(self, line: tuple[Endpoint, Listener]) -> None:
        """The master's socket is connected: what others send to its port does not arrive."""
        endpoint, _ = line
        with socket.socket(fileno=socket.dup(endpoint.fileno())) as copy:
            address = copy.getsockname()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b"trust me", address)
        with pytest.raises(BlockingIOError):
            endpoint.receive(bytearray(BUFFER_SIZE))

    def test_ipv6(self) -> None:
        with free_socket("::1") as probe:
            port = probe.getsockname()[1]
        (task,) = make_scenario(DataBase, {"Far": {"Keys": "n", "Addr": ("::1", port)}}).tasks
        listener, endpoint = UdpTransport().listen(task), UdpTransport().dial(task)
        endpoint.send(b"six")
        assert received(listener) == b"six"
        listener.close()
        endpoint.close()

    def test_a_host_by_name(self) -> None:
        (task,) = make_scenario(DataBase, {"Near": {"Keys": "n", "Addr": ("localhost", 1)}}).tasks
        endpoint = UdpTransport().dial(task)
        endpoint.close()

    def test_a_host_that_is_unknown(self) -> None:
        with pytest.raises(
            AddressError, match=r"task 'Far': the host name 'no\.such\.host\.invalid' of Addr"
        ):
            UdpEndpoint(("no.such.host.invalid", 6500), "Far")

    def test_a_port_in_use(self, tasks: tuple[Task, ...]) -> None:
        with bind(tasks[0].addr, "First"), pytest.raises(AddressError, match=r"is in use by .* \(pid \d+\)"):
            UdpTransport().listen(tasks[0])

    def test_an_address_of_another_machine(self) -> None:
        with pytest.raises(AddressError, match=r"192\.0\.2\.7:6500 is no address of this machine"):
            bind(("192.0.2.7", 6500), "Far")


class TestLocalTransport(TransportContract):
    def make(self) -> LocalTransport:
        return LocalTransport()
