"""What the command line and the console say: numbers into words, rates from counters, words into values."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from simsched.cli.export import Growth
from simsched.cli.options import (
    Coupling,
    OverrunPolicy,
    PlacementMode,
    field_names,
    field_values,
    task_params,
)
from simsched.cli.place import chosen_place, default_place
from simsched.cli.shell import Ended, exit_code
from simsched.cli.summary import closing_lines, histogram, pace, task_row
from simsched.cli.tables import narrow, plain
from simsched.errors import RecordingError, RunError, ScenarioError, UserError
from simsched.launch.progress import NS, Progress, Snapshot, duration, exchanges_until, facts
from simsched.master.placement import MODES
from simsched.measure import Timings
from simsched.pacing import POLICIES
from simsched.report import Report, TaskReport
from simsched.scenario import COUPLINGS, make_scenario


def seen(seconds: float, step: int, exchanges: int = 0, **more: Any) -> Snapshot:
    rest = {"repeats": 0, "dropped": 0, "slowest": ("", 0.0), **more}
    return Snapshot(round(seconds * NS), step, exchanges, **rest)


def test_rates_are_those_of_the_last_moments() -> None:
    progress = Progress(dt=0.5, steps=1000, kept=2)
    for look in (seen(0.0, 0), seen(1.0, 900, 900), seen(2.0, 910, 920)):
        progress.add(look)
    assert progress.steps_per_s == 10.0
    assert progress.exchanges_per_s == 20.0
    assert progress.real_time_factor == 5.0
    assert progress.remaining_s == 9.0
    assert progress.share == 0.91


def test_before_the_first_step_and_after_one_look_there_is_no_rate() -> None:
    progress = Progress(dt=0.5, steps=1000)
    progress.add(seen(0.0, -1))
    assert (progress.last, progress.share, progress.remaining_s) == (None, None, None)
    assert facts(progress, "free") == []
    progress.add(seen(1.0, 5))
    assert (progress.steps_per_s, progress.remaining_s) == (0.0, None)


def test_a_run_without_end_has_no_share_and_no_remaining_time() -> None:
    progress = Progress(dt=0.5, steps=None)
    progress.add(seen(0.0, 0))
    progress.add(seen(1.0, 10))
    assert (progress.share, progress.remaining_s) == (None, None)


def test_the_facts_of_a_run() -> None:
    progress = Progress(dt=0.5, steps=100)
    progress.add(seen(0.0, 0))
    progress.add(seen(1.0, 10, 12345, repeats=3, dropped=1, slowest=("Plant", 31e3)))
    assert facts(progress, "one core") == [
        "5× real time",
        "12 345 exchanges/s",
        "3 repeated, 1 dropped",
        "slowest Plant 31 µs",
        "cores: one core",
    ]


@pytest.mark.parametrize(
    ("options", "step", "count"),
    [
        ({}, -1, 0),
        ({}, 7, 7),
        ({"Every": 3}, 7, 3),
        ({"Every": 3, "Phase": 2}, 7, 2),
        ({"noAnswer": True}, 7, 0),
    ],
)
def test_exchanges_are_counted_from_the_step_alone(options: dict[str, Any], step: int, count: int) -> None:
    database = type("DataBase", (), {"dt": 1.0, "tmax": 2.0})
    task = make_scenario(database, {"One": {"Keys": "t", **options}}).tasks[0]
    assert exchanges_until(task, step) == count
    assert count == sum(task.active(k) for k in range(max(step, 0))) * (not task.no_answer)


def test_the_recent_round_trip_is_that_of_the_last_thousand_exchanges() -> None:
    timings = Timings()
    assert timings.recent_ns() == 0.0
    timings.add(30, 10, 20, 50)
    timings.add(130, 110, 120, 170)
    assert timings.recent_ns() == 50.0
    for _ in range(1024):
        timings.add(30, 10, 20, 110)
    assert timings.recent_ns() == 100.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 µs"),
        (999.4e-6, "999 µs"),
        (999.6e-6, "1 ms"),
        (0.25, "250 ms"),
        (59.4, "59.4 s"),
        (60.0, "1:00 min"),
        (3600.0, "1:00 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_histogram_shows_the_empty_doublings_too() -> None:
    assert histogram([(2048, 1), (8192, 8)]) == "1 µs ▁ █ 8 µs"
    assert histogram([]) == "nothing measured"


def report(**more: Any) -> Report:
    return Report(**{"steps": 10, "t": 9.0, "wall_s": 2.0, "ended": "tmax", "tasks": {}, **more})


def test_pace_is_of_the_steps_taken() -> None:
    assert pace(report(), dt=1.0) == "10 steps to t = 9 s in 2 s: 5× real time, 0 exchanges/s"


def test_the_last_lines_say_why_where_and_what_was_warned_of() -> None:
    told = report(ended="asked by Plant\nmore", warnings=("one\ntwo", "three"))
    lines = closing_lines(told, 1.0, Path("a.arrows"))
    assert lines[0] == "ended: asked by Plant"
    assert lines[2:] == ["recording: a.arrows", "warnings: 2", "  one", "  three"]


def test_a_task_without_answers_has_no_times() -> None:
    row = task_row("Plot", TaskReport(Timings().summary(), 0, {"stale": 2, "short": 0}))
    assert row == ["Plot", "0", "–", "–", "–", "–", "0", "2 stale"]


def test_tables_are_aligned_and_fit_a_narrow_pane() -> None:
    headings, rows = ["task", "n"], [["Rotation", "7"], ["Plot", "12"]]
    assert plain(headings, rows, frozenset({"n"})).splitlines() == [
        "task       n",
        "Rotation   7",
        "Plot      12",
    ]
    assert narrow(headings, rows) == "Rotation: n 7\nPlot: n 12"


def test_values_are_read_as_yaml() -> None:
    given = field_values(["a=1e-5", "b=[1, 2.5]", "c=true", "d=x = y"])
    assert given == {"a": 1e-5, "b": [1, 2.5], "c": True, "d": "x = y"}
    assert task_params(["A.k=1", "A.m=", "B.k.x=2"]) == {"A": {"k": 1, "m": None}, "B": {"k.x": 2}}
    assert field_names(" a, b,") == ["a", "b"]
    with pytest.raises(UserError, match="wanted a name, '=' and a value"):
        field_values(["=3"])


def test_the_words_of_options_are_those_of_the_library() -> None:
    assert tuple(Coupling) == COUPLINGS
    assert tuple(OverrunPolicy) == POLICIES
    assert tuple(PlacementMode) == MODES


def test_exit_codes() -> None:
    errors = [RunError(), UserError(), ScenarioError([]), KeyboardInterrupt(), Ended(15)]
    assert [exit_code(error) for error in errors] == [1, 2, 2, 130, 143]


def test_two_runs_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    now = datetime(2026, 1, 31, 12, 0, 5)
    places = [default_place("orbit", now, tmp_path) for _ in range(3)]
    names = [
        "orbit-20260131T120005.arrows",
        "orbit-20260131T120005-2.arrows",
        "orbit-20260131T120005-3.arrows",
    ]
    assert [place.path and place.path.name for place in places] == names
    places[0].give_back()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


def test_a_chosen_place_is_taken_once(tmp_path: Path) -> None:
    chosen_place(tmp_path / "a", overwrite=False)
    with pytest.raises(
        RecordingError, match="exists already: choose another name, or permit it with --overwrite"
    ):
        chosen_place(tmp_path / "a", overwrite=False)
    assert chosen_place(tmp_path / "a", overwrite=True).path == tmp_path / "a"
    assert chosen_place(Path("/dev/null"), overwrite=False).path == Path("/dev/null")


def test_a_long_export_says_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    growth = Growth(tmp_path / "a.csv", every_s=0.001)
    (tmp_path / f".a.csv.{os.getpid()}.part").write_bytes(bytes(12_345))
    printed = ""
    with growth:
        while "so far" not in printed:
            printed += capsys.readouterr().out
    assert f"{tmp_path / 'a.csv'}: 12.3 kB so far\n" in printed
