"""The typer application: every command under its name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from simsched._version import __version__
from simsched.cli.shell import WRONG_INPUT, reported

COMMANDS = ("run", "module", "check", "graph", "new", "export", "replay", "doctor")
"""Each is the function of its name in the file of its name."""


def call(args: list[str]) -> int:
    """Carry out a command line; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show µ ends no run
    try:
        make_app(needed(args), is_help_for_people(args))(args, prog_name="simsched", obj=args)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else WRONG_INPUT if ended.code else 0
    return 0


def needed(args: Sequence[str]) -> Sequence[str]:
    """The commands that a command line is about: preparing the others takes longer than a module's start."""
    return args[:1] if args and args[0] in COMMANDS else COMMANDS


def is_help_for_people(args: list[str]) -> bool:
    """Whether help is asked for on a terminal; all else, errors of usage too, is plain text."""
    return sys.stdout.isatty() and (not args or "--help" in args)


def make_app(commands: Sequence[str], is_coloured: bool) -> typer.Typer:
    """The application with these commands, its help in colours or plain."""
    app = typer.Typer(
        name="simsched",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if is_coloured else None,
    )
    app.callback()(_simsched)
    for name in commands:
        command = getattr(importlib.import_module(f"simsched.cli.{name}"), name)
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
