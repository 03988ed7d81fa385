"""What the pages tell people to type works, and prints what they say, page by page."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from docs_snippets import Action, BadSnippet, Command, File, Folder, Script, actions, agrees

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_S = 30

pytestmark = pytest.mark.timeout(120)


def pages() -> list[str]:
    """The pages with something to run, and the README."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [str(page.relative_to(ROOT)) for page in found if "<!-- run" in page.read_text()]


class Reader:
    """Does what a page says, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._background: list[subprocess.Popen[bytes]] = []
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
        }

    def follow(self, action: Action) -> None:
        match action:
            case Folder(path):
                shutil.copytree(
                    ROOT / path, self.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            case File(name, text):
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).write_text(text)
            case Script():
                self._script(action)
            case Command(words) if words.startswith("cd "):
                self.folder /= words.removeprefix("cd ")
            case Command(background=True):
                self._begin(action)
            case Command():
                self._compare(["bash", "-c", action.words], action.expected, action.exit_code, action)

    def _script(self, action: Script) -> None:
        place = self.folder / f"snippet_line_{action.line}.py"
        place.write_text(action.text)
        self._compare([sys.executable, place.name], action.expected or "", 0, action)

    def _compare(self, words: list[str], expected: str, exit_code: int, action: Action) -> None:
        done = subprocess.run(
            words, cwd=self.folder, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == exit_code, f"{action}\nended with {done.returncode}:\n{done.stdout}"
        if expected:
            assert agrees(done.stdout, expected), f"{action}\nprinted:\n{done.stdout}\nwanted:\n{expected}"

    def _begin(self, action: Command) -> None:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {action.words}"], cwd=self.folder, env=self._environment,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._background.append(process)

    def end(self) -> None:
        """End what still waits in the background."""
        for process in self._background:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._background:
            process.wait(10)


@contextmanager
def reader(folder: Path) -> Iterator[Reader]:
    made = Reader(folder)
    try:
        yield made
    finally:
        made.end()


def test_there_are_pages_to_try() -> None:
    assert "docs/tutorial.md" in pages()
    assert "README.md" in pages()


@pytest.mark.parametrize("page", pages())
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    with reader(tmp_path) as follower:
        for action in actions((ROOT / page).read_text()):
            follower.follow(action)


PAGE = """
```python title="hello.py"
print("hello")
```
<!-- run -->
```console
$ python hello.py
hello
```
"""


def test_a_true_page_passes_and_an_untrue_one_fails(tmp_path: Path) -> None:
    with reader(tmp_path) as follower:
        for action in actions(PAGE):
            follower.follow(action)
        with pytest.raises(AssertionError, match=r"wanted:\s+goodbye"):
            follower.follow(Command("python hello.py", "goodbye\n", 1))
        with pytest.raises(AssertionError, match="ended with 3"):
            follower.follow(Script("raise SystemExit(3)", None, 1))


def test_what_was_begun_in_the_background_is_ended(tmp_path: Path) -> None:
    with reader(tmp_path) as follower:
        follower.follow(Command("sleep 60", "", 1, background=True))
        (process,) = follower._background
        assert process.poll() is None
    assert process.returncode == -signal.SIGTERM


def test_a_fence_that_cannot_be_run_is_refused() -> None:
    with pytest.raises(BadSnippet, match="cannot run yaml"):
        actions("<!-- run -->\n```yaml\na: 1\n```\n")
    with pytest.raises(BadSnippet, match="run how"):
        actions("<!-- run: later -->\n```console\n$ ls\n```\n")
