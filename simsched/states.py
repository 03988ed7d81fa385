"""The state machine of a module: one table, read by Python, by C++ and by the docs.

Pure: no I/O. `TABLE[state, message]` gives the next state and the method of the model that is
called on the way. What is not in the table is refused with an error that names both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    """Where a module is; its number travels in every datagram."""

    IDLE = 0
    RUN = 1
    ERROR = 2
    STOPPED = 3

    @property
    def label(self) -> str:
        return self.name.capitalize()


class Message(IntEnum):
    """What moves the machine. The first four are the values of `cmd` on the wire."""

    INIT = 1
    STEP = 2
    FINAL = 3
    STOP = 4
    FAIL = 5
    """From inside: a method of the model raised."""


@dataclass(frozen=True)
class Transition:
    """Where a message leads, and which method of the model runs on the way."""

    to: State
    method: str | None


TABLE: dict[tuple[State, Message], Transition] = {
    (State.IDLE, Message.INIT): Transition(State.RUN, "Initialize"),
    (State.IDLE, Message.FINAL): Transition(State.IDLE, None),
    (State.IDLE, Message.STOP): Transition(State.STOPPED, None),
    (State.RUN, Message.STEP): Transition(State.RUN, "Run"),
    (State.RUN, Message.FINAL): Transition(State.IDLE, "Finalize"),
    (State.RUN, Message.STOP): Transition(State.STOPPED, "Finalize"),
    (State.RUN, Message.FAIL): Transition(State.ERROR, None),
    (State.IDLE, Message.FAIL): Transition(State.ERROR, None),
    (State.ERROR, Message.FINAL): Transition(State.STOPPED, None),
    (State.ERROR, Message.STOP): Transition(State.STOPPED, None),
}


def transition(state: State, message: Message) -> Transition | None:
    """The table's row, or None where the message is refused."""
    return TABLE.get((state, message))


def mermaid() -> str:
    """The state diagram of the docs, drawn from the table."""
    lines = ["stateDiagram-v2", "    [*] --> Idle : Setup"]
    for (state, message), row in TABLE.items():
        target = "[*]" if row.to is State.STOPPED else row.to.label
        call = f" / {row.method}" if row.method else ""
        lines.append(f"    {state.label} --> {target} : {message.name}{call}")
    return "\n".join(lines)


def markdown() -> str:
    """The table of the docs."""
    lines = ["| state | message | next state | method called |", "| --- | --- | --- | --- |"]
    for (state, message), row in TABLE.items():
        lines.append(f"| {state.label} | {message.name} | {row.to.label} | {row.method or '-'} |")
    return "\n".join(lines)
