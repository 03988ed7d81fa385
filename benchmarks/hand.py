"""What one would write by hand in one process: copy the fields in, call, copy them back.

The copies are values, so that a module may keep what it was given, as it may with the dispatcher.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from cores import master_on
from frame import Contender
from payload import DT, STEP, Array, body, check_turns
from quaternion import quaternion

NAME = "hand-written loop"


class DataBase:
    """The fields at their initial values."""

    def __init__(self) -> None:
        self.t, self.dt, self.cmd = 0.0, DT, STEP
        self.U: Array = np.array([0.1, 0.2, 0.3])
        self.w_B: Array = np.zeros(3)
        self.B_B: Array = np.zeros(3)
        self.r_I: Array = np.zeros(3)
        self.v_I: Array = np.zeros(3)
        self.q_IB = quaternion(1.0, 0.0, 0.0, 0.0)


class Plain(DataBase):
    """A model without any framework."""

    def run(self) -> None:
        self.w_B = body(self.w_B, self.dt, self.U)


def copy_fields(source: DataBase, target: DataBase) -> None:
    """All fields by value: arrays and quaternions can change in place, numbers cannot."""
    target.t = source.t
    target.dt = source.dt
    target.cmd = source.cmd
    target.U = source.U.copy()
    target.w_B = source.w_B.copy()
    target.B_B = source.B_B.copy()
    target.r_I = source.r_I.copy()
    target.v_I = source.v_I.copy()
    target.q_IB = quaternion(source.q_IB)


def seconds_per_exchange(exchanges: int, n: int) -> float:
    """One run over n plain objects."""
    steps = max(1, exchanges // n)
    database, models = DataBase(), [Plain() for _ in range(n)]
    with master_on("one"):
        started = time.perf_counter()
        for step in range(steps):
            database.t = step * DT
            for model in models:
                copy_fields(database, model)
                model.run()
                copy_fields(model, database)
        taken = time.perf_counter() - started
    check_turns(float(database.w_B[0]), steps * n)
    return taken / (steps * n)


def contenders(sizes: tuple[int, ...]) -> list[Contender]:
    return [Contender(NAME, "one", n, 20_000, partial(seconds_per_exchange, n=n)) for n in sizes]
