"""What all tests share: the marker `needs`, and hypothesis without a clock."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest
from system_packages import ListError, is_ci, listed, lookup, missing, remedy

# wall time is asserted nowhere, and a failure in CI must come again at the next run
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if is_ci(os.environ) else "local")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose system packages are missing, with that reason; fail it in CI."""
    names = [name for marker in item.iter_markers("needs") for name in marker.args]
    try:
        absent = [package.name for package in missing(lookup(names, listed()))]
    except ListError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None
    if absent:
        reason = f"needs {', '.join(absent)}: {remedy(absent)}"
        if is_ci(os.environ):
            pytest.fail(f"{reason} (nothing is skipped in CI)", pytrace=False)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder of pyproject.toml."""
    return Path(__file__).resolve().parent.parent
