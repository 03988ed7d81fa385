"""Where a run is recorded: a name of its own, taken before anything starts, never overwriting silently."""

from __future__ import annotations

import importlib.util
import itertools
from datetime import datetime
from pathlib import Path

from simsched.errors import RecordingError

SUFFIX = ".arrows"


class Place:
    """The file of a recording; the name is taken at once, and given back if nothing came to be written."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    @property
    def written(self) -> Path | None:
        """The recording, if there is one."""
        return self.path if self.path is not None and self.path.exists() else None

    def give_back(self) -> None:
        """Remove a file into which the run wrote nothing."""
        if self.path is not None and self.path.is_file() and self.path.stat().st_size == 0:
            self.path.unlink()


def has_arrow() -> bool:
    """Whether recording is possible here."""
    return importlib.util.find_spec("pyarrow") is not None


def chosen_place(path: Path, overwrite: bool) -> Place:
    """The place that the user named; RecordingError if something is there, or nothing can be."""
    try:
        return Place(_taken(path))
    except FileExistsError:
        if path.is_file() and not overwrite:
            raise RecordingError(
                f"recording '{path}' exists already: choose another name, or permit it with --overwrite"
            ) from None
        return Place(path)  # a device, say


def default_place(scenario: str, now: datetime, folder: Path) -> Place:
    """`scenario-20260131T120000.arrows`, or with a number behind it if that exists."""
    stem = f"{scenario}-{now:%Y%m%dT%H%M%S}"
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    while True:
        try:
            return Place(_taken(folder / f"{next(names)}{SUFFIX}"))
        except FileExistsError:
            continue  # by another run of the same second


def _taken(path: Path) -> Path:
    try:
        path.open("xb").close()
    except FileExistsError:
        raise
    except OSError as error:
        raise RecordingError(
            f"recording '{path}' cannot be made: {error.strerror or error}; choose a place that exists and "
            f"that you may write to, or --no-record"
        ) from None
    return path
