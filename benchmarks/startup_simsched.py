"""simsched from nothing to the first step of ten modules."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import simsched

SCENARIO = Path(__file__).with_name("ten.py").resolve()
LIMIT_S = 30
FIRST = re.compile(r"first step at ([0-9.]+)")


def _last_first_step(text: str, launched_s: float) -> float:
    clocks = [float(found) for found in FIRST.findall(text)]
    if len(clocks) != 10:
        raise ValueError(f"{len(clocks)} of 10 modules told of their first step:\n{text}")
    return max(clocks) - launched_s


def _of_command(words: list[str]) -> float:
    """From the start of a fresh interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        launched_s = time.monotonic()
        told = subprocess.run(
            [sys.executable, *words], check=True, capture_output=True, timeout=LIMIT_S, text=True, cwd=folder
        )
        return _last_first_step(told.stdout, launched_s)


def command_recording() -> float:
    """`simsched run`, as one types it."""
    return _of_command(["-m", "simsched", "run", str(SCENARIO)])


def command() -> float:
    """`simsched run --no-record`: as the others, which record nothing either."""
    return _of_command(["-m", "simsched", "run", "--no-record", str(SCENARIO)])


def script() -> float:
    """A Python script with `simsched.run`, from the start of its interpreter."""
    return _of_command(["-c", f"import simsched; simsched.run({str(SCENARIO)!r})"])


def call() -> float:
    """`simsched.run` in a process that has imported everything already."""
    lines: list[str] = []
    launched_s = time.monotonic()
    simsched.run(SCENARIO, show=lambda task, line: lines.append(line))
    return _last_first_step("\n".join(lines), launched_s)
