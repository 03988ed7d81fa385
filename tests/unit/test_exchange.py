"""Both ends of a task wired in memory: loss, duplication, reordering and forgery on a given clock."""

from __future__ import annotations

import random
import struct
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.datagram import ANSWER, HEADER_SIZE, MAGIC, Drop, Flag, Kind, build, parse
from simsched.exchange import (
    FIRST_PATIENCE_NS,
    HOLD_NS,
    LEAST_PATIENCE_NS,
    MOST_PATIENCE_NS,
    MS,
    Reply,
    Send,
    Wire,
    Work,
)
from simsched.requester import Requester
from simsched.responder import Responder
from simsched.states import Message, State, transition

REQUEST, RESULT = struct.Struct("<q"), struct.Struct("<qq")
WIRE = Wire("Rotation", 3, 0x1234, "k:i8", "k:i8,runs:i8", REQUEST.size, RESULT.size)
KEYED = replace(WIRE, key=b"a key of the bench")
OURS, THEIRS = 0xA, 0xB


class Model:
    """A module that answers step k with k and how often it has run."""

    def __init__(self, wire: Wire = WIRE) -> None:
        self.responder = Responder(wire)
        self.ran: list[tuple[str, int]] = []

    def receive(self, data: bytes, now_ns: int, peer: str = "192.0.2.1:5000") -> bytes | None:
        """The datagram that goes back, if any; the buffer is larger than it, as the real one is."""
        event = self.responder.receive(bytearray(data + b"\xee" * 64), len(data), now_ns, peer)
        if isinstance(event, Send):
            return event.data
        return self._work(event, data, now_ns) if event else None

    def _work(self, work: Work, data: bytes, now_ns: int) -> bytes | None:
        for kind in work.kinds:
            row = transition(self.responder.state, Message(kind))
            assert row is not None
            self.responder.state = row.to
            step = REQUEST.unpack_from(data, HEADER_SIZE)[0] if kind is Kind.STEP else -1
            self.ran.append((kind.name, step))
        result = RESULT.pack(self.ran[-1][1], len(self.ran)) if kind in (Kind.INIT, Kind.STEP) else b""
        return self.responder.answer(result, now_ns) if work.answer else None

    @property
    def steps(self) -> list[int]:
        return [step for kind, step in self.ran if kind == "STEP"]


class Master:
    """Asks and reads answers, on whatever clock it is given."""

    def __init__(self, wire: Wire = WIRE, session: int = OURS, sequence: int = 0) -> None:
        self.requester = Requester(wire, session, sequence)
        self.payload = b""

    def request(self, kind: Kind, step: int = -1, now_ns: int = 0, flags: int = 0) -> bytes:
        payload = b"" if kind is Kind.STOP else REQUEST.pack(step)
        return self.requester.request(kind, payload, now_ns, flags)

    def receive(self, data: bytes | None, now_ns: int = 0) -> Reply:
        assert data is not None
        reply = self.requester.receive(bytearray(data + b"\xee" * 64), len(data), now_ns)
        if reply is Reply.ANSWER:
            self.payload = data[HEADER_SIZE : HEADER_SIZE + RESULT.size]
        return reply

    def ask(self, model: Model, kind: Kind, step: int = -1, now_ns: int = 0) -> Reply:
        return self.receive(model.receive(self.request(kind, step, now_ns), now_ns), now_ns)


def running(wire: Wire = WIRE) -> tuple[Master, Model]:
    """A master and its module after INIT."""
    master, model = Master(wire), Model(wire)
    assert master.ask(model, Kind.INIT) is Reply.ANSWER
    return master, model


def flipped(data: bytes, place: int, bits: int = 1) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


@dataclass
class Weather:
    """How bad a network is, each a probability."""

    loss: float
    twice: float
    late: float
    forged: float = 0.0


class Network:
    """Holds what is under way; gives it out late, twice, in another order, or never."""

    def __init__(self, weather: Weather, dice: random.Random) -> None:
        self.weather, self.dice = weather, dice
        self.to_model: list[bytes] = []
        self.to_master: list[bytes] = []

    def send(self, line: list[bytes], data: bytes | None) -> None:
        if data is None or self.dice.random() < self.weather.loss:
            return
        for _ in range(1 + (self.dice.random() < self.weather.twice)):
            line.append(self.forged(data) if self.dice.random() < self.weather.forged else data)

    def forged(self, data: bytes) -> bytes:
        return flipped(data, self.dice.randrange(len(data)), self.dice.randrange(1, 256))

    def arriving(self, line: list[bytes]) -> list[bytes]:
        self.dice.shuffle(line)
        stay = [data for data in line if self.dice.random() < self.weather.late]
        arrived = [data for data in line if data not in stay]
        line[:] = stay
        return arrived


