"""Real time: steps are released on their schedule, and an overrun does what was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simsched import Module
from simsched.errors import Overrun

if TYPE_CHECKING:
    from simsched.results import Results
    from tests.scenarios.conftest import Bench

DT = 0.01  # [s]
STEPS = 40

MODELS = """
    class Clock(Module):
        pause = 0.0  # [s], once, at step 3

        def Run(self):
            self.clock = time.monotonic()
            self.k += 1
            if self.k == 4: time.sleep(self.pause)

        def Finalize(self):
            with open(f"{os.path.dirname(__file__)}/finalized", "w") as file: file.write("yes")
"""


def run(bench: Bench, pause_s: float = 0.0, in_process: bool = False, **settings: Any) -> Results:
    bench.scenario(
        "clock = 0.0\nk = 0",
        {"Clock": {"In": "k", "Out": "k,clock", "Module": "models.py:Clock", "Params": {"pause": pause_s}}},
        MODELS,
        dt=DT,
        tmax=DT * STEPS,
        RealTime=True,
        **settings,
    )
    return bench.run(in_process=in_process)


def behind_schedule(r: Results) -> list[float]:
    """How much later than k·dt after the first each step came [s]."""
    return [float(now - r["clock"][0] - k * DT) for k, now in enumerate(r["clock"])]


@pytest.mark.parametrize("in_process", [False, True], ids=["processes", "one process"])
def test_steps_are_released_on_schedule(bench: Bench, in_process: bool) -> None:
    r = run(bench, in_process=in_process)
    report = r.report
    assert len(r) == STEPS
    assert report is not None and report.real_time is not None
    real = report.real_time
    assert real.period_s == DT and real.policy == "catchup"
    assert sum(count for _, count in real.lateness_histogram) == STEPS
    assert real.late_p50_us <= real.late_p99_us <= real.late_max_us
    # not early: a step may be late, the first one too, so two periods are left for that
    assert behind_schedule(r)[-1] >= -2 * DT
    histogram = report.tasks["Clock"].round_trip_histogram
    assert sum(count for _, count in histogram) >= STEPS


def test_catchup_runs_late_steps_back_to_back(bench: Bench) -> None:
    r = run(bench, pause_s=0.055, Overrun="catchup")
    assert r.report is not None and r.report.real_time is not None
    # 55 ms late: steps 3 to 7 have all ended after the next one was due
    assert r.report.real_time.overruns >= 4
    assert r.report.real_time.late_max_us >= 40e3
    lag = behind_schedule(r)
    assert lag[4] >= 0.04
    assert min(lag[8:]) < lag[4] - 0.02


def test_slip_shifts_the_schedule(bench: Bench) -> None:
    r = run(bench, pause_s=0.055, Overrun="slip")
    assert r.report is not None and r.report.real_time is not None
    assert r.report.real_time.policy == "slip"
    assert r.report.real_time.overruns >= 1
    assert min(behind_schedule(r)[4:]) >= 0.04


def test_stop_ends_the_run(bench: Bench) -> None:
    with pytest.raises(Overrun) as caught:
        run(bench, pause_s=0.055, Overrun="stop", Coupling="seidel")
    text = str(caught.value)
    assert text.startswith("step ") and "after the next one was due" in text
    assert "another overrun policy (catchup, slip, stop)" in text
    assert (bench.folder / "finalized").exists()


def test_the_numbers_do_not_depend_on_it(bench: Bench) -> None:
    assert run(bench)["k"].tolist() == list(range(1, STEPS + 1))
    free = bench.run(real_time=False)
    assert free["k"].tolist() == list(range(1, STEPS + 1))
    assert free.report is not None and free.report.real_time is None


def test_a_master_module_in_real_time() -> None:
    """The paper's flag: `isRealTime=True` where `isSheduler=True`."""

    class DataBase:
        dt = DT
        tmax = 10 * DT
        k = 0

    class Alone(Module):
        k: int

        def Run(self) -> None:
            self.k += 1

    model = Alone(TaskList={"Alone": {"Keys": "t,k"}}, DB=DataBase(), isSheduler=True, isRealTime=True)
    report = model.Manager.Loop()
    assert report is not None and report.steps == 10
    assert report.real_time is not None and report.real_time.period_s == DT
    assert report.wall_s >= 9 * DT  # the last step is released no earlier
