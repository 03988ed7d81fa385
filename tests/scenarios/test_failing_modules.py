"""Models that raise, leave nonsense, or quit: the message says which, where and why, and nobody is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simsched import load
from simsched.errors import ModuleError, ResultError, RunError, SimschedError, TaskDied

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

WITNESS = """
    class Witness(Module):
        def Finalize(self):
            with open(f"{os.path.dirname(__file__)}/finalized", "a") as file: file.write(f"{self.t:.1f} ")
"""
TASKS = {
    "Witness": {"In": "t", "Out": "seen", "Module": "models.py:Witness"},
    "Faulty": {"In": "t", "Out": "x", "Module": "models.py:Faulty"},
    "Last": {"In": "t", "Out": "last", "Module": "models.py:Witness"},
}
FIELDS = "seen = 0.0\nx = np.zeros(3)\nlast = 0.0"


def faulty(bench: Bench, body: str, **settings: Any) -> None:
    """Witness -> Faulty -> Last, where Faulty has this body."""
    bench.scenario(FIELDS, TASKS, WITNESS + f"    class Faulty(Module):\n{body}", **settings)


def finalized(bench: Bench) -> int:
    file = bench.folder / "finalized"
    return len(file.read_text().split()) if file.exists() else 0


BOTH = pytest.mark.parametrize("in_process", [False, True], ids=["processes", "one process"])


@BOTH
def test_exception_in_run(bench: Bench, in_process: bool) -> None:
    faulty(
        bench,
        """
        def Run(self):
            if self.t > 0.25:
                self.helper()
        def helper(self):
            return {}['wheel 3']
        """,
    )
    with pytest.raises(ModuleError) as caught:
        bench.run(in_process=in_process)
    text = str(caught.value)
    assert "task 'Faulty' failed at step 3, t = 0.3 s" in text
    assert "KeyError: 'wheel 3'" in text
    assert "in helper" in text and "models.py" in text
    assert "manager.py" not in text
    assert finalized(bench) == 2


@BOTH
def test_exception_in_initialize(bench: Bench, in_process: bool) -> None:
    faulty(bench, "        def Initialize(self): raise OSError('no such sensor')")
    with pytest.raises(ModuleError) as caught:
        bench.run(in_process=in_process)
    text = str(caught.value)
    assert "task 'Faulty' failed at Initialize" in text
    assert "OSError: no such sensor" in text and "models.py" in text
    assert finalized(bench) == 1  # Last had not been initialized yet


@BOTH
def test_exception_in_finalize(bench: Bench, in_process: bool) -> None:
    """All steps are done and the others finalized, and yet the run has failed."""
    faulty(bench, "        def Finalize(self): raise ValueError('cannot close')")
    with pytest.raises(RunError) as caught:
        bench.run(in_process=in_process, record=bench.folder / "r.arrows")
    text = str(caught.value)
    assert "task 'Faulty' failed at Finalize" in text
    assert "ValueError: cannot close" in text and "models.py" in text
    assert finalized(bench) == 2
    assert len(load(bench.folder / "r.arrows")) == 10


def test_exception_in_setup(bench: Bench) -> None:
    faulty(bench, "        def Setup(self): raise RuntimeError('no licence')")
    with pytest.raises(TaskDied) as caught:
        bench.run()
    text = str(caught.value)
    assert "task 'Faulty' ended with exit code 1 before the run began" in text
    assert "it printed last" in text
    assert "failed in Setup" in text and "RuntimeError: no licence" in text
    assert finalized(bench) == 0


def test_exception_in_setup_in_one_process(bench: Bench) -> None:
    faulty(bench, "        def Setup(self): raise RuntimeError('no licence')")
    with pytest.raises(ModuleError, match=r"task 'Faulty' failed in Setup") as caught:
        bench.run(in_process=True)
    assert "RuntimeError: no licence" in str(caught.value)


@BOTH
@pytest.mark.parametrize("quits", ["sys.exit(3)", "sys.exit('enough')", "raise SystemExit"])
def test_sys_exit_in_run(bench: Bench, quits: str, in_process: bool) -> None:
    """A model cannot end its process behind the master's back."""
    faulty(bench, f"        def Run(self):\n            if self.t > 0.15: {quits}")
    with pytest.raises(ModuleError, match=r"task 'Faulty' failed at step 2, t = 0\.2 s") as caught:
        bench.run(in_process=in_process)
    assert "SystemExit" in str(caught.value)
    assert finalized(bench) == 2


