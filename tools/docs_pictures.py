"""The picture of a run in the README: `python tools/docs_pictures.py` runs the example and draws it anew.

The run is the same to the last bit every time, and so is the picture: a test compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import simsched

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "two_modules" / "scenario.py"
PICTURE = ROOT / "docs" / "images" / "two_modules.svg"

WIDTH, LEFT, RIGHT = 760.0, 70.0, 20.0
TOP, PANEL, GAP = 44.0, 130.0, 26.0
POINTS = 400
"""A curve is drawn with so many points at most."""

Values = np.ndarray[Any, Any]


def draw() -> str:
    """The example's displacement and force over time, as SVG."""
    r = simsched.run(EXAMPLE, in_process=True)
    dt = float(r["dt"][0])
    t = np.concatenate([r.t[:1], r.t + dt])  # a row holds what its step left, at t + dt
    displacement = np.concatenate([[r.initial["x"][0]], r["x"][:, 0]])
    force = np.concatenate([[r.initial["F"]], r["F"]])
    panels = [
        ("displacement [m]", "Oscillator", displacement, "#3949ab"),
        ("force [N]", "Controller", force, "#c2185b"),
    ]
    height = TOP + len(panels) * (PANEL + GAP) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" '
        f'font-family="sans-serif" font-size="13" fill="#333">',
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#fff"/>',
        f'<text x="{LEFT:g}" y="24" font-size="15" font-weight="bold">A mass on a spring, damped by a '
        f"controller: two modules, {len(r)} steps</text>",
    ]
    for place, (label, task, values, colour) in enumerate(panels):
        parts += _panel(TOP + place * (PANEL + GAP), t, values, f"{task}: {label}", colour)
    parts.append(f'<text x="{WIDTH - RIGHT:g}" y="{height - 4:g}" text-anchor="end">t [s]</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(top: float, t: Values, values: Values, label: str, colour: str) -> list[str]:
    low, high = _limits(values)

    def x(time: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (time - float(t[0])) / float(t[-1] - t[0])

    def y(value: float) -> float:
        return top + PANEL * (high - value) / (high - low)

    lines = [
        f'<rect x="{LEFT:g}" y="{top:g}" width="{WIDTH - LEFT - RIGHT:g}" height="{PANEL:g}" fill="#fafafa"/>'
    ]
    for tick in _ticks(low, high):
        lines.append(f'<path d="M{LEFT:g} {y(tick):.1f}H{WIDTH - RIGHT:g}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 8:g}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in _ticks(float(t[0]), float(t[-1])):
        lines.append(f'<path d="M{x(tick):.1f} {top:g}v{PANEL:g}" stroke="#eee"/>')
        lines.append(f'<text x="{x(tick):.1f}" y="{top + PANEL + 16:g}" text-anchor="middle">{tick:g}</text>')
    chosen = range(0, len(t), max(1, len(t) // POINTS))
    path = "L".join(f"{x(t[place]):.1f} {y(values[place]):.1f}" for place in chosen)
    lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    lines.append(
        f'<text x="{WIDTH - RIGHT - 8:g}" y="{top + 18:g}" text-anchor="end" fill="{colour}">{label}</text>'
    )
    return lines


def _limits(values: Values) -> tuple[float, float]:
    margin = 0.08 * float(np.ptp(values))
    return float(values.min()) - margin, float(values.max()) + margin


def _ticks(low: float, high: float) -> Sequence[float]:
    """Round numbers, four to eight of them."""
    span = high - low
    step = 10.0 ** np.floor(np.log10(span / 4))
    step *= next(factor for factor in (1, 2, 2.5, 5, 10) if span / (step * factor) <= 8)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step))
    return [float(round(place * step, 10)) for place in range(first, last + 1)]


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size} bytes")
