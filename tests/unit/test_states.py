"""The one table of the state machine, and what the docs draw from it."""

from __future__ import annotations

from itertools import product

import pytest

from simsched.datagram import Kind
from simsched.states import TABLE, Message, State, markdown, mermaid, transition

REFUSED = {
    (State.IDLE, Message.STEP),
    (State.RUN, Message.INIT),
    (State.ERROR, Message.INIT),
    (State.ERROR, Message.STEP),
    (State.ERROR, Message.FAIL),
    *((State.STOPPED, message) for message in Message),
}
"""What has no row, each on purpose."""


def test_every_pair_is_either_in_the_table_or_refused_on_purpose() -> None:
    every = set(product(State, Message))
    assert set(TABLE) | REFUSED == every
    assert set(TABLE) & REFUSED == set()


@pytest.mark.parametrize(("state", "message"), sorted(REFUSED))
def test_a_refused_message_has_no_transition(state: State, message: Message) -> None:
    assert transition(state, message) is None


@pytest.mark.parametrize(
    ("state", "message", "to", "method"),
    [
        (State.IDLE, Message.INIT, State.RUN, "Initialize"),
        (State.RUN, Message.STEP, State.RUN, "Run"),
        (State.RUN, Message.FINAL, State.IDLE, "Finalize"),
        (State.RUN, Message.STOP, State.STOPPED, "Finalize"),
        (State.IDLE, Message.FINAL, State.IDLE, None),
        (State.IDLE, Message.STOP, State.STOPPED, None),
        (State.IDLE, Message.FAIL, State.ERROR, None),
        (State.RUN, Message.FAIL, State.ERROR, None),
        (State.ERROR, Message.FINAL, State.STOPPED, None),
        (State.ERROR, Message.STOP, State.STOPPED, None),
    ],
)
def test_the_rows(state: State, message: Message, to: State, method: str | None) -> None:
    row = transition(state, message)
    assert row is not None
    assert (row.to, row.method) == (to, method)


def test_every_state_but_the_last_can_be_stopped() -> None:
    for state in set(State) - {State.STOPPED}:
        row = transition(state, Message.STOP)
        assert row is not None and row.to is State.STOPPED


def test_a_run_that_began_is_finalized_whichever_way_it_is_ended() -> None:
    leaving = [row for (state, message), row in TABLE.items() if state is State.RUN and row.to is not state]
    assert {row.method for row in leaving if row.to is not State.ERROR} == {"Finalize"}


def test_the_numbers_of_the_wire_do_not_change() -> None:
    assert [(state.name, int(state)) for state in State] == [
        ("IDLE", 0), ("RUN", 1), ("ERROR", 2), ("STOPPED", 3),
    ]  # fmt: skip
    assert [(message.name, int(message)) for message in Message] == [
        ("INIT", 1), ("STEP", 2), ("FINAL", 3), ("STOP", 4), ("FAIL", 5),
    ]  # fmt: skip
    assert [Kind(int(message)).name for message in list(Message)[:4]] == ["INIT", "STEP", "FINAL", "STOP"]


def test_the_diagram_draws_each_row_once() -> None:
    head, start, *arrows = mermaid().splitlines()
    assert (head, start.strip()) == ("stateDiagram-v2", "[*] --> Idle : Setup")
    assert len(arrows) == len(set(arrows)) == len(TABLE)
    assert "    Idle --> Run : INIT / Initialize" in arrows
    assert "    Run --> [*] : STOP / Finalize" in arrows
    assert "    Run --> Error : FAIL" in arrows


def test_the_table_of_the_docs_tells_each_row() -> None:
    _, _, *rows = markdown().splitlines()
    assert len(rows) == len(TABLE)
    for (state, message), row in TABLE.items():
        method = row.method or "-"
        assert f"| {state.label} | {message.name} | {row.to.label} | {method} |" in rows
