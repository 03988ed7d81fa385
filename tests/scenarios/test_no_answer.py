"""noAnswer: the module may be absent, come late, go and come again; the run never waits for it."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

import pytest

from simsched import load
from simsched.datagram import HEADER, HEADER_SIZE, Flag, Kind

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

COUNT = """
    class Count(Module):
        def Run(self): self.n += 1
"""


def count_tasks(port: int, **options: object) -> dict[str, dict[str, object]]:
    return {
        "Count": {"In": "n", "Out": "n", "Module": "models.py:Count"},
        "Viewer": {"In": "t,n", "Addr": ("127.0.0.1", port), "noAnswer": True, **options},
    }


def test_absent(bench: Bench) -> None:
    bench.scenario("n = 0", count_tasks(bench.free_ports()), COUNT, tmax=30.0)
    r = bench.run()
    assert r["n"][-1] == 300
    assert bench.notices == []


GATED = """
    class Gate(Module):
        '''Holds the run at some steps until the file of that step is there.'''
        def Run(self):
            self.n += 1
            if self.n in (5, 10, 15):
                print(f"held at {self.n}", flush=True)
                end = time.monotonic() + 30.0
                while not os.path.exists(f"{os.path.dirname(__file__)}/go-{self.n}"):
                    if time.monotonic() > end: raise TimeoutError("nobody let the run go on")
                    time.sleep(0.005)

    class Viewer(Module):
        def Initialize(self): print("begins", flush=True)
        def Run(self): print(f"sees {self.n}", flush=True)
        def Finalize(self): print("finalizes", flush=True)
"""


def test_comes_goes_and_comes_again(bench: Bench) -> None:
    port = bench.free_ports()
    bench.scenario(
        "n = 0",
        {
            "Gate": {"In": "n", "Out": "n", "Module": "models.py:Gate", "Timeout": None},
            "Viewer": {"In": "t,n", "Addr": ("127.0.0.1", port), "noAnswer": True},
        },
        GATED,
        tmax=2.0,
    )
    master = bench.master(record="run.arrows")

    master.wait_for("held at 5")
    first = bench.module("Viewer")
    bench.listening(port)
    (bench.folder / "go-5").touch()
    first.wait_for("sees 9")
    master.wait_for("held at 10")
    first.send_signal(signal.SIGKILL)
    first.wait()
    (bench.folder / "go-10").touch()
    master.wait_for("held at 15")
    second = bench.module("Viewer")
    bench.listening(port)
    (bench.folder / "go-15").touch()

    assert master.wait() == 0, master.text
    second.wait_for("finalizes")
    assert first.text.split("\n")[:-1] == ["begins", *(f"sees {n}" for n in range(5, 10))]
    assert second.text.split("\n")[:-1] == ["begins", *(f"sees {n}" for n in range(15, 21)), "finalizes"]
    assert load(bench.folder / "run.arrows")["n"].tolist() == list(range(1, 21))
    assert "Viewer" not in master.text


def received(listener: socket.socket) -> list[tuple[int, int]]:
    """(kind, flags) of every datagram that waits there."""
    found: list[tuple[int, int]] = []
    listener.setblocking(False)
    while True:
        try:
            data = listener.recv(65_536)
        except BlockingIOError:
            return found
        header = HEADER.unpack(data[:HEADER_SIZE])
        found.append((header[1], header[3]))


@pytest.fixture
def listener() -> socket.socket:
    """Somebody who listens and never reads."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    bound.bind(("127.0.0.1", 0))
    return bound


def test_every_step_is_sent_to_who_does_not_read(bench: Bench, listener: socket.socket) -> None:
    bench.scenario("n = 0", count_tasks(listener.getsockname()[1]), COUNT, tmax=20.0)
    bench.run()
    with listener:
        kinds = received(listener)
    assert [kind for kind, _ in kinds] == [Kind.INIT, *[Kind.STEP] * 200, Kind.FINAL]
    assert {flags for _, flags in kinds} == {Flag.NO_ANSWER}


def test_max_rate(bench: Bench, listener: socket.socket) -> None:
    """At most so many a second of wall time, the first one at once; INIT and FINAL in any case."""
    rate = 10.0  # [1/s]
    bench.scenario("n = 0", count_tasks(listener.getsockname()[1], MaxRate=rate), COUNT, tmax=200.0)
    r = bench.run()
    with listener:
        kinds = [kind for kind, _ in received(listener)]
    assert r.report is not None and r["n"][-1] == 2000
    assert 1 <= kinds.count(Kind.STEP) <= r.report.wall_s * rate + 1
    assert kinds[0] == Kind.INIT and kinds[-1] == Kind.FINAL


def test_failure_of_the_viewer_is_its_own(bench: Bench) -> None:
    """A noAnswer module that raises says so on its console, and the run goes on."""
    tasks = count_tasks(bench.free_ports())
    tasks["Viewer"]["Module"] = "models.py:Viewer"
    models = COUNT + "    class Viewer(Module):\n        def Run(self): raise ValueError('no window')\n"
    bench.scenario("n = 0", tasks, models, tmax=30.0)
    assert bench.run()["n"][-1] == 300
    assert ("Viewer", "ValueError: no window") in bench.lines
