"""Which process has a UDP port: so that 'in use' comes with a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def holder_of(port: int) -> str:
    """`python3 (pid 4711)`, or nothing where the system does not tell."""
    inodes = set(_inodes(port))
    for process in Path("/proc").glob("[0-9]*") if inodes else ():
        if inodes & set(_sockets(process)):
            return f"{_name(process)} (pid {process.name})"
    return ""


def _inodes(port: int) -> Iterator[str]:
    """Socket inodes bound to the port, from the kernel's tables."""
    for table in ("udp", "udp6"):
        path = Path("/proc/net", table)
        if not path.exists():
            continue
        for line in path.read_text().splitlines()[1:]:
            columns = line.split()
            if int(columns[1].rpartition(":")[2], 16) == port:
                yield columns[9]


def _sockets(process: Path) -> Iterator[str]:
    try:
        for descriptor in (process / "fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                yield target[8:-1]
    except OSError:  # ended meanwhile, or another user's
        return


def _name(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "a process"
    return " ".join(word for word in words if word)[:80] or "a process"
