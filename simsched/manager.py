"""The manager of one module: its fields, its place in the state machine, its loop.

`handle` takes a message and the packed In fields and gives the packed Out fields; who brings them
(UDP in `serving.py`, the master in its own process in `seats.py`) makes no difference to the model.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from simsched.codec import Codec
from simsched.errors import ModuleError, SimschedError, choices
from simsched.scenario import Scenario
from simsched.states import Message, State, transition
from simsched.tasks import Task
from simsched.values import Packer, Unpacker, pack_value

if TYPE_CHECKING:
    from simsched.report import Report
    from simsched.transport import Transport


class Manager:
    """What stands between a model and the run."""

    def __init__(
        self,
        model: Any,
        scenario: Scenario,
        task: Task,
        *,
        is_master: bool = False,
        transport: Transport | None = None,
        key: bytes | None = None,
        record: str | Path | None = None,
    ) -> None:
        self.model = model
        self.scenario = scenario
        self.task = task
        self.is_master = is_master
        self.transport = transport
        self.key = key
        self.record = record
        self.state = State.IDLE
        self.stop_reason: str | None = None
        fields = scenario.database.fields
        self.attributes = tuple(dict.fromkeys((*task.reads, *task.writes)))
        self._values: dict[str, Any] = vars(model)
        codec = Codec(
            (fields[name] for name in task.reads), (fields[name] for name in task.writes), task.name
        )
        self._unpack, self._pack = codec.scatter, codec.gather
        self._own = {name: fields[name] for name in self.attributes}
        self._set_in_setup: dict[str, bytes] = {}
        self._restore()

    def set_up(self) -> None:
        """Call the model's Setup, and note which of its results it gives initial values of its own."""
        self.model.Setup()
        self._set_in_setup = {
            name: packed
            for name in self.task.merged
            if (packed := self._packed(name)) != pack_value(self._own[name], self._own[name].initial)
        }

    def _packed(self, name: str) -> bytes:
        return Packer([self._own[name]], self.task.name).gather(self._values)

    def _restore(self) -> None:
        """All attributes as they were at the end of Setup."""
        for name, field in self._own.items():
            self._values[name] = field.fresh()

    def Loop(self) -> Report | None:
        """Serve runs until told to stop, or Ctrl-C; the master's loop is one run, and tells how it went."""
        if self.is_master:
            from simsched.master.lead import lead

            return lead(self)
        from simsched.serving import serve

        try:
            serve(self)
        except KeyboardInterrupt:
            print(f"{self.task.name}: interrupted")  # how a module in a terminal of its own is ended
        return None

    def ask_to_stop(self, reason: str) -> None:
        self.stop_reason = reason or "no reason given"

    def handle(self, message: Message, payload: bytearray | None) -> bytes | bytearray:
        """Go through the state machine: set the fields, call the model, gather what it leaves.

        ModuleError carries what the model raised; the state is Error then.
        """
        row = transition(self.state, message)
        if row is None:
            raise ModuleError(f"{message.name} is refused in state {self.state.label}")
        if message is Message.INIT:
            self.stop_reason = None
            self._restore()
        if payload is not None:
            self._unpack(payload, self._values)
        if message is Message.INIT:
            self._apply_setup()
        self._call(row.method)
        self.state = row.to
        return self._gathered() if message in (Message.INIT, Message.STEP) else b""

    def step(self, payload: bytearray) -> bytes | bytearray:
        """`handle(STEP)` without its questions, for the loop; the caller knows that the state is Run."""
        self._unpack(payload, self._values)
        try:
            self.model.Run()
            return self._pack(self._values)
        except (Exception, SystemExit) as error:
            raise self._failed(error) from error

    def _apply_setup(self) -> None:
        for name, packed in self._set_in_setup.items():
            Unpacker([self._own[name]]).scatter(bytearray(packed), self._values)

    def _call(self, method: str | None) -> None:
        if method is None:
            return
        try:
            getattr(self.model, method)()
        except (Exception, SystemExit) as error:  # whatever a model raises is its master's to know
            raise self._failed(error) from error

    def _gathered(self) -> bytes | bytearray:
        try:
            return self._pack(self._values)
        except SimschedError as error:
            raise self._failed(error) from error

    def _failed(self, error: BaseException) -> ModuleError:
        self.state = State.ERROR
        return ModuleError(described(error) + self._hint(error))

    def _hint(self, error: BaseException) -> str:
        """What to do about a field that the model asks for and its task does not name.

        Here and not in a `__getattr__` of the model, which would slow every use of every field.
        """
        if not isinstance(error, AttributeError) or error.obj is not self.model or error.name is None:
            return ""
        named = ", ".join(self.attributes)
        if error.name in self.scenario.database.fields:
            return (
                f"\n'{error.name}' is a field of DataBase, but task '{self.task.name}' names only "
                f"{named}: add it to its Keys or In"
            )
        near = choices(error.name, self.attributes, "fields")
        return f"\n'{error.name}' is no field of task '{self.task.name}'{near}"


def described(error: BaseException) -> str:
    """Type, message and the traceback from the model's own frames on."""
    if isinstance(error, SimschedError):
        return str(error)
    lines = traceback.format_exception(type(error), error, _models_part(error.__traceback__))
    return "".join(lines).rstrip()


def _models_part(trace: TracebackType | None) -> TracebackType | None:
    """Without the frames of this file: they tell the model's author nothing."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__ and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
