"""A master that is a module itself: its own `Run` is called at its place in `Tasks`."""

from __future__ import annotations

import secrets
import sys

from simsched.image import Image
from simsched.manager import Manager
from simsched.master.seats import InlineSeat, RemoteSeat, Seat
from simsched.metadata import describe
from simsched.record import NullRecorder, Recorder
from simsched.report import Report
from simsched.scheduler import Scheduler, Sink
from simsched.transport import UdpTransport


def new_session() -> int:
    """A number for a run that no other run has."""
    return secrets.randbits(32) or 1


def lead(manager: Manager) -> Report:
    """Run the scenario once from a master module; the others wait in their own processes."""
    scenario = manager.scenario
    image = Image(scenario.database, scenario.tasks)
    transport = manager.transport or UdpTransport()
    session = new_session()
    seats: list[Seat] = [
        InlineSeat(task, image, manager)
        if task.name == manager.task.name
        else RemoteSeat(task, image, transport, session, manager.key)
        for task in scenario.tasks
    ]

    def open_sink(started: Image) -> Sink:
        if manager.record is None:
            return NullRecorder()
        return Recorder(
            manager.record,
            started.fields,
            metadata=describe(scenario),
            initial=bytes(started.data),
            overwrite=True,
        )

    scheduler = Scheduler(scenario, image, seats, open_sink, notify=_say, how_to_start=_by_hand)
    try:
        return scheduler.run()
    finally:
        scheduler.close()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _by_hand(name: str) -> str:
    return f"start the module of '{name}' in another terminal"
