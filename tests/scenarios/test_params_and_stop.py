"""`Params` reach the model and are checked; `Stop` ends a run with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simsched import load
from simsched.errors import ParameterError, ScenarioError, SimschedError

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

BOTH = pytest.mark.parametrize("in_process", [False, True], ids=["processes", "one process"])

GAIN = """
    class Gain(Module):
        gain = 2.0
        axes = np.ones(3)
        label = "plain"

        def Run(self):
            self.y = self.gain * self.axes
            self.given = len(self.params)
"""


def gain(bench: Bench, **params: object) -> None:
    tasks = {"Gain": {"In": "t", "Out": "y,given", "Module": "models.py:Gain", "Params": params}}
    bench.scenario("y = np.zeros(3)\ngiven = 0", tasks, GAIN, tmax=0.2)


@BOTH
def test_params_are_attributes(bench: Bench, in_process: bool) -> None:
    gain(bench, gain=3, axes=[1, 0, -1])
    r = bench.run(in_process=in_process)
    assert np.array_equal(r["y"][0], [3.0, 0.0, -3.0])
    assert r["given"][0] == 2
    again = bench.run(in_process=in_process, params={"Gain": {"gain": 5.0}})
    assert np.array_equal(again["y"][0], [5.0, 0.0, -5.0])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"gian": 1.0}, "Gain has no parameter 'gian'; did you mean 'gain'? parameters: gain, axes, label"),
        ({"gain": "high"}, "parameter 'gain' is 'high'; wanted float, as the default 2.0"),
        ({"label": 3}, "parameter 'label' is 3; wanted str"),
        ({"y": 1.0}, "parameter 'y' has the name of a DataBase field"),
    ],
)
@BOTH
def test_params_that_do_not_fit(
    bench: Bench, params: dict[str, object], words: str, in_process: bool
) -> None:
    gain(bench, **params)
    with pytest.raises(SimschedError) as caught:
        bench.run(in_process=in_process)
    assert "task 'Gain'" in str(caught.value) and words in str(caught.value)
    if in_process:
        assert isinstance(caught.value, ParameterError)


def test_params_of_no_task(bench: Bench) -> None:
    gain(bench)
    with pytest.raises(ScenarioError, match="task 'Gian': is not in Tasks; did you mean 'Gain'"):
        bench.run(params={"Gian": {"gain": 1.0}})


PLANNER = """
    class Planner(Module):
        def Run(self):
            self.n += 1
            if self.n == 4: self.Stop({reason})

    class After(Module):
        def Run(self): self.m = self.n
        def Finalize(self): print("finalized", flush=True)
"""


def planner(bench: Bench, reason: str) -> None:
    bench.scenario(
        "n = 0\nm = 0",
        {
            "Planner": {"In": "n", "Out": "n", "Module": "models.py:Planner"},
            "After": {"In": "n", "Out": "m", "Module": "models.py:After"},
        },
        PLANNER.format(reason=reason),
        tmax=1e6,
    )


@BOTH
def test_stop_ends_the_run_after_this_step(bench: Bench, in_process: bool) -> None:
    planner(bench, "'fuel is out'")
    path = bench.folder / "run.arrows"
    r = bench.run(in_process=in_process, record=path)
    assert r["n"].tolist() == [1, 2, 3, 4]
    assert r["m"].tolist() == [1, 2, 3, 4]  # the step is finished for everybody
    assert r.report is not None and r.report.ended == "Planner: fuel is out"
    summary = load(path).summary
    assert summary is not None and summary["ended"] == "Planner: fuel is out"
    if not in_process:
        assert ("After", "finalized") in bench.lines


@BOTH
def test_stop_without_a_reason(bench: Bench, in_process: bool) -> None:
    planner(bench, "")
    r = bench.run(in_process=in_process)
    assert len(r) == 4
    assert r.report is not None and "Planner" in r.report.ended


@BOTH
def test_stop_with_more_than_ascii(bench: Bench, in_process: bool) -> None:
    planner(bench, "'Δv erschöpft: ' + 'ж' * 3000")
    r = bench.run(in_process=in_process)
    assert r.report is not None and r.report.ended == "Planner: Δv erschöpft: " + "ж" * 3000


def test_other_initial_values(bench: Bench) -> None:
    gain(bench)
    r = bench.run(set={"tmax": 0.5, "given": 7})
    assert len(r) == 5
    assert r.initial["given"] == 7
    with pytest.raises(ScenarioError, match="'tmex' is not a field of DataBase; did you mean 'tmax'"):
        bench.run(set={"tmex": 1.0})
