"""The paper's listings, each file in an interpreter of its own, started in any order, the master last."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simsched import load

if TYPE_CHECKING:
    from simsched.results import Results
    from tests.scenarios.conftest import Bench, Started

ROTATION, CONTROL, PLOT2D = 6500, 6501, 6502
"""Where the listings' modules listen: the base port and their place in Tasks, or Addr."""

Start = Callable[..., "Started"]


@pytest.fixture
def start(bench: Bench, project_root: Path) -> Start:
    """Start a file of examples/terminals as a user does, once the ports of the listings are free."""
    folder = project_root / "examples/terminals"
    for port in (ROTATION, CONTROL, PLOT2D):
        bench.unused(port)

    def start_file(name: str, *arguments: object) -> Started:
        return bench.start([sys.executable, "-u", name, *map(str, arguments)], folder)

    return start_file


def run_master(bench: Bench, start: Start, name: str) -> Results:
    path = bench.folder / name
    master = start("rotation.py", path)
    assert master.wait() == 0, master.text
    assert "4 s: w_B = [" in master.text
    return load(path)


@pytest.mark.parametrize("order", [("controller.py", "plot2d.py"), ("plot2d.py", "controller.py")])
def test_any_order_and_again_without_a_restart(bench: Bench, start: Start, order: tuple[str, str]) -> None:
    slaves = {name: start(name) for name in order}
    bench.listening(PLOT2D)  # it may be late, and would miss the first run
    first = run_master(bench, start, "first.arrows")
    second = run_master(bench, start, "second.arrows")

    assert len(first) == 16 and first.complete
    assert first.same_as(second) == []
    assert np.abs(first["w_B"][-1][2]) > 0.0
    seen = [f"t = {0.25 * k:5.2f} s" for k in range(16)]
    plot = slaves["plot2d.py"]
    bench.wait_until(lambda: plot.text.count("largest |w|") == 2, "the second Finalize")
    assert [line[:11] for line in plot.text.splitlines() if line.startswith("t =")] == seen * 2
    assert slaves["controller.py"].process.poll() is None


def test_the_master_first(bench: Bench, start: Start) -> None:
    """It waits, and says for whom; whoever need not answer is not waited for."""
    path = bench.folder / "run.arrows"
    master = start("rotation.py", path)
    master.wait_for("task 'Control' is waited for")
    assert f"at 127.0.0.1:{CONTROL}: start the module of 'Control' in another terminal" in master.text
    assert "Plot2D" not in master.text
    start("controller.py")
    assert master.wait() == 0, master.text
    assert len(load(path)) == 16


def test_ctrl_c_ends_a_slave_quietly(bench: Bench, start: Start) -> None:
    slave = start("controller.py")
    bench.listening(CONTROL)
    slave.send_signal(signal.SIGINT)
    assert slave.wait() == 0
    assert slave.text == "Control: interrupted\n"