def exchange(master: Master, model: Model, network: Network, now_ns: int, request: bytes) -> int:
    """One request through bad weather until it is answered; returns the time then."""
    network.send(network.to_model, request)
    for _ in range(2000):
        for data in network.arriving(network.to_model):
            network.send(network.to_master, model.receive(data, now_ns))
        for data in network.arriving(network.to_master):
            if master.receive(data, now_ns) is Reply.ANSWER:
                return now_ns
        now_ns += 20 * MS
        repeated = master.requester.repeat(now_ns)
        if repeated is not None:
            network.send(network.to_model, repeated)
    raise AssertionError("never answered")


def run_through(weather: Weather, wire: Wire, seed: int, first: int, steps: int) -> tuple[Master, Model]:
    master, model = Master(wire, sequence=first), Model(wire)
    network = Network(weather, random.Random(seed))
    now_ns = exchange(master, model, network, 0, master.request(Kind.INIT))
    for step in range(steps):
        now_ns = exchange(master, model, network, now_ns, master.request(Kind.STEP, step, now_ns))
        # each answer belongs to its request, and the model had run once for INIT and each step
        assert RESULT.unpack(master.payload) == (step, step + 2)
    exchange(master, model, network, now_ns, master.request(Kind.FINAL, now_ns=now_ns))
    return master, model


shares = st.floats(0.0, 0.4)
storms = st.builds(Weather, loss=shares, twice=st.floats(0.0, 1.0), late=shares)
forgers = st.builds(Weather, loss=shares, twice=shares, late=shares, forged=shares)
sequences = st.one_of(st.integers(2**32 - 8, 2**32 - 1), st.integers(0, 2**32 - 1))


@given(storms, st.integers(0, 2**32), sequences)
def test_each_step_runs_exactly_once_and_in_order(weather: Weather, seed: int, first: int) -> None:
    master, model = run_through(weather, WIRE, seed, first, 8)
    assert model.ran == [("INIT", -1), *(("STEP", step) for step in range(8)), ("FINAL", -1)]
    assert set(master.requester.dropped) <= {Drop.STALE}
    assert set(model.responder.dropped) <= {Drop.STALE}


@given(forgers, st.integers(0, 2**32), sequences)
def test_with_a_key_forgery_is_no_more_than_loss(weather: Weather, seed: int, first: int) -> None:
    _, model = run_through(weather, KEYED, seed, first, 6)
    assert model.ran == [("INIT", -1), *(("STEP", step) for step in range(6)), ("FINAL", -1)]


@given(st.data())
def test_a_signed_datagram_tampered_with_is_dropped_at_either_end(data: st.DataObject) -> None:
    master, model = running(KEYED)
    request = master.request(Kind.STEP, 0)
    place = data.draw(st.integers(0, len(request) - 1))
    assert model.receive(flipped(request, place), 0) is None
    answer = model.receive(request, 0)
    assert answer is not None
    place = data.draw(st.integers(0, len(answer) - 1))
    assert master.receive(flipped(answer, place)) is Reply.NOTHING
    assert model.steps == [0]
    for dropped in (master.requester.dropped, model.responder.dropped):
        ((reason, count),) = dropped.items()
        assert count == 1
        assert reason in (Drop.SIGNATURE, Drop.FOREIGN, Drop.LENGTH)


def test_a_signed_datagram_with_another_payload_is_dropped_for_its_signature() -> None:
    master, model = running(KEYED)
    model.receive(flipped(master.request(Kind.STEP, 0), HEADER_SIZE), 0)
    assert model.responder.dropped == Counter({Drop.SIGNATURE: 1})


def test_unsigned_datagrams_do_not_move_a_keyed_module() -> None:
    model = Model(KEYED)
    assert model.receive(Master(WIRE).request(Kind.INIT), 0) is None
    assert model.ran == [] and model.responder.dropped == Counter({Drop.SIGNATURE: 1})


