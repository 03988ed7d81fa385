"""The loop of a module, in a thread: whole runs over either transport, and whatever else may arrive."""

from __future__ import annotations

import contextlib
import io
import random
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import simsched
from simsched import Module, serving
from simsched.datagram import HEADER, HEADER_SIZE, Hello, Kind, build, pack_hello
from simsched.errors import ModuleError
from simsched.image import Image
from simsched.master.lead import new_session
from simsched.master.seats import RemoteSeat
from simsched.record import MemoryRecorder
from simsched.results import Results
from simsched.scenario import Scenario, make_scenario
from simsched.scheduler import Scheduler
from simsched.serving import wire_of
from simsched.states import Message, State
from simsched.status import Status
from simsched.transport import LocalTransport, Transport, UdpTransport
from simsched.transport.udp import free_socket


class DataBase:
    dt = 0.1
    tmax = 5.0
    x = 1.0
    F = 0.0


class Plant(Module):
    dt: float
    x: float
    F: float

    def Run(self) -> None:
        self.x = self.x + self.dt * (self.F - 0.1 * self.x)


class Law(Module):
    x: float

    def Run(self) -> None:
        self.F = -0.5 * self.x


class Faulty(Module):
    t: float

    def Run(self) -> None:
        if self.t > 0.35:
            raise ValueError("as told")


@pytest.fixture
def scenario() -> Scenario:
    return scenario_of({"Plant": {"In": "t,dt,x,F", "Out": "x"}, "Law": {"In": "x", "Out": "F"}})


def scenario_of(tasks: dict[str, dict[str, Any]]) -> Scenario:
    """These tasks, at ports that are free."""
    with contextlib.ExitStack() as stack:
        for options in tasks.values():
            options["Addr"] = stack.enter_context(free_socket()).getsockname()
    return make_scenario(DataBase, tasks)


Serve = Callable[..., "Served"]


class Served:
    """A module that is served by a thread."""

    def __init__(self, model: Module) -> None:
        self.model = model
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        try:
            self.model.Manager.Loop()
        except ModuleError as error:
            self.error = error

    def join(self) -> None:
        self.thread.join(10.0)
        assert not self.thread.is_alive()


@pytest.fixture
def serve(scenario: Scenario) -> Iterator[Serve]:
    """Serve a class in a thread; all are told to stop in the end."""
    served: list[tuple[Served, Transport]] = []

    def start(model: type[Module], transport: Transport, of: Scenario = scenario) -> Served:
        served.append((Served(model(scenario=of, transport=transport)), transport))
        return served[-1][0]

    yield start
    for one, transport in served:
        task = one.model.Manager.task
        assert one.model.Manager.state is not State.RUN
        if one.thread.is_alive():
            endpoint = transport.dial(task)
            endpoint.send(build(Kind.STOP, layout_id=task.layout_id, session=1, sequence=1, task=task.number))
            one.join()
            endpoint.close()
        one.join()


def run_over(scenario: Scenario, transport: Transport) -> Results:
    """A whole run with a remote seat for each task."""
    image = Image(scenario.database, scenario.tasks)
    session = new_session()
    seats = [RemoteSeat(task, image, transport, session, None) for task in scenario.tasks]
    sinks: list[MemoryRecorder] = []

    def open_sink(started: Image) -> MemoryRecorder:
        sinks.append(MemoryRecorder(started.fields, metadata={}, initial=bytes(started.data)))
        return sinks[-1]

    scheduler = Scheduler(scenario, image, seats, open_sink)
    try:
        scheduler.run()
    finally:
        scheduler.close()
    return sinks[0].results()


@pytest.mark.parametrize("make", [UdpTransport, LocalTransport])
def test_a_whole_run(scenario: Scenario, serve: Serve, make: Callable[[], Transport]) -> None:
    """And a second one, which the same modules serve from the same initial conditions."""
    transport = make()
    for model in (Plant, Law):
        serve(model, transport)
    alone = simsched.run(scenario, in_process=True, modules={"Plant": Plant, "Law": Law})
    assert len(alone) == 50
    assert run_over(scenario, transport).same_as(alone) == []
    assert run_over(scenario, transport).same_as(alone) == []


def test_run_with_a_transport(scenario: Scenario, serve: Serve) -> None:
    transport = LocalTransport()
    for model in (Plant, Law):
        serve(model, transport)
    alone = simsched.run(scenario, in_process=True, modules={"Plant": Plant, "Law": Law})
    assert simsched.run(scenario, start=False, transport=transport).same_as(alone) == []


