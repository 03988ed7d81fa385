"""Modules that are killed, hang, or stand still: noticed fast, named, and nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simsched.errors import TaskDied, TaskTimeout

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
    class Steady(Module):
        def Finalize(self):
            with open(f"{{os.path.dirname(__file__)}}/finalized", "w") as file: file.write("yes")

    class Fragile(Module):
        def Run(self):
            self.x += 1.0
            if self.x == 5.0:
                print("before the end", flush=True)
                {}
"""


def fragile(bench: Bench, end: str, **options: object) -> None:
    """Fragile -> Steady; at step 4 the first one comes to this end."""
    bench.scenario(
        "x = 0.0\ny = 0.0",
        {
            "Fragile": {"In": "x", "Out": "x", "Module": "models.py:Fragile", **options},
            "Steady": {"In": "x", "Out": "y", "Module": "models.py:Steady"},
        },
        MODELS.format(end),
    )


def was_finalized(bench: Bench) -> bool:
    return (bench.folder / "finalized").exists()


@pytest.mark.parametrize("early", [True, False])
def test_killed(bench: Bench, early: bool) -> None:
    """A death is told at once, by its cause: no Timeout passes (there is none)."""
    fragile(bench, "os.kill(os.getpid(), signal.SIGKILL)", Timeout=None)
    with pytest.raises(TaskDied) as caught:
        bench.run(early=early)
    assert "task 'Fragile' was killed by SIGKILL at step 4, t = 0.4 s" in str(caught.value)
    assert "before the end" in str(caught.value)
    assert was_finalized(bench)


def test_its_port_is_free_again(bench: Bench) -> None:
    port = bench.free_ports()
    fragile(bench, "os.kill(os.getpid(), signal.SIGKILL)", Addr=("127.0.0.1", port))
    for _ in range(2):
        with pytest.raises(TaskDied, match="task 'Fragile' was killed by SIGKILL at step 4"):
            bench.run()
    bench.unused(port)


def test_crashed(bench: Bench) -> None:
    fragile(bench, "import ctypes, faulthandler; faulthandler.disable(); ctypes.string_at(0)", Timeout=None)
    with pytest.raises(TaskDied, match="task 'Fragile' was killed by SIGSEGV at step 4"):
        bench.run()
    assert was_finalized(bench)


def test_stands_still(bench: Bench) -> None:
    fragile(bench, "os.kill(os.getpid(), signal.SIGSTOP)", Timeout=0.3)
    with pytest.raises(TaskTimeout) as caught:
        bench.run()
    text = str(caught.value)
    assert "task 'Fragile' at 127.0.0.1:" in text
    assert "did not answer within 0.3 s at step 4, t = 0.4 s" in text
    assert "in state Run last" in text
    assert "before the end" in text
    assert was_finalized(bench)


def test_loops_for_ever(bench: Bench) -> None:
    fragile(bench, "\n                while True: pass", Timeout=0.3)
    with pytest.raises(TaskTimeout, match=r"task 'Fragile' .* did not answer within 0\.3 s at step 4"):
        bench.run()
    assert was_finalized(bench)


def test_loops_for_ever_and_ignores_signals(bench: Bench) -> None:
    fragile(
        bench,
        "\n                signal.signal(signal.SIGTERM, signal.SIG_IGN)\n                while True: pass",
        Timeout=0.3,
    )
    with pytest.raises(TaskTimeout, match="task 'Fragile'"):
        bench.run()
    assert was_finalized(bench)


def test_killed_while_another_is_waited_for(bench: Bench) -> None:
    """In real time the master sleeps between steps; a death in that sleep ends it."""
    bench.scenario(
        "x = 0.0",
        {"Fragile": {"In": "t", "Out": "x", "Module": "models.py:Fragile"}},
        """
        import threading

        class Fragile(Module):
            def Initialize(self):
                threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        """,
        dt=30.0,
        tmax=300.0,
        RealTime=True,
    )
    with pytest.raises(TaskDied, match="task 'Fragile' was killed by SIGKILL"):
        bench.run()


def test_a_long_wait_is_spoken_of(bench: Bench) -> None:
    """After two seconds, with whom, where and in which state; then it goes on."""
    fragile(bench, "time.sleep(2.3)")
    r = bench.run()
    assert len(r) == 10
    told = [notice for notice in bench.notices if "waiting for 'Fragile'" in notice]
    assert len(told) == 1
    assert "(Run)" in told[0] and "at step 4, t = 0.4 s" in told[0]


def test_no_timeout_waits(bench: Bench) -> None:
    """Timeout None is for a debugger: slower than any default, and yet answered."""
    fragile(bench, "time.sleep(0.6)", Timeout=None)
    assert len(bench.run()) == 10


def test_a_module_slower_than_its_patience_runs_once(bench: Bench) -> None:
    """Requests are repeated while it computes; it runs each of them once."""
    bench.scenario(
        "n = 0",
        {"Slow": {"In": "n", "Out": "n", "Module": "models.py:Slow"}},
        """
        class Slow(Module):
            def Run(self):
                if self.n == 5: time.sleep(0.2)
                self.n += 1
        """,
    )
    r = bench.run()
    assert r["n"].tolist() == list(range(1, 11))
    assert r.report is not None
    assert r.report.tasks["Slow"].repeats >= 1
