"""The classes of errors, and the words that all messages are made of."""

from __future__ import annotations

import pickle

import pytest

from simsched import errors
from simsched.errors import (
    MissingExtra,
    Problem,
    RunError,
    ScenarioError,
    SimschedError,
    UserError,
    choices,
    nearest,
    shortened,
)

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, SimschedError)
]


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_is_of_one_family_and_says_what_it_means(error: type[SimschedError]) -> None:
    families = issubclass(error, UserError) + issubclass(error, RunError)
    assert families == (0 if error is SimschedError else 1)
    assert error.__doc__ and error.__doc__.endswith(".")


def test_a_scenario_error_tells_all_problems_one_to_a_line() -> None:
    error = ScenarioError([Problem("task 'A'", "is wrong"), Problem("DataBase", "too")], "loop.py")
    assert str(error) == "loop.py: 2 problems\n  task 'A': is wrong\n  DataBase: too"


def test_a_single_problem_is_not_spoken_of_as_many() -> None:
    assert (
        str(ScenarioError([Problem("task 'A'", "is wrong")])) == "scenario: 1 problem\n  task 'A': is wrong"
    )


def test_a_missing_extra_says_what_to_type() -> None:
    text = str(MissingExtra("recording", "pyarrow", "record"))
    assert text == (
        "recording needs the package 'pyarrow', which is not installed: pip install 'simsched[record]'"
    )


@pytest.mark.parametrize(
    "error", [ScenarioError([Problem("DataBase", "is wrong")], "loop.py"), MissingExtra("a", "b", "c")]
)
def test_errors_cross_between_processes(error: SimschedError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert getattr(copy, "problems", None) == getattr(error, "problems", None)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("r_ecl", "; did you mean 'r_eci'?"),
        ("R_ECI", "; did you mean 'r_eci'?"),
        ("W_b", "; did you mean 'w_B'?"),
        ("torque", ""),
        ("", ""),
    ],
)
def test_the_nearest_name(name: str, hint: str) -> None:
    assert nearest(name, ["r_eci", "v_eci", "w_B"]) == hint


def test_nothing_is_near_when_nothing_is_known() -> None:
    assert nearest("U", []) == ""
    assert choices("U", [], "fields") == "; fields: none"


def test_choices_are_punctuated_with_and_without_a_near_name() -> None:
    known = (name for name in ("r_eci", "v_eci"))
    assert choices("r_ecl", known, "fields") == "; did you mean 'r_eci'? fields: r_eci, v_eci"
    assert choices("torque", ["r_eci", "v_eci"], "fields") == "; fields: r_eci, v_eci"


def test_long_values_are_cut_to_one_short_line() -> None:
    assert shortened([1.0, 2.0]) == "[1.0, 2.0]"
    text = shortened("line\n" * 100)
    assert len(text) == 60 and text.endswith("...") and "\n" not in text
