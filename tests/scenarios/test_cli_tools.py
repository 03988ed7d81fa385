"""The commands beside `run`: check, graph, new, export, replay, doctor."""

from __future__ import annotations

import csv
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import simsched

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
class Plant(Module):
    def Run(self):
        self.x = self.x + self.u * self.dt

class Control(Module):
    gain = 0.5

    def Run(self):
        self.u = -self.gain * self.x

class NoModule:
    pass
"""
TASKS: dict[str, dict[str, Any]] = {
    "Plant": {"In": "t,dt,x,u", "Out": "x", "Module": "models.py:Plant"},
    "Control": {"In": "t,x", "Out": "u", "Module": "models.py:Control"},
}
FIELDS = "x = 1.0\nu = 0.0\nidle = 0"


def ended(bench: Bench, *words: object, folder: Path | None = None) -> tuple[int, str]:
    """The exit code of a command line, and all that it printed."""
    started = bench.start([sys.executable, "-m", "simsched", *map(str, words)], folder)
    return started.wait(), started.text


def test_version_and_help(bench: Bench) -> None:
    assert ended(bench, "--version") == (0, f"simsched {simsched.__version__}\n")
    code, text = ended(bench, "--help")
    assert code == 0
    for command in ("run", "module", "check", "graph", "new", "export", "replay", "doctor"):
        assert f"  {command} " in text
        assert ended(bench, command, "--help")[0] == 0


def test_check_shows_what_a_scenario_is_made_of(bench: Bench) -> None:
    tasks = {**TASKS, "Plot": {"Keys": "t,x", "noAnswer": True, "MaxRate": 30, "Every": 2}}
    bench.scenario(FIELDS, tasks, MODELS, tmax=1.03)
    code, text = ended(bench, "check", "scenario.py")
    assert code == 0, text
    lines = text.splitlines()
    assert lines[1].split() == "Plant t,dt,x,u x 32 8 127.0.0.1:6500 models.py:Plant 10 Hz".split()
    assert "5 Hz, steps 0, 2, …, at most 30/s, noAnswer" in lines[3]
    assert "somebody else" in lines[3]
    assert lines[4:6] == ["stage 1: Plant", "stage 2: Control, Plot"]
    assert "warning: no task reads or writes 'idle'" in lines
    assert any(line.startswith("warning: tmax = 1.03 is no whole number of steps") for line in lines)
    assert lines[-1] == "scenario.py is right"


def test_check_tells_all_that_is_wrong_at_once(bench: Bench) -> None:
    bench.scenario(FIELDS, {"One": {"Keys": "t,y"}, "Two": {"Keys": "x", "Evry": 2}}, MODELS)
    code, text = ended(bench, "check", "scenario.py")
    assert code == 2
    assert "scenario.py: 2 problems" in text
    assert "task 'One': Keys: 'y' is not a field of DataBase" in text
    assert "task 'Two': unknown option 'Evry'; did you mean 'Every'?" in text


def test_check_tries_the_modules_unless_told_not_to(bench: Bench) -> None:
    tasks = {
        "Plant": {**TASKS["Plant"], "Module": "models.py:Plnat"},
        "Control": {**TASKS["Control"], "Params": {"gian": 1}},
        "Other": {"In": "x", "Module": "models.py:NoModule"},
        "Nav": {"In": "x", "Command": ["./navigator"]},
    }
    bench.scenario(FIELDS, tasks, MODELS)
    code, text = ended(bench, "check", "scenario.py")
    assert code == 2
    assert text.startswith("scenario.py: 4 problems\n")
    assert "has no class 'Plnat'; did you mean 'Plant'?" in text
    assert "Control has no parameter 'gian'; did you mean 'gain'?" in text
    assert "models.py:NoModule is no simsched.Module" in text
    assert "Command './navigator' is no executable" in text
    assert ended(bench, "check", "scenario.py", "--no-import")[0] == 0


def test_graph_is_printed_or_written(bench: Bench) -> None:
    bench.scenario(FIELDS, TASKS, MODELS)
    code, text = ended(bench, "graph", "scenario.py")
    assert (code, text.splitlines()[0]) == (0, "flowchart TD")
    assert ended(bench, "graph", "scenario.py", "--format", "dot", "-o", "graph.dot") == (0, "")
    assert (bench.folder / "graph.dot").read_text().startswith("digraph scenario {")
    code, text = ended(bench, "graph", "scenario.py", "-o", "nowhere/graph.dot")
    assert (code, text) == (2, "'nowhere/graph.dot' cannot be written: No such file or directory\n")


def test_a_new_project_runs_at_once_and_its_test_passes(bench: Bench, project_root: Path) -> None:
    code, text = ended(bench, "new", "my_rig")
    assert code == 0
    project = bench.folder / "my_rig"
    assert sorted(path.name for path in project.iterdir()) == [
        "README.md", "control.py", "plant.py", "scenario.py", "test_scenario.py"
    ]  # fmt: skip
    assert "simsched run my_rig/scenario.py" in text
    assert ended(bench, "check", project / "scenario.py")[0] == 0
    code, text = ended(bench, "run", project / "scenario.py", "--no-record")
    assert code == 0, text
    assert "Control | stiffness 0.02 N·m/rad" in text
    pytest_run = bench.start([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], project)
    assert pytest_run.wait() == 0, pytest_run.text
    assert "2 passed" in pytest_run.text
    settings = ["--config", str(project_root / "pyproject.toml")]
    ruff = bench.start([sys.executable, "-m", "ruff", "check", "--no-cache", *settings, "."], project)
    assert ruff.wait() == 0, ruff.text


def test_new_refuses_to_overwrite_and_to_take_any_name(bench: Bench) -> None:
    (bench.folder / "mine").mkdir()
    kept = bench.write("mine/plant.py", "precious")
    code, text = ended(bench, "new", "other", "--dir", "mine")
    assert (code, text) == (2, "'mine' holds plant.py already: choose another name or --dir\n")
    assert kept.read_text() == "precious"
    assert list((bench.folder / "mine").iterdir()) == [kept]
    code, text = ended(bench, "new", "../up")
    assert code == 2
    assert "'../up' is no name for a project" in text


@pytest.fixture
def recorded(bench: Bench) -> Bench:
    """A bench with a recording `a.arrows` of its scenario."""
    bench.scenario(FIELDS, TASKS, MODELS)
    bench.run(in_process=True, record=bench.folder / "a.arrows")
    return bench


def test_export(recorded: Bench) -> None:
    code, text = ended(recorded, "export", "a.arrows", "a.csv", "--fields", "x")
    assert code == 0, text
    assert text.startswith("a.csv: ")
    with open(recorded.folder / "a.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["t", "x"]
    assert len(rows) == 11
    code, text = ended(recorded, "export", "a.arrows", "a.xls")
    assert code == 2
    assert "it has suffix '.xls'; wanted one of .parquet" in text
    assert ended(recorded, "export", "b.arrows", "a.csv") == (
        2,
        "recording 'b.arrows' is not there: check the name\n",
    )


def test_a_replay_of_the_same_is_identical(recorded: Bench) -> None:
    code, text = ended(recorded, "replay", "a.arrows", "--task", "Plant", "--record", "b.arrows")
    assert code == 0, text
    assert "identical with the recording: 10 steps" in text
    old, new = (simsched.load(recorded.folder / name) for name in ("a.arrows", "b.arrows"))
    assert new.same_as(old) == []


def test_a_replay_with_another_controller_tells_what_differs_first(recorded: Bench) -> None:
    other = {**TASKS, "Control": {**TASKS["Control"], "Params": {"gain": 0.25}}}
    recorded.scenario(FIELDS, other, name="other.py")
    words = ["--task", "Plant", "--scenario", "other.py", "--in-process"]
    code, text = ended(recorded, "replay", "a.arrows", *words)
    assert code == 0, text
    assert "1 of 7 fields differ from the recording:\n  u: first at t = 0 s (step 0)" in text


def test_a_replay_ends_where_the_recording_does(recorded: Bench) -> None:
    recorded.scenario(FIELDS, TASKS, tmax=50.0)
    code, text = ended(recorded, "replay", "a.arrows", "--task", "Control", "--in-process")
    assert code == 0, text
    assert "identical with the recording: 10 steps" in text


def test_a_replay_that_cannot_be(recorded: Bench) -> None:
    code, text = ended(recorded, "replay", "a.arrows", "--task", "Plnt")
    assert code == 2
    assert "task 'Plnt' is not in Tasks; did you mean 'Plant'?" in text
    (recorded.folder / "scenario.py").unlink()
    code, text = ended(recorded, "replay", "a.arrows", "--task", "Plant")
    assert code == 2
    assert "which is not there: give it with --scenario FILE" in text


def test_doctor_tells_what_there_is_and_who_holds_a_port(bench: Bench) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", 6507))
        code, text = ended(bench, "doctor")
    assert code == 0, text
    rows = {line.split("  ")[0]: line for line in text.splitlines()}
    assert " ok " in rows["Python"]
    assert " ok " in rows["package numpy"]
    assert "round trip" in rows["loopback UDP"]
    assert "held by" in rows["port 6507"]
    for what in ("fork", "pidfd", "cores", "tmux", "g++", "receive buffer", "monotonic clock", "SCHED_FIFO"):
        assert what in rows


def test_a_bug_shows_its_traceback(bench: Bench) -> None:
    script = (
        "import sys, simsched.loading\n"
        "def broken(path): raise ZeroDivisionError('a bug')\n"
        "simsched.loading.load_scenario = broken\n"
        "from simsched.cli import main\n"
        "sys.exit(main(['check', 'scenario.py']))\n"
    )
    started = bench.start([sys.executable, "-c", script])
    assert started.wait() == 1
    assert "Traceback" in started.text
    assert "ZeroDivisionError: a bug" in started.text


def test_a_reader_that_leaves_ends_no_run(bench: Bench) -> None:
    """`simsched run scenario.py | head -1` goes on to the end, unheard."""
    models = MODELS.replace(
        "def Run(self):\n        self.x", "def Run(self):\n        print('x' * 500)\n        self.x"
    )
    bench.scenario(FIELDS, TASKS, models, tmax=50.0)
    line = f"{sys.executable} -m simsched run scenario.py --record a.arrows | head -1"
    started = bench.start(["sh", "-c", line])
    started.wait()
    recording = bench.folder / "a.arrows"
    bench.wait_until(lambda: simsched.load(recording).complete, "the end of the run")
    assert len(simsched.load(recording)) == 500
