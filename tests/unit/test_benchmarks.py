"""The benchmarks measure what they say: their arithmetic, their work, and where they write."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Imports a file of the benchmarks, and forgets it afterwards: their names are common words."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    yield importlib.import_module
    for name in {path.stem for path in FOLDER.glob("*.py")} - before:
        sys.modules.pop(name, None)


def test_a_bound_is_judged_by_the_median(bench: Callable[[str], Any]) -> None:
    finding = bench("findings").Finding
    assert finding("a", [1.0, 1.5, 9.0], "at most", 1.6).met is True
    assert finding("a", [1.0, 1.5, 9.0], "at least", 1.6).met is False
    assert finding("a", [1.0, 1.5, 9.0]).row() == ("a", "", "1.50 ×", "1.00–9.00", "")


def test_ratios_are_taken_within_a_round(bench: Callable[[str], Any]) -> None:
    frame = bench("frame")
    contender = frame.Contender("x", "one", 1, 1, float)
    slow = frame.Result(contender, [4.0, 40.0, 8.0])
    quick = frame.Result(contender, [2.0, 20.0])
    assert slow.ratios(quick) == [2.0, 2.0]


def test_those_who_need_fewer_rounds_have_fewer(bench: Callable[[str], Any]) -> None:
    frame = bench("frame")
    often, seldom = (frame.Contender("x", "one", 1, 1, float, most_rounds=most) for most in (9, 1))
    results = frame.take_turns([often, seldom], frame.Plan(3, 1.0, 5, 5.0), lambda text: None)
    assert [len(result.rounds_s) for result in results] == [3, 1]


def test_a_contender_that_skips_its_work_is_found_out(bench: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match=r"after 5 module runs, expected 0\.125"):
        bench("payload").check_turns(0.1, 5)


def test_the_ring_carries_the_payload_and_does_its_work(bench: Callable[[str], Any]) -> None:
    scenario = bench("ring").scenario(3, 10)
    sizes = {(task.layout_in.size, task.layout_out.size) for task in scenario.tasks}
    assert sizes == {(bench("payload").SIZE, bench("payload").SIZE)}
    assert scenario.plan().is_chain
    assert bench("dispatcher").wall_s(3, 10, in_process=True) > 0.0


def test_the_tasks_of_the_overlap_are_independent(bench: Callable[[str], Any]) -> None:
    assert [len(stage) for stage in bench("overlap").scenario(1, 1).plan().stages] == [4]


def test_the_page_has_a_place_for_each_table() -> None:
    written = set(re.findall(r'\("(\w+)", "[A-Z]', (FOLDER / "exchange.py").read_text(encoding="utf-8")))
    assert written == {"bounds", "exchange", "startup"}
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for name in written | {"machine"}:
        assert page.count(f"<!-- {name}:begin -->") == page.count(f"<!-- {name}:end -->") == 1


def test_writing_replaces_what_stood_between_the_markers(bench: Callable[[str], Any], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n", encoding="utf-8")
    bench("frame").write_between_markers(page, "x", "new")
    assert page.read_text(encoding="utf-8") == "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n"
    with pytest.raises(ValueError, match="wanted the lines '<!-- y:begin -->'"):
        bench("frame").write_between_markers(page, "y", "new")
