"""The ring as a scenario: N modules that all exchange the whole payload, and the body in each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import quaternion
from payload import DT, Array, body

from simsched import Module
from simsched.scenario import Scenario, make_scenario

FIELDS = "t,dt,cmd,U,w_B,B_B,r_I,v_I,q_IB"


class DataBase:
    """The payload, at the values that all contenders begin with."""

    t = 0.0
    dt = DT
    tmax = DT
    cmd = 0
    U = np.array([0.1, 0.2, 0.3])
    w_B = np.zeros(3)
    B_B = np.zeros(3)
    r_I = np.zeros(3)
    v_I = np.zeros(3)
    q_IB = quaternion.one


class Ring(Module):
    """A module with the body that all contenders have."""

    dt: float
    U: Array
    w_B: Array

    def Run(self) -> None:
        self.w_B = body(self.w_B, self.dt, self.U)


def scenario(n: int, steps: int) -> Scenario:
    """So many modules for so many steps."""
    database: Any = DataBase()
    database.tmax = steps * DT
    tasks = {f"M{place}": {"Keys": FIELDS, "Module": f"{Path(__file__).name}:Ring"} for place in range(n)}
    return make_scenario(database, tasks, name="ring", path=Path(__file__).resolve())
