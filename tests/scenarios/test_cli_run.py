"""`simsched run` and `simsched module`, as people type them: real processes, real exit codes."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simsched

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench, Started

MODELS = """
class Plant(Module):
    rate = 1.0

    def Initialize(self):
        print("ready", flush=True)

    def Run(self):
        self.x = self.x + self.rate * self.u * self.dt

    def Finalize(self):
        print("finalized", flush=True)

class Control(Module):
    gain = 0.5

    def Run(self):
        self.u = -self.gain * self.x
"""
TASKS: dict[str, dict[str, Any]] = {
    "Plant": {"In": "t,dt,x,u", "Out": "x", "Module": "models.py:Plant"},
    "Control": {"In": "t,x", "Out": "u", "Module": "models.py:Control"},
}
FIELDS = "x = np.array([1.0, 2.0])\nu = np.zeros(2)"


def simsched_(bench: Bench, *words: object, **options: Any) -> Started:
    """Start a command line in the bench's folder."""
    return bench.start([sys.executable, "-m", "simsched", *map(str, words)], **options)


def ended(bench: Bench, *words: object, **options: Any) -> tuple[int, str]:
    """The exit code of a command line, and all that it printed."""
    started = simsched_(bench, *words, **options)
    return started.wait(), started.text


def recordings(bench: Bench) -> list[Path]:
    return sorted(bench.folder.glob("*.arrows"))


@pytest.fixture
def loop(bench: Bench) -> Bench:
    """A bench with a closed loop of two modules."""
    bench.scenario(FIELDS, TASKS, MODELS, BasePort=bench.free_ports(2))
    return bench


def test_a_run_is_shown_in_plain_lines_recorded_and_summed_up(loop: Bench) -> None:
    code, text = ended(loop, "run", "scenario.py")
    assert code == 0, text
    (recording,) = recordings(loop)
    assert re.fullmatch(r"scenario-\d{8}T\d{6}\.arrows", recording.name)
    assert "Plant | ready" in text
    assert re.search(r"^Control +\d+ +\d+.*s +", text, re.MULTILINE), text
    assert "ended: tmax" in text
    assert f"recording: {recording.name}" in text
    assert "\x1b" not in text
    assert len(simsched.load(recording)) == 10


def test_every_form_of_a_run_gives_the_same_numbers(loop: Bench) -> None:
    assert ended(loop, "run", "scenario.py", "--record", "a.arrows")[0] == 0
    assert ended(loop, "run", "scenario.py", "--record", "b.arrows", "--in-process")[0] == 0
    assert (
        ended(loop, "run", "scenario.py", "--record", "c.arrows", "--no-early", "--placement", "one")[0] == 0
    )
    modules = [simsched_(loop, "module", "scenario.py", name) for name in TASKS]
    assert ended(loop, "run", "scenario.py", "--record", "d.arrows", "--no-start")[0] == 0
    modules[0].wait_for("finalized")
    for module in modules:
        module.send_signal(signal.SIGTERM)
        assert module.wait() == 128 + signal.SIGTERM
    first, *others = (simsched.load(recording) for recording in recordings(loop))
    assert len(others) == 3
    assert [first.same_as(other) for other in others] == [[], [], []]


def test_values_parameters_and_times_of_the_command_line_are_used(loop: Bench) -> None:
    words = ["--set", "x=[1, 1e-3]", "--param", "Control.gain=2", "--dt", "0.5", "--tmax", "2"]
    code, text = ended(loop, "run", "scenario.py", "--record", "a.arrows", *words)
    assert code == 0, text
    results = simsched.load(loop.folder / "a.arrows")
    assert results.t.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert results["u"][0].tolist() == [-2.0, -2e-3]


def test_chosen_fields_of_every_second_step(loop: Bench) -> None:
    code, text = ended(
        loop, "run", "scenario.py", "--record", "a.arrows", "--fields", "u", "--record-every", "2"
    )
    assert code == 0, text
    results = simsched.load(loop.folder / "a.arrows")
    assert results.fields == ("t", "u")
    assert np.allclose(results.t, np.arange(5) * 0.2)


def test_a_recording_is_never_overwritten_silently(loop: Bench) -> None:
    kept = loop.write("a.arrows", "precious")
    code, text = ended(loop, "run", "scenario.py", "--record", "a.arrows")
    assert code == 2
    assert "recording 'a.arrows' exists already" in text
    assert "--overwrite" in text
    assert kept.read_text() == "precious"
    assert ended(loop, "run", "scenario.py", "--record", "a.arrows", "--overwrite")[0] == 0
    assert len(simsched.load(kept)) == 10


