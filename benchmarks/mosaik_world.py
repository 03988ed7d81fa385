"""The mosaik scenario itself, in its own process: `mosaik_world.py JSON`, tells its times on stdout."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import mosaik
from cores import Pin, master_on, settle_as_child
from mosaik_node import CUTS, WARM_UP
from payload import INITIAL

Form = Literal["fields", "vector"]
"""How a simulator gives: nine attributes, or one list of 22 numbers."""

NODE = Path(__file__).with_name("mosaik_node.py")


@dataclass(frozen=True)
class Ring:
    """What the scenario must know."""

    n: int
    steps: int
    pin: Pin
    form: Form
    launched_s: float
    launcher: int


def _initial(form: Form) -> dict[str, list[Any]]:
    if form == "vector":
        return {"whole": list(INITIAL)}
    return {name: list(INITIAL[start:stop]) for name, (start, stop) in CUTS.items()}


def _connected(ring: Ring) -> tuple[Any, list[Any]]:
    """Each gives to the next within the step, the last to the first of the next step."""
    command = f"{sys.executable} {NODE} {ring.pin} {os.getpid()} %(addr)s"
    world: Any = mosaik.World(
        {"Node": {"cmd": command}},
        mosaik_config={"addr": ("127.0.0.1", None), "start_timeout": 60.0},
        skip_greetings=True,
        configure_logging=False,
    )
    modules = [world.start("Node", sim_id=f"node{place}").Module() for place in range(ring.n)]
    initial = _initial(ring.form)
    for before, after in pairwise(modules):
        world.connect(before, after, *initial)
    world.connect(modules[-1], modules[0], *initial, time_shifted=True, initial_data=initial)
    return world, modules


def main() -> None:
    ring = Ring(**json.loads(sys.argv[1]))
    settle_as_child(ring.pin, ring.launcher)
    with master_on(ring.pin):
        world, modules = _connected(ring)
        try:
            world.run(until=WARM_UP + ring.steps + 1, print_progress=False, shutdown=False)
            first, last = (
                world.get_data([module], "clock", "w_B")[module] for module in (modules[0], modules[-1])
            )
        finally:
            world.shutdown()
    _, warm_s, last_s = first["clock"]
    told = {
        "taken_s": last_s - warm_s,
        "first_s": last["clock"][0] - ring.launched_s,
        "w": last["w_B"][0],
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
