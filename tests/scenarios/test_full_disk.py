"""The recording cannot go on: the run ends, says so, and what was flushed is readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simsched import load

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

LIMITED = """
import resource, sys
import simsched
from simsched.errors import SimschedError

resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
try:
    simsched.run("scenario.py", record="run.arrows")
except SimschedError as error:
    print(f"{type(error).__name__}: {error}", flush=True)
    sys.exit(1)
"""


def test_no_room_in_the_middle_of_a_run(bench: Bench) -> None:
    bench.scenario(
        "n = 0\nx = np.zeros(100)",
        {"Count": {"In": "n", "Out": "n", "Module": "models.py:Count"}},
        """
        class Count(Module):
            def Run(self): self.n += 1
            def Finalize(self): print("finalized", flush=True)
        """,
        tmax=1e6,
    )
    bench.write("limited.py", LIMITED)
    master = bench.python("limited.py")
    assert master.wait() == 1
    assert "RecorderFailed: recording 'run.arrows' cannot be continued: File too large" in master.text
    assert "are safe on disk and readable" in master.text
    assert "finalized" in master.text
    r = load(bench.folder / "run.arrows")
    assert len(r) > 1000 and not r.complete
    assert r["n"].tolist() == list(range(1, len(r) + 1))


def test_a_place_that_is_none(bench: Bench) -> None:
    """Found at the start, and nothing is left running."""
    bench.scenario(
        "n = 0", {"Count": {"In": "n", "Out": "n", "Module": "models.py:Count"}}, "class Count(Module): pass"
    )
    master = bench.master(record="nowhere/run.arrows")
    assert master.wait() == 1
    assert "RecordingError: recording 'nowhere/run.arrows' cannot be made: No such file" in master.text
