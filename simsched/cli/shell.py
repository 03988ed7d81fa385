"""What all commands have in common: how errors and signals become texts and exit codes."""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn, ParamSpec

import typer

from simsched.errors import SimschedError, UserError

FAILED, WRONG_INPUT, BY_SIGNAL = 1, 2, 128

_Given = ParamSpec("_Given")


class Ended(KeyboardInterrupt):
    """A signal asks the command to end; treated as Ctrl-C is, but for the exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def reported(command: Callable[_Given, int | None]) -> Callable[_Given, None]:
    """A command whose errors are told in plain text; a traceback is left to real bugs."""

    @functools.wraps(command)
    def wrapped(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except SimschedError as error:
            with contextlib.suppress(BrokenPipeError):
                sys.stdout.flush()  # what was said of the run stands before what ended it
            print(error, file=sys.stderr, flush=True)
            code = exit_code(error)
        except KeyboardInterrupt as error:
            code = exit_code(error)
        if code:
            raise typer.Exit(code)

    # typer asks for a command's own return type, which is of no use to it
    wrapped.__annotations__ = {**wrapped.__annotations__, "return": None}
    return wrapped


def exit_code(error: BaseException) -> int:
    """The exit code that says what kind of end this was."""
    if isinstance(error, KeyboardInterrupt):
        return BY_SIGNAL + (error.number if isinstance(error, Ended) else signal.SIGINT)
    return WRONG_INPUT if isinstance(error, UserError) else FAILED


def end_in_order() -> None:
    """Let SIGTERM and a closed terminal end this process as Ctrl-C does: with everything closed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise Ended(number)
