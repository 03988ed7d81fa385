"""What a scenario's text declares twice, of which Python would silently keep the last."""

from __future__ import annotations

from textwrap import dedent

import pytest

from simsched.source import twice_declared

LAST = "Python keeps the last alone: remove one"


def said(source: str) -> list[str]:
    return [str(problem) for problem in twice_declared(dedent(source))]


def test_a_field_declared_twice_is_named_with_its_lines() -> None:
    assert said("""\
        class DataBase:
            t = 0.0; dt = 0.25
            U = 0.0
            U: float = 1.0
            a, b = 0.0, 1.0
            b = 2.0
            U = 3.0
        """) == [
        f"DataBase field 'U': is declared 3 times, in lines 3, 4 and 7; {LAST}",
        f"DataBase field 'b': is declared twice, in lines 5 and 6; {LAST}",
    ]


def test_a_task_and_an_option_that_stand_twice() -> None:
    assert said("""\
        Tasks = {
            'A': {'Keys': 't', 'Keys': 'U'},
            'B': {'Keys': 't', 'Params': {'gain': 1, 'gain': 2}},
            'A': {'Keys': 't'},
        }
        """) == [
        f"task 'A': stands in Tasks twice, in lines 2 and 4; {LAST}",
        f"task 'A': 'Keys' stands there twice, in lines 2 and 2; {LAST}",
        f"task 'B': Params: 'gain' stands there twice, in lines 3 and 3; {LAST}",
    ]


def test_an_annotated_tasks_is_read_too() -> None:
    (problem,) = said("Tasks: dict = {'A': {}, 'A': {}}")
    assert problem.startswith("task 'A': stands in Tasks twice")


def test_a_second_database_or_a_second_tasks() -> None:
    assert said("class DataBase: pass\nTasks = {}\nclass DataBase: pass\nTasks = {}") == [
        f"DataBase: is declared twice, in lines 1 and 3; {LAST}",
        f"Tasks: is declared twice, in lines 2 and 4; {LAST}",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "class DataBase:\n    U = 0.0\n    V = 0.0\nTasks = {'A': {'Keys': 'U'}, 'B': {'Keys': 'U'}}",
        "class DataBase:\n    U = np.zeros(3)\n    U = field(U, finite='stop')",
        "class DataBase:\n    _i = 0\n    _i = 1",
        "class DataBase:\n    if fast:\n        dt = 0.1\n    else:\n        dt = 0.2",
        "class DataBase:\n    U: float\n    U = 1.0",
        "class DataBase:\n    U = np.zeros(3)\n    U[0] = 1.0",
        "class Other:\n    U = 0.0\n    U = 1.0",
        "class DataBase: pass\nclass DataBase(DataBase): pass",
        "Tasks = {}\nTasks = {**Tasks, 'B': {}}",
        "Tasks = {**common, **common}",
        "Tasks = make()\nOther = {'A': 1, 'A': 2}",
        "x = 1\nx = 2",
    ],
)
def test_what_is_meant_is_not_reported(source: str) -> None:
    assert said(source) == []


def test_text_that_is_not_python_is_left_to_the_caller() -> None:
    with pytest.raises(SyntaxError):
        twice_declared("class DataBase")
