"""The process that starts the modules and ends them in any case.

It stands between the master and the modules, in a session of its own, so that Ctrl-C reaches the
master alone and the master ends the run in order. It tells the master who has ended and how, one
line of JSON each; when the master's end of the line closes, however that came about, it ends every
process that it has started.

Where the platform can, modules are forked from here, with numpy and the scenario already loaded:
ten of them are up in the time of one. Elsewhere each is a fresh interpreter.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from time import monotonic
from typing import NoReturn

from simsched.launch.child import run_job
from simsched.launch.jobs import Job, folder_of
from simsched.scenario import Scenario

GRACE_S = 2.0
"""How long a process may take to end after SIGTERM [s]."""


def run_supervisor(
    scenario: Scenario, jobs: list[Job], key: bytes | None, control: socket.socket, forks: bool
) -> NoReturn:
    """The whole life of the supervisor."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = 0
    try:
        _Supervisor(scenario, jobs, key, control, forks).live()
    except BaseException:  # noqa: BLE001  # a copy of the master must not unwind into its stack
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


class _Supervisor:
    def __init__(
        self, scenario: Scenario, jobs: list[Job], key: bytes | None, control: socket.socket, forks: bool
    ) -> None:
        self._scenario, self._jobs, self._key, self._control, self._forks = (
            scenario,
            jobs,
            key,
            control,
            forks,
        )
        self._alive: dict[int, str] = {}

    def live(self) -> None:
        wake, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        gc.freeze()
        for job in self._jobs:
            self._start(job)
        for job in self._jobs:
            job.close()
        self._watch(wake)
        self._end_all()

    def _start(self, job: Job) -> None:
        if job.argv:
            pid = self._execute(job.argv, job)
        elif self._forks:
            pid = self._fork(job)
        else:
            pid = self._interpret(job)
        self._alive[pid] = job.task.name
        self._tell({"task": job.task.name, "pid": pid})

    def _fork(self, job: Job) -> int:
        supervisor = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            for other in self._jobs:
                if other is not job:
                    other.close()
            code = run_job(self._scenario, job, self._key, supervisor)
        except BaseException:  # noqa: BLE001  # nor may a copy of the supervisor
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _execute(
        self, argv: tuple[str, ...], job: Job, stdin: int = subprocess.DEVNULL, fds: tuple[int, ...] = ()
    ) -> int:
        process = subprocess.Popen(
            argv, stdin=stdin, stdout=job.output, stderr=job.output, cwd=folder_of(self._scenario),
            start_new_session=True, pass_fds=fds,
        )  # fmt: skip
        process.returncode = 0  # reaped here, by pid: the object must not try
        return process.pid

    def _interpret(self, job: Job) -> int:
        """A fresh interpreter, which is told through a pipe what to be."""
        port = job.port.fileno() if job.port is not None else -1
        told = pickle.dumps((self._scenario, job.task.name, port, self._key, os.getpid()))
        read_end, write_end = os.pipe()
        argv = (sys.executable, "-m", "simsched.launch.fresh")
        pid = self._execute(argv, job, read_end, (port,) if port >= 0 else ())
        os.close(read_end)
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(told)
        return pid

    def _watch(self, wake: int) -> None:
        """Until the master's end of the line closes."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    os.read(wake, 4096)
                    self._reap()
                elif not self._control.recv(1):
                    return

    def _reap(self) -> None:
        while self._alive:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            name = self._alive.pop(pid, None)
            if name is not None:
                self._tell({"task": name, "exit": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, object]) -> None:
        try:
            self._control.sendall(json.dumps(message).encode() + b"\n")
        except OSError:  # the master is gone: what it would do now is done by the end of the watch
            return

    def _end_all(self) -> None:
        self._signal_all(signal.SIGTERM)
        deadline = monotonic() + GRACE_S
        while self._alive and monotonic() < deadline:
            self._reap()
            select.select([], [], [], 0.01)
        self._signal_all(signal.SIGKILL)
        self._reap()

    def _signal_all(self, number: signal.Signals) -> None:
        for pid in self._alive:
            try:
                os.killpg(pid, number)
            except ProcessLookupError:
                continue
