"""A mass on a spring, and a controller that damps it."""

import numpy as np


class DataBase:
    t = 0.0
    dt = 0.01  # [s]
    tmax = 10.0  # [s]
    cmd = 0
    x = np.array([1.0, 0.0])  # displacement [m], velocity [m/s]
    F = 0.0  # control force [N]


Tasks = {
    "Oscillator": {"In": "t,dt,F,x", "Out": "x", "Module": "oscillator.py:Oscillator"},
    "Controller": {"In": "t,x", "Out": "F", "Module": "controller.py:Controller"},
}
