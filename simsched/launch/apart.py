"""The supervisor in a fresh interpreter: `python -m simsched.launch.apart`, told on standard input.

Used where the master has threads (a notebook, a window) and must not be forked.
"""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys

from simsched.launch.jobs import Job
from simsched.launch.supervisor import run_supervisor
from simsched.scenario import Scenario


def start_apart(
    scenario: Scenario, jobs: list[Job], key: bytes | None, control: socket.socket, forks: bool
) -> subprocess.Popen[bytes]:
    """Start a supervisor that is no copy of this process, and hand it its descriptors."""
    told = [(job.task.name, job.output, job.port.fileno() if job.port else -1, job.argv) for job in jobs]
    ports = [port for _, _, port, _ in told if port >= 0]
    process = subprocess.Popen(
        [sys.executable, "-m", "simsched.launch.apart"],
        stdin=subprocess.PIPE,
        pass_fds=[control.fileno(), *(job.output for job in jobs), *ports],
    )
    if process.stdin is not None:
        with process.stdin as pipe:
            pickle.dump((scenario, told, key, control.fileno(), forks, sys.path), pipe)
    return process


def main() -> None:
    """Read what to look after from the master, and do so."""
    scenario, told, key, control, forks, path = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    jobs = [
        Job(scenario.task(name), output, socket.socket(fileno=port) if port >= 0 else None, argv)
        for name, output, port, argv in told
    ]
    run_supervisor(scenario, jobs, key, socket.socket(fileno=control), forks)


if __name__ == "__main__":
    main()
