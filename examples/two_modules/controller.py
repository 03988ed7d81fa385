"""Velocity feedback: a damper made of software."""

from simsched import Module


class Controller(Module):
    gain = 0.8  # [N·s/m]

    def Run(self) -> None:
        self.F = -self.gain * self.x[1]
