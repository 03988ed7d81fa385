"""Real time: when each step is released, and what happens when one comes late.

Pure: `now` is an argument. Step k is due at start + k·dt on the monotonic clock, never accumulated.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from simsched.errors import Overrun
from simsched.measure import Histogram

Policy = Literal["catchup", "slip", "stop"]
POLICIES: tuple[str, ...] = get_args(Policy)

NS = 1_000_000_000


class Pacer:
    """Releases steps on absolute deadlines.

    `catchup` runs late steps back to back until the schedule is met again, `slip` shifts the rest
    of the schedule by the lateness, `stop` ends the run at the first step that ends after the
    next one was due.
    """

    def __init__(self, period_s: float, start_ns: int, policy: Policy = "catchup") -> None:
        self.period_s = period_s
        self.start_ns = start_ns
        self.policy = policy
        self.overruns = 0
        self.lateness = Histogram()

    def due_ns(self, step: int) -> int:
        """When a step is to be released."""
        return self.start_ns + round(step * self.period_s * NS)

    def wait_ns(self, step: int, now_ns: int) -> int:
        """How long to wait before releasing a step; 0 if it is due or late."""
        return max(self.due_ns(step) - now_ns, 0)

    def released(self, step: int, now_ns: int) -> None:
        """Note how late a step was really released."""
        self.lateness.add(max(now_ns - self.due_ns(step), 0))

    def finished(self, step: int, now_ns: int) -> None:
        """A step has ended: an overrun if the next one was due before."""
        late_ns = now_ns - self.due_ns(step + 1)
        if late_ns <= 0:
            return
        self.overruns += 1
        if self.policy == "slip":
            self.start_ns += late_ns
        elif self.policy == "stop":
            raise Overrun(
                f"step {step} ended {late_ns / 1e6:.3f} ms after the next one was due (dt = "
                f"{self.period_s} s): make the tasks faster, dt longer, or choose another overrun "
                f"policy ({', '.join(POLICIES)})"
            )


def step_count(t0: float, dt: float, tmax: float) -> int | None:
    """How many steps of dt lead from t0 to tmax, the last one past it if need be; None without end.

    >>> step_count(0.0, 0.25, 4.0)
    16
    >>> step_count(0.0, 0.3, 1.0)
    4
    """
    if math.isinf(tmax):
        return None
    exact = (tmax - t0) / dt
    whole = round(exact)
    return max(whole if abs(exact - whole) <= _slack(t0, dt, tmax) else math.ceil(exact), 0)


def divides(t0: float, dt: float, tmax: float) -> bool:
    """Whether a whole number of steps ends at tmax.

    >>> divides(0.0, 0.1, 0.3), divides(0.0, 0.3, 1.0)
    (True, False)
    """
    if math.isinf(tmax):
        return True
    exact = (tmax - t0) / dt
    return abs(exact - round(exact)) <= _slack(t0, dt, tmax)


def _slack(t0: float, dt: float, tmax: float) -> float:
    """How far from a whole number of steps is still meant as one [steps].

    Decimals such as 0.1, and single-precision ones, are not exact, and their error grows with the
    number of steps; yet a hundredth of a step is too much to be an error of rounding, unless t is
    so large that it cannot be told more finely itself.
    """
    grain = (math.ulp(t0) + math.ulp(tmax)) / dt
    return min(1e-6 * max(1.0, (tmax - t0) / dt), 0.01) + grain