def test_os_exit_in_run(bench: Bench) -> None:
    faulty(
        bench,
        """
        def Run(self):
            if self.t > 0.15:
                print('the last words', flush=True)
                os._exit(7)
        """,
    )
    with pytest.raises(TaskDied) as caught:
        bench.run()
    text = str(caught.value)
    assert "task 'Faulty' ended with exit code 7 at step 2, t = 0.2 s" in text
    assert "the last words" in text
    assert finalized(bench) == 2


@BOTH
@pytest.mark.parametrize(
    ("left", "found"),
    [
        ("np.zeros(4)", "has shape (4,)"),
        ("1.0", "has shape ()"),
        ("np.zeros(3) * 1j", "is of type complex128"),
        ("'abc'", "has shape ()"),
        ("None", "has shape ()"),
        ("[1.0, None, 2.0]", "is of type object"),
        ("[[1.0], [2.0, 3.0], [4.0]]", "wanted 3 × f8"),
    ],
)
def test_result_that_does_not_fit(bench: Bench, left: str, found: str, in_process: bool) -> None:
    faulty(bench, f"        def Run(self):\n            if self.t > 0.15: self.x = {left}")
    with pytest.raises(SimschedError) as caught:
        bench.run(in_process=in_process)
    text = str(caught.value)
    assert "step 2, t = 0.2 s" in text
    assert "task 'Faulty', field 'x'" in text
    assert found in text
    assert "wanted 3 × f8" in text
    assert finalized(bench) == 2


@BOTH
def test_result_that_is_gone(bench: Bench, in_process: bool) -> None:
    faulty(bench, "        def Run(self):\n            if self.t > 0.15: del self.x")
    with pytest.raises(ModuleError, match=r"task 'Faulty' failed at step 2") as caught:
        bench.run(in_process=in_process)
    assert "'x'" in str(caught.value)
    assert finalized(bench) == 2


NOT_FINITE = "        def Run(self):\n            if self.t > 0.15: self.x = np.array([0.0, {}, 0.0])"


@BOTH
@pytest.mark.parametrize("value", ["np.nan", "np.inf", "-np.inf"])
def test_not_finite_is_said_once(bench: Bench, value: str, in_process: bool) -> None:
    faulty(bench, NOT_FINITE.format(value))
    r = bench.run(in_process=in_process)
    assert len(r) == 10
    told = [notice for notice in bench.notices if "field 'x'" in notice]
    assert len(told) == 1
    assert "task 'Faulty'" in told[0] and "step 2, t = 0.2 s" in told[0]
    assert "wanted 3 × f8, all finite" in told[0]
    assert r.report is not None and told[0] in r.report.warnings
    assert not np.isfinite(r["x"][2:, 1]).any()


@BOTH
def test_not_finite_stops_a_strict_run(bench: Bench, in_process: bool) -> None:
    faulty(bench, NOT_FINITE.format("np.nan"))
    with pytest.raises(ResultError, match=r"task 'Faulty', field 'x', step 2, t = 0\.2 s: found \[ ?0"):
        bench.run(in_process=in_process, strict=True)
    assert finalized(bench) == 2


@BOTH
def test_not_finite_where_the_field_says_stop(bench: Bench, in_process: bool) -> None:
    faulty(bench, NOT_FINITE.format("np.nan"))
    text = (bench.folder / "scenario.py").read_text()
    (bench.folder / "scenario.py").write_text(
        text.replace("x = np.zeros(3)", "x = field(np.zeros(3), finite='stop')")
    )
    with pytest.raises(ResultError, match="field 'x'"):
        bench.run(in_process=in_process)


def test_a_module_that_hides_a_field(bench: Bench) -> None:
    """Reading a field that the task does not name says which option to change."""
    faulty(bench, "        def Run(self): self.x = self.x * self.last")
    with pytest.raises(ModuleError, match="'last' is a field of DataBase, but task 'Faulty' names only t, x"):
        bench.run()


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("nowhere.py:Faulty", "there is no file"),
        ("models.py:Faulted", "has no class 'Faulted'; did you mean 'Faulty'?"),
        ("models.py:Plain", "is no simsched.Module"),
        ("no_such_package.part:Model", "cannot be imported: ModuleNotFoundError"),
        ("broken.py:Faulty", "SyntaxError"),
    ],
)
@BOTH
def test_module_that_cannot_be_made(bench: Bench, module: str, words: str, in_process: bool) -> None:
    faulty(bench, "        pass\n    class Plain: pass")
    bench.write("broken.py", "class Faulty(:\n    pass")
    path = bench.folder / "scenario.py"
    path.write_text(path.read_text().replace("models.py:Faulty", module))
    with pytest.raises(SimschedError) as caught:
        bench.run(in_process=in_process)
    assert "task 'Faulty'" in str(caught.value)
    assert words in str(caught.value)
