"""However the processes are made, forked, from an interpreter apart, or each afresh: the run is the same."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from simsched.errors import ModuleError, TaskDied
from simsched.launch.processes import can_fork

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
    class Count(Module):
        gain = 1
        def Run(self):
            self.n += self.gain
            self.pid = os.getpid()
            if self.n == self.fatal: raise ValueError("as told")

    class Noise(Module):
        def Run(self): self.x = np.random.standard_normal()
"""
TASKS: dict[str, dict[str, Any]] = {
    "Count": {"In": "n,fatal", "Out": "n,pid", "Module": "models.py:Count", "Params": {"gain": 2}},
    "Noise": {"In": "t", "Out": "x", "Module": "models.py:Noise"},
    "Second": {"In": "t", "Out": "y", "Module": "models.py:Noisy"},
}
FIELDS = "n = 0\npid = 0\nfatal = -1\nx = 0.0\ny = 0.0"


@pytest.fixture(params=["forked", "apart", "afresh"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make `Processes` choose one of its ways."""
    if request.param != "forked":
        monkeypatch.setattr("simsched.launch.processes.can_fork", lambda: False)
    if request.param == "afresh":
        monkeypatch.setattr("simsched.launch.processes.can_fork_modules", lambda: False)
    return str(request.param)


def counting(bench: Bench) -> None:
    tasks = {name: TASKS[name] for name in ("Count", "Noise")}
    bench.scenario(FIELDS, tasks, MODELS, tmax=2.0)


def test_the_run_is_the_same(bench: Bench, form: str) -> None:
    counting(bench)
    r = bench.run()
    assert r["n"].tolist() == list(range(2, 42, 2))
    assert len(set(r["pid"].tolist())) == 1
    assert len(set(r["x"].tolist())) == 20
    bench.all_gone()


def test_errors_come_back(bench: Bench, form: str) -> None:
    counting(bench)
    with pytest.raises(ModuleError, match="ValueError: as told"):
        bench.run(set={"fatal": 8})
    bench.all_gone()


def test_failure_at_the_start_comes_back(bench: Bench, form: str) -> None:
    bench.scenario(FIELDS, {"Second": TASKS["Second"]}, MODELS)
    with pytest.raises(TaskDied, match="has no class 'Noisy'; did you mean 'Noise'"):
        bench.run()
    bench.all_gone()


def test_a_master_with_threads_is_not_forked(bench: Bench) -> None:
    """A lock that another thread holds would stay locked for ever in a copy."""
    counting(bench)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not can_fork()
        assert len(bench.run()) == 20
    finally:
        done.set()
        thread.join()


def test_random_numbers_differ_from_run_to_run(bench: Bench) -> None:
    """A forked module does not repeat the random numbers of its parent."""
    counting(bench)
    assert bench.run()["x"].tolist() != bench.run()["x"].tolist()


def test_an_edited_file_is_read_again(bench: Bench) -> None:
    """In a notebook: change the model, run again."""
    counting(bench)
    assert bench.run(in_process=True)["n"][0] == 2
    bench.scenario(
        FIELDS, {"Count": TASKS["Count"]}, MODELS.replace("+= self.gain", "-= self.gain"), tmax=3.0
    )
    again = bench.run(in_process=True)
    assert len(again) == 30
    assert again["n"][0] == -2
    assert "models" not in sys.modules
