"""Drawings of the documentation as SVG text, made when it is built: nothing is fetched by the reader."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from simsched.states import TABLE, State

Point = tuple[float, float]

PLACES: dict[State, Point] = {
    State.IDLE: (150, 60),
    State.RUN: (550, 60),
    State.ERROR: (350, 190),
    State.STOPPED: (350, 320),
}
"""Centres of the boxes; a state without a place fails the build."""

BENDS: dict[tuple[State, State], float] = {
    (State.IDLE, State.RUN): -34,
    (State.RUN, State.IDLE): -34,
    (State.IDLE, State.STOPPED): 70,
    (State.RUN, State.STOPPED): -70,
}
"""How far an arrow leaves the straight line, to its right; others are straight."""

HALF_WIDTH, HALF_HEIGHT = 62.0, 22.0


def state_diagram() -> str:
    """The state machine, drawn from its table."""
    words: dict[tuple[State, State], list[str]] = {}
    for (state, message), row in TABLE.items():
        call = f" / {row.method}()" if row.method else ""
        words.setdefault((state, row.to), []).append(f"{message.name}{call}")
    parts = [_arrow((20, 60), (150 - HALF_WIDTH, 60)), _words((52, 50), ["Setup()"])]
    for (start, end), labels in words.items():
        parts += _loop(start, labels) if start is end else _edge(start, end, labels)
    parts += [_box(PLACES[state], state.label) for state in State]
    return figure(parts, 700, 360, "The states of a module and the messages that move it")


def figure(parts: Iterable[str], width: int, height: int, title: str) -> str:
    """One drawing, in the colours of the page."""
    head = (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'xmlns="http://www.w3.org/2000/svg">'
    )
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>'
    )
    return "\n".join(['<figure class="drawing">', head, tip, *parts, "</svg>", "</figure>"])


def _box(centre: Point, label: str) -> str:
    x, y = centre
    return (
        f'<rect x="{x - HALF_WIDTH:g}" y="{y - HALF_HEIGHT:g}" width="{2 * HALF_WIDTH:g}" '
        f'height="{2 * HALF_HEIGHT:g}" rx="8" class="box"/>'
        f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" class="name">{escape(label)}</text>'
    )


def _edge(start: State, end: State, labels: list[str]) -> list[str]:
    here, there = PLACES[start], PLACES[end]
    bend = BENDS.get((start, end), 0.0)
    along = (there[0] - here[0], there[1] - here[1])
    length = math.hypot(*along)
    aside = (-along[1] / length * bend, along[0] / length * bend)
    middle = ((here[0] + there[0]) / 2 + aside[0], (here[1] + there[1]) / 2 + aside[1])
    control = (middle[0] + aside[0], middle[1] + aside[1])
    path = _arrow(_border(here, control), _border(there, control), control)
    return [path, _words((middle[0], middle[1] + 4), labels)]


def _border(centre: Point, towards: Point) -> Point:
    """Where a line from the centre of a box leaves it."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    scale = min(
        HALF_WIDTH / abs(dx) if dx else math.inf,
        HALF_HEIGHT / abs(dy) if dy else math.inf,
    )
    return centre[0] + dx * scale, centre[1] + dy * scale


def _loop(state: State, labels: list[str]) -> list[str]:
    x, y = PLACES[state]
    top = y - HALF_HEIGHT
    path = f"M{x - 24:g} {top:g}C{x - 40:g} {top - 46:g} {x + 40:g} {top - 46:g} {x + 24:g} {top:g}"
    return [f'<path d="{path}" class="line" marker-end="url(#tip)"/>', _words((x + 76, top - 22), labels)]


def _arrow(start: Point, end: Point, control: Point | None = None) -> str:
    middle = control or ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    points = [f"{x:.1f} {y:.1f}" for x, y in (start, middle, end)]
    return f'<path d="M{points[0]}Q{points[1]} {points[2]}" class="line" marker-end="url(#tip)"/>'


