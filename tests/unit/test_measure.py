"""Histograms against numpy's quantiles, and the four times of an exchange."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.measure import Histogram, Timings

BIN = 2.0 ** (1 / 8)
durations = st.lists(st.integers(1, 2**43), min_size=1, max_size=200)


@given(durations, st.floats(0.0, 1.0))
def test_quantiles_are_those_of_numpy_to_the_width_of_a_bin(values: list[int], share: float) -> None:
    histogram = Histogram()
    histogram.add_many(np.array(values))
    exact = float(np.quantile(values, share, method="inverted_cdf"))
    assert exact / 1.0001 <= histogram.quantile_ns(share) <= exact * BIN * 1.0001


@given(durations)
def test_mean_longest_and_count_are_exact(values: list[int]) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    assert histogram.count == len(values)
    assert histogram.mean_ns == sum(values) / len(values)
    assert histogram.longest_ns == max(values)
    assert histogram.quantile_ns(1.0) == max(values)


@given(durations, st.integers(0, 200))
def test_one_by_one_is_the_same_as_in_bulk(values: list[int], cut: int) -> None:
    whole, parts = Histogram(), Histogram()
    whole.add_many(np.array(values))
    for part in (values[:cut], values[cut:]):
        parts.add_many(np.array(part, np.int64))
    assert np.array_equal(whole.counts, parts.counts)


@given(durations)
def test_octaves_hold_every_value_below_their_edge(values: list[int]) -> None:
    histogram = Histogram()
    histogram.add_many(np.array(values))
    edges = dict(histogram.octaves())
    for edge, count in edges.items():
        assert count == sum(edge // 2 <= value < edge for value in values)


def test_an_empty_histogram_has_no_numbers() -> None:
    histogram = Histogram()
    histogram.add_many(np.array([], np.int64))
    assert (histogram.count, histogram.mean_ns, histogram.quantile_ns(0.5), histogram.octaves()) == (
        0, 0.0, 0.0, [],
    )  # fmt: skip


@pytest.mark.parametrize("value", [0, -5, 2**62])
def test_durations_out_of_range_are_counted_at_the_ends(value: int) -> None:
    histogram = Histogram()
    histogram.add(value)
    assert histogram.count == 1
    assert histogram.longest_ns == max(value, 0)


def timings(rows: Sequence[tuple[int, int, int, int]]) -> Timings:
    made = Timings()
    for row in rows:
        made.add(*row)
    return made


def test_the_four_times_of_an_exchange() -> None:
    # sent at 1000 here, got there 700 later by a clock 5 ms ahead, computed 2000, came back after 300
    ahead = 5_000_000
    summary = timings([(3_700 + ahead, 1_000, 1_700 + ahead, 4_000)]).summary()
    assert summary.exchanges == 1
    assert summary.round_trip_us == 3.0
    assert summary.compute_us == 2.0
    assert summary.network_us == 1.0
    assert summary.clock_offset_us == pytest.approx((ahead + 200) / 1e3)


def test_the_offset_is_told_by_the_quickest_exchange() -> None:
    rows = [(1_000_500, 0, 1_000_500, 9_000), (1_010_050, 10_000, 1_010_050, 10_100)]
    assert timings(rows).summary().clock_offset_us == pytest.approx(1000.0)


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 3000])
def test_no_exchange_is_lost_at_the_edge_of_a_batch(count: int) -> None:
    made = timings([(0, 0, 0, 1_000 * (place + 1)) for place in range(count)])
    summary = made.summary()
    assert summary.exchanges == count
    assert summary.round_trip_max_us == count
    assert made.summary() == summary


def test_a_task_without_exchanges_has_a_summary() -> None:
    summary = Timings().summary()
    assert (summary.exchanges, summary.round_trip_us, summary.round_trip_p99_us) == (0, 0.0, 0.0)
