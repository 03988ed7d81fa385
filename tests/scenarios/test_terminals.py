"""`simsched run --terminals`: panes of a real tmux, and nothing left of it afterwards."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import simsched
from simsched.launch.terminals import make_panes
from simsched.loading import load_scenario

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench, Started

MODELS = """
class Plant(Module):
    rate = 1.0

    def Run(self):
        if self.t == 0.0:
            print("first step", flush=True)
        self.x = self.x + self.rate * self.u * self.dt

class Control(Module):
    def Run(self):
        self.u = -self.x
"""
TASKS: dict[str, dict[str, Any]] = {
    "Plant": {"In": "t,dt,x,u", "Out": "x", "Module": "models.py:Plant"},
    "Control": {"In": "t,x", "Out": "u", "Module": "models.py:Control"},
}


@pytest.fixture
def loop(bench: Bench) -> Bench:
    bench.scenario("x = 1.0\nu = 0.0", TASKS, MODELS, BasePort=bench.free_ports(2))
    return bench


def simsched_(bench: Bench, *words: str, **options: Any) -> Started:
    environment = {**os.environ, "TMUX_TMPDIR": str(bench.folder)}
    return bench.start([sys.executable, "-m", "simsched", *words], env=environment, **options)


def sockets(bench: Bench) -> list[Path]:
    return list(bench.folder.glob("tmux-*/*"))


def tmux(bench: Bench, *words: str) -> str:
    """What the only tmux server of the bench answers."""
    (path,) = sockets(bench)
    done = subprocess.run(["tmux", "-S", str(path), *words], capture_output=True, text=True, timeout=10)
    return done.stdout


@pytest.mark.needs("tmux")
def test_a_run_in_panes_gives_the_same_numbers_and_leaves_nothing(loop: Bench) -> None:
    started = simsched_(
        loop, "run", "scenario.py", "--terminals", "--record", "a.arrows", "--param", "Plant.rate=2"
    )
    assert started.wait() == 0, started.text
    assert "ended: tmax" in started.text
    assert "Pane is dead" not in started.text
    in_process = loop.run(in_process=True, params={"Plant": {"rate": 2.0}})
    assert simsched.load(loop.folder / "a.arrows").same_as(in_process) == []
    assert sockets(loop) == []
    loop.all_gone()


@pytest.mark.needs("tmux")
def test_each_module_has_a_pane_with_its_name(loop: Bench) -> None:
    started = simsched_(loop, "run", "scenario.py", "--terminals", "--no-record", "--tmax", "inf", "--quiet")
    loop.wait_until(lambda: sockets(loop), "a tmux server")
    wanted = ["Control", "Plant", "master"]
    loop.wait_until(
        lambda: sorted(tmux(loop, "list-panes", "-s", "-F", "#{@task}").split()) == wanted, "panes"
    )
    loop.wait_until(lambda: "first step" in tmux(loop, "capture-pane", "-p", "-t", "%1"), "the first step")
    started.send_signal(signal.SIGTERM)
    assert started.wait() == 128 + signal.SIGTERM
    assert sockets(loop) == []
    loop.all_gone()


@pytest.mark.needs("tmux")
def test_ctrl_c_ends_the_run_in_order(loop: Bench) -> None:
    words = ("run", "scenario.py", "--terminals", "--record", "a.arrows", "--tmax", "inf")
    started = simsched_(
        loop, *words, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    )
    recording = loop.folder / "a.arrows"
    loop.wait_until(
        lambda: recording.exists() and recording.stat().st_size and len(simsched.load(recording)),
        "a recorded step",
    )
    started.send_signal(signal.SIGINT)
    assert started.wait() == 130, started.text
    assert "ended: interrupted" in started.text
    assert simsched.load(recording).complete
    loop.all_gone()


@pytest.mark.needs("tmux")
def test_a_module_that_cannot_start_is_shown_with_its_error(loop: Bench) -> None:
    loop.write("models.py", "from simsched import Module\nclass Plant(Module):\n    def Setup(self):\n"
               "        raise ValueError('no good')\nclass Control(Module):\n    pass\n")  # fmt: skip
    started = simsched_(loop, "run", "scenario.py", "--terminals", "--no-record")
    assert started.wait() == 1
    assert "task 'Plant' has failed; its pane shows:" in started.text
    assert "ValueError: no good" in started.text
    loop.all_gone()


@pytest.mark.needs("tmux")
def test_a_killed_parent_leaves_no_server(loop: Bench) -> None:
    started = simsched_(loop, "run", "scenario.py", "--terminals", "--no-record", "--tmax", "inf")
    loop.wait_until(lambda: sockets(loop), "a tmux server")
    loop.wait_until(lambda: "first step" in tmux(loop, "capture-pane", "-p", "-t", "%1"), "the first step")
    started.send_signal(signal.SIGKILL)
    started.wait()
    loop.all_gone()


@pytest.mark.needs("tmux")
def test_on_a_terminal_the_panes_are_shown_until_the_user_has_seen_enough(loop: Bench) -> None:
    keyboard, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    environment = {**os.environ, "TMUX_TMPDIR": str(loop.folder), "TERM": "xterm-256color"}
    argv = [sys.executable, "-m", "simsched", "run", "scenario.py", "--terminals", "--no-record"]
    process = subprocess.Popen(
        argv, cwd=loop.folder, env=environment, stdin=terminal, stdout=terminal, stderr=terminal,
        start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    assert " Plant " in shown_until(keyboard, "press q to leave")
    os.write(keyboard, b"q")
    assert "ended: tmax" in shown_until(keyboard, None)
    assert process.wait(10) == 0
    os.close(keyboard)
    loop.all_gone()


def shown_until(keyboard: int, words: str | None) -> str:
    """What comes to a terminal until these words do, or until its other end is closed."""
    shown = b""
    while words is None or words.encode() not in shown:
        try:
            shown += os.read(keyboard, 65_536)
        except OSError:  # closed
            assert words is None, shown.decode(errors="replace")
            break
    return shown.decode(errors="replace")


def test_without_tmux_its_package_is_named(loop: Bench) -> None:
    folder = loop.folder / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    started = loop.start(
        [sys.executable, "-m", "simsched", "run", "scenario.py", "--terminals"],
        env={**os.environ, "PATH": str(folder)},
    )
    assert started.wait() == 2
    assert "--terminals needs tmux, which is not installed: sudo apt-get install tmux" in started.text


def test_what_runs_in_which_pane(bench: Bench) -> None:
    tasks = {
        **TASKS,
        "Nav": {"In": "x", "Command": ["sh", "-c", "echo {addr}"], "Optional": True},
        "Hand": {"In": "x"},
    }
    path = bench.scenario("x = 1.0\nu = 0.0", tasks, MODELS, BasePort=7000)
    args = ["run", "scenario.py", "--terminals", "--strict"]
    master, plant, control, nav = make_panes(load_scenario(path), args, ["--param", "Plant.rate=2"])
    assert master.argv[-5:] == (
        "scenario.py",
        "--strict",
        "--no-start",
        "--stop-modules",
        "Plant,Control,Nav",
    )
    assert plant.argv[-5:] == ("module", str(path), "Plant", "--param", "Plant.rate=2")
    assert (control.name, control.folder, control.is_needed) == ("Control", Path.cwd(), True)
    assert (nav.argv[1:], nav.folder, nav.is_needed) == (("-c", "echo 127.0.0.1:7002"), bench.folder, False)
