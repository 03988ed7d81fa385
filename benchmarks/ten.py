"""Ten bare modules as a scenario file, for the start-up; each tells when it did its first step."""

import time

import numpy as np
from payload import DT, Array, body

from simsched import Module


class DataBase:
    t = 0.0
    dt = DT
    tmax = DT
    cmd = 0
    U = np.array([0.1, 0.2, 0.3])
    w_B = np.zeros(3)


class Bare(Module):
    dt: float
    U: Array
    w_B: Array

    def Run(self) -> None:
        self.w_B = body(self.w_B, self.dt, self.U)
        # the clock of the whole machine, not of this process
        print(f"first step at {time.monotonic()}", flush=True)


Tasks = {f"M{place}": {"Keys": "t,dt,cmd,U,w_B", "Module": "ten.py:Bare"} for place in range(10)}