def _words(at: Point, lines: list[str]) -> str:
    first = at[1] - 8 * (len(lines) - 1)
    where = f'x="{at[0]:g}" text-anchor="middle" class="words"'
    return "".join(
        f'<text {where} y="{first + 16 * place:g}">{escape(line)}</text>' for place, line in enumerate(lines)
    )


def overview() -> str:
    """A master, its DataBase, and modules of every kind around it."""
    modules = [
        ("Rotation", "Python process"),
        ("Control", "Python process"),
        ("Navigator", "C++ executable"),
        ("Plot", "another machine"),
    ]
    parts = [
        '<rect x="20" y="70" width="190" height="190" rx="10" class="box"/>',
        '<text x="115" y="98" text-anchor="middle" class="name">master</text>',
        '<text x="115" y="118" text-anchor="middle" class="plain">tasks in your order</text>',
        '<rect x="45" y="140" width="140" height="92" rx="6" class="inner"/>',
        '<text x="115" y="162" text-anchor="middle" class="name">DataBase</text>',
        '<text x="115" y="184" text-anchor="middle" class="code">t dt tmax cmd</text>',
        '<text x="115" y="204" text-anchor="middle" class="code">U w_B q_IB</text>',
        '<text x="115" y="224" text-anchor="middle" class="code">…</text>',
        '<text x="335" y="24" text-anchor="middle" class="words">packed UDP datagrams</text>',
    ]
    for place, (name, kind) in enumerate(modules):
        y = 40 + 80 * place
        parts += [
            f'<rect x="470" y="{y}" width="200" height="54" rx="8" class="box"/>',
            f'<text x="570" y="{y + 23}" text-anchor="middle" class="name">{name}</text>',
            f'<text x="570" y="{y + 42}" text-anchor="middle" class="plain">{kind}</text>',
        ]
        start = (210.0, 110.0 + 36 * place)
        both = "" if name == "Plot" else ' marker-start="url(#tip)"'
        path = f"M{start[0]:g} {start[1]:g}C330 {start[1]:g} 350 {y + 27} 470 {y + 27}"
        parts.append(f'<path d="{path}" class="line" marker-end="url(#tip)"{both}/>')
    parts += [
        '<text x="335" y="44" text-anchor="middle" class="code">In → &#160; ← Out</text>',
        '<text x="335" y="336" text-anchor="middle" class="words">noAnswer: send and go on</text>',
    ]
    return figure(parts, 700, 350, "A master exchanges fields of its DataBase with modules")


def exchange() -> str:
    """One exchange and the four times that it measures."""
    left, right = 150, 550
    lines = [
        (50, 90, "STEP: In fields, sent_ns", "sent_ns", "recv_ns"),
        (190, 230, "answer: Out fields, echo_ns, recv_ns, sent_ns", "now", "sent_ns"),
    ]
    parts = [
        f'<text x="{left}" y="20" text-anchor="middle" class="name">master</text>',
        f'<text x="{right}" y="20" text-anchor="middle" class="name">module</text>',
        f'<path d="M{left} 30V270M{right} 30V270" class="line"/>',
        f'<rect x="{right - 6}" y="90" width="12" height="100" class="inner"/>',
        f'<text x="{right + 16}" y="144" class="code">Run()</text>',
    ]
    request, answer = lines
    parts += [
        _arrow((left, request[0]), (right, request[1])),
        _words(((left + right) / 2, 58), [request[2]]),
        _arrow((right, answer[0]), (left, answer[1])),
        _words(((left + right) / 2, 252), [answer[2]]),
        f'<text x="{left - 12}" y="54" text-anchor="end" class="code">{request[3]}</text>',
        f'<text x="{right + 16}" y="94" class="code">{request[4]}</text>',
        f'<text x="{right + 16}" y="194" class="code">{answer[4]}</text>',
        f'<text x="{left - 12}" y="234" text-anchor="end" class="code">{answer[3]}</text>',
    ]
    return figure(parts, 700, 280, "A request, the module's Run, and its answer")
