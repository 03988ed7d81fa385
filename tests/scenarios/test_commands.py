"""Command tasks: executables that are started, told their address, and speak the wire of the docs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from simsched.errors import LaunchError, NotJoined, TaskDied

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

NAVIGATOR = '''
"""A module without simsched: the header by its table, one cached answer against loss."""
import os, signal, socket, struct, sys, zlib

name, address = sys.argv[1:]
host, _, port = address.rpartition(":")
HEADER = struct.Struct("<4sBBHIIIHHqqq")
LAYOUT_IN, LAYOUT_OUT = "t:f8,x:f8", "x:f8"
LAYOUT = zlib.crc32(f"{LAYOUT_IN}|{LAYOUT_OUT}".encode())
INIT, STEP, FINAL, STOP, HELLO, ANSWER = 1, 2, 3, 4, 8, 0x80
IDLE, RUN = 0, 1

line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind((host, int(port)))
print(f"{name} listens, in {os.path.basename(os.getcwd())}", flush=True)
state, done, answer = IDLE, None, b""
while True:
    data, master = line.recvfrom(65536)
    magic, kind, _, flags, layout, session, sequence, task, length, sent, _, _ = HEADER.unpack_from(data)
    payload = data[HEADER.size:]
    if (session, sequence) == done:
        line.sendto(answer, master)
        continue
    result = b""
    if kind == HELLO:
        result = "\\0".join([name, LAYOUT_IN, LAYOUT_OUT, ""]).encode()
    elif kind in (INIT, STEP):
        t, x = struct.unpack("<dd", payload)
        state = RUN
        result = struct.pack("<d", x + t if kind == STEP else x)
    elif kind == FINAL:
        state = IDLE
        print("final", flush=True)
    answer = HEADER.pack(
        b"SSD1", kind | ANSWER, state, 0, LAYOUT, session, sequence, task, len(result), 0, sent, 0
    ) + result
    done = session, sequence
    line.sendto(answer, master)
    if kind == STOP:
        sys.exit(0)
'''


def test_an_executable_that_speaks_the_wire(bench: Bench) -> None:
    program = bench.write("navigator", f"#!{sys.executable}\n{NAVIGATOR}")
    program.chmod(0o755)
    command = ["./navigator", "{name}", "{addr}"]
    bench.scenario("x = 8.0", {"Nav": {"In": "t,x", "Out": "x", "Command": command}}, tmax=2.0)
    r = bench.run()
    x = 8.0
    for k in range(20):
        x += k * 0.1
        assert r["x"][k] == x
    assert ("Nav", f"Nav listens, in {bench.folder.name}") in bench.lines
    assert ("Nav", "final") in bench.lines
    assert bench.notices == []


def test_an_executable_of_the_path(bench: Bench) -> None:
    bench.write("navigator.py", NAVIGATOR)
    command = [sys.executable, "navigator.py", "{name}", "{host}:{port}"]
    bench.scenario("x = 8.0", {"Nav": {"In": "t,x", "Out": "x", "Command": command}}, tmax=2.0)
    assert len(bench.run()) == 20


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["./no_such_program"], "Command './no_such_program' is no executable"),
        (["no-such-program-anywhere"], "Command 'no-such-program-anywhere' is no executable"),
        (["./scenario.py"], "Command './scenario.py' is no executable"),
        (["sh", "-c", "{adress}"], "there are {addr}, {host}, {port}, {name}, {scenario}"),
    ],
)
def test_a_command_that_cannot_be_started(bench: Bench, command: list[str], words: str) -> None:
    bench.scenario("x = 8.0", {"Nav": {"In": "t,x", "Out": "x", "Command": command}})
    with pytest.raises(LaunchError) as caught:
        bench.run()
    assert "task 'Nav'" in str(caught.value) and words in str(caught.value)


def test_an_executable_that_gives_up(bench: Bench) -> None:
    command = ["sh", "-c", "echo no TLE for {name} >&2; exit 3"]
    bench.scenario("x = 8.0", {"Nav": {"In": "t,x", "Out": "x", "Command": command}})
    with pytest.raises(TaskDied) as caught:
        bench.run()
    assert "task 'Nav' ended with exit code 3 before the run began" in str(caught.value)
    assert "no TLE for Nav" in str(caught.value)


def test_an_executable_that_does_not_listen(bench: Bench) -> None:
    """Neither it nor what it has started in turn is left."""
    command = ["sh", "-c", "sleep 98 & sleep 99"]
    bench.scenario("x = 8.0", {"Nav": {"In": "t,x", "Out": "x", "Command": command}}, Wait=0.3)
    with pytest.raises(NotJoined, match=r"task 'Nav' did not come within 0\.3 s, at 127\.0\.0\.1:"):
        bench.run()
    bench.all_gone()
