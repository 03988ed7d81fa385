"""Make .venv and install simsched into it with one extra, for the Makefile: `set_up.py test`.

Standard library only, and readable by an old python3, which must be able to say that it is too old.
A virtual environment that still works is kept; one that was moved or lost its Python is made anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import system_packages

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
MADE_IN = ".made-in"
OLDEST = (3, 11)
NEWEST_TO_TRY = 15


class SetUpError(Exception):
    """One line for the person at the terminal: what is missing, and the command that brings it."""


def suitable_python() -> str:
    """A Python that is new enough: the one that runs this, or another on the PATH."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in range(NEWEST_TO_TRY, OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    raise SetUpError(
        f"{sys.executable} is Python {sys.version_info[0]}.{sys.version_info[1]}, "
        f"wanted {OLDEST[0]}.{OLDEST[1]} or newer: make PYTHON=/path/to/python3 ..."
    )


def works(venv: Path) -> bool:
    """Whether this virtual environment has a pip and a new enough Python, and was made here."""
    made_in = venv / MADE_IN
    if made_in.exists() and made_in.read_text(encoding="utf-8") != str(ROOT):
        return False
    probe = f"import pip, sys; print(sys.prefix) if sys.version_info >= {OLDEST} else sys.exit(1)"
    try:
        done = _run([str(venv / "bin/python"), "-I", "-c", probe], quiet=True)
    except OSError:
        return False
    return done.returncode == 0 and Path(done.stdout.strip()).resolve() == venv.resolve()


def make_venv(python: str) -> None:
    """Make the virtual environment; bring in the Debian package that this may need."""
    command = [python, "-m", "venv", "--clear", str(VENV)]
    if _run(command, quiet=True).returncode == 0:
        return
    package = _venv_package(python)
    apt_get = system_packages.apt_prefix()
    if apt_get is not None:
        print(f"installing system package: {package}", flush=True)
        try:
            system_packages.install([package], apt_get)
        except system_packages.InstallError as error:
            raise SetUpError(f"{python} cannot make virtual environments: {error}") from None
    if _run(command, quiet=True).returncode:
        remedy = system_packages.remedy([package])
        raise SetUpError(f"{python} cannot make virtual environments: {remedy}")


def _venv_package(python: str) -> str:
    done = _run([python, "-c", "import sys; print('python%d.%d-venv' % sys.version_info[:2])"], quiet=True)
    return done.stdout.strip() or "python3-venv"


def install(extra: str) -> None:
    """Install the project in place with an extra, each package in the version of constraints.txt."""
    pip = [str(VENV / "bin/python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pinned = ["--constraint", str(ROOT / "constraints.txt")]
    # the build back end is installed first, pinned like the rest, and then used without isolation
    for words in (["hatchling"], ["--no-build-isolation", "--editable", f"{ROOT}[{extra}]"]):
        if _run([*pip, *pinned, *words]).returncode:
            raise SetUpError(f"pip could not install {words[-1]}: see above; is the network there?")


def _run(command: list[str], quiet: bool = False) -> subprocess.CompletedProcess[str]:
    caught = subprocess.PIPE if quiet else None
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return subprocess.run(command, stdout=caught, stderr=caught, text=True, env=environment, check=False)


# of another environment that may be active, or of the user's own Python
_FOREIGN = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"})


def main(extra: str) -> int:
    """Exit code 1, and one line on what is wrong, if simsched is not ready to be used after this."""
    try:
        if not works(VENV):
            print("making .venv", flush=True)
            make_venv(suitable_python())
        print(f"installing simsched[{extra}] in .venv", flush=True)
        install(extra)
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    (VENV / MADE_IN).write_text(str(ROOT), encoding="utf-8")
    (VENV / f".ready-{extra}").touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