def test_a_repeat_is_answered_from_the_cache() -> None:
    master, model = running()
    request = master.request(Kind.STEP, 0)
    first = model.receive(request, 5)
    assert model.receive(request, 900) == first
    assert model.steps == [0]
    assert model.responder.repeats == 1


def test_a_repeat_that_comes_while_the_module_computes_is_not_answered() -> None:
    master, model = running()
    request = bytearray(master.request(Kind.STEP, 0))
    assert isinstance(model.responder.receive(request, len(request), 0), Work)
    assert model.responder.receive(request, len(request), 1) is None


def test_a_repeated_final_is_answered_too() -> None:
    master, model = running()
    request = master.request(Kind.FINAL)
    assert model.receive(request, 0) == model.receive(request, 1) is not None
    assert model.ran[-1] == ("FINAL", -1) and len(model.ran) == 2


def test_an_answer_counts_once() -> None:
    master, model = running()
    answer = model.receive(master.request(Kind.STEP, 0), 0)
    assert master.receive(answer) is Reply.ANSWER
    assert master.receive(answer) is Reply.NOTHING
    assert master.requester.dropped == Counter({Drop.STALE: 1})


def test_an_answer_tells_the_four_times() -> None:
    master, model = running()
    request = bytearray(master.request(Kind.STEP, 0, now_ns=100))
    model.responder.receive(request, len(request), 7_000)
    master.receive(model.responder.answer(RESULT.pack(0, 0), 9_000), 300)
    assert master.requester.times == (9_000, 100, 7_000)


def second(kind: int, payload: bytes, key: bytes | None = None, **changes: int) -> bytes:
    """The second datagram of our session, right but for the changes."""
    right = {"layout_id": WIRE.layout_id, "session": OURS, "sequence": 2, "task": WIRE.number}
    return build(kind, payload, key=key, **{**right, **changes})


def reason_alone(value: Drop | bytes) -> str:
    return value.label if isinstance(value, Drop) else ""


def refused_by_module() -> list[tuple[Drop, bytes]]:
    """Datagrams that a module in a run of `OURS` (sequence 1) drops, with the reason."""
    body = REQUEST.pack(0)
    return [
        (Drop.SHORT, b""),
        (Drop.SHORT, MAGIC),
        (Drop.FOREIGN, b"GET / HTTP/1.1\r\n" * 4),
        (Drop.LENGTH, second(Kind.STEP, body)[:-1]),
        (Drop.LENGTH, second(Kind.STEP, body + b"x")),
        (Drop.LAYOUT, second(Kind.STEP, body, layout_id=1)),
        (Drop.TASK, second(Kind.STEP, body, task=9)),
        (Drop.STALE, second(Kind.STEP, body, sequence=0)),
        (Drop.KIND, second(Kind.STEP | ANSWER, body)),
        (Drop.KIND, second(77, body)),
        (Drop.KIND, second(Kind.ERROR, body)),
        (Drop.KIND, second(Kind.INIT, body)),
        (Drop.SIGNATURE, second(Kind.STEP, body, key=b"key")),
    ]


@pytest.mark.parametrize(("reason", "data"), refused_by_module(), ids=reason_alone)
def test_a_module_drops_and_counts_by_reason(reason: Drop, data: bytes) -> None:
    _, model = running()
    assert model.receive(data, 0) is None
    assert model.responder.dropped == Counter({reason: 1})
    assert model.steps == []


def refused_by_master() -> list[tuple[Drop, bytes]]:
    """Datagrams that a master waiting for the answer to its STEP (sequence 2) drops."""
    body = RESULT.pack(0, 0)
    kind = Kind.STEP | ANSWER
    return [
        (Drop.SHORT, b"x"),
        (Drop.FOREIGN, bytes(100)),
        (Drop.LENGTH, second(kind, body) + b"x"),
        (Drop.LENGTH, second(kind, body[:-1])),
        (Drop.LAYOUT, second(kind, body, layout_id=1)),
        (Drop.SESSION, second(kind, body, session=THEIRS)),
        (Drop.STALE, second(kind, body, sequence=1)),
        (Drop.STALE, second(kind, body, sequence=3)),
        (Drop.TASK, second(kind, body, task=9)),
        (Drop.KIND, second(Kind.INIT | ANSWER, body)),
        (Drop.KIND, second(Kind.STEP, body)),
        (Drop.SIGNATURE, second(kind, body, key=b"key")),
    ]


