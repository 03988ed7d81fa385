"""One simulator of the mosaik ring, in its own process: `mosaik_node.py PIN PARENT HOST:PORT`."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any, cast

import mosaik_api_v3
from cores import Pin, settle_as_child
from payload import DT, INITIAL, body_on

CUTS = {
    "t": (0, 1), "dt": (1, 2), "cmd": (2, 3), "U": (3, 6), "w_B": (6, 9), "B_B": (9, 12), "r_I": (12, 15),
    "v_I": (15, 18), "q_IB": (18, 22),
}  # fmt: skip
"""Where each field lies among the 22 values."""

WARM_UP = 10
META = {
    "type": "time-based",
    "models": {"Module": {"public": True, "params": [], "attrs": ["whole", "clock", *CUTS]}},
}


Simulator: Any = mosaik_api_v3.Simulator


class Node(Simulator):  # type: ignore[misc]
    """A module: takes what its predecessor gave, runs the body, gives on."""

    def __init__(self) -> None:
        super().__init__(META)
        self.values: list[Any] = list(INITIAL)
        self.first_s = self.warm_s = self.last_s = 0.0

    def init(self, sid: str, time_resolution: float = 1.0, **_params: Any) -> Any:
        return self.meta

    def create(self, num: int, model: str, **_params: Any) -> list[dict[str, Any]]:
        return [{"eid": "module", "type": model}]

    def step(self, time: int, inputs: dict[str, Any], max_advance: int) -> int:
        self.last_s = monotonic()
        if time == WARM_UP:
            self.warm_s = self.last_s
        for name, sources in inputs.get("module", {}).items():
            for value in sources.values():
                self._take(name, value)
        self.values = list(body_on((time * DT, *self.values[1:])))
        if time == 0:
            self.first_s = monotonic()
        return time + 1

    def _take(self, name: str, value: list[Any]) -> None:
        start, stop = CUTS.get(name, (0, len(self.values)))
        self.values[start:stop] = value

    def get_data(self, outputs: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
        return {"module": {name: self._give(name) for name in outputs["module"]}}

    def _give(self, name: str) -> list[Any]:
        if name == "clock":
            return [self.first_s, self.warm_s, self.last_s]
        start, stop = CUTS.get(name, (0, len(self.values)))
        return self.values[start:stop]


def main() -> None:
    settle_as_child(cast(Pin, sys.argv.pop(1)), int(sys.argv.pop(1)))
    mosaik_api_v3.start_simulation(Node(), configure_logging=False)


if __name__ == "__main__":
    main()
