"""Child processes that never outlive the benchmark."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from cores import Pin, settle_as_child

_PATIENCE_S = 2.0


class Children:
    """A block whose processes are all ended, by their ids, when it is left for whatever reason."""

    def __init__(self) -> None:
        self._forked: list[Any] = []
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Children:
        return self

    def fork(self, pin: Pin, target: Callable[..., None], *args: object) -> int:
        """Run a function in a forked process on the pin's core for children; its process id."""
        process = multiprocessing.get_context("fork").Process(
            target=_settled, args=(pin, os.getpid(), target, args), daemon=True
        )
        process.start()
        self._forked.append(process)
        assert process.pid is not None
        return process.pid

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        """Start a program, to be ended with the block."""
        process = subprocess.Popen(command, **options)
        self._started.append(process)
        return process

    def wait(self) -> None:
        """Until all started programs ended well; CalledProcessError as soon as one ends badly."""
        running = list(self._started)
        while running:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            for process in list(running):
                if process.poll() is not None:
                    running.remove(process)
                if process.returncode:
                    raise subprocess.CalledProcessError(process.returncode, process.args)

    def __exit__(self, *exception: object) -> None:
        for forked in self._forked:
            forked.terminate()
        for started in self._started:
            started.terminate()
        for forked in self._forked:
            forked.join(_PATIENCE_S)
            if forked.is_alive():
                forked.kill()
                forked.join()
        for started in self._started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(_PATIENCE_S)
            if started.returncode is None:
                started.kill()
                started.wait()


def _settled(pin: Pin, parent: int, target: Callable[..., None], args: tuple[object, ...]) -> None:
    settle_as_child(pin, parent)
    target(*args)
