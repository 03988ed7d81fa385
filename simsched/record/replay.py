"""Yesterday's rig, today's controller: a recorded task in the place of the real one.

A recording holds what every task answered at every step (where a later task overwrote it, in the
shadow `Task.field`), so a seat can give the same answers again, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

import numpy as np

from simsched.datagram import Kind
from simsched.errors import RecordingError, choices
from simsched.image import Image
from simsched.master.seats import Seat
from simsched.record.reader import load
from simsched.results import Results
from simsched.tasks import Task


class ReplaySeat(Seat):
    """Answers with what a task answered in a recorded run."""

    def __init__(self, task: Task, image: Image, recording: Results) -> None:
        super().__init__(task, image)
        self._recording = recording
        self._answers = _packed_answers(task, recording)
        self._initial = _packed_initial(task, recording)
        self._next = task.phase

    def post(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.INIT:
            self.buffer, self._next = bytearray(self._initial), self.task.phase
        elif kind is Kind.STEP:
            self._answer()

    def _answer(self) -> None:
        size = self.task.layout_out.size
        start = self._next * size
        self._next += self.task.every
        if start + size > len(self._answers):
            self.failure = (
                f"the recording has {len(self._recording)} steps, and step {self._next - self.task.every} "
                f"is asked for: end the run sooner (tmax)"
            )
            return
        self.buffer = bytearray(self._answers[start : start + size])

    def collect(self) -> bool:
        return self.failure is None


class Replays:
    """Makes the seats of some tasks from a recording: what `Options.replaced` takes."""

    def __init__(self, path: str | PathLike[str], tasks: Sequence[str]) -> None:
        self.recording = load(path)
        self._tasks = tuple(tasks)
        if self.recording.metadata.get("simsched.every", "1") != "1":
            raise RecordingError(
                f"{path}: holds every {self.recording.metadata['simsched.every']}th step alone; "
                f"a replay needs all of them: record again without decimation"
            )

    def seats(self, scenario_tasks: Sequence[Task]) -> Mapping[str, _Maker]:
        """By name, how to make the seat of each replayed task; RecordingError for what is not there."""
        by_name = {task.name: task for task in scenario_tasks}
        for name in self._tasks:
            if name not in by_name:
                raise RecordingError(f"task '{name}' is not in Tasks{choices(name, by_name, 'tasks')}")
            self._check(by_name[name])
        return {name: _Maker(self.recording) for name in self._tasks}

    def _check(self, task: Task) -> None:
        """That every field which the task writes was recorded, with the same layout."""
        for name in task.merged:
            found = self.recording.members.get(_source(task, name, self.recording))
            wanted = next(member for member in task.layout_out.fields if member.name == name)
            if found is None:
                raise RecordingError(
                    f"task '{task.name}': its field '{name}' is not in the recording"
                    f"{choices(name, self.recording.members, 'recorded')}"
                )
            if (found.layout.type, found.layout.shape) != (wanted.type, wanted.shape):
                raise RecordingError(
                    f"task '{task.name}': field '{name}' is {wanted.text} in the scenario and "
                    f"{found.layout.text} in the recording"
                )


class _Maker:
    def __init__(self, recording: Results) -> None:
        self._recording = recording

    def __call__(self, task: Task, image: Image) -> ReplaySeat:
        return ReplaySeat(task, image, self._recording)


def _source(task: Task, name: str, recording: Results) -> str:
    shadow = f"{task.name}.{name}"
    return shadow if shadow in recording.members else name


def _packed_answers(task: Task, recording: Results) -> bytes:
    """The Out payload of every recorded step, one after another."""
    out = np.zeros(len(recording), task.layout_out.dtype)
    for name in task.merged:
        out[name] = recording.rows[_source(task, name, recording)]
    return out.tobytes()


def _packed_initial(task: Task, recording: Results) -> bytes:
    """What the task answered when it was initialized."""
    out = bytearray(task.layout_out.size)
    for name in task.merged:
        packed = recording.initial.bytes_of(_source(task, name, recording))
        if packed is None:
            raise RecordingError(f"task '{task.name}': the recording does not tell the initial '{name}'")
        start = task.layout_out.offset(name)
        out[start : start + len(packed)] = packed
    return bytes(out)
