"""A rigid body with magnetic coils; the master: start it last.

Euler's equation in body axes, J dw/dt = M - w × (J w), and the kinematics dq/dt = q ∘ w / 2, advanced
together by the classical Runge-Kutta method; the torque of the coils is M = L × B.
"""

import sys

import db
import numpy as np
import quaternion

from simsched import Module


class Rotation(Module):
    strongest = 0.2  # [A·m²], moment of a coil at U = 1

    def Setup(self):
        self.J = np.diag([0.010, 0.012, 0.008])  # inertia [kg·m²]

    def Run(self):
        self.L_B = self.strongest * np.clip(self.U, -1.0, 1.0)
        self.Mm_B = self.torque(self.q_IB)
        state = np.concatenate([self.w_B, self.q_IB.components])
        k1 = self.rates(state)
        k2 = self.rates(state + self.dt / 2 * k1)
        k3 = self.rates(state + self.dt / 2 * k2)
        k4 = self.rates(state + self.dt * k3)
        state = state + self.dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.w_B = state[:3]
        self.q_IB = quaternion.quaternion(*state[3:]).normalized()

    def rates(self, state):
        """Time derivatives of angular velocity and attitude."""
        w, q = state[:3], quaternion.quaternion(*state[3:])
        dw = np.linalg.solve(self.J, self.torque(q) - np.cross(w, self.J @ w))
        dq = q * quaternion.quaternion(0.0, *w) / 2
        return np.concatenate([dw, dq.components])

    def torque(self, q):
        """Of the coils in the Earth's field, in body axes [N·m]."""
        b = quaternion.as_rotation_matrix(q).T @ self.B_I  # [T]
        return np.cross(self.L_B, b)

    def Finalize(self):
        print(f"{self.t + self.dt:g} s: w_B = {self.w_B} rad/s, q_IB = {self.q_IB}")


if __name__ == "__main__":
    record = sys.argv[1] if len(sys.argv) > 1 else None
    model = Rotation(TaskList=db.Tasks, DB=db.DataBase(), isSheduler=True, isRealTime=False, record=record)
    model.Manager.Loop()
