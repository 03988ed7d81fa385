"""Which system packages the tests need, which are missing, and how to get them.

Run as a command it installs the missing ones where it may (root or passwordless sudo on a
Debian-like machine) and otherwise says in one line what is missing. Standard library only: it runs
before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("system-packages.txt")
APT_TIMEOUT_S = 300
# ip and its like live where the PATH of an ordinary user does not look
ADMIN_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


class ListError(Exception):
    """The list of system packages, or a name looked up in it, is wrong."""


class InstallError(Exception):
    """The system's package manager did not do what it was asked."""


@dataclass(frozen=True)
class SystemPackage:
    """One line of the list."""

    name: str
    proof: str
    purpose: str

    def is_there(self) -> bool:
        """Whether the command or file that proves it is on this machine."""
        if self.proof.startswith("/"):
            return Path(self.proof).exists()
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), *ADMIN_FOLDERS])
        return shutil.which(self.proof, path=path) is not None


def parse(text: str) -> dict[str, SystemPackage]:
    """The packages by name.

    >>> parse("tmux | tmux | panes")["tmux"].purpose
    'panes'
    """
    packages = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != 3 or not all(columns):
            raise ListError(f"line {number} is {line!r}, wanted: package | proof | purpose")
        packages[columns[0]] = SystemPackage(*columns)
    return packages


def listed() -> dict[str, SystemPackage]:
    """The packages of the project's list."""
    return parse(LIST.read_text(encoding="utf-8"))


def missing(packages: Iterable[SystemPackage]) -> list[SystemPackage]:
    """Those that are not on this machine."""
    return [package for package in packages if not package.is_there()]


def lookup(names: Iterable[str], packages: Mapping[str, SystemPackage]) -> list[SystemPackage]:
    """The listed packages of these names; a name that is not listed is an error."""
    unknown = [name for name in names if name not in packages]
    if unknown:
        raise ListError(f"not in {LIST.name}: {', '.join(unknown)}; there: {', '.join(packages)}")
    return [packages[name] for name in names]


def is_ci(environ: Mapping[str, str]) -> bool:
    """Whether a missing package is a failure, not a reason to skip."""
    return any(environ.get(name, "").lower() not in ("", "0", "false") for name in ("CI", "SIMSCHED_CI"))


def remedy(names: Iterable[str]) -> str:
    """The command that a person would type."""
    return "sudo apt-get install " + " ".join(names)


def apt_prefix() -> list[str] | None:
    """How to call apt-get as root here without being asked anything; None if that is not possible."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") and _runs(["sudo", "-n", "true"]):
        # sudo drops the environment: what apt-get must not ask is passed along
        return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    return None


def install(names: list[str], apt_get: list[str]) -> None:
    """Install Debian packages, or raise InstallError with the end of what apt-get said."""
    options = ["-y", "-qq", "-o", "DPkg::Lock::Timeout=60", "-o", "Acquire::Retries=2"]
    for words in (["update"], ["install", "--no-install-recommends", *names]):
        _apt([*apt_get, *options, *words])


def _apt(command: list[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=APT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"'{' '.join(command)}' took over {APT_TIMEOUT_S} s") from None
    if done.returncode:
        tail = " / ".join(done.stdout.strip().splitlines()[-3:])
        raise InstallError(f"'{' '.join(command)}' ended with {done.returncode}: {tail}")


def _runs(command: list[str]) -> bool:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0


def obtain(packages: Iterable[SystemPackage]) -> str:
    """Install what is missing where that is allowed; one line on what is still missing, or ''."""
    wanted = missing(packages)
    if not wanted:
        return ""
    names = [package.name for package in wanted]
    apt_get = apt_prefix()
    trouble = ""
    if apt_get is not None:
        print(f"installing system packages: {', '.join(names)}", flush=True)
        try:
            install(names, apt_get)
        except InstallError as error:
            trouble = f" ({error})"
    left = [package.name for package in missing(wanted)]
    return f"missing system packages: {', '.join(left)}: {remedy(left)}{trouble}" if left else ""


def main() -> int:
    """Exit code 1 only where nothing may be missing."""
    line = obtain(listed().values())
    if not line:
        return 0
    in_ci = is_ci(os.environ)
    print(line if in_ci else f"{line}; the tests that need them are skipped", file=sys.stderr, flush=True)
    return 1 if in_ci else 0


if __name__ == "__main__":
    sys.exit(main())
