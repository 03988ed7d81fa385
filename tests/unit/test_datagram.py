"""The bytes of the wire, decoded by construct, which knows nothing of our struct."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched import datagram
from simsched.datagram import (
    HEADER,
    HEADER_SIZE,
    MAC_SIZE,
    MAGIC,
    Drop,
    Flag,
    Header,
    Hello,
    Kind,
    build,
    is_newer,
    pack_hello,
    parse,
    unpack_hello,
)

KEY = b"a key of the bench"

INDEPENDENT = construct.Struct(
    "magic" / construct.Const(b"SSD1"),
    "kind" / construct.Int8ul,
    "state" / construct.Int8ul,
    "flags" / construct.Int16ul,
    "layout_id" / construct.Int32ul,
    "session" / construct.Int32ul,
    "sequence" / construct.Int32ul,
    "task" / construct.Int16ul,
    "length" / construct.Int16ul,
    "sent_ns" / construct.Int64sl,
    "echo_ns" / construct.Int64sl,
    "recv_ns" / construct.Int64sl,
    "payload" / construct.Bytes(construct.this.length),
    "mac" / construct.GreedyBytes,
)

u16, u32 = st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1)
ns = st.integers(-(2**63), 2**63 - 1)
headers = st.fixed_dictionaries(
    {
        "state": st.integers(0, 255),
        "layout_id": u32,
        "session": u32,
        "sequence": u32,
        "task": u16,
        "sent_ns": ns,
        "echo_ns": ns,
        "recv_ns": ns,
    }
)


def parsed(data: bytes, key: bytes | None = None) -> Header | Drop:
    """What `parse` makes of a datagram in a buffer that is larger, as the real ones are."""
    return parse(bytearray(data + b"\xee" * 100), len(data), key)


@given(st.sampled_from(list(Kind)), st.binary(max_size=200), headers, st.sampled_from([None, KEY]))
def test_an_independent_decoder_reads_what_we_build(
    kind: Kind, payload: bytes, values: dict[str, int], key: bytes | None
) -> None:
    data = build(kind, payload, key=key, **values)
    read = INDEPENDENT.parse(data)
    assert {name: read[name] for name in values} == values
    assert (read.kind, read.length, read.payload) == (kind, len(payload), payload)
    assert read.flags == (Flag.SIGNED if key else 0)
    expected = hashlib.blake2s(data[:-MAC_SIZE], key=key, digest_size=16).digest() if key else b""
    assert read.mac == expected
    header = parsed(data, key)
    assert isinstance(header, Header)
    assert {name: header._asdict()[name] for name in values} == values


def test_the_offsets_of_the_docstring_are_those_of_struct() -> None:
    told = re.findall(r"(\d+) +(magic|kind|sender's state|flags|layout id|session|sequence|task number"
                      r"|payload length|sent_ns|echo_ns|recv_ns)", datagram.__doc__ or "")  # fmt: skip
    names = {"sender's state": "state", "layout id": "layout_id", "task number": "task",
             "payload length": "length"}  # fmt: skip
    offsets = {names.get(name, name): int(offset) for offset, name in told}
    assert list(sorted(offsets, key=lambda name: offsets[name])) == list(Header._fields)
    position = 0
    for subcon in INDEPENDENT.subcons[:12]:
        assert offsets[subcon.name] == position
        position += subcon.sizeof()
    assert position == HEADER_SIZE == 48
    assert HEADER.format == "<4sBBHIIIHHqqq"
    assert offsets["sent_ns"] == datagram.TIMES_AT == datagram.HEAD.size


@given(st.binary(max_size=HEADER_SIZE - 1))
def test_less_than_a_header_is_short(data: bytes) -> None:
    assert parsed(data) is Drop.SHORT


@given(st.binary(min_size=HEADER_SIZE, max_size=200).filter(lambda data: data[:4] != MAGIC))
def test_other_magic_is_foreign(data: bytes) -> None:
    assert parsed(data) is Drop.FOREIGN


@given(st.binary(min_size=HEADER_SIZE, max_size=200), st.sampled_from([None, KEY]))
def test_no_bytes_at_all_make_parse_raise(data: bytes, key: bytes | None) -> None:
    assert isinstance(parsed(MAGIC + data[4:], key), Header | Drop)


@pytest.mark.parametrize("change", [-1, 1, 16])
def test_a_length_that_is_not_the_datagrams_is_dropped(change: int) -> None:
    data = build(Kind.STEP, bytes(20))
    changed = data[:change] if change < 0 else data + bytes(change)
    assert parsed(changed) is Drop.LENGTH


def test_signed_and_unsigned_ends_do_not_mix() -> None:
    assert parsed(build(Kind.STEP, b"x")) and parsed(build(Kind.STEP, b"x"), KEY) is Drop.SIGNATURE
    assert parsed(build(Kind.STEP, b"x", key=KEY)) is Drop.SIGNATURE
    assert parsed(build(Kind.STEP, b"x", key=b"another"), KEY) is Drop.SIGNATURE


@given(st.binary(max_size=40), st.data())
def test_tampering_with_any_byte_of_a_signed_datagram_is_noticed(payload: bytes, data: st.DataObject) -> None:
    whole = bytearray(build(Kind.STEP, payload, session=7, sequence=3, key=KEY))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    reason = parsed(bytes(whole), KEY)
    # what the frame itself gives away is told as such, everything else by the signature
    if place < 4:
        assert reason is Drop.FOREIGN
    elif place in (6, 22, 23):
        assert reason in (Drop.LENGTH, Drop.SIGNATURE)
    else:
        assert reason is Drop.SIGNATURE


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@given(texts, texts, texts, texts, st.integers(0, 300))
def test_a_hello_is_read_as_it_was_written(name: str, one: str, two: str, holder: str, size: int) -> None:
    hello = Hello(name, one, two, holder)
    packed = pack_hello(hello, size)
    assert len(packed) >= size
    assert unpack_hello(packed) == hello


@given(st.binary(max_size=100))
def test_any_bytes_are_some_hello(payload: bytes) -> None:
    assert all(isinstance(part, str) for part in unpack_hello(payload))


@given(u32, st.integers(1, 2**31 - 1))
def test_a_later_sequence_is_newer_across_the_wrap(sequence: int, later: int) -> None:
    assert is_newer((sequence + later) % 2**32, sequence)
    assert not is_newer(sequence, (sequence + later) % 2**32)
    assert not is_newer(sequence, sequence)


def test_every_reason_to_drop_has_a_word() -> None:
    assert [reason.label for reason in Drop] == [
        "short", "foreign", "length", "signature", "kind", "layout", "task", "session", "stale",
    ]  # fmt: skip


def test_the_numbers_of_the_kinds_do_not_change() -> None:
    kinds: dict[str, Any] = {kind.name: int(kind) for kind in Kind}
    assert kinds == {"INIT": 1, "STEP": 2, "FINAL": 3, "STOP": 4, "HELLO": 8, "PING": 9, "ERROR": 10}
