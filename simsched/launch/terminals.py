"""`simsched run --terminals`: a tmux pane for the master and one for each module that it would start.

The tmux server is our own (`-L simsched-<pid>`), knows none of the user's settings, and is killed at
the end in any case: by us, or, should this process be killed, by a watchman inside it.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from simsched.errors import LaunchError, RunError
from simsched.launch.jobs import filled_in, folder_of
from simsched.scenario import Scenario
from simsched.tasks import Task

LOOK_S = 0.2
END_S = 5.0
"""How long a run may take to end in order after Ctrl-C [s]."""
PANE_WIDTH, PANE_HEIGHT = 110, 30
"""The size of a pane where no terminal gives one [characters]."""
NOTICE_S = 3.0
"""How long the master may take to notice a failed module, for which it would wait before the run [s]."""
MASTER = "master"
FAILED = 1

_SETTINGS = {
    "remain-on-exit": "on",
    "history-limit": "50000",
    "default-terminal": "screen-256color",
    "default-shell": "/bin/sh",
    "mouse": "on",
    "pane-border-status": "top",
    "pane-border-format": " #{@task}#{?#{==:#{@exit},},, (ended with #{@exit})} ",
    "status-left": " simsched ",
    "status-right": " Ctrl-C in the pane of the master ends the run ",
    "status-right-length": "80",
    "window-status-format": "",
    "window-status-current-format": "",
}


@dataclass(frozen=True)
class Pane:
    """What runs in one pane."""

    name: str
    argv: tuple[str, ...]
    folder: Path
    is_needed: bool = True
    """Whether the run cannot go on without it."""


@dataclass(frozen=True)
class PaneState:
    """What tmux says of a pane."""

    pane: str
    is_dead: bool
    exit_code: int


def run_in_terminals(scenario: Scenario, args: Sequence[str], module_args: Sequence[str]) -> int:
    """Do what the command line `args` says with a pane for each module; the master's exit code.

    `module_args` are the options that every `simsched module` is to be given.
    """
    panes = make_panes(scenario, args, module_args)
    with Tmux(f"simsched-{os.getpid()}") as tmux:
        tmux.open(panes)
        if sys.stdin.isatty() and sys.stdout.isatty():
            tmux.attach()
        return _watched(tmux)


def make_panes(scenario: Scenario, args: Sequence[str], module_args: Sequence[str]) -> list[Pane]:
    """The master's pane, then one for each task that has a Module or a Command."""
    ours = [task for task in scenario.tasks if task.module or task.command]
    here = Path.cwd()
    words = [word for word in args if word != "--terminals"]
    names = ",".join(task.name for task in ours)
    master = (*_simsched(), *words, "--no-start", *(("--stop-modules", names) if names else ()))
    return [Pane(MASTER, master, here), *(_pane(task, scenario, module_args, here) for task in ours)]


def _pane(task: Task, scenario: Scenario, module_args: Sequence[str], here: Path) -> Pane:
    is_needed = not (task.optional or task.no_answer)
    if task.command:
        return Pane(task.name, filled_in(task, scenario), folder_of(scenario), is_needed)
    argv = (*_simsched(), "module", str(scenario.path), task.name, *module_args)
    return Pane(task.name, argv, here, is_needed)


def _simsched() -> tuple[str, ...]:
    return (sys.executable, "-m", "simsched")


def _watched(tmux: Tmux) -> int:
    """Wait for the master to end, show what it showed, and pass its exit code on."""
    try:
        code = tmux.wait_for_master()
    except KeyboardInterrupt:
        tmux.interrupt_master()
        print(tmux.text(tmux.master), flush=True)
        raise
    failed = tmux.failed_modules()
    if code is None:
        tmux.interrupt_master()
    print(tmux.text(tmux.master), flush=True)
    if code != 0:
        for pane in failed:
            name = tmux.panes[pane].name
            print(
                f"task '{name}' has failed; its pane shows:\n{tmux.text(pane)}", file=sys.stderr, flush=True
            )
    return FAILED if code is None else code