def test_nothing_is_left_where_nothing_is_recorded(loop: Bench) -> None:
    assert ended(loop, "run", "scenario.py", "--no-record")[0] == 0
    assert recordings(loop) == []


def test_a_place_that_does_not_exist_is_told_before_anything_starts(loop: Bench) -> None:
    code, text = ended(loop, "run", "scenario.py", "--record", "nowhere/a.arrows")
    assert code == 2
    assert "recording 'nowhere/a.arrows' cannot be made: No such file or directory" in text
    assert "ready" not in text


def test_without_pyarrow_one_line_says_why_nothing_is_recorded(loop: Bench) -> None:
    script = "import sys; sys.modules['pyarrow'] = None; from simsched.cli import main; sys.exit(main())"
    started = loop.start([sys.executable, "-c", script, "run", "scenario.py"])
    assert started.wait() == 0, started.text
    assert "nothing is recorded: that needs pyarrow" in started.text
    assert recordings(loop) == []


def test_quiet_shows_what_modules_print_alone(loop: Bench) -> None:
    assert ended(loop, "run", "scenario.py", "--no-record", "--quiet") == (
        0,
        "Plant | ready\nPlant | finalized\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.py"], "nowhere.py: cannot be read: No such file or directory"),
        (["scenario.py", "--tmx", "1"], "No such option: --tmx"),
        (["scenario.py", "--coupling", "newton"], "newton"),
        (["scenario.py", "--tmax", "-1"], "DataBase field 'tmax': is -1.0; wanted more than t = 0.0 [s]"),
        (["scenario.py", "--set", "y=1"], "'y' is not a field of DataBase"),
        (["scenario.py", "--set", "x"], "--set 'x': wanted a name, '=' and a value, as in --set dt=0.1"),
        (["scenario.py", "--set", "x=["], "--set 'x=[': the value is no YAML"),
        (["scenario.py", "--param", "gain=1"], "--param 'gain=1': 'gain' is no Task.name"),
        (
            ["scenario.py", "--param", "Control.gian=1"],
            "Control has no parameter 'gian'; did you mean 'gain'?",
        ),
        (["scenario.py", "--without", "Plant"], "task 'Plant': cannot be left out"),
        (["scenario.py", "--fields", "z"], "'z' is not a recorded field; fields: t"),
        (["scenario.py", "--fields", ","], "--fields ',' names no field"),
        (["scenario.py", "--wait", "0"], "--wait is 0; wanted seconds > 0, or inf"),
        (["scenario.py", "--no-start", "--in-process"], "--in-process and --no-start contradict each other"),
        (["scenario.py", "--key-file", "nowhere"], "key file 'nowhere' cannot be read: No such file"),
    ],
)
def test_wrong_input_is_told_in_plain_text_with_exit_code_2(loop: Bench, words: list[str], said: str) -> None:
    code, text = ended(loop, "run", *words)
    assert code == 2, text
    assert said in text
    assert "Traceback" not in text
    assert "ready" not in text
    assert recordings(loop) == []


def test_a_failing_module_ends_the_run_with_exit_code_1(bench: Bench) -> None:
    models = (
        "class Plant(Module):\n    def Run(self):\n        if self.t > 0.25: raise ValueError('too hot')\n"
    )
    bench.scenario("x = 0.0", {"Plant": {"In": "t", "Out": "x", "Module": "models.py:Plant"}}, models)
    code, text = ended(bench, "run", "scenario.py", "--record", "a.arrows")
    assert code == 1
    assert "task 'Plant' failed at step 3, t = 0.3 s" in text
    assert "ValueError: too hot" in text
    assert "simsched/scheduler.py" not in text
    assert "ended: ModuleError" in text
    assert len(simsched.load(bench.folder / "a.arrows")) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_in_order(loop: Bench, number: signal.Signals) -> None:
    words = ("run", "scenario.py", "--tmax", "inf", "--record", "a.arrows")
    started = simsched_(
        loop, *words, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    )
    started.wait_for("ready")
    recording = loop.folder / "a.arrows"
    loop.wait_until(lambda: recording.stat().st_size > 0 and len(simsched.load(recording)), "a recorded step")
    started.send_signal(number)
    assert started.wait() == 128 + number, started.text
    assert "Plant | finalized" in started.text
    assert "ended: interrupted" in started.text
    assert "Traceback" not in started.text
    assert simsched.load(recording).complete
    loop.all_gone()


