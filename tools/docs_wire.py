"""The worked example of the wire page: real bytes of a real exchange, each with its name and value."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from simsched.datagram import ANSWER, HEADER, HEADER_SIZE, Header, Kind
from simsched.exchange import Work
from simsched.image import Image
from simsched.layout import Layout
from simsched.loading import load_scenario
from simsched.requester import Requester
from simsched.responder import Responder
from simsched.serving import wire_of
from simsched.states import State
from simsched.tasks import Task

EXAMPLE = Path(__file__).parent.parent / "examples" / "two_modules" / "scenario.py"

SESSION = 0x5EED_0001
SENT_NS, RECEIVED_NS, ANSWERED_NS = 1_000_000_000, 1_000_040_000, 1_000_055_000
"""Clock readings of the example [ns]."""


class Piece(NamedTuple):
    """Some neighbouring bytes of a datagram."""

    offset: int
    data: bytes
    name: str
    value: str


class Example(NamedTuple):
    """One STEP and its answer, whole."""

    task: Task
    request: bytes
    answer: bytes


def example() -> Example:
    """The Controller's first STEP of the example, made by the protocol itself."""
    scenario = load_scenario(EXAMPLE)
    task = scenario.task("Controller")
    image = Image(scenario.database, scenario.tasks)
    payload = b"".join(image.sources(task))
    wire = wire_of(task, None)
    requester, responder = Requester(wire, SESSION), Responder(wire)
    begin = requester.request(Kind.INIT, payload, SENT_NS)
    responder.receive(bytearray(begin), len(begin), RECEIVED_NS)
    responder.state = State.RUN
    request = requester.request(Kind.STEP, payload, SENT_NS)
    work = responder.receive(bytearray(request), len(request), RECEIVED_NS)
    if not isinstance(work, Work):
        raise TypeError(f"the example's STEP was not taken as work but as {work!r}")
    force = struct.pack("<d", -0.25)  # [N]
    return Example(task, request, responder.answer(force, ANSWERED_NS))


def pieces(datagram: bytes, layout: Layout) -> list[Piece]:
    """A datagram cut at the borders of its header's and its payload's fields."""
    header = Header._make(HEADER.unpack_from(datagram))
    found = [_header_piece(datagram, header, place) for place in range(len(Header._fields))]
    values = layout.construct.parse(datagram[HEADER_SIZE:])
    for member, offset in zip(layout.fields, layout.offsets, strict=True):
        start = HEADER_SIZE + offset
        value = values[member.name]
        shown = f"{list(value)}" if member.shape else f"{value}"
        found.append(Piece(start, datagram[start : start + member.size], member.text, shown))
    return found


def header_offsets() -> list[tuple[int, int, str]]:
    """(offset, bytes, name) of the header's fields, from its struct format."""
    codes = _codes()
    sizes = [struct.calcsize(f"<{code}") for code in codes]
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return list(zip(starts, sizes, Header._fields, strict=True))


def _codes() -> list[str]:
    format_ = HEADER.format.lstrip("<")
    codes, count = [], ""
    for letter in format_:
        if letter.isdigit():
            count += letter
        else:
            codes.append(count + letter)
            count = ""
    return codes


def _header_piece(datagram: bytes, header: Header, place: int) -> Piece:
    offset, size, name = header_offsets()[place]
    value = getattr(header, name)
    return Piece(offset, datagram[offset : offset + size], name, _shown(name, value))


def _shown(name: str, value: int | bytes) -> str:
    if isinstance(value, bytes):
        return repr(value.decode())
    if name == "kind":
        kind = Kind(value & ~ANSWER).name
        return f"{value:#04x}: {kind}{', an answer' if value & ANSWER else ''}"
    if name == "state":
        return f"{value}: {State(value).label}"
    return f"{value:#010x}" if name in ("layout_id", "session") else str(value)


def markdown() -> str:
    """Both datagrams as tables."""
    made = example()
    parts = []
    for title, datagram, layout in (
        ("The request", made.request, made.task.layout_in),
        ("The answer", made.answer, made.task.layout_out),
    ):
        rows = [
            f"| {piece.offset} | `{piece.data.hex(' ')}` | `{piece.name}` | {piece.value} |"
            for piece in pieces(datagram, layout)
        ]
        head = [f"**{title}**, {len(datagram)} bytes:", "", "| offset | bytes | what | value |"]
        parts.append("\n".join([*head, "| ---: | --- | --- | --- |", *rows]))
    parts.append("The same in one piece, to test a decoder with:")
    parts.append(f"```text\nrequest {made.request.hex()}\nanswer  {made.answer.hex()}\n```")
    return "\n\n".join(parts)
