"""A process that records; the tests kill it, fill its disk, or measure it.

Row k holds t = k and 29 more numbers k, so that each row can be checked by itself.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from simsched.database import make_field
from simsched.errors import RecorderFailed
from simsched.record import Recorder, load


def new_recorder(path: str) -> Recorder:
    fields = {"t": make_field("t", 0.0), "x": make_field("x", np.zeros(29))}
    return Recorder(path, fields, metadata={}, initial=bytes(240))


def add_rows(recorder: Recorder, first: int, last: int, pause_s: float = 0.0) -> None:
    for step in range(first, last):
        recorder.add(np.full(30, float(step)).tobytes())
        if step % 100 == 0 or pause_s:
            print(recorder.safe_rows, flush=True)
        if pause_s:
            time.sleep(pause_s)


def until_killed(path: str, pause_s: str) -> None:
    """Say again and again how many rows are safe."""
    add_rows(new_recorder(path), 0, 10**9, float(pause_s))


def until_full(path: str, limit: str) -> None:
    """Record until the file may not grow any more, then tell the error."""
    import resource

    recorder = new_recorder(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        add_rows(recorder, 0, 10**9)
    except RecorderFailed as error:
        print(error)
    recorder.close({"ended": "error"})


def memory(path: str) -> None:
    """The resident memory [bytes] after 50 000 and after 200 000 rows."""
    recorder = new_recorder(path)
    row = bytes(240)
    for _ in range(4):
        for _ in range(50_000):
            recorder.add(row)
        print(resident(), flush=True)
    recorder.close({})


def light(path: str) -> None:
    """Which heavy packages are loaded after the import, and after a run was recorded and read."""
    heavy = ("pyarrow", "pandas", "scipy", "h5py", "mcap")
    print([name for name in heavy if name in sys.modules])
    recorder = new_recorder(path)
    add_rows(recorder, 1, 10)
    recorder.close({})
    load(path)
    print([name for name in heavy if name in sys.modules])


def resident() -> int:
    import resource

    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
