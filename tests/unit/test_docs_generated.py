"""The generated parts of the pages say what the code says, and no marker is left over or misspelt."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import docs_api
import docs_parts
import docs_pictures
import docs_wire
import pytest
from docs_hooks import MARKER, UnknownPart, filled
from docs_parts import PARTS, Drift, agreed

from simsched import errors
from simsched.datagram import HEADER, Drop, Kind, parse
from simsched.layout import TYPES
from simsched.options import OPTIONS
from simsched.scenario import SETTINGS
from simsched.states import TABLE, State

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_marker_of_a_page_is_replaced(page: Path) -> None:
    assert "<!-- generated" not in filled(page.read_text(), page.name)


def test_every_part_is_used_on_some_page() -> None:
    used = {found["name"].split()[0] for page in PAGES for found in MARKER.finditer(page.read_text())}
    assert used == set(PARTS)


def test_an_unknown_part_is_refused_with_the_page_and_the_parts() -> None:
    with pytest.raises(UnknownPart, match=r"page\.md: no generated part 'optoins'; there are options"):
        filled("<!-- generated: optoins -->", "page.md")


def test_a_marker_inside_a_line_of_text_stays_as_it_is() -> None:
    text = "write `<!-- generated: options -->` for the table"
    assert filled(text, "page.md") == text


def test_words_and_code_that_disagree_fail_the_build() -> None:
    with pytest.raises(Drift, match="drop reasons: words and code disagree on late"):
        agreed({"late": ""}, [], "drop reasons")


def names_in(table: str) -> list[str]:
    """The first column of a table, without its heading."""
    return [line.split("|")[1].strip().strip("`") for line in table.splitlines()[2:]]


def test_tables_name_what_the_code_knows() -> None:
    assert names_in(docs_parts.options()) == list(OPTIONS)
    assert names_in(docs_parts.settings()) == list(SETTINGS)
    assert names_in(docs_parts.types()) == list(TYPES)
    assert names_in(docs_parts.kinds()) == [kind.name for kind in Kind]
    assert names_in(docs_parts.drops()) == [drop.label for drop in Drop]


def test_every_table_has_as_many_cells_in_each_row() -> None:
    for name in ("options", "settings", "types", "common", "header", "kinds", "flags", "drops", "errors"):
        cells = {len(re.split(r"(?<!\\)\|", line)) for line in PARTS[name]("").splitlines()}
        assert len(cells) == 1, name


def test_errors_stand_with_the_exit_code_of_their_family() -> None:
    table = docs_parts.error_classes()
    assert "| `ScenarioError` | `UserError` | 2 |" in table
    assert "| `TaskTimeout` | `RunError` | 1 |" in table
    assert errors.MissingExtra.__name__ in names_in(table)


def test_the_diagram_shows_every_state_and_transition() -> None:
    drawing = PARTS["state-diagram"]("")
    for state in State:
        assert f">{state.label}</text>" in drawing
    for (_, message), row in TABLE.items():
        assert f">{message.name}{f' / {row.method}()' if row.method else ''}</text>" in drawing


def test_the_worked_example_is_a_sound_exchange() -> None:
    made = docs_wire.example()
    for datagram in (made.request, made.answer):
        assert not isinstance(parse(bytearray(datagram), len(datagram), None), Drop)
    request, answer = HEADER.unpack_from(made.request), HEADER.unpack_from(made.answer)
    assert request[4:8] == answer[4:8], "layout id, session, sequence and task are echoed"


def test_the_worked_example_decodes_without_this_package() -> None:
    text = docs_wire.markdown()
    request, answer = (bytes.fromhex(word) for word in re.findall(r"^(?:request|answer) +(\w+)$", text, re.M))
    assert struct.unpack("<4sBBHIIIHHqqq3d", request)[12:] == (0.0, 1.0, 0.0)
    assert struct.unpack_from("<d", answer, 48) == (-0.25,)
    assert answer[:5] == b"SSD1\x82"
    assert struct.unpack_from("<qqq", answer, 24) == (1_000_055_000, 1_000_000_000, 1_000_040_000)


def test_the_pieces_of_the_worked_example_are_the_whole_datagram() -> None:
    made = docs_wire.example()
    cut = docs_wire.pieces(made.request, made.task.layout_in)
    assert b"".join(piece.data for piece in cut) == made.request
    assert [piece.offset for piece in cut[:3]] == [0, 4, 5]
    assert [piece.name for piece in cut[-2:]] == ["t:f8", "x:f8[2]"]


def test_the_picture_of_a_run_is_that_of_the_example() -> None:
    assert docs_pictures.PICTURE.read_text(encoding="utf-8") == docs_pictures.draw(), (
        "the example has changed: python tools/docs_pictures.py draws it anew"
    )


def test_a_signature_is_shown_as_it_is_written() -> None:
    shown = docs_api.markdown("simsched.running:run")
    assert "    scenario: str | Path | Scenario,\n    *,\n    in_process: bool = False," in shown
    assert "**options: Any" in shown


def test_attributes_of_a_dataclass_come_with_the_words_under_them() -> None:
    shown = docs_api.markdown("simsched.running:Options")
    assert (
        "| `start` | `bool` | `True` | Start the modules; False: they are started by somebody else. |"
        in shown
    )
