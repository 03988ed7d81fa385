"""A mass on a spring, advanced exactly over a step with the force held constant."""

import numpy as np

from simsched import Module


class Oscillator(Module):
    mass = 1.0  # [kg]
    stiffness = 4.0  # [N/m]

    def Initialize(self) -> None:
        omega = np.sqrt(self.stiffness / self.mass)  # [rad/s]
        c, s = np.cos(omega * self.dt), np.sin(omega * self.dt)
        self.transition = np.array([[c, s / omega], [-omega * s, c]])

    def Run(self) -> None:
        rest = np.array([self.F / self.stiffness, 0.0])  # where the force would hold the mass
        self.x = rest + self.transition @ (self.x - rest)
