"""The set-up of the virtual environment says in one line what it lacks, and repairs what it can."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest
import set_up
import system_packages

# a Python that makes virtual environments only once the file `installed` is beside it
PYTHON_WITHOUT_VENV = """#!/bin/sh
case "$*" in
    *version_info*) echo python3.11-venv ;;
    *venv*) test -e "$(dirname "$0")/installed" ;;
esac
"""


@pytest.fixture(autouse=True)
def another_venv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment that runs these tests is not the one that they make."""
    monkeypatch.setattr(set_up, "VENV", tmp_path / "venv")


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_new_environment_works_and_a_moved_or_absent_one_does_not(tmp_path: Path) -> None:
    venv.create(tmp_path / "made", with_pip=True)
    assert set_up.works(tmp_path / "made")
    (tmp_path / "made" / set_up.MADE_IN).write_text(str(set_up.ROOT))
    assert set_up.works(tmp_path / "made")
    (tmp_path / "made" / set_up.MADE_IN).write_text("/where/the/project/was/before")
    assert not set_up.works(tmp_path / "made")
    assert not set_up.works(tmp_path / "absent")


def test_an_environment_without_pip_is_made_anew(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    assert not set_up.works(tmp_path / "bare")


def test_without_rights_one_line_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(system_packages, "apt_prefix", lambda: None)
    python = script(tmp_path / "python3", PYTHON_WITHOUT_VENV)
    with pytest.raises(set_up.SetUpError) as caught:
        set_up.make_venv(python)
    assert str(caught.value) == (
        f"{python} cannot make virtual environments: sudo apt-get install python3.11-venv"
    )


def test_with_rights_the_package_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    apt_get = script(tmp_path / "apt-get", f'#!/bin/sh\necho "$*" > {tmp_path}/installed\n')
    monkeypatch.setattr(system_packages, "apt_prefix", lambda: [apt_get])
    set_up.make_venv(script(tmp_path / "python3", PYTHON_WITHOUT_VENV))
    assert (tmp_path / "installed").read_text().strip().endswith("python3.11-venv")


def test_an_old_python_looks_for_a_newer_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    newer = script(tmp_path / "python3.12", "#!/bin/sh\n")
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert set_up.suitable_python() == newer


def test_an_old_python_alone_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(set_up.SetUpError, match=r"is Python 3\.9, wanted 3\.11 or newer: make PYTHON="):
        set_up.suitable_python()


def test_every_pin_is_a_name_and_a_version_alone(project_root: Path) -> None:
    lines = (project_root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert not [pin for pin in pins if pin.count("==") != 1 or set(pin) & set("/@: ")]


def test_the_ci_script_can_be_executed(project_root: Path) -> None:
    assert os.access(project_root / ".ci/run", os.X_OK)
