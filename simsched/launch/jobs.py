"""What is to be started for a run: one job for each task with a `Module` or a `Command`."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field, replace
from pathlib import Path

from simsched.errors import LaunchError
from simsched.scenario import Scenario
from simsched.tasks import LOOPBACK, Task
from simsched.transport.udp import bind, free_socket


@dataclass
class Job:
    """One process to start, with the descriptors that it is given."""

    task: Task
    output: int
    """The write end of the pipe that takes what it prints."""
    port: socket.socket | None = None
    """The socket that a module listens on, bound before the module is there."""
    argv: tuple[str, ...] = ()
    """The words of a Command; empty for a Module."""

    def close(self) -> None:
        """Let go of this process's copies."""
        os.close(self.output)
        if self.port is not None:
            self.port.close()


@dataclass
class Jobs:
    """All jobs of a run, and the scenario with the addresses that were found for them."""

    scenario: Scenario
    jobs: list[Job] = field(default_factory=list)
    outputs: dict[str, int] = field(default_factory=dict)
    """The read ends, by task."""

    def close(self) -> None:
        """Let go of everything that was handed to the processes."""
        for job in self.jobs:
            job.close()
        self.jobs.clear()


def make_jobs(scenario: Scenario, without: frozenset[str] = frozenset()) -> Jobs:
    """Bind a port and open a pipe for every task that is ours to start."""
    made = Jobs(scenario)
    tasks = []
    try:
        for task in scenario.tasks:
            placed = task
            if task.name not in without and (task.module or task.command):
                placed = _add(made, task)
            tasks.append(placed)
    except BaseException:
        made.close()
        for read_end in made.outputs.values():
            os.close(read_end)
        raise
    made.scenario = replace(scenario, tasks=tuple(tasks))
    return made


def _add(made: Jobs, task: Task) -> Task:
    port = bind(task.addr, task.name) if task.has_addr else free_socket(LOOPBACK)
    placed = replace(task, addr=port.getsockname()[:2])
    read_end, write_end = os.pipe()
    made.outputs[task.name] = read_end
    if task.command:
        port.close()  # the executable binds it itself
        made.jobs.append(Job(placed, write_end, None, filled_in(placed, made.scenario)))
    else:
        made.jobs.append(Job(placed, write_end, port))
    return placed


def filled_in(task: Task, scenario: Scenario) -> tuple[str, ...]:
    """The words of a Command with {addr}, {host}, {port}, {name} and {scenario} put in."""
    host, port = task.addr
    values = {
        "addr": f"{host}:{port}",
        "host": host,
        "port": str(port),
        "name": task.name,
        "scenario": str(scenario.path or ""),
    }
    try:
        words = tuple(word.format_map(values) for word in task.command or ())
    except (KeyError, ValueError, IndexError) as error:
        known = ", ".join(f"{{{name}}}" for name in values)
        raise LaunchError(
            f"task '{task.name}': Command {list(task.command or ())} has a placeholder that is not known "
            f"({error}); there are {known}, and a brace is written twice: {{{{"
        ) from None
    return (_program(task, words[0], folder_of(scenario)), *words[1:])


def _program(task: Task, word: str, folder: Path) -> str:
    """A path is taken from the scenario's folder; a bare name from the PATH, as in a shell."""
    import shutil

    found = str(folder / word) if "/" in word else shutil.which(word)
    if found is None or not os.access(found, os.X_OK) or not os.path.isfile(found):
        raise LaunchError(
            f"task '{task.name}': Command '{word}' is no executable; looked for {found or word}"
        )
    return found


def folder_of(scenario: Scenario) -> Path:
    """Where relative names of a scenario are."""
    return scenario.path.parent if scenario.path is not None else Path.cwd()
