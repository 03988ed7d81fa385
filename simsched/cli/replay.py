"""`simsched replay`: yesterday's rig, today's controller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from simsched.cli.export import RecordingFile
from simsched.cli.options import KeyFile

if TYPE_CHECKING:
    from simsched.results import Array, Results


def replay(
    recording: RecordingFile,
    task: Annotated[
        list[str],
        typer.Option(
            "--task", metavar="TASK", show_default=False,
            help="A task that the recording plays in place of its module. Repeatable.",
        ),
    ],
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", show_default=False, help="The scenario; default: the one that was recorded."
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="OUT", show_default=False, help="Record the replay to this file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="The other modules in this one process.")
    ] = False,
    key_file: KeyFile = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show what modules print, warnings and errors alone.")
    ] = False,
) -> None:  # fmt: skip
    """Run again with recorded tasks in place of real ones, and compare."""
    from simsched.cli.conduct import Wanted, carry_out
    from simsched.cli.options import read_key
    from simsched.cli.shell import end_in_order
    from simsched.loading import load_scenario
    from simsched.record.replay import Replays
    from simsched.running import changed

    end_in_order()
    replays = Replays(recording, task)
    recorded = replays.recording
    whole = load_scenario(scenario or scenario_of(recorded, recording))
    tmax = last_t(recorded, float(whole.database.fields["dt"].initial), recording)
    is_cut = tmax < float(whole.database.fields["tmax"].initial)
    if is_cut:
        whole = changed(whole, {"tmax": tmax}, {})
    options = {
        "in_process": in_process,
        "key": read_key(key_file),
        "replaced": replays.seats(whole.tasks),
        "keep": record is None,
    }
    ended = carry_out(whole, Wanted(record, nothing=record is None, overwrite=overwrite), options, quiet)
    print("\n".join(compared(ended.results(), recorded, ignored=("tmax",) if is_cut else ())))


def scenario_of(recorded: Results, path: Path) -> Path:
    """The scenario's file, as the recording names it."""
    from simsched.errors import RecordingError

    named = recorded.metadata.get("scenario_path", "")
    if not named or not Path(named).exists():
        what = f"names the scenario '{named}', which is not there" if named else "does not name its scenario"
        raise RecordingError(f"recording '{path}' {what}: give it with --scenario FILE")
    return Path(named)


def last_t(recorded: Results, dt: float, path: Path) -> float:
    """The tmax with which a run has as many steps as the recording."""
    from simsched.errors import RecordingError

    if not len(recorded):
        raise RecordingError(f"recording '{path}' holds no step: there is nothing to replay")
    return float(recorded.t[0]) + len(recorded) * dt


def compared(new: Results, recorded: Results, ignored: tuple[str, ...] = ()) -> list[str]:
    """`identical`, or the fields that differ, those that do so first before the others."""
    names = [name for name in new.same_as(recorded) if name not in ignored]
    if not names:
        return [f"identical with the recording: {len(new)} steps, {len(new.members)} fields"]
    firsts = {name: first_difference(new, recorded, name) for name in names}
    order = sorted(names, key=lambda name: len(new) if (place := firsts[name]) is None else place)
    lines = [f"{len(names)} of {len(new.members)} fields differ from the recording:"]
    for name in order:
        place = firsts[name]
        if place is not None:
            lines.append(f"  {name}: first at t = {recorded.t[place]:.9g} s (step {place})")
        else:
            lines.append(f"  {name}: {_other_difference(new, recorded, name)}")
    return lines


def first_difference(new: Results, recorded: Results, name: str) -> int | None:
    """The first row in which a field has other bits, of the rows that both have."""
    if name not in new or name not in recorded or new.members[name].layout != recorded.members[name].layout:
        return None
    rows = min(len(new), len(recorded))
    ours, theirs = (_bits(results.rows[name][:rows]) for results in (new, recorded))
    places = np.flatnonzero((ours != theirs).any(axis=1))
    return int(places[0]) if len(places) else None


def _bits(column: Array) -> Array:
    return np.frombuffer(column.tobytes(), np.uint8).reshape(len(column), -1)


def _other_difference(new: Results, recorded: Results, name: str) -> str:
    if name not in recorded:
        return "is not in the recording"
    if name not in new:
        return "is in the recording alone"
    if new.members[name].layout != recorded.members[name].layout:
        return (
            f"is {new.members[name].layout.text}, and in the recording {recorded.members[name].layout.text}"
        )
    if len(new) != len(recorded):
        return f"the same for {min(len(new), len(recorded))} steps; the recording has {len(recorded)}"
    return "the initial value differs"
