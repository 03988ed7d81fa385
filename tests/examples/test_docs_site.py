"""The site builds without a warning, holds no leftover, and fetches nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

FETCHED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["']?(https?:)?//[^"'> ]+""")
"""What a browser gets by itself; a link that a reader may follow is another matter."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return folder


def test_every_page_is_there(site: Path) -> None:
    sources = (ROOT / "docs").rglob("*.md")
    wanted = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in sources}
    assert wanted <= {page.relative_to(site) for page in site.rglob("*.html")}


def test_no_marker_is_left(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert "generated:" not in page.read_text(), page


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not FETCHED.search(page.read_text()), page


def test_a_page_that_fetches_would_be_found() -> None:
    assert FETCHED.search('<script src="https://cdn.example/x.js">')
    assert not FETCHED.search('<a href="https://arrow.apache.org">Arrow</a>')
