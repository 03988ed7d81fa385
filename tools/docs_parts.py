"""The parts of the documentation that are made from the code, by the name that a marker gives."""

from __future__ import annotations

import inspect
import signal
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import docs_api
import docs_cli
import docs_diagrams
import docs_wire

from simsched import errors, states
from simsched.cli import shell
from simsched.database import COMMON
from simsched.datagram import ANSWER, Drop, Flag, Kind
from simsched.layout import TYPES
from simsched.master.placement import MODES
from simsched.options import OPTIONS
from simsched.record import FORMATS
from simsched.scenario import SETTINGS, Settings
from simsched.states import Message

HEADER_WORDS = {
    "magic": "`SSD1`: this protocol, version 1",
    "kind": "what the datagram is for; an answer has the top bit set",
    "state": "the sender's state (a master sends 0)",
    "flags": "see below",
    "layout_id": "CRC-32 of the canonical texts of In and Out, joined by a bar",
    "session": "a random number of the run",
    "sequence": "number of the request; an answer repeats it",
    "task": "place of the task in `Tasks`, from 0",
    "length": "bytes of payload",
    "sent_ns": "when this was sent, on the sender's monotonic clock [ns]",
    "echo_ns": "in an answer: `sent_ns` of the request",
    "recv_ns": "in an answer: when the request arrived, on the module's clock",
}

KIND_WORDS = {
    Kind.INIT: "start a run: In fields there, Out fields back",
    Kind.STEP: "one step: In fields there, Out fields back",
    Kind.FINAL: "end of the run; the answer carries the reason, if the module asked for the end",
    Kind.STOP: "end of the process",
    Kind.HELLO: "who are you: name and canonical layouts, both ways",
    Kind.PING: "the master is alive; no effect on the state",
    Kind.ERROR: "only as an answer: UTF-8 text, type, message and traceback",
}

DROP_WORDS = {
    Drop.SHORT: "shorter than a header",
    Drop.FOREIGN: "does not begin with the magic",
    Drop.LENGTH: "the size is not what the header or the layout says",
    Drop.SIGNATURE: "signed with another key, signed where no key is set, or unsigned where one is",
    Drop.KIND: "a kind that makes no sense here, as a second INIT in one run",
    Drop.LAYOUT: "another layout id",
    Drop.TASK: "meant for another task",
    Drop.SESSION: "of another run",
    Drop.STALE: "late: an answer to an earlier request, or a second copy of one",
}

FLAG_WORDS = {
    Flag.NO_ANSWER: "on a request: do not answer",
    Flag.BUSY: "on an answer: the module is in a run of another session",
    Flag.STOPPING: "on an answer: the module asks to end the run (`self.Stop`)",
    Flag.SIGNED: "16 bytes of keyed BLAKE2s follow the payload",
}

MODE_WORDS = {
    "auto": "start free, look at the measured compute times, then decide; looks again as the run goes on",
    "one": "the master and all modules that it started on one core",
    "free": "cores are left to the operating system",
}

FORMAT_WORDS = {
    ".parquet": ("Apache Parquet", "pandas, polars, DuckDB"),
    ".csv": ("CSV; floats are written so that they read back exactly", "anything"),
    ".mat": ("MATLAB version 5, at most 2 GB a variable", "MATLAB, Octave, SciPy"),
    ".h5": ("HDF5", "h5py, MATLAB"),
    ".hdf5": ("HDF5", "the same"),
    ".mcap": ("MCAP, one topic per field, `/w_B`; log time is t", "PlotJuggler, Foxglove"),
}


