"""What a run shows while it goes on: a live display on a terminal, plain lines anywhere else.

Progress is looked at by a thread that reads counters only, a few times a second, so that the loop is
not slowed. The thread starts when the processes are up: before, it would forbid to fork them.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from contextlib import AbstractContextManager
from time import monotonic_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any

from simsched.launch.progress import Progress, duration, facts, snapshot
from simsched.scheduler import Scheduler

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

LIVE_S = 0.25
PLAIN_S = 10.0
COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "red")
NOTE = "yellow"


class Console(AbstractContextManager["Console"]):
    """Plain lines: what suits a pipe, a file, a log; also the face of the live one."""

    every_s = PLAIN_S

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._scheduler: Scheduler | None = None
        self._progress = Progress(1.0, None)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_deaf = False

    def say(self, text: str) -> None:
        """A line of the run itself; nothing when quiet."""
        if not self.quiet:
            self._line(text)

    def show(self, task: str, line: str) -> None:
        """A line that a module has printed."""
        self._line(f"{task} | {line}")

    def notify(self, text: str) -> None:
        """Something that the user should know, and that does not end the run."""
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
        print(text, file=sys.stderr, flush=True)

    def started(self, scheduler: Scheduler) -> None:
        """The processes are up: begin to show progress."""
        self._scheduler = scheduler
        self._progress = Progress(scheduler.dt, scheduler.steps)
        if not self.quiet:
            self._thread = threading.Thread(target=self._look, name="simsched console", daemon=True)
            self._thread.start()

    def _look(self) -> None:
        while not self._closing.wait(self.every_s):
            self._refresh()

    def _refresh(self) -> None:
        scheduler = self._scheduler
        if scheduler is not None:
            self._progress.add(snapshot(scheduler, monotonic_ns()))
            self.say(
                " · ".join([where(scheduler, self._progress), *facts(self._progress, scheduler.placement)])
            )

    def _line(self, text: str) -> None:
        """One write, lest lines of two threads mix; a reader that has left ends no run."""
        if self._is_deaf:
            return
        try:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._is_deaf = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Show no more progress; lines may still follow."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


class LiveConsole(Console):
    """A display at the bottom of the terminal, and above it what modules print, in their colours."""

    every_s = LIVE_S

    def __init__(self, quiet: bool = False, rich: RichConsole | None = None) -> None:
        from rich.console import Console as RichConsole

        super().__init__(quiet)
        self._rich = rich or RichConsole(highlight=False)
        self._live: Any = None
        self._colours: dict[str, str] = {}

    def show(self, task: str, line: str) -> None:
        from rich.text import Text

        colour = self._colours.setdefault(task, COLOURS[len(self._colours) % len(COLOURS)])
        words = Text.from_ansi(line) if "\x1b" in line else Text(line)
        self._rich.print(Text.assemble((f"{task} | ", colour), words), soft_wrap=True)

    def notify(self, text: str) -> None:
        from rich.text import Text

        self._rich.print(Text(text, NOTE), soft_wrap=True)

    def _line(self, text: str) -> None:
        self._rich.print(text, markup=False, soft_wrap=True)

    def started(self, scheduler: Scheduler) -> None:
        if not self.quiet:
            from rich.live import Live

            # what modules in this very process print goes above the display too
            self._live = Live(console=self._rich, auto_refresh=False, transient=True)
            self._live.start()
        super().started(scheduler)

    def _refresh(self) -> None:
        scheduler = self._scheduler
        if scheduler is not None and self._live is not None:
            self._progress.add(snapshot(scheduler, monotonic_ns()))
            self._live.update(self._display(scheduler), refresh=True)

    def _display(self, scheduler: Scheduler) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        share = self._progress.share
        bar = ProgressBar(100, 100 * (share or 0.0), width=None, pulse=share is None)
        head = Table.grid(padding=(0, 1), expand=True)
        head.add_column(no_wrap=True)
        head.add_column(ratio=1)
        head.add_column(no_wrap=True)
        head.add_row(Text(where(scheduler, self._progress), "bold"), bar, _left(self._progress))
        words = " · ".join(facts(self._progress, scheduler.placement))
        return Group(head, Text(words, "dim", no_wrap=False))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self._live is not None:
            self._live.stop()
            self._live = None


def make_console(quiet: bool = False) -> Console:
    """The console that suits where standard output goes."""
    return LiveConsole(quiet) if sys.stdout.isatty() else Console(quiet)


def where(scheduler: Scheduler, progress: Progress) -> str:
    """`t 3.42 / 10 s`, or what goes on before the first step."""
    if progress.last is None:
        return scheduler.where()
    t = scheduler.t0 + progress.last.step * scheduler.dt
    if scheduler.steps is None:
        return f"t {t:.6g} s"
    return f"t {t:.6g} / {scheduler.t0 + scheduler.steps * scheduler.dt:.6g} s"


def _left(progress: Progress) -> str:
    remaining_s = progress.remaining_s
    share = "" if progress.share is None else f"{100 * progress.share:3.0f} %"
    return share if remaining_s is None else f"{share}  {duration(remaining_s)} left"
