"""The master: from the first HELLO to the last FINAL.

`run` is the whole story: join, initialize, step until tmax, finalize, in any case. What a step is
stands in `steps.py`, what a wait is in `waiting.py`, when a step is due in `pacing.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic_ns
from typing import Any, Protocol

from simsched.datagram import Kind
from simsched.errors import SimschedError
from simsched.image import Image
from simsched.master.absent import Absentees
from simsched.master.ending import Ending
from simsched.master.finite import FiniteCheck
from simsched.master.joining import HowToStart, join
from simsched.master.placement import Placement
from simsched.master.seats import NoWatch, RemoteSeat, Seat, Watch, describe_counters
from simsched.master.steps import Orders, Stepper
from simsched.master.waiting import Notify, Waiter
from simsched.measure import Timings
from simsched.pacing import Pacer, step_count
from simsched.report import Report, TaskReport, lateness_report
from simsched.scenario import Scenario


class Sink(Protocol):
    """Where the rows of a run go."""

    def add(self, row: bytes | bytearray) -> None: ...

    def close(self, summary: Mapping[str, Any]) -> None: ...


OpenSink = Callable[[Image], Sink]


class Scheduler:
    """One run of a scenario over given seats."""

    def __init__(
        self,
        scenario: Scenario,
        image: Image,
        seats: Sequence[Seat],
        open_sink: OpenSink,
        *,
        early: bool = True,
        watch: Watch | None = None,
        notify: Notify = print,
        how_to_start: HowToStart = lambda name: "start it",
        placement: Placement | None = None,
        started: frozenset[str] = frozenset(),
    ) -> None:
        self.scenario = scenario
        self.image = image
        self.seats = tuple(seats)
        self.step = -1
        """The step under way, for whoever shows progress."""
        first, dt, tmax = (scenario.database.fields[name].initial for name in ("t", "dt", "tmax"))
        self.t0, self.dt = float(first), float(dt)
        self.steps = step_count(self.t0, self.dt, float(tmax))
        self.notices: list[str] = []
        self.pacer: Pacer | None = None
        self._phase = "the start"
        self._open_sink = open_sink
        self._notify_user = notify
        self._watch = watch or NoWatch()
        self._how_to_start = how_to_start
        self._placement = placement or Placement("free")
        self.waiter = Waiter(self.seats, self._watch, self.notify, self.where)
        self._stepper = Stepper(image, self.waiter)
        self._orders = Orders(self.seats, image, early)
        self._measured: dict[str, Timings] = {}
        self._jacobi = scenario.settings.coupling == "jacobi"
        self._finite = FiniteCheck(image, scenario.settings.strict, self.where, self.notify)
        self._ending = Ending(self.seats, image, self.waiter, self._watch, started)
        self._began_ns = monotonic_ns()
        self._absent = Absentees(self.seats, started, self.notify)

    def notify(self, text: str) -> None:
        """Tell the user something that does not end the run; kept for the report."""
        self.notices.append(text)
        self._notify_user(text)

    @property
    def placement(self) -> str:
        """On which cores the processes are, in words."""
        return self._placement.described

    def where(self) -> str:
        """Where the run is, for messages."""
        return self._phase or f"step {self.step}, t = {self.t0 + self.step * self.dt:.9g} s"

    def run(self) -> Report:
        """The whole run; what ends it early is raised after every module was sent to Idle."""
        ended = "tmax"
        try:
            sink = self._begin()
        except BaseException:
            self._finish_after_failure()
            raise
        try:
            ended = self._loop(sink)
            self._finish()
        except BaseException as error:
            ended = f"{type(error).__name__}: {error}"
            try:
                self._finish_after_failure()
            finally:  # a second Ctrl-C ends the wait for modules; what was recorded is kept all the same
                self._close_after_failure(sink, ended)
            raise
        report = self.report(ended)
        sink.close(report.as_dict())
        return report

    def _begin(self) -> Sink:
        settings = self.scenario.settings
        join(self.seats, settings.wait_s, self._watch, self.notify, self._how_to_start)
        self._phase = "Initialize"
        self.image.reset()
        for seat in self.seats:
            if seat.present:
                self.initialize(seat)
            seat.timings = Timings()  # what joining and starting took is not the run's
        self._phase = ""
        self._began_ns = monotonic_ns()
        return self._open_sink(self.image)

    def initialize(self, seat: Seat) -> None:
        """Send INIT to one seat and take the initial conditions that it sets."""
        seat.initialized = True
        if seat.task.raw and seat.is_remote and "cmd" not in seat.task.reads:
            return  # it knows no INIT: its first step is its start
        self.image.set_command(Kind.INIT)
        seat.post(Kind.INIT, b"".join(seat.sources))
        self.image.set_command(Kind.STEP)
        if seat.task.no_answer:
            return
        if seat.task.raw and isinstance(seat, RemoteSeat):
            wait_s = self.scenario.settings.wait_s  # it cannot say HELLO: this is where it may be late
            seat.deadline_ns = None if wait_s is None else monotonic_ns() + round(wait_s * 1e9)
        if not seat.collect():
            self.waiter.one(seat)
        if seat.present:
            self._stepper.merge(seat)

    def _loop(self, sink: Sink) -> str:
        """Steps until there are no more; why the run ended."""
        settings = self.scenario.settings
        if settings.real_time:
            self.pacer = Pacer(self.dt, monotonic_ns(), settings.overrun)  # type: ignore[arg-type]
        data, set_time, add = self.image.data, self.image.set_time, sink.add
        t0, dt, stepper = self.t0, self.dt, self._stepper
        total = self.steps
        k = 0
        while total is None or k < total:
            self.step = k
            if self.pacer is not None:
                self._release(k)
            set_time(t0 + k * dt)
            self._one(k)
            add(data)
            if self.pacer is not None:
                self.pacer.finished(k, monotonic_ns())
            if stepper.stopping:
                return self._who_stopped()
            if k & 15 == 15:
                self._placement.consider(k, self.seats, self._orders.at(k).plan)
                self.waiter.notice_ended()
            if self._absent.is_needed:
                self._absent.look(self)
            k += 1
        return "tmax"

    def _one(self, k: int) -> None:
        order = self._orders.at(k)
        if self._jacobi:
            self._stepper.jacobi(order.seats)
        elif order.can_overlap and self._placement.overlaps:
            self._stepper.overlapping(order.seats, order.plan)
        else:
            self._stepper.in_order(order.seats)
        if not order.is_finite():
            self._finite.name(order)

    def _release(self, k: int) -> None:
        pacer = self.pacer
        if pacer is None:
            return
        self.waiter.sleep_until(pacer.due_ns(k))
        pacer.released(k, monotonic_ns())

    def _who_stopped(self) -> str:
        names = [seat.task.name for seat in self.seats if seat.stopping]
        return f"asked by {', '.join(names)}"

    def _finish(self) -> None:
        self._end_measuring()
        self._ending.finish()

    def _finish_after_failure(self) -> None:
        self._end_measuring()
        self._ending.abandon(self.notify)

    def _end_measuring(self) -> None:
        """What finalizing takes is not the run's."""
        self._phase = "Finalize"
        if not self._measured:
            for seat in self.seats:
                self._measured[seat.task.name], seat.timings = seat.timings, Timings()

    def _close_after_failure(self, sink: Sink, ended: str) -> None:
        try:
            sink.close(self.report(ended).as_dict())
        except SimschedError as error:  # the first error is the one to raise
            self.notify(f"while closing the recording: {error}")

    def report(self, ended: str) -> Report:
        """How the run went so far."""
        reasons = [f"{seat.task.name}: {seat.stop_reason}" for seat in self.seats if seat.stop_reason]
        tasks = {
            seat.task.name: _task_report(seat, self._measured.get(seat.task.name, seat.timings))
            for seat in self.seats
        }
        pacer = self.pacer
        return Report(
            steps=self.step + 1,
            t=self.t0 + max(self.step, 0) * self.dt,
            wall_s=(monotonic_ns() - self._began_ns) / 1e9,
            ended="; ".join(reasons) or ended,
            tasks=tasks,
            real_time=None if pacer is None else lateness_report(pacer),
            warnings=tuple(self.notices),
            placement=self._placement.described,
        )

    def close(self) -> None:
        """Let go of sockets."""
        self.waiter.close()
        for seat in self.seats:
            seat.close()


def _task_report(seat: Seat, timings: Timings) -> TaskReport:
    summary = timings.summary()
    return TaskReport(
        summary, **describe_counters(seat), round_trip_histogram=tuple(timings.round_trip.octaves())
    )
