"""The map in ARCHITECTURE.md is that of the tree, and links between the texts lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
MAP = TEXT.split("```")[1]


def test_every_file_and_folder_of_the_package_is_on_the_map() -> None:
    files = {path.name for path in (ROOT / "simsched").glob("*.py") if not path.name.startswith("_")}
    folders = {f"{path.parent.name}/" for path in (ROOT / "simsched").glob("*/__init__.py")}
    named = set(re.findall(r"[a-z_]+(?:\.py|/)", MAP))
    assert files | folders <= named


def test_everything_on_the_map_is_there() -> None:
    for name in set(re.findall(r"\b[a-z_]+\.py\b", MAP)):
        assert (ROOT / "simsched" / name).exists(), name


def test_files_that_the_text_names_are_there() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", TEXT))
    assert "launch/supervisor.py" in named
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "simsched" / name).exists(), name


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


@pytest.mark.parametrize("name", ["Scheduler._loop", "Stepper.in_order", "RemoteSeat.post", "Manager.step"])
def test_names_of_the_exchange_exist(name: str) -> None:
    from simsched.manager import Manager
    from simsched.master.seats import RemoteSeat
    from simsched.master.steps import Stepper
    from simsched.scheduler import Scheduler

    owners = {each.__name__: each for each in (Manager, RemoteSeat, Scheduler, Stepper)}
    owner, method = name.split(".")
    assert name in TEXT
    assert callable(getattr(owners[owner], method))