@pytest.mark.parametrize(("reason", "data"), refused_by_master(), ids=reason_alone)
def test_a_master_drops_and_counts_by_reason(reason: Drop, data: bytes) -> None:
    master, model = running()
    request = master.request(Kind.STEP, 0)
    assert master.receive(data) is Reply.NOTHING
    assert master.requester.dropped == Counter({reason: 1})
    assert master.receive(model.receive(request, 0)) is Reply.ANSWER


@given(st.binary(max_size=120), st.booleans())
def test_no_bytes_at_all_raise_or_move_anything(data: bytes, framed: bool) -> None:
    master, model = running()
    request = master.request(Kind.STEP, 0)
    noise = MAGIC + data if framed else data
    model.receive(noise, 0)
    master.receive(noise)
    assert model.ran == [("INIT", -1)]
    assert master.receive(model.receive(request, 0)) is Reply.ANSWER


def test_a_second_master_is_told_who_holds_the_module() -> None:
    _, model = running()
    second = Master(session=THEIRS)
    asked = second.requester.hello(0)
    assert second.receive(model.receive(asked, MS, "192.0.2.9:1")) is Reply.ANSWER
    assert second.requester.peer_flags & Flag.BUSY
    assert second.requester.heard().holder == "session 0000000a of 192.0.2.1:5000"
    for kind in (Kind.INIT, Kind.STEP, Kind.FINAL, Kind.STOP):
        assert second.ask(model, kind, now_ns=MS) is Reply.BUSY
        # as many of the words as fit into what was asked
        assert "the module is held by".startswith(second.requester.text)
    assert model.ran == [("INIT", -1)]


def test_the_holder_goes_on_after_a_second_master_has_asked() -> None:
    master, model = running()
    Master(session=THEIRS).ask(model, Kind.INIT)
    assert master.ask(model, Kind.STEP, 0) is Reply.ANSWER
    assert model.steps == [0]


def test_after_final_any_master_may_start_the_next_run() -> None:
    master, model = running()
    master.ask(model, Kind.FINAL)
    assert model.responder.session is None
    assert Master(session=THEIRS).ask(model, Kind.INIT) is Reply.ANSWER
    assert [kind for kind, _ in model.ran] == ["INIT", "FINAL", "INIT"]


def test_a_master_that_was_silent_too_long_loses_its_module() -> None:
    _, model = running()
    second = Master(session=THEIRS)
    assert second.ask(model, Kind.INIT, now_ns=HOLD_NS - 1) is Reply.BUSY
    assert second.ask(model, Kind.INIT, now_ns=HOLD_NS) is Reply.ANSWER
    assert [kind for kind, _ in model.ran] == ["INIT", "FINAL", "INIT"]


@pytest.mark.parametrize("sign", ["ping", "repeat", "step"])
def test_any_sign_of_life_of_the_holder_keeps_the_module(sign: str) -> None:
    master, model = running()
    request = master.request(Kind.STEP, 0)
    model.receive(request, 0)
    later = {"ping": master.requester.ping(0), "repeat": request, "step": master.request(Kind.STEP, 1)}
    model.receive(later[sign], HOLD_NS - 1)
    assert Master(session=THEIRS).ask(model, Kind.INIT, now_ns=HOLD_NS + 1) is Reply.BUSY


def test_a_ping_is_answered_and_means_nothing() -> None:
    master, model = running()
    request = master.request(Kind.STEP, 0)
    assert master.receive(model.receive(master.requester.ping(0), 0)) is Reply.NOTHING
    assert master.requester.dropped == Counter()
    assert master.receive(model.receive(request, 0)) is Reply.ANSWER


def test_a_module_that_was_started_anew_says_that_it_is_not_in_the_run() -> None:
    master, _ = running()
    assert master.ask(Model(), Kind.STEP, 4) is Reply.ERROR
    assert "the module is not in this run".startswith(master.requester.text[:8])


