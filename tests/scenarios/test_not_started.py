"""Modules that are not there, are somebody else's, or mean other bytes: said by name, address and remedy."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from simsched import load
from simsched.errors import AddressError, LayoutMismatch, NotJoined, SessionBusy

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
    class Count(Module):
        def Run(self):
            self.n += 1
            if self.n == 20: print("at step 20", flush=True)
            time.sleep(0.002)
"""


def count(bench: Bench, port: int, fields: str = "n = 0", name: str = "scenario.py", **settings: Any) -> None:
    """Count, which somebody starts at this port."""
    tasks = {"Count": {"Keys": "t,n", "Addr": ("127.0.0.1", port)}}
    bench.scenario(fields, tasks, MODELS, name=name, **settings)


def test_never_started(bench: Bench) -> None:
    port = bench.free_ports()
    count(bench, port, Wait=0.2)
    with pytest.raises(NotJoined) as caught:
        bench.run()
    text = str(caught.value)
    assert f"task 'Count' did not come within 0.2 s, at 127.0.0.1:{port}" in text
    assert "start" in text
    assert bench.notices == []


def test_started_late(bench: Bench) -> None:
    """The wait is spoken of after a second, and ends when the module comes."""
    port = bench.free_ports()
    count(bench, port)
    master = bench.master()
    master.wait_for(f"task 'Count' is waited for, since 1 s, at 127.0.0.1:{port}")
    bench.module("Count")
    assert master.wait() == 0, master.text


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ("n = 0.0", "In differs: field 2 is 'n:i8' here and 'n:f8' there"),
        ("n = np.zeros(2, int)", "In differs: field 2 is 'n:i8' here and 'n:i8[2]' there"),
    ],
)
def test_started_from_another_database(bench: Bench, theirs: str, words: str) -> None:
    port = bench.free_ports()
    count(bench, port, fields=theirs, name="theirs.py")
    count(bench, port)
    module = bench.module("Count", "theirs.py")
    bench.listening(port)
    with pytest.raises(LayoutMismatch) as caught:
        bench.run()
    assert f"task 'Count' at 127.0.0.1:{port}" in str(caught.value)
    assert words in str(caught.value)
    assert "start both from the same scenario" in str(caught.value)
    assert module.process.poll() is None


def test_the_module_of_another_task(bench: Bench) -> None:
    port = bench.free_ports()
    count(bench, port)
    bench.write("theirs.py", (bench.folder / "scenario.py").read_text().replace("'Count'", "'Counter'"))
    bench.write(
        "wrong.py",
        """
        import simsched
        from models import Count
        Count(scenario=simsched.load_scenario("theirs.py"), Name="Counter").Manager.Loop()
        """,
    )
    bench.python("wrong.py")
    bench.listening(port)
    with pytest.raises(
        LayoutMismatch, match="the module there is that of task 'Counter'; check Addr of both"
    ):
        bench.run()


def test_a_second_master(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module stays with its first master, whose run goes on undisturbed."""
    monkeypatch.setattr("simsched.master.joining.HOLD_NS", -800_000_000)  # give up after 0.2 s, not 6 s
    port = bench.free_ports()
    count(bench, port, tmax=60.0)
    module = bench.module("Count")
    bench.listening(port)
    master = bench.master(record="run.arrows")
    module.wait_for("at step 20")
    with pytest.raises(SessionBusy) as caught:
        bench.run()
    text = str(caught.value)
    assert f"task 'Count' at 127.0.0.1:{port} is held by session " in text
    assert "127.0.0.1" in text.partition("held by")[2]
    assert "wait for that run to end, or stop it" in text
    assert master.wait() == 0, master.text
    r = load(bench.folder / "run.arrows")
    assert r["n"].tolist() == list(range(1, 601))
    assert bench.run(set={"tmax": 1.0})["n"].tolist() == list(range(1, 11))  # now it is free


def test_a_master_that_died_gives_way(bench: Bench) -> None:
    """A module held by a dead master is taken over when that has been silent for long enough."""
    port = bench.free_ports()
    count(bench, port, tmax=60.0)
    module = bench.module("Count")
    bench.listening(port)
    master = bench.master()
    module.wait_for("at step 20")
    master.process.kill()
    master.wait()
    assert bench.run(set={"tmax": 1.0})["n"].tolist() == list(range(1, 11))


def test_the_port_is_in_use(bench: Bench) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        tasks = {"Count": {"Keys": "t,n", "Addr": ("127.0.0.1", port), "Module": "models.py:Count"}}
        bench.scenario("n = 0", tasks, MODELS)
        with pytest.raises(AddressError) as caught:
            bench.run()
    text = str(caught.value)
    assert f"task 'Count': 127.0.0.1:{port} is in use by " in text
    assert f"(pid {os.getpid()})" in text
    assert "end it, or give the task another Addr" in text


def test_the_port_is_in_use_for_a_module_started_by_hand(bench: Bench) -> None:
    port = bench.free_ports()
    count(bench, port)
    first = bench.module("Count")
    bench.listening(port)
    second = bench.module("Count")
    assert second.wait() == 1
    assert f"127.0.0.1:{port} is in use by" in second.text and f"(pid {first.pid})" in second.text


def test_an_address_of_another_machine(bench: Bench) -> None:
    tasks = {"Count": {"Keys": "t,n", "Addr": ("192.0.2.7", 6500), "Module": "models.py:Count"}}
    bench.scenario("n = 0", tasks, MODELS)
    with pytest.raises(AddressError, match=r"192\.0\.2\.7:6500 is no address of this machine"):
        bench.run()
