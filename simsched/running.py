"""`simsched.run`: a scenario to its results, with processes or in one, the same numbers either way."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simsched.errors import LaunchError, Problem, ScenarioError, choices
from simsched.image import Image, Overrides
from simsched.launch.child import build, make_module
from simsched.launch.jobs import make_jobs
from simsched.launch.output import ShowLine
from simsched.launch.processes import Processes
from simsched.loading import load_scenario
from simsched.master.lead import new_session
from simsched.master.placement import Placement
from simsched.master.seats import InlineSeat, RemoteSeat, Seat
from simsched.metadata import describe
from simsched.module import Module
from simsched.record import MemoryRecorder, NullRecorder, Recorder, import_writer, load
from simsched.report import Report
from simsched.results import Results
from simsched.scenario import Scenario
from simsched.scheduler import Scheduler, Sink
from simsched.transport import Transport, UdpTransport

MakeSeat = Callable[[Any, Image], Seat]


@dataclass
class Options:
    """How to run, as far as it does not change the numbers, and what to keep of them."""

    in_process: bool = False
    record: Path | None = None
    record_every: int = 1
    record_fields: Sequence[str] | None = None
    keep: bool = True
    """Without `record`: keep the rows in memory for the results."""
    early: bool = True
    placement: str = "auto"
    key: bytes | None = None
    start: bool = True
    """Start the modules; False: they are started by somebody else."""
    stop: frozenset[str] = frozenset()
    """Tasks to stop at the end as if they had been started here: somebody has started them for this run."""
    modules: Mapping[str, type[Module]] = field(default_factory=dict)
    """Classes to use for tasks, in one process, in place of what their `Module` names."""
    replaced: Mapping[str, MakeSeat] = field(default_factory=dict)
    """Seats to use in place of modules: how a recording is replayed."""
    transport: Transport | None = None
    notify: Callable[[str], None] = field(default=lambda text: print(text, file=sys.stderr, flush=True))
    show: ShowLine = field(default=lambda task, line: print(f"{task} | {line}", flush=True))
    on_start: Callable[[Scheduler], None] | None = None
    """Called with the scheduler before the first step, by whoever shows progress."""


def run(
    scenario: str | Path | Scenario,
    *,
    in_process: bool = False,
    record: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    without: Sequence[str] = (),
    coupling: str | None = None,
    real_time: bool | None = None,
    overrun: str | None = None,
    strict: bool | None = None,
    **options: Any,
) -> Results:
    """Run a scenario and return its results by field name: `r.t`, `r['w_B']`, `r.report`.

    `set` gives DataBase fields other initial values (dt and tmax among them), `params` sets
    parameters of tasks, `without` leaves noAnswer and Optional tasks out. Further `options` are the
    attributes of `simsched.running.Options`. Raises SimschedError when the run fails.
    """
    whole = load_scenario(scenario) if isinstance(scenario, str | Path) else scenario
    whole = changed(whole, set or {}, params or {}, without)
    whole = whole.with_settings(coupling=coupling, real_time=real_time, overrun=overrun, strict=strict)
    path = None if record is None else Path(record)
    return execute(whole, Options(in_process=in_process, record=path, **options)).results()


def changed(
    scenario: Scenario,
    values: Mapping[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    without: Sequence[str] = (),
) -> Scenario:
    """The scenario with other initial values and parameters, less some tasks."""
    problems: list[Problem] = []
    database = scenario.database
    names = [task.name for task in scenario.tasks]
    try:
        database = Overrides(values).apply(database)
    except ScenarioError as error:
        problems += error.problems
    for name in (*params, *without):
        if name not in names:
            problems.append(Problem(f"task '{name}'", f"is not in Tasks{choices(name, names, 'tasks')}"))
    for task in scenario.tasks:
        if task.name in without and task.merged and not task.optional:
            problems.append(Problem(f"task '{task.name}'", "cannot be left out: others wait for its answers"))
    if problems:
        raise ScenarioError(problems, scenario.name)
    tasks = tuple(
        replace(task, params={**task.params, **params.get(task.name, {})})
        for task in scenario.tasks
        if task.name not in without
    )
    return replace(scenario, database=database, tasks=tasks)


@dataclass
class Run:
    """A run that has ended."""

    scenario: Scenario
    report: Report
    sink: Sink
    record: Path | None

    def results(self) -> Results:
        """The recorded values, from memory or from the file."""
        if self.record is not None:
            found = load(self.record)
        elif isinstance(self.sink, MemoryRecorder):
            found = self.sink.results()
        else:
            found = Results(self.scenario.database.fields, b"")
        found.report = self.report
        return found


def execute(scenario: Scenario, options: Options) -> Run:
    """Run a checked scenario; every process that was started is gone when this returns or raises."""
    with ExitStack() as stack:
        kwargs: dict[str, Any] = {}
        if options.in_process:
            seats_of = _inline(scenario, options)
        else:
            scenario, seats_of, kwargs = _with_processes(scenario, options, stack)
        image = Image(scenario.database, scenario.tasks)
        seats = [options.replaced.get(task.name, seats_of)(task, image) for task in scenario.tasks]
        sinks: list[Sink] = []

        def open_sink(started: Image) -> Sink:
            sinks.append(_sink(scenario, options, started))
            return sinks[-1]

        scheduler = Scheduler(
            scenario, image, seats, open_sink, early=options.early, notify=options.notify,
            how_to_start=lambda name: how_to_start(scenario, name), **kwargs,
        )  # fmt: skip
        stack.callback(scheduler.close)
        if options.on_start is not None:
            options.on_start(scheduler)
        report = scheduler.run()
        return Run(scenario, report, sinks[0], options.record)


def _inline(scenario: Scenario, options: Options) -> MakeSeat:
    """All modules made here and now, so that what is wrong with one is known before the run."""
    made = {
        task.name: _module_for(task.name, scenario, options)
        for task in scenario.tasks
        if task.name not in options.replaced
    }
    return lambda task, image: InlineSeat(task, image, made[task.name].Manager)


def _module_for(name: str, scenario: Scenario, options: Options) -> Module:
    if name in options.modules:
        return build(options.modules[name], scenario, name)
    task = scenario.task(name)
    if task.module is None:
        what = "is a Command" if task.command else "has no Module"
        raise LaunchError(
            f"task '{name}' {what}: in one process only Python modules can run; "
            f"give it a Module, or pass modules={{'{name}': SomeClass}}"
        )
    return make_module(scenario, name)


def _with_processes(
    scenario: Scenario, options: Options, stack: ExitStack
) -> tuple[Scenario, MakeSeat, dict[str, Any]]:
    kwargs: dict[str, Any] = {"started": options.stop}
    if options.start:
        jobs = make_jobs(scenario, frozenset(options.replaced))
        scenario = jobs.scenario
        if jobs.jobs:
            processes = stack.enter_context(Processes(jobs, options.show, options.key))
            if options.record is not None:
                threading.Thread(target=import_writer, name="simsched preload", daemon=True).start()
            placement = Placement(options.placement, processes.pids)
            stack.callback(placement.restore)
            kwargs = {"watch": processes, "placement": placement, "started": processes.names}
    transport = options.transport or UdpTransport()
    session = new_session()
    return scenario, lambda task, image: RemoteSeat(task, image, transport, session, options.key), kwargs


def _sink(scenario: Scenario, options: Options, image: Image) -> Sink:
    given: dict[str, Any] = {
        "metadata": describe(scenario),
        "initial": bytes(image.data),
        "every": options.record_every,
        "only": options.record_fields,
    }
    if options.record is not None:
        return Recorder(options.record, image.fields, overwrite=True, **given)
    return MemoryRecorder(image.fields, **given) if options.keep else NullRecorder()


def how_to_start(scenario: Scenario, name: str) -> str:
    """The command that starts a module that nobody has started."""
    if scenario.path is None or scenario.task(name).module is None:
        return "start its module, or give the task a Module"
    return f"start it with: simsched module {scenario.path} {name}"
