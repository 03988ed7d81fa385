"""A coil that pulses in every other second, its sign following the field, so that it turns one way only."""

import db
import numpy as np
import quaternion

from simsched import Module


class Controller(Module):
    level = 0.1  # part of the strongest current

    def Run(self):
        b = quaternion.as_rotation_matrix(self.q_IB).T @ self.B_I  # field in body axes [T]
        along_y = np.copysign(self.level, b[1])
        self.U = np.array([along_y if int(self.t) % 2 == 0 else 0.0, 0.0, 0.0])


if __name__ == "__main__":
    model = Controller(TaskList=db.Tasks, DB=db.DataBase(), isSheduler=False, isRealTime=False)
    model.Manager.Loop()
