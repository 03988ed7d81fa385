"""Tables: drawn on a terminal, aligned columns of plain text anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence

Row = Sequence[str]


def show_table(headings: Row, rows: Sequence[Row], numbers: frozenset[str] = frozenset()) -> None:
    """Print a table; the columns named in `numbers` are aligned at the right."""
    if sys.stdout.isatty():
        _drawn(headings, rows, numbers)
    else:
        print(plain(headings, rows, numbers), flush=True)


def plain(headings: Row, rows: Sequence[Row], numbers: frozenset[str] = frozenset()) -> str:
    """Columns two blanks apart.

    >>> print(plain(["task", "n"], [["Rotation", "7"], ["Plot", "12"]], frozenset({"n"})))
    task       n
    Rotation   7
    Plot      12
    """
    lines = [list(headings), *(list(row) for row in rows)]
    widths = _widths(lines)
    return "\n".join(_aligned(line, widths, headings, numbers) for line in lines)


def _widths(lines: Sequence[Row]) -> list[int]:
    return [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]


def _aligned(line: Row, widths: Sequence[int], headings: Row, numbers: frozenset[str]) -> str:
    cells = zip(line, widths, headings, strict=True)
    return "  ".join(
        cell.rjust(width) if name in numbers else cell.ljust(width) for cell, width, name in cells
    ).rstrip()


def _drawn(headings: Row, rows: Sequence[Row], numbers: frozenset[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if console.width < sum(_widths([headings, *rows])) + 3 * len(headings):
        print(narrow(headings, rows))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in headings:
        table.add_column(name, justify="right" if name in numbers else "left")
    for row in rows:
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    console.print(table)


def narrow(headings: Row, rows: Sequence[Row]) -> str:
    """For a pane in which no table fits: a paragraph for each row, empty cells left out.

    >>> print(narrow(["task", "max", "drops"], [["Plot", "7 µs", ""]]))
    Plot: max 7 µs
    """
    return "\n".join(
        f"{row[0]}: "
        + " · ".join(f"{name} {cell}" for name, cell in zip(headings[1:], row[1:], strict=True) if cell)
        for row in rows
    )


STYLES = {"ok": "green", "missing": "yellow", "wrong": "bold red"}
"""How some words look in a cell of their own."""