@pytest.mark.parametrize("held", [True, False], ids=["held", "idle"])
@pytest.mark.parametrize("kind", [*Kind, 0, 77, Kind.STEP | ANSWER], ids=str)
@given(
    st.one_of(st.just(REQUEST.pack(0)), st.binary(max_size=600)), st.integers(0, 5), st.sampled_from([3, 4])
)
def test_strangers_are_never_answered_with_more_than_they_brought(
    kind: int, held: bool, payload: bytes, sequence: int, task: int
) -> None:
    model = running()[1] if held else Model()
    data = build(kind, payload, session=THEIRS, sequence=sequence, task=task, layout_id=WIRE.layout_id)
    before = len(model.ran)
    answer = model.receive(data, 1)
    if answer is not None and len(model.ran) == before:
        assert len(answer) <= len(data)


def test_hello_tells_name_and_layouts_whatever_the_task_number() -> None:
    other = replace(WIRE, number=9, layout_id=1, layout_in="k:f8")
    master, model = Master(other), Model()
    assert master.receive(model.receive(master.requester.hello(0), 0)) is Reply.ANSWER
    heard = master.requester.heard()
    assert (heard.name, heard.layout_in, heard.layout_out, heard.holder) == (
        "Rotation", "k:i8", "k:i8,runs:i8", "",
    )  # fmt: skip


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_words_are_heard_whatever_their_length(extra: int) -> None:
    """An answer of words may happen to have the size of an answer of numbers."""
    master, model = running()
    request = bytearray(master.request(Kind.FINAL))
    model.responder.receive(request, len(request), 0)
    reason = "x" * (RESULT.size + extra)
    assert master.receive(model.responder.answer(reason.encode(), 0)) is Reply.ANSWER
    assert master.requester.text == reason


def test_a_task_that_returns_nothing_has_no_words_left_from_its_hello() -> None:
    silent = replace(WIRE, layout_out="", size_out=0)
    master, responder = Master(silent), Responder(silent)
    for kind in (Kind.HELLO, Kind.INIT, Kind.FINAL):
        request = master.requester.hello(0) if kind is Kind.HELLO else master.request(kind)
        event = responder.receive(bytearray(request), len(request), 0)
        assert event is not None
        answer = event.data if isinstance(event, Send) else responder.answer(b"", 0)
        assert master.receive(answer) is Reply.ANSWER
    assert master.requester.text == ""


def test_a_state_that_nobody_knows_is_shown_as_one_that_exists() -> None:
    master, model = running()
    answer = model.receive(master.request(Kind.STEP, 0), 0)
    assert answer is not None
    assert master.receive(flipped(answer, 5, 0xF0)) is Reply.ANSWER
    assert State(master.requester.peer_state) in State


def test_an_error_carries_its_words_and_is_kept_for_repeats() -> None:
    master, model = running()
    request = bytearray(master.request(Kind.STEP, 0))
    model.responder.receive(request, len(request), 0)
    model.responder.state = State.ERROR
    error = model.responder.error("ZeroDivisionError: division by zero\nTraceback …", 0)
    assert model.receive(bytes(request), 1) == error
    assert master.receive(error) is Reply.ERROR
    assert master.requester.text.startswith("ZeroDivisionError: division by zero\n")
    assert master.requester.peer_state is State.ERROR


def test_an_error_is_cut_to_fit_a_datagram_between_two_bytes_of_a_letter() -> None:
    master, model = running()
    request = bytearray(master.request(Kind.STEP, 0))
    model.responder.receive(request, len(request), 0)
    error = model.responder.error("a" + "é" * 100_000, 0)
    assert len(error) < 65_507
    assert master.receive(error) is Reply.ERROR
    assert master.requester.text.startswith("aéé")


def test_a_module_that_wants_to_end_the_run_says_so_in_its_answer() -> None:
    master, model = running()
    model.responder.flags = Flag.STOPPING
    assert master.ask(model, Kind.STEP, 0) is Reply.ANSWER
    assert master.requester.peer_flags & Flag.STOPPING


