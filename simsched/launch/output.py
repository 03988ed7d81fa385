"""What the modules print: read as it comes, shown line by line with the task's name, the last kept."""

from __future__ import annotations

import os
import selectors
import threading
from collections import deque
from collections.abc import Callable, Mapping

KEPT_LINES = 20
LONGEST_LINE = 10_000
"""A line without an end is shown when it has so many bytes."""

ShowLine = Callable[[str, str], None]
"""(task, line) → shown to the user."""


class Output:
    """Reads the pipes of all modules in one thread."""

    def __init__(self, pipes: Mapping[str, int], show: ShowLine) -> None:
        self._show = show
        self._kept: dict[str, deque[str]] = {name: deque(maxlen=KEPT_LINES) for name in pipes}
        self._rest: dict[str, bytes] = dict.fromkeys(pipes, b"")
        self._closed = {name: threading.Event() for name in pipes}
        self._selector = selectors.DefaultSelector()
        for name, pipe in pipes.items():
            self._selector.register(pipe, selectors.EVENT_READ, name)
        self._thread = threading.Thread(target=self._read_all, name="simsched output", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def drain(self, task: str, timeout_s: float = 0.5) -> None:
        """Wait until all that an ended process printed is read; a child of its own may hold the line."""
        if task in self._closed:
            self._closed[task].wait(timeout_s)

    def last_words(self, task: str) -> str:
        """The last lines that a task printed, indented for a message."""
        return "\n".join(f"    {line}" for line in list(self._kept.get(task, ())))

    def _read_all(self) -> None:
        """Until every writer has closed its end."""
        while self._selector.get_map():
            for key, _ in self._selector.select():
                data = os.read(key.fd, 65_536)
                self._take(key.data, data)
                if not data:
                    self._selector.unregister(key.fd)
                    os.close(key.fd)
                    self._closed[key.data].set()
        self._selector.close()

    def _take(self, name: str, data: bytes) -> None:
        *lines, rest = (self._rest[name] + data).split(b"\n")
        if rest and (not data or len(rest) > LONGEST_LINE):
            lines, rest = [*lines, rest], b""
        self._rest[name] = rest
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            self._kept[name].append(text)
            self._show(name, text)

    def close(self, timeout_s: float = 2.0) -> None:
        """Wait until all that was printed has been shown: the writers are gone by now."""
        self._thread.join(timeout_s)
