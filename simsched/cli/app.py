"""The typer application: every command under its name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from simsched._version import __version__
from simsched.cli.check import check
from simsched.cli.doctor import doctor
from simsched.cli.export import export
from simsched.cli.graph import graph
from simsched.cli.module import module
from simsched.cli.new import new
from simsched.cli.replay import replay
from simsched.cli.run import run
from simsched.cli.shell import WRONG_INPUT, reported

COMMANDS: dict[str, Callable[..., int | None]] = {
    "run": run,
    "module": module,
    "check": check,
    "graph": graph,
    "new": new,
    "export": export,
    "replay": replay,
    "doctor": doctor,
}


def call(args: list[str]) -> int:
    """Carry out a command line; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show µ ends no run
    try:
        make_app(is_help_for_people(args))(args, prog_name="simsched", obj=args)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else WRONG_INPUT if ended.code else 0
    return 0


def is_help_for_people(args: list[str]) -> bool:
    """Whether help is asked for on a terminal; all else, errors of usage too, is plain text."""
    return sys.stdout.isatty() and (not args or "--help" in args)


def make_app(is_coloured: bool) -> typer.Typer:
    """The application, with its help in colours or plain."""
    app = typer.Typer(
        name="simsched",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if is_coloured else None,
    )
    app.callback()(_simsched)
    for name, command in COMMANDS.items():
        app.command(name)(reported(command))
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"simsched {__version__}")
        raise typer.Exit


def _simsched(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Co-simulation of Python models, flight code and rigs, in the order that you declare.

    Begin with: simsched new my_project
    """
