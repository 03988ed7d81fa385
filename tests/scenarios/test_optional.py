"""Optional tasks join, leave and join again while the run goes on; their fields keep their last value."""

from __future__ import annotations

import signal
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simsched import load

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
    class Pace(Module):
        '''Goes on until the file `enough` is there.'''
        def Run(self):
            time.sleep(0.001)
            self.k += 1
            if self.k == 20: print("at step 20", flush=True)
            if os.path.exists(f"{os.path.dirname(__file__)}/enough"): self.Stop("enough")

    class Guest(Module):
        def Initialize(self): self.runs = 0
        def Run(self):
            self.n += 1
            self.runs += 1
            if self.runs == 10: print("has run ten times", flush=True)
        def Finalize(self): print("finalizes", flush=True)
"""


@pytest.mark.parametrize("leaves_by", [signal.SIGKILL, signal.SIGINT])
def test_joins_leaves_and_joins_again(bench: Bench, leaves_by: signal.Signals) -> None:
    port = bench.free_ports()
    bench.scenario(
        "k = 0\nn = 100",
        {
            "Guest": {"In": "n", "Out": "n", "Optional": True, "Addr": ("127.0.0.1", port)},
            "Pace": {"In": "k", "Out": "k", "Module": "models.py:Pace"},
        },
        MODELS,
        tmax=1e6,
    )
    master = bench.master(record="run.arrows")
    master.wait_for("at step 20")
    first = bench.module("Guest")
    first.wait_for("has run ten times")
    first.send_signal(leaves_by)
    first.wait()
    master.wait_for("the run goes on without it")
    second = bench.module("Guest")
    second.wait_for("has run ten times")
    (bench.folder / "enough").touch()
    assert master.wait() == 0, master.text
    second.wait_for("finalizes")

    assert master.text.count("task 'Guest' has joined at step") == 2
    assert "ended: Pace: enough" in master.text
    r = load(bench.folder / "run.arrows")
    n = r["n"]
    assert r["k"].tolist() == list(range(1, len(r) + 1))
    assert n[19] == 100
    assert set(np.diff(n).tolist()) == {0, 1}
    # away, there, away, there; a request that was under way at the end makes no difference to that
    assert [moves for moves, _ in groupby(np.diff(n).tolist())] == [0, 1, 0, 1]
    assert n[-1] >= 120


def test_never_comes(bench: Bench) -> None:
    bench.scenario(
        "k = 0\nn = 100",
        {
            "Guest": {"In": "n", "Out": "n", "Optional": True, "Addr": ("127.0.0.1", bench.free_ports())},
            "Count": {"In": "k", "Out": "k", "Module": "models.py:Count"},
        },
        """
        class Count(Module):
            def Run(self): self.k += 1
        """,
        tmax=30.0,
    )
    r = bench.run()
    assert r["k"][-1] == 300
    assert set(r["n"].tolist()) == {100}
    assert bench.notices == []


def test_started_with_the_run_and_dies(bench: Bench) -> None:
    """An Optional module that the run itself started may fail, and the others go on."""
    bench.scenario(
        "k = 0\nn = 0",
        {
            "Guest": {"In": "n", "Out": "n", "Optional": True, "Module": "models.py:Guest"},
            "Count": {"In": "k", "Out": "k", "Module": "models.py:Count"},
        },
        """
        class Guest(Module):
            def Run(self):
                self.n += 1
                if self.n == 5: os.kill(os.getpid(), signal.SIGKILL)

        class Count(Module):
            def Run(self): self.k += 1
        """,
        tmax=5.0,
    )
    r = bench.run()
    assert r["k"].tolist() == list(range(1, 51))
    assert r["n"].tolist() == [1, 2, 3, 4] + [4] * 46
    (notice,) = bench.notices
    assert "task 'Guest' was killed by SIGKILL at step 4, t = 0.4 s; the run goes on without it" in notice
