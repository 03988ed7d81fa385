"""A key keeps strangers out, on either side, and changes no number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simsched.errors import NotJoined

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

KEY = b"sixteen bytes ok"
MODELS = """
    class Count(Module):
        def Run(self): self.n += 1
"""


def test_a_keyed_run_gives_the_same_numbers(bench: Bench) -> None:
    bench.scenario("n = 0", {"Count": {"In": "n", "Out": "n", "Module": "models.py:Count"}}, MODELS, tmax=5.0)
    plain, keyed = bench.run(), bench.run(key=KEY)
    assert plain.same_as(keyed) == []
    assert keyed.report is not None
    assert "signature" not in keyed.report.tasks["Count"].dropped


@pytest.mark.parametrize(
    ("masters", "modules", "joins"),
    [
        (KEY, KEY, True),
        (KEY, b"another key", False),
        (KEY, None, False),
        (None, KEY, False),
    ],
    ids=["right key", "wrong key", "module without", "master without"],
)
def test_only_the_right_key_joins(
    bench: Bench, masters: bytes | None, modules: bytes | None, joins: bool
) -> None:
    port = bench.free_ports()
    bench.scenario("n = 0", {"Count": {"In": "n", "Out": "n", "Addr": ("127.0.0.1", port)}}, MODELS, Wait=0.5)
    module = bench.module("Count", key=modules)
    bench.listening(port)
    if joins:
        assert bench.run(key=masters)["n"][-1] == 10
        return
    with pytest.raises(NotJoined, match=r"task 'Count' did not come within 0\.5 s") as caught:
        bench.run(key=masters)
    if masters is not None:
        assert "this run has a key: a module with another key, or with none, stays silent" in str(
            caught.value
        )
    module.wait_for("its signature is wrong or missing; give the master and this module the same key")
    assert module.text.count("Count: ignored a datagram of 127.0.0.1:") == 1
    assert module.process.poll() is None
    assert bench.run(key=modules)["n"][-1] == 10  # and it serves its own master still
