"""What mkdocs calls: each `<!-- generated: name -->` of a page becomes what the code says today."""

from __future__ import annotations

import re
from typing import Any

from docs_parts import PARTS

MARKER = re.compile(r"^<!-- generated: (?P<name>[^>]*?) -->$", re.MULTILINE)


class UnknownPart(Exception):
    """A page asks for a generated part that there is not."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The event of mkdocs: the text of a page before it is rendered."""
    return filled(markdown, str(page.file.src_uri))


def filled(markdown: str, where: str) -> str:
    """The text with every marker replaced; UnknownPart names the page and the parts that there are."""

    def part(found: re.Match[str]) -> str:
        name, _, argument = found["name"].partition(" ")
        if name not in PARTS:
            raise UnknownPart(f"{where}: no generated part '{name}'; there are {', '.join(PARTS)}")
        return PARTS[name](argument)

    return MARKER.sub(part, markdown)
