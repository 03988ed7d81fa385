"""Ctrl-C at any moment, and a master that is killed: nothing is left, nothing recorded is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simsched import load

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench, Started

MODELS = """
    def leave(name, text):
        with open(f"{{os.path.dirname(__file__)}}/{{name}}", "a") as file: file.write(text)

    class Steady(Module):
        def Setup(self): {setup}
        def Initialize(self): {initialize}
        def Run(self):
            self.n += 1
            time.sleep(0.05 if self.n % 50 == 0 else 0.002)
            if self.n == 20: print("at step 20", flush=True)
        def Finalize(self):
            print("finalizing", flush=True)
            {finalize}
            leave("finalized", "Steady ")

    class Other(Module):
        def Finalize(self): leave("finalized", "Other ")
"""


def start(bench: Bench, **bodies: str) -> Started:
    """Steady -> Other, for ever, recorded."""
    told = {"setup": "pass", "initialize": "pass", "finalize": "pass", **bodies}
    bench.scenario(
        "n = 0\nm = 0",
        {
            "Steady": {"In": "n", "Out": "n", "Module": "models.py:Steady"},
            "Other": {"In": "n", "Out": "m", "Module": "models.py:Other"},
        },
        MODELS.format(**told),
        tmax=1e6,
    )
    return bench.master(record="run.arrows")


def finalized(bench: Bench) -> set[str]:
    file = bench.folder / "finalized"
    return set(file.read_text().split()) if file.exists() else set()


def below(master: Started) -> set[int]:
    """The processes of a run."""
    listed = Path(f"/proc/{master.pid}/task/{master.pid}/children").read_text()
    return {int(pid) for pid in listed.split()}


def test_in_the_run(bench: Bench) -> None:
    master = start(bench)
    master.wait_for("at step 20")
    master.send_signal(signal.SIGINT)
    assert master.wait() == 130
    assert "interrupted" in master.text and "Traceback" not in master.text
    assert finalized(bench) == {"Steady", "Other"}
    r = load(bench.folder / "run.arrows")
    assert r.complete and len(r) >= 19  # the step that spoke may be cut off
    assert r["n"].tolist() == list(range(1, len(r) + 1))
    assert r.summary is not None and "KeyboardInterrupt" in r.summary["ended"]


def test_from_the_keyboard(bench: Bench) -> None:
    """A terminal sends it to the whole group: the modules are not in it, and finalize in order."""
    told = start(bench)
    told.end()
    master = bench.python("master_0.py", start_new_session=True)
    master.wait_for("at step 20")
    os.killpg(master.pid, signal.SIGINT)
    assert master.wait() == 130
    assert finalized(bench) >= {"Steady", "Other"}
    assert "Traceback" not in master.text


@pytest.mark.parametrize("moment", ["setup", "initialize"])
def test_at_the_start(bench: Bench, moment: str) -> None:
    master = start(bench, **{moment: f"print('in {moment}', flush=True); time.sleep(20)"})
    master.wait_for(f"in {moment}")
    master.send_signal(signal.SIGINT)
    assert master.wait() == 130
    assert "interrupted" in master.text


def test_while_waiting_for_a_module(bench: Bench) -> None:
    port = bench.free_ports()
    bench.scenario("x = 0.0", {"Rig": {"Keys": "t,x", "Addr": ("127.0.0.1", port)}})
    master = bench.master()
    master.wait_for("'Rig' is waited for")
    master.send_signal(signal.SIGINT)
    assert master.wait() == 130


def test_in_finalize(bench: Bench) -> None:
    master = start(bench, finalize="time.sleep(0.4)")
    master.wait_for("at step 20")
    master.send_signal(signal.SIGINT)
    master.wait_for("finalizing")
    master.send_signal(signal.SIGINT)
    assert master.wait() == 130
    r = load(bench.folder / "run.arrows")
    assert r.complete and len(r) >= 19
    assert r["n"].tolist() == list(range(1, len(r) + 1))


def test_the_master_is_killed(bench: Bench) -> None:
    """Every process ends by itself, each module after its Finalize; flushed rows are readable."""
    master = start(bench)
    master.wait_for("at step 20")
    recording = bench.folder / "run.arrows"
    wait_for_rows(bench)
    master.send_signal(signal.SIGKILL)
    assert master.wait() == -signal.SIGKILL
    bench.all_gone()
    assert finalized(bench) == {"Steady", "Other"}
    r = load(recording)
    assert not r.complete
    assert len(r) >= 20 and r["n"].tolist() == list(range(1, len(r) + 1))


def wait_for_rows(bench: Bench) -> None:
    bench.wait_until(lambda: len(load(bench.folder / "run.arrows")) >= 20, "20 rows on disk")


def test_the_master_is_killed_while_a_module_hangs(bench: Bench) -> None:
    deaf = "print('hangs', flush=True); signal.pthread_sigmask(signal.SIG_BLOCK, [15]); time.sleep(99)"
    master = start(bench, initialize=deaf)
    master.wait_for("hangs")
    master.send_signal(signal.SIGKILL)
    master.wait()
    bench.all_gone()


def test_the_supervisor_is_killed(bench: Bench) -> None:
    """Whoever looked after the modules is gone: the run ends, and so do they."""
    master = start(bench)
    master.wait_for("at step 20")
    (supervisor,) = below(master)
    os.kill(supervisor, signal.SIGKILL)
    assert master.wait() == 1
    assert "' has lost the process that looked after it at step" in master.text
    bench.all_gone()
    assert finalized(bench) == {"Steady", "Other"}
