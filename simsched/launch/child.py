"""Inside a module's process: make the module, serve, and leave with the right exit code."""

from __future__ import annotations

import io
import os
import random
import signal
import sys
from types import FrameType
from typing import Any, TextIO

import numpy as np

from simsched.errors import ModuleError, SimschedError
from simsched.launch.jobs import Job, folder_of
from simsched.loading import load_class
from simsched.manager import described
from simsched.module import Module
from simsched.scenario import Scenario
from simsched.serving import serve
from simsched.transport import UdpTransport


def run_job(scenario: Scenario, job: Job, key: bytes | None, parent: int) -> int:
    """Serve one module until it is told to stop; the exit code."""
    os.dup2(job.output, 1)
    os.dup2(job.output, 2)
    sys.stdout = _text_to(1)
    sys.stderr = _text_to(2)
    signal.signal(signal.SIGTERM, _interrupt)
    random.seed()
    np.random.seed()  # a forked copy of the parent's generator would be the same in every module
    sockets = {job.task.name: job.port} if job.port is not None else {}
    return serve_module(scenario, job.task.name, UdpTransport(sockets), key, parent)


class _Pipe(io.FileIO):
    """An output that the master reads: when that is gone, a module can still print, and finalize."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _text_to(descriptor: int) -> TextIO:
    """What the master reads is UTF-8, whatever the language of the terminal."""
    pipe = io.BufferedWriter(_Pipe(descriptor, "w", closefd=False))
    return io.TextIOWrapper(pipe, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def serve_module(
    scenario: Scenario,
    name: str,
    transport: UdpTransport | None,
    key: bytes | None,
    parent: int | None = None,
) -> int:
    """Make the module of a task and serve it; the exit code, with the reason on stderr."""
    try:
        model = make_module(scenario, name, transport, key)
        serve(model.Manager, parent=parent)
    except KeyboardInterrupt:
        return 130
    except ModuleError:
        return 1  # already printed, and told to the master
    except SimschedError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    return 0


def make_module(
    scenario: Scenario, name: str, transport: UdpTransport | None = None, key: bytes | None = None
) -> Module:
    """The module of a task, set up; SimschedError says why it cannot be."""
    task = scenario.task(name)
    if task.module is None:
        raise SimschedError(f"task '{name}' has no Module: nothing here knows how to start it")
    made = load_class(task.module, name, folder_of(scenario))
    if not issubclass(made, Module):
        raise SimschedError(
            f"task '{name}': {task.module} is no simsched.Module: let the class inherit from it"
        )
    return build(made, scenario, name, transport, key)


def build(
    made: type[Module],
    scenario: Scenario,
    name: str,
    transport: UdpTransport | None = None,
    key: bytes | None = None,
) -> Module:
    """Create a module; whatever its Setup raises becomes a ModuleError that names the task."""
    try:
        return made(Name=name, scenario=scenario, transport=transport, key=key)
    except SimschedError:
        raise
    except (Exception, SystemExit) as error:
        print(f"task '{name}' failed in Setup:\n{described(error)}", file=sys.stderr, flush=True)
        raise ModuleError(f"task '{name}' failed in Setup:\n{described(error)}") from error


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
