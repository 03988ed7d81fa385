"""Order, rates and coupling: the numbers that follow from them, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

CHASE = """
    class Plus(Module):
        def Run(self): self.a = self.b + 1.0

    class Twice(Module):
        def Run(self): self.b = 2.0 * self.a
"""
CHASE_TASKS = {
    "Plus": {"In": "b", "Out": "a", "Module": "models.py:Plus"},
    "Twice": {"In": "a", "Out": "b", "Module": "models.py:Twice"},
}


@pytest.mark.parametrize("in_process", [False, True], ids=["processes", "one process"])
@pytest.mark.parametrize("early", [True, False], ids=["early", "in order"])
@pytest.mark.parametrize(
    ("coupling", "a", "b"),
    [
        ("seidel", [1.0, 3.0, 7.0, 15.0], [2.0, 6.0, 14.0, 30.0]),
        ("jacobi", [1.0, 1.0, 3.0, 3.0], [0.0, 2.0, 2.0, 6.0]),
    ],
)
def test_coupling(
    bench: Bench, coupling: str, a: list[float], b: list[float], early: bool, in_process: bool
) -> None:
    """Plus -a-> Twice -b-> Plus: with 'jacobi' each sees what the other left a step ago."""
    bench.scenario("a = 0.0\nb = 0.0", CHASE_TASKS, CHASE, tmax=0.4, Coupling=coupling)
    r = bench.run(early=early, in_process=in_process)
    assert r["a"].tolist() == a
    assert r["b"].tolist() == b


RATES = """
    class Fast(Module):
        def Run(self): self.n += 1

    class Slow(Module):
        def Run(self):
            self.runs += 1
            self.held = self.n
            self.at = self.t
            self.own_dt = self.dt
"""


@pytest.mark.parametrize("in_process", [False, True], ids=["processes", "one process"])
@pytest.mark.parametrize("early", [True, False], ids=["early", "in order"])
def test_every_and_phase(bench: Bench, early: bool, in_process: bool) -> None:
    """Fast runs at every step; Slow at steps 1, 4, 7, with a dt of three steps; its fields hold between."""
    bench.scenario(
        "n = 0\nheld = -1\nat = -1.0\nown_dt = 0.0\nruns = 0",
        {
            "Fast": {"In": "n", "Out": "n", "Module": "models.py:Fast"},
            "Slow": {
                "In": "t,dt,n,runs", "Out": "held,at,own_dt,runs", "Every": 3, "Phase": 1,
                "Module": "models.py:Slow",
            },
        },
        RATES,
        dt=0.5,
        tmax=4.5,
    )  # fmt: skip
    r = bench.run(early=early, in_process=in_process)
    assert r["n"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert r["held"].tolist() == [-1, 2, 2, 2, 5, 5, 5, 8, 8]
    assert r["at"].tolist() == [-1.0, 0.5, 0.5, 0.5, 2.0, 2.0, 2.0, 3.5, 3.5]
    assert r["own_dt"].tolist() == [0.0] + [1.5] * 8
    assert r["dt"].tolist() == [0.5] * 9
    assert r["runs"].tolist() == [0, 1, 1, 1, 2, 2, 2, 3, 3]


def test_steps_are_counted_not_accumulated(bench: Bench) -> None:
    """0.1 is not exact: ten times added it is not 1.0, ten times counted it is."""
    bench.scenario(
        "seen = 0.0",
        {"Clock": {"In": "t", "Out": "seen", "Module": "models.py:Clock"}},
        """
        class Clock(Module):
            def Run(self): self.seen = self.t
        """,
        dt=0.1,
        tmax=1.1,
    )
    r = bench.run()
    assert r["seen"].tolist() == [k * 0.1 for k in range(11)]
    assert r.t.tolist() == r["seen"].tolist()
