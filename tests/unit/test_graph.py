"""The drawing of a scenario: who has which value from whom, and when."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simsched.graph import FORMATS, Flow, dot, flows, mermaid, stages
from simsched.scenario import make_scenario
from simsched.tasks import Task

NAMES = "abcd"


class DataBase:
    dt, tmax = 1.0, 2.0
    a = b = c = d = 0.0


def made(**tasks: dict[str, Any]) -> tuple[Task, ...]:
    return make_scenario(DataBase, {name.replace("_", "-"): options for name, options in tasks.items()}).tasks


def test_a_value_of_this_step_is_solid_and_one_of_the_last_is_dashed() -> None:
    tasks = made(Plant={"In": "t,a,b", "Out": "a"}, Control={"In": "a", "Out": "b"})
    assert flows(tasks) == [
        Flow("Plant", "Plant", ("a",), True),
        Flow("Control", "Plant", ("b",), True),
        Flow("Plant", "Control", ("a",), False),
    ]


def test_in_jacobi_coupling_all_values_are_of_the_last_step_and_all_tasks_in_one_stage() -> None:
    tasks = made(One={"In": "a", "Out": "b"}, Two={"In": "b", "Out": "a"})
    assert {(flow.source, flow.target, flow.is_late) for flow in flows(tasks, jacobi=True)} == {
        ("Two", "One", True),
        ("One", "Two", True),
    }
    assert [[task.name for task in stage] for stage in stages(tasks, jacobi=True)] == [["One", "Two"]]


def test_the_last_writer_before_the_reader_is_the_one_that_is_seen() -> None:
    tasks = made(One={"Out": "a"}, Two={"Out": "a"}, Reader={"In": "a"}, Three={"Out": "a"})
    assert flows(tasks) == [Flow("Two", "Reader", ("a",), False)]


def test_behind_a_writer_that_rests_at_times_stands_the_one_before_it() -> None:
    tasks = made(One={"Out": "a"}, Two={"Out": "a", "Every": 5}, Reader={"In": "a"})
    assert [(flow.source, flow.is_late) for flow in flows(tasks)] == [("Two", False), ("One", False)]


def test_what_nobody_writes_comes_from_the_database_and_what_nobody_reads_is_said() -> None:
    tasks = made(Only={"In": "a", "Out": "b,c"})
    assert flows(tasks) == [
        Flow("DataBase", "Only", ("a",), False),
        Flow("Only", "nobody", ("b", "c"), False),
    ]


def test_a_task_that_never_answers_writes_nothing() -> None:
    tasks = made(Plot={"Keys": "t,a", "noAnswer": True}, Reader={"In": "a"})
    assert {flow.source for flow in flows(tasks)} == {"DataBase"}


def test_mermaid_text() -> None:
    tasks = made(
        A_1={"In": "a", "Out": "b"},
        B={"In": "a", "Out": "c", "Every": 4, "Phase": 1},
        P={"Keys": "b", "noAnswer": True},
    )
    assert mermaid(tasks).splitlines() == [
        "flowchart TD",
        '  subgraph stage1["stage 1"]',
        '    task0["A-1"]',
        '    task1["B<br/>every 4 from 1"]',
        "  end",
        '  subgraph stage2["stage 2"]',
        '    task2(["P<br/>noAnswer"])',
        "  end",
        "  database[(DataBase)]",
        "  nobody([read by no task])",
        '  database -->|"a"| task0',
        '  database -->|"a"| task1',
        '  task0 -->|"b"| task2',
        '  task1 -->|"c"| nobody',
    ]


def test_dot_text() -> None:
    tasks = made(Plant={"In": "a,b", "Out": "a"}, Control={"In": "a", "Out": "b"})
    lines = dot(tasks).splitlines()
    assert lines[0] == "digraph scenario {"
    assert lines[-1] == "}"
    assert '  task1 -> task0 [label="b", style=dashed];' in lines
    assert '  task0 -> task1 [label="a"];' in lines


fields = st.lists(st.sampled_from(NAMES), unique=True).map(",".join)
options = st.builds(
    lambda reads, writes, every: {"In": reads or "t", "Out": writes, "Every": every},
    fields,
    fields,
    st.integers(1, 3),
)


@given(st.lists(options, min_size=1, max_size=6), st.booleans())
def test_every_read_field_has_a_source_and_every_stage_is_drawn(
    all_options: list[dict[str, Any]], jacobi: bool
) -> None:
    tasks = made(**{f"T{place}": options for place, options in enumerate(all_options)})
    arrows = flows(tasks, jacobi)
    for task in tasks:
        told = {name for arrow in arrows if arrow.target == task.name for name in arrow.fields}
        assert told == set(task.reads) - {"t"}
    for text in (mermaid(tasks, jacobi), dot(tasks, jacobi)):
        assert len(re.findall("subgraph", text)) == len(stages(tasks, jacobi))
    assert_is_dot(dot(tasks, jacobi))


def assert_is_dot(text: str) -> None:
    """Every line is one of the four forms that the language has for what we draw, and braces close."""
    name, looks = r"[a-z_]+\d*", r'\[[a-z]+="?[^"\]]*"?(, [a-z]+="?[^"\]]*"?)*\]'
    blocks = rf'(digraph|subgraph) {name} {{|}}|label="[^"]*"; style=dashed;'
    forms = rf"{blocks}|({name}|{name} -> {name}) {looks};"
    for line in text.splitlines():
        assert re.fullmatch(forms, line.strip()), line
    assert text.count("{") == text.count("}")


def test_graphviz_reads_it_where_it_is_there() -> None:
    tasks = made(
        Plant={"In": "a,b", "Out": "a"},
        Control={"In": "a", "Out": "b,d"},
        Plot={"Keys": "c", "noAnswer": True},
    )
    assert_is_dot(dot(tasks))
    if shutil.which("dot"):
        done = subprocess.run(
            ["dot", "-Tplain"], input=dot(tasks), capture_output=True, text=True, timeout=30
        )
        assert done.returncode == 0, done.stderr


def test_both_languages_are_offered() -> None:
    assert list(FORMATS) == ["mermaid", "dot"]
