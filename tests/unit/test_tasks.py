"""`Tasks`: what each option takes, what a whole task must be, and the words about what is wrong."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched import tasks as tasks_module
from simsched.database import DataBaseSpec, read_database
from simsched.datagram import HEADER_SIZE, MAC_SIZE
from simsched.layout import UDP_LIMIT, layout_id
from simsched.options import OPTIONS
from simsched.tasks import BASE_PORT, LOOPBACK, Task, read_tasks

ROOM = UDP_LIMIT - HEADER_SIZE - MAC_SIZE


def database_of(**attributes: Any) -> DataBaseSpec:
    times = {"t": 0.0, "dt": 0.25, "tmax": 4.0, "cmd": 0}
    spec, problems = read_database(type("DataBase", (), {**times, **attributes}))
    assert problems == []
    return spec


DATABASE = database_of(U=np.zeros(3), w_B=np.zeros(3), mode=1)


def problems_of(tasks: Any, database: DataBaseSpec = DATABASE, base_port: int = BASE_PORT) -> list[str]:
    return [str(problem) for problem in read_tasks(tasks, database, base_port)[1]]


def problem_of(options: Any, database: DataBaseSpec = DATABASE) -> str:
    """The only problem of a task 'A' with these options."""
    (problem,) = problems_of({"A": options}, database)
    return problem


def task_of(options: Any, database: DataBaseSpec = DATABASE) -> Task:
    (task,), problems = read_tasks({"A": options}, database)
    assert problems == []
    return task


def test_the_defaults() -> None:
    task = task_of({"Keys": "t,U"})
    assert task.reads == task.writes == ("t", "U")
    assert task.merged == ("U",)
    assert task.addr == (LOOPBACK, BASE_PORT) and not task.has_addr
    assert (task.every, task.phase, task.timeout, task.max_rate) == (1, 0, 5.0, None)
    assert not (task.no_answer or task.raw or task.optional)
    assert (task.module, task.command, task.params) == (None, None, {})
    assert task.layout_id == layout_id("t:f8,U:f8[3]", "t:f8,U:f8[3]")


@pytest.mark.parametrize(
    "keys",
    [
        "t,cmd,U",
        "t, cmd ,U,",
        ",t,,cmd,U",
        "t,cmd,\n                U",
        "\t t\r\n,cmd\n\nU ",
        "t cmd U",
        ["t", "cmd", " U "],
        ("t", "cmd", "U"),
    ],
)
def test_keys_may_be_padded_and_split_over_lines(keys: Any) -> None:
    assert task_of({"Keys": keys}).reads == ("t", "cmd", "U")


@given(st.lists(st.sampled_from(["t", "dt", "U", "w_B", "mode"]), min_size=1, unique=True), st.data())
def test_any_blanks_and_commas_separate_names(names: list[str], data: st.DataObject) -> None:
    separator = st.text(" \t\n\r", max_size=3).map(lambda blanks: f"{blanks},{blanks}")
    text = "".join(name + data.draw(separator) for name in names)
    assert task_of({"Keys": text}).reads == tuple(names)


def test_a_task_numbers_and_addresses_itself_by_its_place() -> None:
    tasks, problems = read_tasks({"A": {"Keys": "t"}, "B": {"Keys": "U"}}, DATABASE, 7000)
    assert problems == []
    assert [(task.name, task.number, task.addr[1]) for task in tasks] == [("A", 0, 7000), ("B", 1, 7001)]


def test_one_direction_each() -> None:
    task = task_of({"In": "t,U", "Out": "w_B"})
    assert (task.reads, task.writes, task.merged) == (("t", "U"), ("w_B",), ("w_B",))
    assert (task.layout_in.text, task.layout_out.text) == ("t:f8,U:f8[3]", "w_B:f8[3]")


def test_a_task_may_only_write_or_only_read() -> None:
    assert task_of({"Out": "U"}).reads == ()
    assert task_of({"In": "U"}).writes == ()


def test_a_task_without_an_answer_writes_nothing() -> None:
    assert task_of({"Keys": "t,U", "noAnswer": True}).merged == ()


def test_the_nearest_field_is_told_with_all_fields() -> None:
    database = database_of(r_eci=np.zeros(3), v_eci=np.zeros(3))
    fields = "fields: t, dt, tmax, cmd, r_eci, v_eci"
    assert problem_of({"Keys": "r_ecl"}, database) == (
        f"task 'A': Keys: 'r_ecl' is not a field of DataBase; did you mean 'r_eci'? {fields}"
    )
    assert problem_of({"Keys": "torque"}, database) == (
        f"task 'A': Keys: 'torque' is not a field of DataBase; {fields}"
    )


def test_the_nearest_option_is_told_with_all_options() -> None:
    known = ", ".join(OPTIONS)
    assert problem_of({"Keys": "t", "noAnwser": True}) == (
        f"task 'A': unknown option 'noAnwser'; did you mean 'noAnswer'? options: {known}"
    )
    assert problem_of({"Keys": "t", "Colour": 1}) == f"task 'A': unknown option 'Colour'; options: {known}"
    assert problem_of({"Keys": "t", 3: 1}) == f"task 'A': unknown option '3'; options: {known}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"Keys": "t,U,t"}, "Keys: 't' stands there twice; wanted each field once"),
        ({"In": "t", "Out": "dt"}, "Out: 'dt' belongs to the master"),
        ({"Keys": "t", "In": "t"}, "has Keys and In/Out; wanted one or the other"),
        ({"Module": "a.py:A"}, "has neither Keys nor In/Out; wanted the fields it exchanges"),
        ({"Keys": " ,\n "}, "exchanges no field; wanted at least one, as in 'Keys': 't'"),
        ({"In": "", "Out": ""}, "exchanges no field"),
        ({"Keys": "t", "Module": "a.py:A", "Command": ["a"]}, "Module and Command: wanted one of them"),
        ({"Keys": "t", "MaxRate": 30}, "MaxRate without noAnswer"),
        ({"Keys": "t", "Optional": True, "noAnswer": True}, "Optional and noAnswer"),
        ({"Keys": "t", "Optional": True, "Raw": True}, "Optional and Raw"),
        ({"In": "t", "Out": "U", "noAnswer": True}, "Out and noAnswer"),
        ({"Out": "U", "Raw": True}, "Raw and no field in In"),
        ({"Keys": "t", "Phase": 1}, "Phase is 1 and Every is 1; wanted a Phase from 0 to 0"),
        ({"Keys": "t", "Every": 4, "Phase": 4}, "Phase is 4 and Every is 4; wanted a Phase from 0 to 3"),
        ("t,U", "is 't,U'; wanted a dict of options, as in {'Keys': 't,cmd'}"),
        (None, "is None; wanted a dict of options"),
    ],
)
def test_what_a_whole_task_must_be(options: Any, said: str) -> None:
    problem = problem_of(options)
    assert problem.startswith("task 'A': ")
    assert said in problem


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("Keys", None), ("Keys", 3), ("Keys", ["t", 3]), ("Keys", {"t"}),
        ("Addr", None), ("Addr", "host"), ("Addr", "host:"), ("Addr", "host:x"), ("Addr", ":6500"),
        ("Addr", ("h", "6500")), ("Addr", ("", 6500)), ("Addr", ("h", 0)), ("Addr", ("h", 65_536)),
        ("Addr", ("h", -1)), ("Addr", ("h", True)), ("Addr", ("h", 1.0)), ("Addr", ("h",)),
        ("Addr", ("h", 1, 2)), ("Addr", {"h", 1}), ("Addr", ("a b", 1)), ("Addr", "::1:6500"), ("Addr", 6500),
        ("noAnswer", 1), ("noAnswer", "yes"), ("noAnswer", None),
        ("MaxRate", 0), ("MaxRate", -1), ("MaxRate", "30"), ("MaxRate", math.inf), ("MaxRate", True),
        ("Module", "a.py"), ("Module", "a.py:3"), ("Module", ":A"), ("Module", 3), ("Module", "a.py:A b"),
        ("Command", []), ("Command", ""), ("Command", "'open"), ("Command", [1]), ("Command", [""]),
        ("Params", 3), ("Params", {1: 2}), ("Params", None),
        ("Every", 0), ("Every", 1.0), ("Every", True), ("Every", "2"), ("Every", None),
        ("Phase", -1), ("Phase", 0.5),
        ("Timeout", 0), ("Timeout", -1.0), ("Timeout", math.nan), ("Timeout", math.inf), ("Timeout", "5"),
        ("Raw", 0), ("Optional", "no"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_what_was_wanted(option: str, value: Any) -> None:
    said = problems_of({"A": {"Keys": "t", "noAnswer": True, **{option: value}}})
    head = f"task 'A': {option} is "
    assert any(problem.startswith(head) and problem.endswith(OPTIONS[option].wanted) for problem in said)


@pytest.mark.parametrize(
    ("addr", "parsed"),
    [
        (("192.0.2.7", 6502), ("192.0.2.7", 6502)),
        (["rig.example", np.int64(6502)], ("rig.example", 6502)),
        ("rig.example:6502", ("rig.example", 6502)),
        (("::1", 6502), ("::1", 6502)),
        ("[::1]:6502", ("::1", 6502)),
        (("h", 65_535), ("h", 65_535)),
    ],
)
def test_addresses(addr: Any, parsed: tuple[str, int]) -> None:
    task = task_of({"Keys": "t", "Addr": addr})
    assert task.addr == parsed and task.has_addr


def test_clean_values() -> None:
    assert task_of({"Keys": "t", "Timeout": None}).timeout is None
    assert task_of({"Keys": "t", "Timeout": 2}).timeout == 2.0
    assert task_of({"Keys": "t", "noAnswer": True, "MaxRate": np.float32(30)}).max_rate == 30.0
    assert task_of({"Keys": "t", "Command": "./nav '{addr} x'"}).command == ("./nav", "{addr} x")
    assert task_of({"Keys": "t", "Command": ["./nav", "{addr}"]}).command == ("./nav", "{addr}")
    assert task_of({"Keys": "t", "Module": "lib.mod:Klass"}).module == "lib.mod:Klass"
    assert task_of({"Keys": "t", "Params": {"gain": 2}}).params == {"gain": 2}


def test_parameters_are_not_shared_between_tasks() -> None:
    (one, two), _ = read_tasks({"A": {"Keys": "t"}, "B": {"Keys": "t"}}, DATABASE)
    assert one.params is not two.params


@given(st.integers(1, 9), st.data(), st.integers(0, 100))
def test_every_and_phase_follow_their_formula(every: int, data: st.DataObject, step: int) -> None:
    phase = data.draw(st.integers(0, every - 1))
    task = task_of({"Keys": "t", "Every": every, "Phase": phase})
    assert task.active(step) == (step in range(phase, 101, every))


def test_two_tasks_cannot_share_an_address() -> None:
    assert problems_of({"A": {"Keys": "t"}, "B": {"Keys": "t", "Addr": ("localhost", BASE_PORT)}}) == [
        f"task 'B': Addr localhost:{BASE_PORT} is that of task 'A' too; wanted one of its own"
    ]
    far = {"Keys": "t", "Addr": ("192.0.2.7", BASE_PORT)}
    assert problems_of({"A": {"Keys": "t"}, "B": far}) == []


def test_a_port_past_the_last_one_is_reported_for_each_task() -> None:
    (problem,) = problems_of({"A": {"Keys": "t"}, "B": {"Keys": "t"}}, base_port=65_535)
    assert problem == (
        "task 'B': its port would be 65536 (base port 65535 + place 1); wanted 65535 at most: "
        "choose a smaller base port or give it an Addr"
    )


def test_more_tasks_than_the_header_can_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2 ** (8 * struct.calcsize("H")) == tasks_module.MOST_TASKS  # H: the task number of the header
    monkeypatch.setattr(tasks_module, "MOST_TASKS", 2)
    assert problems_of({name: {"Keys": "t"} for name in "AB"}) == []
    assert problems_of({name: {"Keys": "t"} for name in "ABC"}) == ["Tasks: has 3 tasks; wanted 2 at most"]


@pytest.mark.parametrize("name", ["", "a b", "3x", "a.b", "a'b", 3, None, "A\n"])
def test_a_tasks_name_is_a_word(name: Any) -> None:
    (problem,) = problems_of({name: {"Keys": "t"}})
    assert problem.startswith(f"task '{name}': is not a name; wanted a word of letters")


@pytest.mark.parametrize("tasks", [None, {}, [], [{"Keys": "t"}], "A"])
def test_tasks_is_a_dict(tasks: Any) -> None:
    (problem,) = problems_of(tasks)
    assert problem == f"Tasks: is {tasks!r}; wanted a dict of task names and their options"


def test_all_problems_of_all_tasks_are_told_at_once() -> None:
    said = problems_of(
        {
            "A": {"Keys": "t,X", "Every": 0, "Colour": 1},
            "B": {"Keys": "t"},
            "C": {"In": "Y", "Out": "Z"},
        }
    )
    assert [problem.split(" is ")[0].split("; ")[0] for problem in said] == [
        "task 'A': Every",
        "task 'A': unknown option 'Colour'",
        "task 'A': Keys: 'X'",
        "task 'C': In: 'Y'",
        "task 'C': Out: 'Z'",
    ]


def test_tasks_that_are_wrong_are_not_among_those_that_are_right() -> None:
    tasks, problems = read_tasks({"A": {"Keys": "X"}, "B": {"Keys": "t"}}, DATABASE)
    assert [task.name for task in tasks] == ["B"]
    assert len(problems) == 1


def test_a_datagram_has_room_for_header_and_signature() -> None:
    assert task_of({"In": "x"}, database_of(x=bytes(ROOM))).layout_in.size == ROOM
    assert problem_of({"In": "t,x"}, database_of(x=bytes(ROOM))) == (
        f"task 'A': In makes a datagram of {UDP_LIMIT + 8} bytes; UDP carries {UDP_LIMIT} at most: "
        f"largest field 'x' has {ROOM}; split the task or send less"
    )
    assert problem_of({"Out": "x"}, database_of(x=bytes(ROOM + 1))).startswith(
        "task 'A': Out makes a datagram"
    )


def test_a_raw_datagram_is_its_fields_alone() -> None:
    assert task_of({"In": "x", "Raw": True}, database_of(x=bytes(UDP_LIMIT))).raw
    assert "of 65508 bytes" in problem_of({"In": "x", "Raw": True}, database_of(x=bytes(UDP_LIMIT + 1)))


def test_names_too_many_to_be_compared_are_reported() -> None:
    fields = {f"a_rather_long_name_of_a_field_{n}": False for n in range(1000)}
    problem = problem_of({"Keys": list(fields)}, database_of(**fields))
    assert "the names and types of its 2000 fields take" in problem
    assert "make arrays of fields, or split the task" in problem


def test_every_option_is_described() -> None:
    for option in OPTIONS.values():
        assert option.wanted and option.meaning
