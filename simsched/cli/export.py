"""`simsched export`: a recording for other tools."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

from simsched.cli.options import FieldNames

RecordingFile = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="What `simsched run` recorded.", show_default=False)
]


def export(
    recording: RecordingFile,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", show_default=False,
            help="The file to write; its suffix tells the format: .parquet .csv .mat .h5 .mcap",
        ),
    ],
    fields: FieldNames = None,
) -> None:  # fmt: skip
    """Write a recording as Parquet, CSV, MAT, HDF5 or MCAP."""
    from simsched.cli.options import field_names
    from simsched.record import export as write

    with Growth(out):
        written = write(recording, out, field_names(fields))
    print(f"{written}: {size_of(written)}")


class Growth:
    """Says how large a file that is being written has become, in place on a terminal, in lines elsewhere."""

    def __init__(self, out: Path, every_s: float | None = None) -> None:
        self._out = out
        # where the export writes until the file is whole
        self._part = out.with_name(f".{out.name}.{os.getpid()}.part")
        self._is_live = sys.stdout.isatty()
        self._every_s = every_s or (0.25 if self._is_live else 10.0)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="simsched export", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def _tell(self) -> None:
        while not self._done.wait(self._every_s):
            if self._part.exists():
                text = f"{self._out}: {size_of(self._part)} so far"
                print(f"{CLEAR}{text}" if self._is_live else f"{text}\n", end="", flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        if self._is_live:
            print(CLEAR, end="", flush=True)


CLEAR = "\r\x1b[2K"


def size_of(file: Path) -> str:
    """`12.3 MB`."""
    size: float = file.stat().st_size
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
