"""Large datagrams, and modules that print a lot, print bytes, or never end a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simsched.errors import ScenarioError

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

BIG = """
    class Big(Module):
        def Run(self):
            self.image = self.image + 1.0
"""
BIG_TASKS = {"Big": {"In": "image", "Out": "image", "Module": "models.py:Big"}}


@pytest.mark.parametrize("key", [None, b"a key"], ids=["plain", "keyed"])
def test_60_kilobytes_each_way(bench: Bench, key: bytes | None) -> None:
    bench.scenario("image = np.arange(7500.0)", BIG_TASKS, BIG, tmax=3.0)
    r = bench.run(key=key)
    assert np.array_equal(r["image"][-1], np.arange(7500.0) + 30.0)
    assert r.same_as(bench.run(in_process=True)) == []


def test_more_than_udp_carries(bench: Bench) -> None:
    bench.scenario("image = np.zeros(8200)", BIG_TASKS, BIG)
    with pytest.raises(ScenarioError) as caught:
        bench.run()
    text = str(caught.value)
    assert "task 'Big': In makes a datagram of 65664 bytes; UDP carries 65507 at most" in text
    assert "largest field 'image' has 65600" in text
    assert "task 'Big': Out makes" in text


def loud(bench: Bench, body: str, tmax: float = 1.0) -> None:
    models = f"""
    class Loud(Module):
        def Run(self):
            self.n += 1
            {body}
    """
    bench.scenario("n = 0", {"Loud": {"In": "n", "Out": "n", "Module": "models.py:Loud"}}, models, tmax=tmax)


def test_a_lot(bench: Bench) -> None:
    """Megabytes, faster than they are shown: every line comes, in order, and the run goes on."""
    loud(bench, "for i in range(2000): print(f'{self.n} {i} ' + 'x' * 100)")
    r = bench.run()
    assert len(r) == 10
    assert bench.lines == [("Loud", f"{n} {i} " + "x" * 100) for n in range(1, 11) for i in range(2000)]


def test_bytes_that_are_no_text(bench: Bench) -> None:
    loud(bench, "os.write(1, bytes(range(256)) + b'\\n')")
    assert len(bench.run()) == 10
    shown = "".join(line for _, line in bench.lines)
    assert "\ufffd" in shown and "ABC" in shown


def test_no_end_of_line(bench: Bench) -> None:
    """A line that does not end is shown in parts, the last one when the module ends."""
    loud(bench, "os.write(2, b'y' * 30_000)")
    assert len(bench.run()) == 10
    assert sum(len(line) for _, line in bench.lines) == 300_000


def test_what_is_printed_where_no_text_is_possible(bench: Bench) -> None:
    """Signs outside ASCII, whatever the language of the terminal is."""
    loud(bench, "print('ω = 3 °/s, Δt')")
    bench.run()
    assert bench.lines == [("Loud", "ω = 3 °/s, Δt")] * 10


def test_standard_error_comes_too(bench: Bench) -> None:
    loud(bench, "print('to the side', file=sys.stderr)")
    bench.run()
    assert bench.lines == [("Loud", "to the side")] * 10
