"""What scenario tests share: a bench that writes scenarios, starts processes, and leaves none behind."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import simsched
from simsched.results import Results

LIMIT_S = 30.0
"""Ends the wait of a test that has failed; no test waits for it to pass."""
PR_SET_CHILD_SUBREAPER = 36

MASTER = """
import signal, sys
import simsched
from simsched.errors import SimschedError

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    results = simsched.run({scenario!r}, **{options!r})
except SimschedError as error:
    print(f"{{type(error).__name__}}: {{error}}", flush=True)
    sys.exit(1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
print(f"ended: {{results.report.ended}}", flush=True)
"""


def wait_until(condition: Callable[[], Any], what: str = "it") -> Any:
    """Wait for what must come, and return it."""
    end = time.monotonic() + LIMIT_S
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.01)
    return found


def children() -> dict[int, list[int]]:
    """Parent → living processes (no zombies), of the whole machine."""
    tree: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):  # ended meanwhile
            continue
        if state not in "ZX":
            tree.setdefault(int(parent), []).append(int(stat.parent.name))
    return tree


def descendants(pid: int) -> set[int]:
    """All living processes below one."""
    tree = children()
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = tree.get(waiting.pop(), [])
        found.update(below)
        waiting.extend(below)
    return found


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "ended meanwhile"


class Started:
    """A process that a test has started, and what it prints."""

    def __init__(self, argv: list[str], folder: Path, output: Path, **options: Any) -> None:
        self._output = output
        with open(output, "wb") as file:
            self.process = subprocess.Popen(
                argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file, **options
            )
        self.pid = self.process.pid

    @property
    def text(self) -> str:
        return self._output.read_text(errors="replace")

    def wait_for(self, words: str) -> None:
        """Until these words are printed."""
        wait_until(
            lambda: words in self.text or self.process.poll() is not None, f"'{words}' in:\n{self.text}"
        )
        assert words in self.text, self.text

    def wait(self) -> int:
        """Until it has ended; the exit code."""
        return self.process.wait(LIMIT_S)

    def send_signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Bench:
    """A folder with a scenario, and all that runs there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notices: list[str] = []
        self.lines: list[tuple[str, str]] = []
        self._started: list[Started] = []
        self._before = descendants(os.getpid())

    def write(self, name: str, text: str) -> Path:
        """A file of the folder, without the indentation that the test gives it."""
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    def dedent(self, text: str) -> str:
        return textwrap.dedent(text)

    def scenario(
        self,
        fields: str,
        tasks: Mapping[str, Mapping[str, Any]],
        models: str = "",
        *,
        dt: float = 0.1,
        tmax: float = 1.0,
        name: str = "scenario.py",
        **settings: Any,
    ) -> Path:
        """A scenario file, and `models.py` with the classes that its tasks name."""
        imports = "import os, signal, sys, time\nimport numpy as np\nfrom simsched import Module, field\n"
        if models:
            self.write("models.py", imports + textwrap.dedent(models))
        declared = textwrap.indent(
            f"t = 0.0\ndt = {dt}\ntmax = {tmax}\ncmd = 0\n" + textwrap.dedent(fields), "    "
        )
        chosen = "".join(f"{key} = {value!r}\n" for key, value in settings.items())
        return self.write(name, f"{imports}class DataBase:\n{declared}\nTasks = {dict(tasks)!r}\n{chosen}")

    def run(self, scenario: str | Path = "scenario.py", **options: Any) -> Results:
        """`simsched.run` from this process; notices and printed lines are kept."""
        options.setdefault("notify", self.notices.append)
        options.setdefault("show", lambda task, line: self.lines.append((task, line)))
        return simsched.run(self.folder / scenario, **options)

    def python(self, script: str, *arguments: object, **options: Any) -> Started:
        """Start a Python file of the folder in an interpreter of its own."""
        return self.start([sys.executable, "-u", script, *map(str, arguments)], **options)

    def start(self, argv: list[str], folder: Path | None = None, **options: Any) -> Started:
        output = self.folder / f"output-{len(self._started)}.txt"
        started = Started(argv, folder or self.folder, output, **options)
        self._started.append(started)
        return started

    def master(self, scenario: str = "scenario.py", **options: Any) -> Started:
        """Start a process that runs the scenario, and prints how it ended."""
        name = f"master_{len(self._started)}.py"
        self.write(name, MASTER.format(scenario=scenario, options=options))
        return self.python(name)

    def module(self, task: str, scenario: str = "scenario.py", key: bytes | None = None) -> Started:
        """Start the class of models.py that has the task's name by hand, in a process of its own."""
        name = f"module_{len(self._started)}.py"
        self.write(
            name,
            f"""
            import simsched
            from models import {task}
            model = {task}(scenario=simsched.load_scenario({scenario!r}), key={key!r})
            model.Manager.Loop()
            """,
        )
        return self.python(name)

    def listening(self, port: int, host: str = "127.0.0.1") -> None:
        """Wait until somebody has this port."""
        wait_until(lambda: not is_free((host, port)), f"a process at {host}:{port}")

    def unused(self, port: int, host: str = "127.0.0.1") -> None:
        """Wait until nobody has this port any more."""
        wait_until(lambda: is_free((host, port)), f"the end of whoever has {host}:{port}")

    def all_gone(self) -> None:
        """Wait until no process is left below this one."""
        wait_until(lambda: not descendants(os.getpid()) - self._before, "the end of all processes")

    def left_over(self) -> dict[int, str]:
        """New processes that do not end by themselves within a few seconds."""
        end = time.monotonic() + 6.0
        while new := descendants(os.getpid()) - self._before:
            if time.monotonic() > end:
                return {pid: command_line(pid) for pid in new}
            time.sleep(0.02)
        return {}

    def wait_until(self, condition: Callable[[], Any], what: str = "it") -> Any:
        return wait_until(condition, what)

    def end(self) -> None:
        for started in self._started:
            started.end()

    def free_ports(self, count: int = 1, host: str = "127.0.0.1") -> int:
        """The first of so many neighbouring UDP ports that nobody has."""
        for first in range(20_000 + os.getpid() % 10_000, 60_000, count):
            if all(is_free((host, port)) for port in range(first, first + count)):
                return first
        raise AssertionError("no free ports")


def is_free(address: tuple[str, int]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


def adopt_orphans(adopt: bool) -> None:
    """Let whatever a run leaves behind become a child of this process, where it is found."""
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0) == 0


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A bench in a folder of its own; fails the test if any process outlives it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    adopt_orphans(True)
    made = Bench(tmp_path)
    yield made
    made.end()
    left = made.left_over()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    adopt_orphans(False)
    _reap()
    assert not left, f"left running: {left}"


def _reap() -> None:
    """Collect the orphans that have come here."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return
