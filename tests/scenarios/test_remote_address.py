"""A module at another address: in a network namespace of its own, and at a second loopback address."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
    class Near(Module):
        def Run(self): self.n += 1

    class Far(Module):
        def Run(self): self.m = 10 * self.n
"""
PORT = 6510


def far(bench: Bench, host: str, port: int) -> None:
    """Near -n-> Far, the second one elsewhere."""
    bench.scenario(
        "n = 0\nm = 0",
        {
            "Near": {"In": "n", "Out": "n", "Module": "models.py:Near"},
            "Far": {"In": "n", "Out": "m", "Addr": (host, port)},
        },
        MODELS,
        tmax=5.0,
    )


def test_another_loopback_address(bench: Bench) -> None:
    host = "127.0.0.2"
    port = bench.free_ports(host=host)
    far(bench, host, port)
    bench.module("Far")
    r = bench.run()
    assert r["m"].tolist() == [10 * n for n in range(1, 51)]


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


@pytest.fixture
def namespace() -> Iterator[tuple[str, str]]:
    """A network namespace of its own, joined to this machine by a pair of interfaces: (name, address)."""
    if os.geteuid() != 0:
        pytest.skip("a network namespace can be made by root alone")
    number = os.getpid() % 200
    name, ours, theirs = f"sim{os.getpid()}", f"sima{number}", f"simb{number}"
    here, there = f"10.213.{number}.1", f"10.213.{number}.2"
    ip("netns", "add", name)
    try:
        ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
        ip("addr", "add", f"{here}/24", "dev", ours)
        ip("link", "set", ours, "up")
        ip("-n", name, "addr", "add", f"{there}/24", "dev", theirs)
        ip("-n", name, "link", "set", theirs, "up")
        yield name, there
    finally:
        ip("netns", "del", name)


@pytest.mark.needs("iproute2")
def test_another_network(bench: Bench, namespace: tuple[str, str]) -> None:
    """As on another machine: another address, reached through an interface that is not loopback."""
    name, address = namespace
    far(bench, address, PORT)
    bench.write(
        "far.py",
        """
        import simsched
        from models import Far
        Far(scenario=simsched.load_scenario("scenario.py")).Manager.Loop()
        """,
    )
    bench.start(["ip", "netns", "exec", name, sys.executable, "-u", "far.py"])
    r = bench.run()
    assert r["m"].tolist() == [10 * n for n in range(1, 51)]
    assert r.report is not None
    assert r.report.tasks["Far"].timing.exchanges >= 50
