"""The list of system packages, and what a test that needs one does without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import system_packages as sp

THERE = sp.SystemPackage("python", sys.executable, "runs the tests")
ABSENT = sp.SystemPackage("absent-package", "no-such-command-on-any-machine", "nothing")


def test_the_list_of_the_project_can_be_read() -> None:
    assert {"tmux", "iproute2"} <= set(sp.listed())
    assert sp.listed()["tmux"].proof == "tmux"


@pytest.mark.parametrize("line", ["tmux", "tmux | tmux", "tmux | tmux | ", "a | b | c | d"])
def test_a_line_of_the_list_that_is_not_whole_is_shown(line: str) -> None:
    with pytest.raises(sp.ListError, match=r"line 2 is .* wanted: package"):
        sp.parse(f"# comment\n{line}\n")


def test_a_package_that_is_not_listed_is_refused_with_those_that_are() -> None:
    with pytest.raises(sp.ListError, match=r"not in system-packages\.txt: tmxu; there: tmux"):
        sp.lookup(["tmxu"], {"tmux": ABSENT})


def test_missing_are_those_whose_proof_is_not_there() -> None:
    assert sp.missing([THERE, ABSENT]) == [ABSENT]


def test_an_ordinary_users_path_does_not_hide_admin_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = tmp_path / "admin-command"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setattr(sp, "ADMIN_FOLDERS", (str(tmp_path),))
    assert sp.SystemPackage("admin", "admin-command", "test").is_there()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, False),
        ({"CI": "true"}, True),
        ({"SIMSCHED_CI": "1"}, True),
        ({"CI": "false"}, False),
        ({"CI": ""}, False),
    ],
)
def test_ci_is_told_by_the_environment(environ: dict[str, str], expected: bool) -> None:
    assert sp.is_ci(environ) is expected


def test_what_cannot_be_installed_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sp, "apt_prefix", lambda: None)
    line = sp.obtain([THERE, ABSENT])
    assert line == "missing system packages: absent-package: sudo apt-get install absent-package"
    assert sp.obtain([THERE]) == ""


def test_a_package_manager_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sp, "apt_prefix", lambda: ["sh", "-c", "echo no network; exit 100"])
    line = sp.obtain([ABSENT])
    assert "missing system packages: absent-package" in line
    assert "ended with 100: no network" in line
    assert "\n" not in line


def test_update_comes_before_install_and_nothing_is_asked(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    script = tmp_path / "apt-get"
    script.write_text(f'#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >> {log}\n')
    script.chmod(0o755)
    sp.install(["tmux"], [str(script)])
    update, install = log.read_text().splitlines()
    assert update.startswith("noninteractive -y") and update.endswith("update")
    assert install.endswith("install --no-install-recommends tmux")


def outcome_of_a_test_that_needs(package: str, tmp_path: Path, root: Path, **environ: str) -> str:
    """Run one such test in a pytest of its own, on a machine whose PATH holds nothing."""
    shutil.copy(root / "tests/conftest.py", tmp_path)
    (tmp_path / "test_one.py").write_text(
        f"import pytest\n\n@pytest.mark.needs({package!r})\ndef test_one(): pass\n"
    )
    # an empty list of admin folders: there the command would be found all the same
    (tmp_path / "sitecustomize.py").write_text("import system_packages as s\ns.ADMIN_FOLDERS = ()\n")
    clean = {name: value for name, value in os.environ.items() if name not in ("CI", "SIMSCHED_CI")}
    paths = os.pathsep.join([str(tmp_path), str(root / "tools")])
    pytest_alone = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*pytest_alone, "-c", str(root / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)],
        env={**clean, "PATH": str(tmp_path), "PYTHONPATH": paths, **environ},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return done.stdout + done.stderr


def test_a_test_without_its_package_is_skipped_with_the_reason(tmp_path: Path, project_root: Path) -> None:
    printed = outcome_of_a_test_that_needs("tmux", tmp_path, project_root)
    assert "1 skipped" in printed
    assert "needs tmux: sudo apt-get install tmux" in printed


def test_in_ci_a_test_without_its_package_fails(tmp_path: Path, project_root: Path) -> None:
    printed = outcome_of_a_test_that_needs("tmux", tmp_path, project_root, CI="true")
    assert "1 error" in printed
    assert "needs tmux: sudo apt-get install tmux (nothing is skipped in CI)" in printed


def test_a_test_that_needs_an_unlisted_package_is_refused(tmp_path: Path, project_root: Path) -> None:
    printed = outcome_of_a_test_that_needs("tmxu", tmp_path, project_root)
    assert "not in system-packages.txt: tmxu; there: tmux" in printed
