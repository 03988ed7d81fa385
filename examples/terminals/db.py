"""What a small satellite with magnetic coils has in common: the fields, and who exchanges which of them."""

import numpy as np
import quaternion


class DataBase:
    # common variables
    t = 0.0  # model time [s]
    dt = 0.25  # step [s]
    tmax = 4.0  # end of the simulation [s]
    cmd = 0  # command to all modules

    # of this satellite; _I: inertial axes, _B: body axes
    U = np.array([0.1, 0.0, 0.0])  # control: current of each coil, as a part of the largest
    L_B = np.zeros(3)  # magnetic moment of the coils [A·m²]
    B_I = np.array([0.0, 1e-5, 0.0])  # magnetic field of the Earth [T]
    Mm_B = np.zeros(3)  # torque of the coils [N·m]
    w_B = np.zeros(3)  # angular velocity [rad/s]
    q_IB = quaternion.one  # attitude: v_I = q_IB v_B q_IB*


Tasks = {
    "Rotation": {
        "Keys": """t,cmd,dt,
                   U,L_B,B_I,Mm_B,
                   w_B,q_IB"""
    },
    "Control": {"Keys": "t,cmd,U,B_I,q_IB"},
    "Plot2D": {"Keys": "t,cmd,dt,U,w_B,q_IB", "Addr": ("127.0.0.1", 6502), "noAnswer": True},
}