@dataclass
class Tmux:
    """A tmux server of our own; a context manager that leaves none behind."""

    server: str
    program: str = ""
    master: str = ""
    panes: dict[str, Pane] = field(default_factory=dict)
    """What runs in each pane, by tmux's name for it."""
    socket: Path | None = None

    def __enter__(self) -> Tmux:
        found = shutil.which("tmux")
        if found is None:
            raise LaunchError(
                "--terminals needs tmux, which is not installed: sudo apt-get install tmux, or start each "
                "module in a terminal of its own with: simsched module SCENARIO TASK"
            )
        self.program = found
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run("kill-server", may_fail=True)
        if self.socket is not None:
            self.socket.unlink(missing_ok=True)  # which tmux leaves behind

    def open(self, panes: Sequence[Pane]) -> None:
        """Start everything, tiled."""
        first, *others = panes
        columns = math.ceil(math.sqrt(len(panes)))
        width = PANE_WIDTH * columns
        height = PANE_HEIGHT * math.ceil(len(panes) / columns)
        settings = [
            word for name, value in _SETTINGS.items() for word in ("set-option", "-g", name, value, ";")
        ]
        size = ("-x", str(width), "-y", str(height))
        self.master = self._run("start-server", ";", *settings, "new-session", "-d", *size, *_new(first))
        self.socket = Path(self._run("display-message", "-p", "#{socket_path}"))
        self._entitle(self.master, first)
        self._watch_over()
        for pane in others:
            made = self._run("split-window", "-d", "-t", self.master, *_new(pane))
            self._entitle(made, pane)
            self._run("select-layout", "-t", self.master, "tiled")

    def _entitle(self, made: str, pane: Pane) -> None:
        self.panes[made] = pane
        self._run("set-option", "-p", "-t", made, "@task", pane.name)

    def _watch_over(self) -> None:
        """Should this process be killed, nobody else would end the server."""
        ours = f"{shlex.quote(self.program)} -L {shlex.quote(self.server)}"
        gone = f"while kill -0 {os.getpid()} 2>/dev/null; do sleep 1; done"
        self._run("run-shell", "-b", f"{gone}; {ours} kill-server")

    def attach(self) -> None:
        """Show the panes in this terminal until the run has ended and the user has seen enough."""
        # tmux refuses to be shown inside another one unless that is kept from it
        environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
        shown = subprocess.Popen([*self._command(), "attach-session"], env=environment)
        is_told = False
        while shown.poll() is None:
            if not is_told and self.state(self.master).is_dead:
                is_told = True
                self._run("bind-key", "-n", "q", "detach-client")
                self._run("set-option", "-g", "status-right", " the run has ended: press q to leave ")
                self._run("set-option", "-g", "status-style", "bg=yellow,fg=black")
            try:
                shown.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                continue

    def wait_for_master(self, seconds: float = math.inf) -> int | None:
        """The exit code of the master, once it has ended; None if it has not, or if it waits in vain."""
        until = time.monotonic() + seconds
        while not (state := self.state(self.master)).is_dead:
            if time.monotonic() > until:
                return None
            if self.failed_modules() and math.isinf(seconds):
                return self.wait_for_master(NOTICE_S)
            time.sleep(LOOK_S)
        return state.exit_code

    def interrupt_master(self) -> None:
        """Ctrl-C in the master's pane, and time for it to end in order."""
        self._run("send-keys", "-t", self.master, "C-c", may_fail=True)
        self.wait_for_master(END_S)

    def state(self, pane: str) -> PaneState:
        """How a pane is; one of a server that is gone counts as dead and failed."""
        return self.states().get(pane, PaneState(pane, True, 1))

    def states(self) -> Mapping[str, PaneState]:
        """All panes, with the exit code that the shell in each of them has left in `@exit`."""
        form = "#{pane_id}|#{@exit}|#{pane_dead_status}"
        found = {}
        for line in self._run("list-panes", "-s", "-F", form, may_fail=True).splitlines():
            pane, told, status = line.split("|")
            code = told or status
            found[pane] = PaneState(pane, bool(code), int(code or 0))
        return found

    def text(self, pane: str) -> str:
        """All that a pane has shown, its last empty lines left out."""
        shown = self._run("capture-pane", "-p", "-J", "-S", "-", "-t", pane, may_fail=True)
        lines = [line.rstrip() for line in shown.splitlines()]
        return "\n".join(line for line in lines if not line.startswith("Pane is dead")).strip("\n")

    def failed_modules(self) -> list[str]:
        """The panes of needed modules that have failed."""
        failed = [state.pane for state in self.states().values() if state.is_dead and state.exit_code]
        return [pane for pane in failed if pane != self.master and self.panes[pane].is_needed]

    def _command(self) -> list[str]:
        return [self.program, "-L", self.server, "-f", "/dev/null"]

    def _run(self, *words: str, may_fail: bool = False) -> str:
        done = subprocess.run(
            [*self._command(), *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode and not may_fail:
            raise RunError(f"tmux {words[0]} failed: {done.stderr.strip() or done.returncode}")
        return done.stdout.strip("\n")


def _new(pane: Pane) -> tuple[str, ...]:
    """The words that open a pane and print its id."""
    return ("-P", "-F", "#{pane_id}", "-c", str(pane.folder), shell_line(pane.argv))


def shell_line(argv: Sequence[str]) -> str:
    """Run a program and leave its exit code in the pane's option `@exit`.

    tmux itself may miss the end of a program, and shows a pane as dead without a status then. The
    trap keeps the shell alive when Ctrl-C ends the program.
    """
    note = 'tmux set-option -p -t "$TMUX_PANE" @exit $code'
    return f"trap : INT; {shlex.join(argv)}; code=$?; {note}; exit $code"
