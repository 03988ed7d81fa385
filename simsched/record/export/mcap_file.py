"""MCAP for Foxglove and PlotJuggler: one topic per field, `/w_B`, in JSON with a JSON schema.

The time of a message is t. A message is `{"value": …}`: a number, a truth value, or the flat list of
an array in C order (both tools draw `/w_B.value[0]`, neither takes lists of lists); its shape stands
in the metadata of the channel. A quaternion is `{"w", "x", "y", "z"}`, several of them are a list of
such; bytes are base64. JSON knows no NaN and no infinity: they become null, which plots as a gap.
Times before zero do not exist in MCAP: a run that begins at t < 0 is shifted to begin at 0, and
`t_shift_s` in the metadata says by how much.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simsched._version import __version__
from simsched.database import Field
from simsched.record.export.blocks import columns, remarks
from simsched.record.optional import need
from simsched.record.reader import Recording
from simsched.results import QUATERNION_PARTS, Array

NS = 1_000_000_000

_QUATERNION = {"type": "object", "properties": {part: {"type": "number"} for part in QUATERNION_PARTS}}


def write(recording: Recording, out: Path, fields: Mapping[str, Field]) -> None:
    """Messages in the order of time; those of one row in the order of the fields."""
    mcap = need("mcap.writer", "export to MCAP")
    with open(out, "wb") as file:
        writer = mcap.Writer(file)
        writer.start(library=f"simsched {__version__}")
        channels = {name: _channel(writer, member) for name, member in fields.items()}
        shift_s, rows = 0.0, 0
        for block in columns(recording, fields):
            if not rows:
                shift_s = max(0.0, -float(block["t"][0]))
            _write_block(writer, channels, fields, block, shift_s, rows)
            rows += len(block["t"])
        writer.add_metadata("simsched", {**remarks(recording), "t_shift_s": repr(shift_s)})
        writer.finish()


def _write_block(
    writer: Any,
    channels: Mapping[str, int],
    fields: Mapping[str, Field],
    block: Mapping[str, Array],
    shift_s: float,
    first: int,
) -> None:
    times = [round((t + shift_s) * NS) for t in block["t"].tolist()]
    messages = {name: _messages(fields[name], values) for name, values in block.items()}
    for row, time_ns in enumerate(times):
        for name, channel in channels.items():
            writer.add_message(channel, time_ns, messages[name][row], time_ns, first + row)


def _channel(writer: Any, member: Field) -> int:
    schema = writer.register_schema(
        name=f"simsched.{member.name}",
        encoding="jsonschema",
        data=json.dumps({"description": member.comment, **message_schema(member)}).encode(),
    )
    about = {
        "layout": member.layout.text,
        "shape": json.dumps(member.layout.shape),
        "comment": member.comment,
    }
    channel: int = writer.register_channel(
        topic=f"/{member.name}", message_encoding="json", schema_id=schema, metadata=about
    )
    return channel


def message_schema(member: Field) -> dict[str, Any]:
    """The JSON schema of a field's messages."""
    if member.kind == "quaternion":
        return _QUATERNION
    if member.kind == "bytes":
        value: dict[str, Any] = {"type": "string", "contentEncoding": "base64"}
    else:
        value = _QUATERNION if member.kind == "quaternions" else {"type": _json_type(member)}
        if member.layout.shape:
            value = {"type": "array", "items": value}
    return {"type": "object", "properties": {"value": value}}


def _json_type(member: Field) -> str:
    if member.layout.type.code == "b1":
        return "boolean"
    return "number" if member.layout.type.is_float else "integer"


def _messages(member: Field, raw: Array) -> list[bytes]:
    flat = raw.reshape(len(raw), -1)
    return [_message(member, items) for items in (flat if member.kind == "bytes" else flat.tolist())]


def _message(member: Field, items: Any) -> bytes:
    if member.kind == "bytes":
        content: Any = {"value": base64.b64encode(items.tobytes()).decode()}
    elif member.layout.type.code == "quat":
        quaternions = [
            dict(zip(QUATERNION_PARTS, _finite(items[at : at + 4]), strict=True))
            for at in range(0, len(items), 4)
        ]
        content = {"value": quaternions} if member.layout.shape else quaternions[0]
    else:
        content = {"value": _finite(items) if member.layout.shape else _finite(items)[0]}
    return json.dumps(content, separators=(",", ":")).encode()


def _finite(items: list[Any]) -> list[Any]:
    return [item if math.isfinite(item) else None for item in items]
