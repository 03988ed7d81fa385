"""Early dispatch: whatever the plan allows gives the bytes of one task after the other."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from simsched.database import DataBaseSpec, read_database
from simsched.image import Image
from simsched.plan import Plan, make_plan
from simsched.tasks import Task, read_tasks

FIELDS = ("a", "b", "c", "d", "e")


def database() -> DataBaseSpec:
    attributes: dict[str, object] = {"dt": 0.25, "tmax": 4.0}
    attributes.update((name, float(place)) for place, name in enumerate(FIELDS))
    return read_database(type("DataBase", (), attributes))[0]


def tasks_of(*directions: tuple[str, str], silent: Sequence[int] = ()) -> tuple[Task, ...]:
    """Tasks T0, T1, … of (In, Out); those at the places in `silent` answer nothing."""
    declared = {}
    for place, (reads, writes) in enumerate(directions):
        options: dict[str, object] = {"In": reads, "Out": writes}
        if place in silent:
            options = {"In": reads, "noAnswer": True}
        declared[f"T{place}"] = options
    tasks, problems = read_tasks(declared, database())
    assert problems == []
    return tasks


class Bench:
    """An image and the requests cut from it; a task's answer is a digest of its request."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.image = Image(database(), tasks)
        self.requests: dict[int, bytes] = {}

    def dispatch(self, place: int) -> None:
        self.requests[place] = b"".join(self.image.sources(self.tasks[place]))

    def answer(self, place: int) -> None:
        task = self.tasks[place]
        seed = task.name.encode() + self.requests[place]
        answer = hashlib.shake_128(seed).digest(task.layout_out.size) if task.layout_out.size else b""
        for start, stop, begin, end in self.image.targets(task):
            self.image.data[start:stop] = answer[begin:end]


def sequential(tasks: Sequence[Task]) -> Bench:
    bench = Bench(tasks)
    for place in range(len(tasks)):
        bench.dispatch(place)
        bench.answer(place)
    return bench


def interleaved(plan: Plan, pick: Callable[[int], int]) -> Bench:
    """Dispatches and answers in any order that the plan's own counters allow."""
    bench = Bench(plan.tasks)
    blockers = list(plan.blockers)
    ready = [place for place, count in enumerate(blockers) if not count]
    waiting: list[int] = []
    while ready or waiting:
        choice = pick(len(ready) + len(waiting))
        if choice < len(ready):
            place = ready.pop(choice)
            bench.dispatch(place)
            waiting.append(place)
            released = plan.dispatches_release[place]
        else:
            place = waiting.pop(choice - len(ready))
            bench.answer(place)
            released = plan.answers_release[place]
        for later in released:
            blockers[later] -= 1
            if not blockers[later]:
                ready.append(later)
    return bench


some_fields = st.sets(st.sampled_from(FIELDS), min_size=1, max_size=3).map(
    lambda names: ",".join(sorted(names))
)
directions = st.lists(st.tuples(some_fields, some_fields), min_size=1, max_size=7)


@given(directions, st.sets(st.integers(0, 6)), st.booleans(), st.integers(0, 2**32))
def test_any_allowed_interleaving_gives_the_bytes_of_the_sequential_order(
    ways: list[tuple[str, str]], silent: set[int], early: bool, seed: int
) -> None:
    tasks = tasks_of(*ways, silent=sorted(silent))
    wanted = sequential(tasks)
    got = interleaved(make_plan(tasks, early), random.Random(seed).randrange)
    assert got.requests == wanted.requests
    assert got.image.data == wanted.image.data


@given(directions)
def test_stages_respect_what_each_task_waits_for(ways: list[tuple[str, str]]) -> None:
    tasks = tasks_of(*ways)
    plan = make_plan(tasks)
    stage = {task.name: level for level, members in enumerate(plan.stages) for task in members}
    assert sorted(stage) == sorted(task.name for task in tasks)
    for place, task in enumerate(tasks):
        assert all(stage[tasks[j].name] < stage[task.name] for j in plan.after_answer[place])
        assert all(stage[tasks[j].name] <= stage[task.name] for j in plan.after_dispatch[place])


@given(directions)
def test_what_a_plan_releases_is_what_others_wait_for(ways: list[tuple[str, str]]) -> None:
    plan = make_plan(tasks_of(*ways))
    places = range(len(plan.tasks))
    assert {(i, j) for i in places for j in plan.answers_release[i]} == {
        (i, j) for j in places for i in plan.after_answer[j]
    }
    assert {(i, j) for i in places for j in plan.dispatches_release[i]} == {
        (i, j) for j in places for i in plan.after_dispatch[j]
    }
    assert all(not (plan.after_answer[j] & plan.after_dispatch[j]) for j in places)


def names(plan: Plan) -> list[list[str]]:
    return [[task.name for task in stage] for stage in plan.stages]


def test_independent_tasks_are_one_stage() -> None:
    """
    a ──> T0 ──> b
    c ──> T1 ──> d
    """
    plan = make_plan(tasks_of(("a", "b"), ("c", "d")))
    assert names(plan) == [["T0", "T1"]]
    assert plan.blockers == (0, 0)
    assert not plan.is_chain


def test_a_reader_waits_for_the_writer_before_it() -> None:
    """
    a ──> T0 ──> b ──> T1 ──> c
    """
    plan = make_plan(tasks_of(("a", "b"), ("b", "c")))
    assert names(plan) == [["T0"], ["T1"]]
    assert plan.is_chain


def test_a_writer_waits_until_the_reader_before_it_has_been_asked() -> None:
    """
    b ──> T0 ──> c
          T1 ──> b
    """
    plan = make_plan(tasks_of(("b", "c"), ("a", "b")))
    assert plan.after_answer[1] == frozenset()
    assert plan.after_dispatch[1] == {0}
    assert names(plan) == [["T0", "T1"]]


def test_two_writers_of_one_field_keep_their_order() -> None:
    plan = make_plan(tasks_of(("a", "c"), ("b", "c")))
    assert plan.after_answer[1] == {0}


def test_a_task_that_waits_for_a_dispatch_is_no_earlier_than_it() -> None:
    """T2 writes what T1 reads, and T1 waits for T0."""
    plan = make_plan(tasks_of(("a", "b"), ("b,c", "d"), ("e", "c")))
    assert names(plan) == [["T0"], ["T1", "T2"]]


def test_nobody_waits_for_a_task_that_answers_nothing() -> None:
    plan = make_plan(tasks_of(("a", ""), ("a", "b"), silent=[0]))
    assert plan.after_answer[1] == frozenset()


def test_without_early_dispatch_each_task_waits_for_all_before_it() -> None:
    plan = make_plan(tasks_of(("a", "b"), ("c", "d"), ("e", "e")), early=False)
    assert list(map(set, plan.after_answer)) == [set(), {0}, {0, 1}]
    assert plan.is_chain
    assert names(plan) == [["T0"], ["T1"], ["T2"]]


def test_a_plan_of_nothing() -> None:
    plan = make_plan(())
    assert plan.stages == []
    assert plan.is_chain
