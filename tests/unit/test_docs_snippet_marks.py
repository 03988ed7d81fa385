"""Every snippet of the tutorial and the how-tos is tried, or says why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_snippets import Command, File, Folder, Script, actions, agrees

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]

FENCE = re.compile(
    r"(?P<before>[^\n]*)\n```(?P<language>python|console|yaml)(?P<attributes>[^\n]*)\n.*?^```$", re.M | re.S
)
MARK = re.compile(r"<!-- (run|run: .*|not run: .+) -->")


def untried(page: str) -> list[str]:
    """The first words of each fence that is neither a file nor marked."""
    return [
        found[0][:80]
        for found in FENCE.finditer(page)
        if "title=" not in found["attributes"] and not MARK.fullmatch(found["before"])
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_is_tried_or_says_why_not(page: Path) -> None:
    assert untried(page.read_text()) == []


def test_an_unmarked_snippet_is_found() -> None:
    assert untried("so:\n\n```python\nimport simsched\n```\n") == ["\n```python\nimport simsched\n```"]
    assert untried("\n<!-- run -->\n```python\nimport simsched\n```\n") == []


def test_actions_come_in_the_order_of_the_page() -> None:
    page = (
        "<!-- folder: examples/two_modules -->\n"
        '```python title="a.py"\nx = 1\n```\n'
        "<!-- run -->\n```python\nprint(1)\n```\n"
        "<!-- output -->\n```text\n1\n```\n"
        "<!-- run: exit 2 -->\n```console\n$ one \\\n  more\nprinted\n$ two\n```\n"
    )
    assert actions(page) == [
        Folder("examples/two_modules"),
        File("a.py", "x = 1\n"),
        Script("print(1)\n", "1\n", 5),
        Command("one    more", "printed\n", 13, 2),
        Command("two", "", 13, 2),
    ]


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\nc\n", "a\n...\n", True),
        ("a\n", "...\na\n", True),
        ("a 1.5 b\n", "a ... b\n", True),
        ("a\nb\n", "a\n", False),
        ("x\na\n", "a\n", False),
        ("a (b)\n", "a (c)\n", False),
    ],
)
def test_what_agrees(printed: str, expected: str, same: bool) -> None:
    assert agrees(printed, expected) is same
