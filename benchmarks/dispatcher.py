"""simsched itself on the ring: modules as processes over UDP, and all in one process.

Only steady steps count. A run is made twice, a short one and a long one, and the time of one exchange
is the difference of the two over the difference in exchanges: starting, the first steps before the
placement is chosen, and finalizing are in both and cancel.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import ring
from cores import Pin, master_on
from frame import Contender
from payload import check_turns

import simsched

NAME = "simsched UDP"
NAME_AUTO = "simsched UDP, auto"
NAME_IN_PROCESS = "simsched, one process"
SHORT = 64
"""Steps; the placement is chosen after sixteen."""


def wall_s(n: int, steps: int, **options: Any) -> float:
    """Seconds from the first step to the last answer; ValueError if a module did not do its work."""
    # rows 0 and steps - 1 alone are kept: enough to see that the modules ran, too few to cost anything
    results = simsched.run(ring.scenario(n, steps), record_every=steps - 1, record_fields=("w_B",), **options)
    check_turns(float(results["w_B"][-1][0]), steps * n)
    if results.report is None or results.report.exchanges != steps * n:
        raise ValueError(f"the report does not count {steps * n} exchanges: {results.report}")
    return results.report.wall_s


def steady_s(exchanges: int, n: int, **options: Any) -> float:
    """Seconds of one exchange in steady steps."""
    steps = max(1, exchanges // n)
    short_s = wall_s(n, SHORT, **options)
    return (wall_s(n, SHORT + steps, **options) - short_s) / (steps * n)


def _in_process(exchanges: int, n: int) -> float:
    with master_on("one"):
        return steady_s(exchanges, n, in_process=True)


def contenders(sizes: tuple[int, ...], pins: tuple[Pin, ...]) -> list[Contender]:
    """Processes: on the same cores as the others by `placement`, and where simsched puts them by default."""
    placed = [(NAME, pin, str(pin)) for pin in pins]
    return [
        Contender(name, pin, n, 10_000, partial(steady_s, n=n, placement=placement))
        for n in sizes
        for name, pin, placement in (*placed, (NAME_AUTO, "free", "auto"))
    ]


def in_process(sizes: tuple[int, ...]) -> list[Contender]:
    """No processes at all."""
    return [Contender(NAME_IN_PROCESS, "one", n, 20_000, partial(_in_process, n=n)) for n in sizes]
