"""The bounds on an exchange, read off the contenders that took turns."""

from __future__ import annotations

import bare
import dispatcher
import hand
import helics_ring
import mosaik_ring
from findings import Finding, Key, Sense, by_key, ratio, worst
from frame import Result

MOST_OVER_BARE = 1.6
MOST_GROWTH = 1.25
MOST_OVER_HAND = 3.0
LEAST_OVER_UDP = 5.0

CORES = {"one": "one core", "free": "cores free"}
RIVALS = (*helics_ring.NAMES.values(), *mosaik_ring.NAMES.values())


def exchange_findings(results: list[Result]) -> list[Finding]:
    """Whatever of the following was measured."""
    measured = by_key(results)
    sizes = sorted({n for _, _, n in measured})
    found: list[Finding] = []
    for pin, cores in CORES.items():
        for yardstick in (bare.NAME, bare.NAME_WITH_BODY):
            found += worst(_over_bare(measured, pin, cores, yardstick, sizes))
    for pin, cores in CORES.items():
        found += _over(
            measured, f"UDP, {cores}: growth from N = 5 to N = 50",
            (dispatcher.NAME, pin, 50), (dispatcher.NAME, pin, 5), "at most", MOST_GROWTH,
        )  # fmt: skip
    found += _over(
        measured, "bare UDP, one core: growth from N = 5 to N = 50",
        (bare.NAME, "one", 50), (bare.NAME, "one", 5),
    )  # fmt: skip
    for n in sizes:
        found += _of_size(measured, n)
    return found


def _over(
    measured: dict[Key, Result], what: str, over: Key, under: Key, sense: Sense = "", bound: float = 0.0
) -> list[Finding]:
    return ratio(what, measured.get(over), measured.get(under), sense, bound)


def _over_bare(
    measured: dict[Key, Result], pin: str, cores: str, yardstick: str, sizes: list[int]
) -> list[Finding]:
    return [
        finding
        for n in sizes
        for finding in _over(
            measured, f"UDP, {cores}: over {yardstick}, worst N: {n}",
            (dispatcher.NAME, pin, n), (yardstick, pin, n), "at most", MOST_OVER_BARE,
        )
    ]  # fmt: skip


def _of_size(measured: dict[Key, Result], n: int) -> list[Finding]:
    """In one process beside the hand-written loop and the UDP rate, and the rivals beside UDP."""
    own, udp = (dispatcher.NAME_IN_PROCESS, "one", n), (dispatcher.NAME, "one", n)
    found = _over(
        measured, f"one process, N = {n}: over {hand.NAME}", own, (hand.NAME, "one", n),
        "at most", MOST_OVER_HAND,
    )  # fmt: skip
    found += _over(
        measured, f"one process, N = {n}: faster than UDP on one core", udp, own, "at least", LEAST_OVER_UDP
    )
    found += _over(
        measured, f"UDP, N = {n}: placement auto over placement one", (dispatcher.NAME_AUTO, "free", n), udp
    )
    for pin, cores in CORES.items():
        for rival in RIVALS:
            found += _over(
                measured, f"UDP, {cores}, N = {n}: faster than {rival}",
                (rival, pin, n), (dispatcher.NAME, pin, n), "at least", 1.0,
            )  # fmt: skip
    return found
