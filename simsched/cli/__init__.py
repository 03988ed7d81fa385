"""The command line, `simsched run scenario.py` and the rest: one small file for each command.

Whatever is heavy is imported inside the commands, so that a module's process is up quickly.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line; its exit code: 0 all well, 1 a run failed, 2 wrong input, 130 Ctrl-C."""
    from simsched.cli.app import call

    return call(list(sys.argv[1:] if argv is None else argv))
