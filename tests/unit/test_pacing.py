"""Real time on a given clock, and how many steps lead to tmax."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.errors import Overrun
from simsched.pacing import NS, POLICIES, Pacer, divides, step_count

MS = 1_000_000
START = 12_345


def pacer(policy: str = "catchup") -> Pacer:
    """A period of 10 ms."""
    return Pacer(0.01, START, policy)  # type: ignore[arg-type]


@given(st.integers(1, 10**6), st.integers(1, 10**7), st.integers(0, 2**60))
def test_deadlines_never_accumulate(denominator: int, step: int, start: int) -> None:
    period = 1.0 / denominator
    exact = start + Fraction(period) * step * NS
    error = abs(Pacer(period, start).due_ns(step) - exact)
    assert error <= 1 + Fraction(math.ulp(float(step * period * NS)))


def test_a_step_waits_until_it_is_due_and_no_longer() -> None:
    given_pacer = pacer()
    due = START + 30 * MS
    assert given_pacer.due_ns(3) == due
    assert given_pacer.wait_ns(3, due - 7) == 7
    assert given_pacer.wait_ns(3, due) == 0
    assert given_pacer.wait_ns(3, due + 7) == 0


def test_a_step_that_ends_when_the_next_is_due_is_in_time() -> None:
    given_pacer = pacer("stop")
    given_pacer.finished(0, START + 10 * MS)
    assert given_pacer.overruns == 0


def test_catchup_runs_late_steps_back_to_back_until_the_schedule_is_met() -> None:
    given_pacer = pacer("catchup")
    now = START + 25 * MS
    given_pacer.finished(0, now)
    assert given_pacer.overruns == 1
    waits = []
    for step in (1, 2, 3):
        waits.append(given_pacer.wait_ns(step, now))
        now += waits[-1] + MS
    assert waits == [0, 0, 3 * MS]
    assert given_pacer.due_ns(100) == START + 1000 * MS


def test_slip_shifts_the_rest_of_the_schedule_by_the_lateness() -> None:
    given_pacer = pacer("slip")
    given_pacer.finished(0, START + 25 * MS)
    assert given_pacer.wait_ns(1, START + 25 * MS) == 0
    assert given_pacer.due_ns(2) == START + 35 * MS
    given_pacer.finished(1, START + 26 * MS)
    assert given_pacer.overruns == 1


def test_stop_says_how_late_and_what_to_do() -> None:
    given_pacer = pacer("stop")
    with pytest.raises(Overrun) as caught:
        given_pacer.finished(4, START + 62 * MS + 500_000)
    assert str(caught.value) == (
        "step 4 ended 12.500 ms after the next one was due (dt = 0.01 s): make the tasks faster, dt longer, "
        "or choose another overrun policy (catchup, slip, stop)"
    )
    assert given_pacer.overruns == 1


@pytest.mark.parametrize("policy", POLICIES)
def test_lateness_of_release_is_noted_and_never_negative(policy: str) -> None:
    given_pacer = pacer(policy)
    given_pacer.released(0, START + 5)
    given_pacer.released(1, START + 9 * MS)
    assert given_pacer.lateness.count == 2
    assert given_pacer.lateness.longest_ns == 5


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-(10**6), 10**6))
def test_decimal_steps_are_counted_as_they_are_written(count: int, thousandths: int, start: int) -> None:
    dt, t0 = thousandths / 1000, start / 1000
    tmax = (start + count * thousandths) / 1000
    assert step_count(t0, dt, tmax) == count
    assert divides(t0, dt, tmax)


@given(st.integers(0, 10**6), st.floats(0.05, 0.95), st.integers(1, 10**4))
def test_a_part_of_a_step_is_a_step_more(count: int, part: float, thousandths: int) -> None:
    dt = thousandths / 1000
    tmax = (count + part) * dt
    assert step_count(0.0, dt, tmax) == count + 1
    assert not divides(0.0, dt, tmax)


@pytest.mark.parametrize(
    ("t0", "dt", "tmax", "count"),
    [
        (0.0, 0.25, 4.0, 16),
        (0.0, 0.1, 0.3, 3),
        (0.0, 0.1, 0.7, 7),
        (0.0, 0.1, 1e6, 10_000_000),
        (0.0, 1 / 3, 1.0, 3),
        (0.0, 0.3, 1.0, 4),
        (0.0, 0.699999988079071, 70.0, 100),  # 0.7 in single precision
        (0.0, 0.25, 250_000.1, 1_000_001),
        (1e9, 0.001, 1e9 + 0.01, 10),
        (10.0, 1.0, 10.5, 1),
        (5.0, 1.0, 5.0, 0),
        (5.0, 1.0, 1.0, 0),
        (0.0, 1.0, math.inf, None),
    ],
)
def test_nasty_times(t0: float, dt: float, tmax: float, count: int | None) -> None:
    assert step_count(t0, dt, tmax) == count


def test_a_run_without_end_is_never_cut() -> None:
    assert divides(0.0, 0.3, math.inf)
    assert not divides(0.0, 0.25, 250_000.1)


@pytest.mark.parametrize("count", range(1, 30))
def test_a_large_t_that_cannot_be_told_finely_adds_no_step(count: int) -> None:
    start = 1e9  # [s], where neighbouring doubles are 0.12 µs apart
    assert step_count(start, 0.001, start + count * 0.001) == count