def test_a_failure_is_told_and_raised(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    """To the master in its words, to the console, and out of the loop."""
    scenario = scenario_of({"Faulty": {"In": "t", "Out": "x"}})
    served = serve(Faulty, UdpTransport(), scenario)
    with pytest.raises(ModuleError, match="task 'Faulty' failed at step 4") as caught:
        simsched.run(scenario, start=False)
    assert "ValueError: as told" in str(caught.value)
    served.join()
    assert isinstance(served.error, ModuleError)
    assert "ValueError: as told" in capsys.readouterr().err


def test_a_failure_that_nobody_hears_of(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The word of it may be lost: it is answered to a repeat, for a while, and then the module ends."""
    monkeypatch.setattr(serving, "LINGER_NS", 200_000_000)
    scenario = scenario_of({"Faulty": {"In": "t", "Out": "x"}})
    (task,) = scenario.tasks
    served = serve(Faulty, UdpTransport(), scenario)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as master:
        master.connect(task.addr)
        master.settimeout(10.0)
        common: dict[str, Any] = {"layout_id": task.layout_id, "session": 9}
        payload = task.layout_in.struct.pack(1.0)
        say_until_heard(master, build(Kind.INIT, payload, sequence=1, **common))
        step = build(Kind.STEP, payload, sequence=2, **common)
        master.send(step)
        first = master.recv(65_536)
        master.send(step)
        assert master.recv(65_536) == first
    assert b"ValueError: as told" in first
    served.join()


def say_until_heard(master: socket.socket, data: bytes) -> bytes:
    """Send until there is an answer: the module may not listen yet."""
    for _ in range(500):
        with contextlib.suppress(ConnectionRefusedError):
            master.send(data)
        if select.select([master], [], [], 0.02)[0]:
            with contextlib.suppress(ConnectionRefusedError):
                return master.recv(65_536)
            time.sleep(0.01)
    raise AssertionError("nobody answers")


def test_nonsense_is_neither_answered_nor_harmful(scenario: Scenario, serve: Serve) -> None:
    """Cut, altered and invented datagrams before and during a run."""
    transport = UdpTransport()
    for model in (Plant, Law):
        serve(model, transport)
    task = scenario.task("Plant")
    wire = wire_of(task, None)
    good = build(
        Kind.STEP, bytes(task.layout_in.size), layout_id=wire.layout_id, session=7, sequence=1, task=0
    )
    words = Hello(wire.name, wire.layout_in, wire.layout_out)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.connect(task.addr)
        say_until_heard(stranger, build(Kind.HELLO, pack_hello(words, 600), layout_id=wire.layout_id))
        seeded = random.Random(4711)
        for size in range(len(good)):
            stranger.send(good[:size])
        for _ in range(300):
            stranger.send(seeded.randbytes(seeded.randrange(200)))
            altered = bytearray(good)
            altered[seeded.randrange(4)] ^= 1 << seeded.randrange(8)
            stranger.send(altered)
        alone = simsched.run(scenario, in_process=True, modules={"Plant": Plant, "Law": Law})
        assert run_over(scenario, transport).same_as(alone) == []
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.recv(65_536)


@pytest.mark.parametrize("room", [0, 1, 20, 600])
def test_an_answer_is_never_larger_than_its_question(scenario: Scenario, serve: Serve, room: int) -> None:
    """Else a forged sender would make us a source of traffic against it."""
    serve(Plant, UdpTransport())
    task = scenario.task("Plant")
    question = build(Kind.HELLO, bytes(room), layout_id=1, session=5, sequence=6)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.connect(task.addr)
        answer = say_until_heard(asker, question)
    assert len(answer) <= len(question)
    assert HEADER.unpack(answer[:HEADER_SIZE])[1] == Kind.HELLO | 0x80


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_status_line_of_a_terminal(scenario: Scenario) -> None:
    """One line that is redrawn, with the model's own prints above it."""
    out = Terminal()
    task = scenario.task("Law")
    with Status(task, scenario, out) as status:
        status.entered(State.IDLE)
        assert f"Law  Idle  at 127.0.0.1:{task.addr[1]}, waiting for a master" in out.getvalue()
        status.entered(State.RUN, Message.INIT)
        for now_ns in range(20):
            status.stepped(now_ns)
        status.waited(1 << 62)
        assert out.getvalue().endswith("\r\x1b[2KLaw  Run  step 19  t 1.9 s  0 steps/s")
        print("a print", "of the model")
        assert out.getvalue().endswith("\r\x1b[2Ka print of the model\n")
        print("half a line", end="")
        status.waited(1 << 62)
        print(", and the rest")
        assert out.getvalue().endswith("\nhalf a line, and the rest\n")
        status.waited(1 << 62)
    assert out.getvalue().endswith("\r\x1b[2K")


def test_no_status_line_in_a_pipe(scenario: Scenario) -> None:
    out = io.StringIO()
    with Status(scenario.task("Law"), scenario, out) as status:
        status.entered(State.RUN, Message.INIT)
        status.stepped(1 << 62)
    assert out.getvalue() == ""
