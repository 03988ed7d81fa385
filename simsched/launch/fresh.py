"""A module in a fresh interpreter: `python -m simsched.launch.fresh`, told on standard input."""

from __future__ import annotations

import pickle
import socket
import sys

from simsched.launch.child import run_job
from simsched.launch.jobs import Job


def main() -> int:
    """Read what to be from the process that started this one, and be it."""
    scenario, name, port, key, parent = pickle.load(sys.stdin.buffer)
    bound = socket.socket(fileno=port) if port >= 0 else None
    return run_job(scenario, Job(scenario.task(name), 1, bound), key, parent)


if __name__ == "__main__":
    raise SystemExit(main())