class TestNoAnswer:
    """A module that is sent to and not waited for; it may come and go at any time."""

    def send(self, master: Master, model: Model, step: int, now_ns: int = 0) -> bytes | None:
        return model.receive(master.request(Kind.STEP, step, now_ns, Flag.NO_ANSWER), now_ns)

    def test_it_joins_late_and_is_initialized_first(self) -> None:
        master, model = Master(sequence=40), Model()
        assert self.send(master, model, 40) is None
        assert self.send(master, model, 41) is None
        assert model.ran == [("INIT", -1), ("STEP", 40), ("STEP", 41)]

    def test_gaps_are_no_matter_and_old_ones_are_dropped(self) -> None:
        master, model = Master(), Model()
        datagrams = [master.request(Kind.STEP, step, 0, Flag.NO_ANSWER) for step in range(6)]
        for step in (1, 4, 2, 4, 5):
            assert model.receive(datagrams[step], 0) is None
        assert model.steps == [1, 4, 5]
        assert model.responder.dropped == Counter({Drop.STALE: 1})

    def test_nothing_is_ever_answered_not_even_to_a_second_master(self) -> None:
        master, model = Master(), Model()
        self.send(master, model, 0)
        assert self.send(Master(session=THEIRS), model, 0, MS) is None
        assert model.steps == [0]

    def test_it_joins_the_next_run_when_its_master_was_killed(self) -> None:
        master, model = Master(), Model()
        self.send(master, model, 0)
        second = Master(session=THEIRS)
        self.send(second, model, 10, MS)
        self.send(second, model, 11, HOLD_NS)
        assert [kind for kind, _ in model.ran] == ["INIT", "STEP", "FINAL", "INIT", "STEP"]
        assert model.steps == [0, 11]


@pytest.mark.parametrize("wire", [WIRE, KEYED], ids=["plain", "keyed"])
class TestPatience:
    """How long the master waits before it repeats, on a given clock."""

    def exchanges(self, wire: Wire, trip_ns: int, count: int) -> Master:
        master, model = running(wire)
        for step in range(count):
            now_ns = step * 10_000 * MS
            answer = model.receive(master.request(Kind.STEP, step, now_ns), now_ns)
            assert master.receive(answer, now_ns + trip_ns) is Reply.ANSWER
        return master

    def test_it_falls_to_the_least_on_a_quick_line(self, wire: Wire) -> None:
        assert self.exchanges(wire, MS // 10, 100).requester.patience_ns == LEAST_PATIENCE_NS

    def test_it_rises_above_the_round_trip_of_a_slow_one(self, wire: Wire) -> None:
        patience = self.exchanges(wire, 300 * MS, 100).requester.patience_ns
        assert 300 * MS * 0.99 <= patience <= 400 * MS

    def test_it_is_never_more_than_the_most(self, wire: Wire) -> None:
        assert self.exchanges(wire, 60_000 * MS, 10).requester.patience_ns == MOST_PATIENCE_NS

    def test_nothing_is_repeated_before_its_time_and_then_ever_more_rarely(self, wire: Wire) -> None:
        requester = Requester(wire, OURS)
        request = requester.request(Kind.INIT, REQUEST.pack(0), 1000)
        assert requester.repeat_ns == 1000 + FIRST_PATIENCE_NS
        assert requester.repeat(requester.repeat_ns - 1) is None
        waits = []
        for _ in range(8):
            now_ns = requester.repeat_ns
            assert requester.repeat(now_ns) == request
            waits.append(requester.repeat_ns - now_ns)
        assert waits == sorted(waits) and waits[0] == 2 * FIRST_PATIENCE_NS and waits[-1] == MOST_PATIENCE_NS
        assert requester.repeats == 8
        assert requester.waited_ns(5000) == 4000

    def test_the_answer_to_a_repeat_measures_nothing(self, wire: Wire) -> None:
        master, model = running(wire)
        before = master.requester.patience_ns
        request = master.request(Kind.STEP, 0, 0)
        master.requester.repeat(master.requester.repeat_ns)
        assert master.receive(model.receive(request, 0), 900 * MS) is Reply.ANSWER
        assert master.requester.patience_ns == before


def test_a_request_has_the_header_of_the_wire() -> None:
    request = Master(sequence=2**32 - 1).request(Kind.STEP, 5, 77)
    header = parse(bytearray(request), len(request), None)
    assert not isinstance(header, Drop)
    assert (header.kind, header.sequence, header.session, header.task, header.layout_id) == (
        Kind.STEP, 0, OURS, WIRE.number, WIRE.layout_id,
    )  # fmt: skip
    assert (header.sent_ns, header.echo_ns, header.recv_ns, header.length) == (77, 0, 0, 8)
