"""What a plotting module is like, without a window: it receives, draws, and need not answer.

It may be started and ended at any time, here or on a colleague's machine (`Addr`).
"""

import db
import numpy as np

from simsched import Module


class Plot2D(Module):
    def Initialize(self):
        self.largest = 0.0

    def Run(self):
        rate = np.linalg.norm(self.w_B)  # [rad/s]
        self.largest = max(self.largest, rate)
        print(f"t = {self.t:5.2f} s  |w| = {1e3 * rate:8.4f} mrad/s  " + "*" * round(1e5 * rate))

    def Finalize(self):
        print(f"largest |w|: {1e3 * self.largest:.4f} mrad/s")


if __name__ == "__main__":
    model = Plot2D(TaskList=db.Tasks, DB=db.DataBase(), isSheduler=False, isRealTime=False)
    model.Manager.Loop()
