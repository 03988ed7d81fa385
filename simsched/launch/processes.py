"""The master's view of the processes of a run: started, watched, ended in any case."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from types import TracebackType

from simsched.launch.apart import start_apart
from simsched.launch.jobs import Jobs
from simsched.launch.output import Output, ShowLine
from simsched.launch.supervisor import GRACE_S, run_supervisor

END_S = 2.0
"""How long modules that were told to stop may take before they are made to [s]."""
FAILED_S = 0.5
"""The same, when the run has failed: whoever could, has finalized by then [s]."""


class Processes:
    """All processes of a run, behind one supervisor; a context manager that leaves none behind."""

    def __init__(
        self, jobs: Jobs, show: ShowLine, key: bytes | None = None, fork: bool | None = None
    ) -> None:
        self._pids: dict[str, int] = {}
        self._exits: dict[str, int] = {}
        self._orphans: frozenset[str] = frozenset()
        self._rest = b""
        self._names = frozenset(job.task.name for job in jobs.jobs)
        self._control, theirs = socket.socketpair()
        self._output = Output(jobs.outputs, show)
        self._supervisor = self._start(jobs, key, theirs, can_fork() if fork is None else fork)
        theirs.close()
        jobs.close()
        self._control.setblocking(False)
        self._output.start()

    def _start(
        self, jobs: Jobs, key: bytes | None, theirs: socket.socket, fork: bool
    ) -> subprocess.Popen[bytes] | int:
        forks_modules = can_fork_modules()
        if not fork:
            return start_apart(jobs.scenario, jobs.jobs, key, theirs, forks_modules)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._control.close()
            for read_end in jobs.outputs.values():
                os.close(read_end)
            run_supervisor(jobs.scenario, jobs.jobs, key, theirs, forks_modules)
        return pid

    @property
    def names(self) -> frozenset[str]:
        """The tasks that have a process here."""
        return self._names

    def pids(self) -> Mapping[str, int]:
        """The processes that are alive, by task."""
        self._read()
        return {name: pid for name, pid in self._pids.items() if name not in self._exits}

    def fileno(self) -> int:
        return self._control.fileno()

    def ended(self) -> dict[str, str]:
        """Tasks whose process has ended, and how, in words."""
        self._read()
        return {
            name: "has lost the process that looked after it" if name in self._orphans else how_it_ended(code)
            for name, code in self._exits.items()
        }

    def last_words(self, task: str) -> str:
        if task in self._exits:
            self._output.drain(task)
        return self._output.last_words(task)

    def _read(self) -> None:
        while True:
            try:
                data = self._control.recv(65_536)
            except (BlockingIOError, OSError):
                return
            if not data:
                return self._supervisor_is_gone()
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if "pid" in message:
                    self._pids[message["task"]] = message["pid"]
                else:
                    self._exits[message["task"]] = message["exit"]

    def _supervisor_is_gone(self) -> None:
        """Whatever it looked after ends by itself, and can no longer be told from what has ended."""
        self._orphans = self._orphans | self._names - self._exits.keys()
        for name in self._orphans:
            self._exits[name] = -signal.SIGKILL

    def wait(self, timeout_s: float) -> bool:
        """Wait until every process has ended; whether all have."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        remaining_ms = timeout_s * 1000
        while len(self._exits) < len(self._names) and remaining_ms > 0:
            poll.poll(50)
            remaining_ms -= 50
            self._read()
        return len(self._exits) >= len(self._names)

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(END_S if kind is None else FAILED_S)

    def close(self, patience_s: float = END_S) -> None:
        """End whatever is still there, and wait for it."""
        try:
            self.wait(patience_s)
        finally:
            self._control.close()
            self._join_supervisor()
            self._output.close()

    def _join_supervisor(self) -> None:
        if isinstance(self._supervisor, int):
            os.waitpid(self._supervisor, 0)
        else:
            self._supervisor.wait(GRACE_S * 3)


def can_fork_modules() -> bool:
    """Whether the supervisor may fork: it has no threads, but elsewhere libraries do not bear it."""
    return sys.platform == "linux"


def can_fork() -> bool:
    """Whether a copy of this process is safe: no other thread could hold a lock in it."""
    return can_fork_modules() and threading.active_count() == 1


def how_it_ended(code: int) -> str:
    """An exit code in words.

    >>> how_it_ended(-9)
    'was killed by SIGKILL'
    """
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