def test_the_same_key_on_both_sides_lets_them_talk_and_another_does_not(loop: Bench) -> None:
    key, other = loop.write("key", "sesame\n"), loop.write("other", "open")
    module = simsched_(loop, "module", "scenario.py", "Plant", "--key-file", key)
    environment = {**os.environ, "SIMSCHED_KEY": "sesame"}
    control = simsched_(loop, "module", "scenario.py", "Control", env=environment)
    run = ("run", "scenario.py", "--no-start", "--no-record")
    assert ended(loop, *run, "--key-file", key)[0] == 0
    code, text = ended(loop, *run, "--key-file", other, "--wait", "0.5")
    assert code == 1
    assert "task 'Plant' did not come within 0.5 s" in text
    for started in (module, control):
        started.send_signal(signal.SIGTERM)
        started.wait()


def test_a_key_that_is_too_long(loop: Bench) -> None:
    code, text = ended(loop, "run", "scenario.py", env={**os.environ, "SIMSCHED_KEY": "k" * 33})
    assert (code, "$SIMSCHED_KEY holds 33 bytes; wanted a key of 1 to 32" in text) == (2, True)


def test_a_module_that_nobody_started_is_named_with_the_command_that_starts_it(loop: Bench) -> None:
    code, text = ended(loop, "run", "scenario.py", "--no-start", "--wait", "0.3", "--no-record")
    assert code == 1
    assert "task 'Control' did not come within 0.3 s" in text
    assert f"simsched module {loop.folder / 'scenario.py'} Control" in text


def test_modules_that_cannot_be_served(bench: Bench) -> None:
    port = bench.free_ports(3)
    tasks = {
        "Plant": {**TASKS["Plant"], "Addr": ("127.0.0.1", port)},
        "Hand": {"In": "x", "Addr": ("127.0.0.1", port + 1)},
        "Made": {"In": "x", "Command": ["true"], "Addr": ("127.0.0.1", port + 2)},
    }
    bench.scenario(FIELDS, tasks, MODELS)
    assert ended(bench, "module", "scenario.py", "Plnt")[1].startswith(
        "task 'Plnt' is not in Tasks of scenario.py; did you mean 'Plant'?"
    )
    code, text = ended(bench, "module", "scenario.py", "Hand")
    assert (code, text.partition(":")[0]) == (2, "task 'Hand' of scenario.py has no Module")
    assert "has a Command: true" in ended(bench, "module", "scenario.py", "Made")[1]
    first = simsched_(bench, "module", "scenario.py", "Plant")
    bench.listening(port)
    code, text = ended(bench, "module", "scenario.py", "Plant")
    assert code == 2
    assert f"127.0.0.1:{port} is in use by" in text
    assert f"(pid {first.pid})" in text
    first.send_signal(signal.SIGTERM)
    first.wait()


def test_real_time_is_summed_up_with_histograms(loop: Bench) -> None:
    code, text = ended(
        loop, "run", "scenario.py", "--no-record", "--real-time", "--dt", "0.01", "--tmax", "0.1"
    )
    assert code == 0, text
    assert re.search(r"real time: \d+ overruns of 10 ms \(catchup\)", text)
    assert re.search(r"round trips of Control: \S+ \S+ [▁▂▃▄▅▆▇█ ]+ \S+ \S+", text)


def test_the_live_display_on_a_terminal(loop: Bench) -> None:
    """Under a pseudo-terminal: the display comes, and is gone when the summary is printed."""
    master, terminal = pty.openpty()
    argv = [
        sys.executable,
        "-m",
        "simsched",
        "run",
        "scenario.py",
        "--no-record",
        "--real-time",
        "--tmax",
        "1.5",
    ]
    with subprocess.Popen(argv, cwd=loop.folder, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                shown += os.read(master, 65_536)
            except OSError:  # the other end is closed
                break
    os.close(master)
    text = shown.decode()
    assert process.returncode == 0, text
    assert "exchanges/s · 0 repeated" in text
    assert re.search(r"\x1b\[\d*mPlant \| ", text), text
    last = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text[text.rindex("exchanges/s · ") :])
    assert "ended: tmax" in last


def test_a_long_run_in_a_pipe_says_now_and_then_how_far_it_is(loop: Bench) -> None:
    script = (
        "import sys; from simsched.launch.console import Console; Console.every_s = 0.05\n"
        "from simsched.cli import main; sys.exit(main())"
    )
    words = ["run", "scenario.py", "--no-record", "--real-time", "--tmax", "1"]
    started = loop.start([sys.executable, "-c", script, *words])
    assert started.wait() == 0, started.text
    counts = r"\d+ exchanges/s · \d+ repeated, \d+ dropped · slowest \w+ \S+ .s · cores: "
    line = rf"^t 0\.\d+ / 1 s · \S+× real time · {counts}"
    assert re.search(line, started.text, re.MULTILINE), started.text
