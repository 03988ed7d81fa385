"""What the console of a module shows: its state, step, t and rate, beside its own prints.

On a terminal that is one line at the bottom, redrawn a few times a second; in a pipe nothing, for
there the master's console tells it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic_ns
from types import TracebackType
from typing import Any, TextIO

from simsched.scenario import Scenario
from simsched.states import Message, State
from simsched.tasks import Task

REDRAW_NS = 250_000_000
_WIPE = "\r\x1b[2K"


class Status:
    """The status line of one module."""

    def __init__(self, task: Task, scenario: Scenario, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._shown = self._out.isatty()
        self._name = task.name
        self._where = f"{task.addr[0]}:{task.addr[1]}"
        self._every = task.every
        self._t0 = float(scenario.database.fields["t"].initial)
        self._dt = float(scenario.database.fields["dt"].initial)
        self._phase = task.phase
        self._state = State.IDLE
        self._steps = 0
        self._drawn_steps = 0
        self._drawn_ns = monotonic_ns()
        self._redraw_ns = 0
        self._is_drawn = False
        self._in_a_line = False
        self._stdout: Any = None

    def __enter__(self) -> Status:
        if self._shown:
            self._stdout, sys.stdout = sys.stdout, _Above(self._out, self._print)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._clear()
            sys.stdout = self._stdout

    def entered(self, state: State, message: Message | None = None) -> None:
        """The state machine has moved."""
        if message is Message.INIT:
            self._steps = self._drawn_steps = 0
        self._state = state
        if self._shown:
            self._draw(monotonic_ns())

    def stepped(self, now_ns: int) -> None:
        """One step is done: called at every step, so it does next to nothing."""
        self._steps += 1
        if self._shown and now_ns > self._redraw_ns:
            self._draw(now_ns)

    def waited(self, now_ns: int) -> None:
        """Nothing came for a while."""
        if self._shown:
            self._draw(now_ns)

    def _draw(self, now_ns: int) -> None:
        if self._in_a_line:
            return  # the model has not ended its own line yet
        elapsed_s = (now_ns - self._drawn_ns) / 1e9
        rate = (self._steps - self._drawn_steps) / elapsed_s if elapsed_s > 0 else 0.0
        self._out.write(f"{_WIPE}{self.text(rate)}")
        self._out.flush()
        self._is_drawn = True
        self._drawn_ns, self._drawn_steps = now_ns, self._steps
        self._redraw_ns = now_ns + REDRAW_NS

    def text(self, rate: float) -> str:
        """`Control  Run   step 1200   t 120 s   400 steps/s`."""
        words = [self._name, self._state.label]
        if self._state is State.IDLE:
            words.append(f"at {self._where}, waiting for a master")
        if self._steps:
            last = self._phase + (self._steps - 1) * self._every
            words += [f"step {last}", f"t {self._t0 + last * self._dt:.6g} s"]
        if self._state is State.RUN:
            words.append(f"{rate:.0f} steps/s")
        return "  ".join(words)

    def _clear(self) -> None:
        """Wipe the status line, and nothing that the model has printed in its place."""
        if self._is_drawn:
            self._out.write(_WIPE)
            self._is_drawn = False

    def _print(self, text: str) -> int:
        self._clear()
        if text:
            self._in_a_line = not text.endswith("\n")
        return self._out.write(text)


class _Above:
    """Standard output whose writes go above the status line."""

    def __init__(self, out: TextIO, write: Callable[[str], int]) -> None:
        self._out = out
        self.write = write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)
