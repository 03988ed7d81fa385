"""The end of a run in words and a table: what was exchanged, how long it took, why it ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simsched.cli.tables import show_table
from simsched.launch.progress import NS, duration
from simsched.report import RealTimeReport, Report, TaskReport

HEADINGS = ("task", "exchanges", "round trip", "p99", "max", "compute", "repeats", "dropped")
NUMBERS = frozenset(HEADINGS[1:])
BARS = "▁▂▃▄▅▆▇█"
MOST_WARNINGS = 10


def show_summary(report: Report, dt: float, recording: Path | None) -> None:
    """Print how a run of steps of dt [s] went."""
    tasks = report.tasks
    show_table(HEADINGS, [task_row(name, task) for name, task in tasks.items()], NUMBERS)
    if report.real_time is not None:
        print("\n".join(real_time_lines(report.real_time)))
        histograms = {name: task.round_trip_histogram for name, task in tasks.items()}
        print(
            "\n".join(
                f"round trips of {name}: {histogram(bins)}" for name, bins in histograms.items() if bins
            )
        )
    for line in closing_lines(report, dt, recording):
        print(line)


def task_row(name: str, task: TaskReport) -> list[str]:
    """One line of the table; a task that never answers has no times."""
    timing = task.timing
    times_us = (
        timing.round_trip_us,
        timing.round_trip_p99_us,
        timing.round_trip_max_us,
        timing.compute_us,
    )
    dropped = ", ".join(f"{count} {reason}" for reason, count in task.dropped.items() if count)
    return [
        name,
        str(timing.exchanges),
        *(duration(time_us / 1e6) if timing.exchanges else "–" for time_us in times_us),
        str(task.repeats),
        dropped or "0",
    ]


def real_time_lines(found: RealTimeReport) -> list[str]:
    """How the schedule was kept."""
    late = (found.late_p50_us, found.late_p99_us, found.late_max_us)
    p50, p99, most = (duration(late_us / 1e6) for late_us in late)
    return [
        f"real time: {found.overruns} overruns of {duration(found.period_s)} ({found.policy}); "
        f"steps released late by {p50} (p50), {p99} (p99), {most} (max)",
        f"lateness: {histogram(found.lateness_histogram)}",
    ]


def histogram(bins: Sequence[tuple[int, int]]) -> str:
    """`8 µs ▁▃█▂ 128 µs`: counts by doublings, between the lower edge of the first and the upper of the last.

    >>> histogram([(2048, 1), (8192, 8)])
    '1 µs ▁ █ 8 µs'
    """
    if not bins:
        return "nothing measured"
    counts = dict(bins)
    first, last = min(counts), max(counts)
    most = max(counts.values())
    edges = [first << place for place in range((last // first).bit_length())]
    bars = "".join(_bar(counts.get(edge, 0), most) for edge in edges)
    return f"{duration(first / 2 / NS)} {bars} {duration(last / NS)}"


def _bar(count: int, most: int) -> str:
    return BARS[(count * len(BARS) - 1) // most] if count else " "


def closing_lines(report: Report, dt: float, recording: Path | None) -> list[str]:
    """Why it ended, how fast it was, where the recording is, and what was warned of."""
    lines = [f"ended: {report.ended.splitlines()[0] if report.ended else 'unknown'}", pace(report, dt)]
    if recording is not None:
        lines.append(f"recording: {recording}")
    if report.warnings:
        lines.append(f"warnings: {len(report.warnings)}")
        lines += [f"  {text.splitlines()[0]}" for text in report.warnings[:MOST_WARNINGS]]
    return lines


def pace(report: Report, dt: float) -> str:
    """`1000 steps to t = 9.99 s in 0.41 s: 24.4× real time, 4878 exchanges/s; cores: free`."""
    text = f"{report.steps} steps to t = {report.t:.9g} s in {duration(report.wall_s)}"
    if report.wall_s > 0 and report.steps:
        factor = report.steps * dt / report.wall_s
        text += f": {factor:.3g}× real time, {report.exchanges / report.wall_s:.0f} exchanges/s"
    return f"{text}; cores: {report.placement}" if report.placement else text