class Drift(Exception):
    """The code knows something that the words of the documentation do not, or the reverse."""


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown; bars inside a cell are escaped."""
    heads = list(headings)
    lines = [heads, ["---"] * len(heads), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def agreed(words: Mapping[Any, object], known: Iterable[Any], what: str) -> None:
    """Drift, unless exactly the known names have words."""
    differing = set(words) ^ set(known)
    if differing:
        raise Drift(f"{what}: words and code disagree on {', '.join(sorted(map(str, differing)))}")


def options(_: str = "") -> str:
    return table(
        ["option", "takes", "meaning", "default"],
        ([f"`{name}`", row.wanted, row.meaning, _default(row.default)] for name, row in OPTIONS.items()),
    )


def _default(value: object) -> str:
    return "–" if value is None else f"`{value!r}`"


def settings(_: str = "") -> str:
    return table(
        ["setting", "takes", "meaning", "default"],
        (
            [f"`{name}`", row.wanted, row.meaning, f"`{getattr(Settings(), row.attribute)!r}`"]
            for name, row in SETTINGS.items()
        ),
    )


def types(_: str = "") -> str:
    return table(
        ["code", "bytes", "`struct`", "numpy", "`construct`", "C++"],
        (
            [
                f"`{row.code}`",
                row.itemsize,
                f"`{row.per_element if row.per_element > 1 else ''}{row.struct_code}`",
                f"`{row.dtype}`",
                f"`{row.construct_name}`",
                f"`{row.cpp}`",
            ]
            for row in TYPES.values()
        ),
    )


def common(_: str = "") -> str:
    words = {
        "t": "simulated time of the step [s]",
        "dt": "step; for a task with `Every`, Every·dt [s]",
        "tmax": "end of the run [s]; `math.inf` runs until somebody stops it",
        "cmd": "the message under way: 0 none, " + ", ".join(_commands()),
    }
    agreed(words, COMMON, "common variables")
    return table(
        ["field", "type", "meaning"], ([f"`{n}`", f"`{COMMON[n].__name__}`", words[n]] for n in COMMON)
    )


def _commands() -> list[str]:
    return [f"{message.value} {message.name}" for message in Message if message is not Message.FAIL]


def header(_: str = "") -> str:
    agreed(HEADER_WORDS, [name for _, _, name in docs_wire.header_offsets()], "header")
    return table(
        ["offset", "bytes", "name", "what"],
        ([at, size, f"`{name}`", HEADER_WORDS[name]] for at, size, name in docs_wire.header_offsets()),
    )


def kinds(_: str = "") -> str:
    agreed(KIND_WORDS, Kind, "kinds")
    rows = ([f"`{kind.name}`", kind.value, f"`{kind | ANSWER:#04x}`", KIND_WORDS[kind]] for kind in Kind)
    return table(["kind", "number", "as an answer", "what"], rows)


def flags(_: str = "") -> str:
    agreed(FLAG_WORDS, Flag, "flags")
    return table(["flag", "bit", "what"], ([f"`{flag.name}`", flag.value, FLAG_WORDS[flag]] for flag in Flag))


def drops(_: str = "") -> str:
    agreed(DROP_WORDS, Drop, "drop reasons")
    return table(["shown as", "why"], ([f"`{reason.label}`", DROP_WORDS[reason]] for reason in Drop))


def error_classes(_: str = "") -> str:
    """Every error class by family, with its exit code and the first line of its docstring."""
    rows = [
        [
            f"`{found.__name__}`",
            f"`{family.__name__}`",
            code,
            (inspect.getdoc(found) or "").partition("\n")[0],
        ]
        for family, code in ((errors.UserError, shell.WRONG_INPUT), (errors.RunError, shell.FAILED))
        for found in vars(errors).values()
        if inspect.isclass(found) and issubclass(found, family) and found is not family
    ]
    return table(["class", "family", "exit code", "when"], rows)


def exit_codes(_: str = "") -> str:
    rows = [
        [0, "all went well"],
        [shell.FAILED, "a run failed: `RunError`"],
        [
            shell.WRONG_INPUT,
            "the input is wrong, and nothing was started: `UserError`, or a wrong command line",
        ],
        [shell.exit_code(KeyboardInterrupt()), "ended by Ctrl-C, after every module was finalized"],
        [
            shell.exit_code(shell.Ended(signal.SIGTERM)),
            "ended by SIGTERM, in the same order (128 + the number of the signal)",
        ],
    ]
    return table(["code", "meaning"], rows)


def placement(_: str = "") -> str:
    agreed(MODE_WORDS, MODES, "placements")
    return table(["placement", "what"], ([f"`{mode}`", MODE_WORDS[mode]] for mode in MODES))


def formats(_: str = "") -> str:
    agreed(FORMAT_WORDS, FORMATS, "export formats")
    return table(
        ["suffix", "format", "opened by"], ([f"`{suffix}`", *FORMAT_WORDS[suffix]] for suffix in FORMATS)
    )


PARTS: dict[str, Callable[[str], str]] = {
    "options": options,
    "settings": settings,
    "types": types,
    "common": common,
    "state-table": lambda _: states.markdown(),
    "state-diagram": lambda _: docs_diagrams.state_diagram(),
    "overview": lambda _: docs_diagrams.overview(),
    "exchange": lambda _: docs_diagrams.exchange(),
    "header": header,
    "kinds": kinds,
    "flags": flags,
    "drops": drops,
    "wire-example": lambda _: docs_wire.markdown(),
    "errors": error_classes,
    "exit-codes": exit_codes,
    "placement": placement,
    "formats": formats,
    "api": docs_api.markdown,
    "commands": docs_cli.markdown,
    "scaffold": docs_cli.scaffold,
}
