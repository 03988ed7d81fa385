"""The loop of a module: wait for the master, do what it asks, answer; until told to stop."""

from __future__ import annotations

import os
import sys
from time import monotonic_ns
from typing import Any

from simsched.datagram import MOST_KEY, Drop, Flag
from simsched.errors import BadKey, ModuleError
from simsched.exchange import STEP_ONLY, Send, Wire, Work
from simsched.manager import Manager
from simsched.raw import RawResponder
from simsched.responder import Responder
from simsched.states import Message, State
from simsched.status import Status
from simsched.tasks import Task
from simsched.transport import Listener, UdpTransport
from simsched.transport.base import BUFFER_SIZE

LINGER_NS = 2_000_000_000
"""A failed module answers repeats for so long, should the word of its error be lost."""


_WHY_DROPPED = {
    Drop.FOREIGN: "it is not of our kind; does something else send to this address?",
    Drop.SIGNATURE: "its signature is wrong or missing; give the master and this module the same key",
    Drop.LAYOUT: "its layout is another; start the master and this module from the same scenario",
    Drop.TASK: "it is meant for another task; check Addr of both",
}
"""The drops that a user can do something about; the others are those of any network."""


def wire_of(task: Task, key: bytes | None) -> Wire:
    """What both ends of a task agree on; BadKey if the key cannot be one."""
    if key is not None and not 1 <= len(key) <= MOST_KEY:
        raise BadKey(f"the key has {len(key)} bytes; wanted 1 to {MOST_KEY}: choose another")
    return Wire(
        task.name, task.number, task.layout_id, task.layout_in.text, task.layout_out.text,
        task.layout_in.size, task.layout_out.size, None if task.raw else key,
    )  # fmt: skip


def make_responder(task: Task, key: bytes | None) -> Responder | RawResponder:
    """The protocol of a task's kind, at the module's end."""
    if not task.raw:
        return Responder(wire_of(task, key))
    cmd_at = task.layout_in.offset("cmd") if "cmd" in task.reads else None
    return RawResponder(wire_of(task, None), cmd_at, task.no_answer)


def serve(manager: Manager, *, parent: int | None = None) -> None:
    """Serve runs until STOP, or until the model fails: then ModuleError, after the master was told.

    `parent` is the process that started this one: when that is gone, so is the reason to wait.
    """
    transport = manager.transport or UdpTransport()
    listener = transport.listen(manager.task)
    try:
        with Status(manager.task, manager.scenario) as status:
            _Server(manager, listener, status, parent).loop()
    finally:
        listener.close()


class _Server:
    """One module at its listener."""

    def __init__(self, manager: Manager, listener: Listener, status: Status, parent: int | None) -> None:
        self._manager = manager
        self._listener = listener
        self._status = status
        self._parent = parent
        self._responder = make_responder(manager.task, manager.key)
        self._failure: ModuleError | None = None
        self._told: set[Drop] = set()
        self._give_up_ns = 0

    def loop(self) -> None:
        self._status.entered(State.IDLE)
        try:
            while not self._is_over():
                self._serve_many()
        except KeyboardInterrupt:
            self._finalize_if_running()
            raise
        if self._failure is not None:
            raise self._failure

    def _is_over(self) -> bool:
        if self._manager.state is State.STOPPED:
            return True
        if self._failure is not None and monotonic_ns() > self._give_up_ns:
            return True
        if self._parent is not None and os.getppid() != self._parent:
            self._finalize_if_running()
            return True
        return False

    def _serve_many(self) -> None:
        """Serve until something other than a step happens, or nothing for a while."""
        receive, send = self._listener.receive, self._listener.send
        responder, manager, status = self._responder, self._manager, self._status
        heard, answer, step = responder.receive, responder.answer, manager.step
        at = responder.payload_at
        end = at + manager.task.layout_in.size
        running = State.RUN
        buffer = bytearray(BUFFER_SIZE)
        while True:
            try:
                size, peer = receive(buffer)
            except BlockingIOError:
                return status.waited(monotonic_ns())
            now_ns = monotonic_ns()
            work = heard(buffer, size, now_ns, peer)
            if type(work) is not Work or work.kinds != STEP_ONLY or manager.state is not running:
                return self._other(work, buffer[at:end], peer)
            try:
                result = step(buffer[at:end])
            except ModuleError as error:
                return self._fail(error, work, peer)
            if manager.stop_reason is not None:
                responder.flags = Flag.STOPPING
            if work.answer:
                send(answer(result, monotonic_ns()), peer)
            status.stepped(now_ns)

    def _other(self, work: Work | Send | None, payload: bytearray, peer: Any) -> None:
        if isinstance(work, Send):
            self._listener.send(work.data, peer)
        elif isinstance(work, Work):
            self._do(work, payload, peer)
        else:
            self._tell_drops(peer)

    def _tell_drops(self, peer: Any) -> None:
        """Say once for each cause why somebody is not answered: he sees nothing but silence."""
        for reason in self._responder.dropped:
            if reason in _WHY_DROPPED and reason not in self._told:
                self._told.add(reason)
                print(
                    f"{self._manager.task.name}: ignored a datagram of {_shown(peer)}: {_WHY_DROPPED[reason]}"
                )

    def _do(self, work: Work, payload: bytearray, peer: Any) -> None:
        result: bytes | bytearray = b""
        try:
            for kind in work.kinds:
                result = self._message(Message(int(kind)), payload[:])
        except ModuleError as error:
            return self._fail(error, work, peer)
        if work.answer:
            self._listener.send(self._responder.answer(result, monotonic_ns()), peer)
        if self._manager.state is State.IDLE:
            self._responder.flags = 0

    def _message(self, message: Message, payload: bytearray) -> bytes | bytearray:
        manager = self._manager
        size_in = manager.task.layout_in.size
        result = manager.handle(message, payload if len(payload) == size_in and size_in else None)
        self._responder.state = manager.state
        self._responder.flags = Flag.STOPPING if manager.stop_reason is not None else 0
        self._status.entered(manager.state, message)
        if message is Message.FINAL and manager.stop_reason:
            return manager.stop_reason.encode()
        return result

    def _fail(self, error: ModuleError, work: Work, peer: Any) -> None:
        """Tell the master, and go on listening for a moment should the word be lost."""
        self._failure = error
        self._give_up_ns = monotonic_ns() + LINGER_NS
        self._responder.state = self._manager.state = State.ERROR
        self._status.entered(State.ERROR)
        print(error, file=sys.stderr, flush=True)
        if work.answer:
            self._listener.send(self._responder.error(str(error), monotonic_ns()), peer)
        else:
            self._give_up_ns = 0

    def _finalize_if_running(self) -> None:
        if self._manager.state is State.RUN:
            self._manager.handle(Message.FINAL, None)


def _shown(peer: Any) -> str:
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else str(peer)
