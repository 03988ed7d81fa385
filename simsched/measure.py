"""What every exchange measures, gathered cheaply in the loop and digested in bulk.

Pure: no I/O, no clock. From the four times of an exchange — request sent (master's clock), request
received and answer sent (module's clock), answer received (master's) — follow round trip, compute
time, time on the network, and the offset between the two clocks.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

_ROW = struct.Struct("<qqqq")
_PACKED_ROW = struct.Struct("<24sq")
_ROWS = 1024
_FULL = _ROW.size * _ROWS
_PER_OCTAVE = 8
_BINS = 44 * _PER_OCTAVE


class Histogram:
    """Durations in logarithmic bins: 8 to each doubling, from 1 ns to five hours."""

    def __init__(self) -> None:
        self.counts = np.zeros(_BINS, np.int64)
        self.total_ns = 0
        self.longest_ns = 0

    def add(self, duration_ns: int) -> None:
        self.add_many(np.array([duration_ns]))

    def add_many(self, durations_ns: np.ndarray[Any, Any]) -> None:
        if len(durations_ns) == 0:
            return
        clipped = np.maximum(durations_ns, 1)
        bins = np.minimum((np.log2(clipped) * _PER_OCTAVE).astype(np.int64), _BINS - 1)
        self.counts += np.bincount(bins, minlength=_BINS)
        self.total_ns += int(durations_ns.sum())
        self.longest_ns = max(self.longest_ns, int(durations_ns.max()))

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    @property
    def mean_ns(self) -> float:
        return self.total_ns / self.count if self.count else 0.0

    def quantile_ns(self, share: float) -> float:
        """The upper edge of the bin below which this share lies; at most 9 % more than the truth."""
        if not self.count:
            return 0.0
        rank = max(share * self.count, 1.0)
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return min(float(2.0 ** ((place + 1) / _PER_OCTAVE)), float(self.longest_ns))

    def octaves(self) -> list[tuple[int, int]]:
        """(upper edge [ns], count) of each doubling that was met, for display."""
        grouped = self.counts.reshape(-1, _PER_OCTAVE).sum(axis=1)
        return [(2 ** (octave + 1), int(count)) for octave, count in enumerate(grouped) if count]


@dataclass(frozen=True)
class Summary:
    """One task's timing, for people and for recordings."""

    exchanges: int
    round_trip_us: float
    round_trip_p99_us: float
    round_trip_max_us: float
    compute_us: float
    compute_max_us: float
    network_us: float
    clock_offset_us: float


class Timings:
    """The timing of one task."""

    def __init__(self) -> None:
        self.round_trip = Histogram()
        self.compute = Histogram()
        self.network = Histogram()
        self.clock_offset_ns = 0.0
        self._rows = bytearray(_ROW.size * _ROWS)
        self._at = 0

    def add(self, sent_ns: int, echo_ns: int, recv_ns: int, now_ns: int) -> None:
        """One exchange: the three times of its answer, and when that arrived here."""
        _ROW.pack_into(self._rows, self._at, sent_ns, echo_ns, recv_ns, now_ns)
        self._at += _ROW.size
        if self._at == len(self._rows):
            self._digest()

    def add_packed(self, times: bytes | bytearray, now_ns: int) -> None:
        """The same with the three times as they came."""
        _PACKED_ROW.pack_into(self._rows, self._at, times, now_ns)
        self._at += 32
        if self._at == _FULL:
            self._digest()

    def _digest(self) -> None:
        """Sum up the rows so far; numpy only now and then, and only here."""
        rows = np.frombuffer(self._rows, "<i8", self._at // 8).reshape(-1, 4)
        sent, echo, recv, now = rows.T
        self._at = 0
        if not len(rows):
            return
        trip, compute = now - echo, sent - recv
        self.round_trip.add_many(trip)
        self.compute.add_many(compute)
        self.network.add_many(trip - compute)
        # the quickest exchange has the least asymmetry, so it tells the offset best
        best = int(np.argmin(trip - compute))
        self.clock_offset_ns = float((recv[best] - echo[best]) + (sent[best] - now[best])) / 2

    def compute_total(self) -> tuple[int, int]:
        """All compute time so far [ns], and of how many exchanges."""
        self._digest()
        return self.compute.total_ns, self.compute.count

    def recent_ns(self) -> float:
        """The mean round trip of the last exchanges, a thousand at most [ns]; another thread may ask."""
        rows = np.frombuffer(bytes(self._rows), "<i8").reshape(-1, 4)
        met = rows[rows[:, 3] > 0]
        return float((met[:, 3] - met[:, 1]).mean()) if len(met) else 0.0

    def summary(self) -> Summary:
        self._digest()
        return Summary(
            exchanges=self.round_trip.count,
            round_trip_us=self.round_trip.mean_ns / 1e3,
            round_trip_p99_us=self.round_trip.quantile_ns(0.99) / 1e3,
            round_trip_max_us=self.round_trip.longest_ns / 1e3,
            compute_us=self.compute.mean_ns / 1e3,
            compute_max_us=self.compute.longest_ns / 1e3,
            network_us=self.network.mean_ns / 1e3,
            clock_offset_us=self.clock_offset_ns / 1e3,
        )
