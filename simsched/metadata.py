"""What a recording says of where its numbers come from."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime

import numpy as np

from simsched._version import __version__
from simsched.scenario import Scenario


def describe(scenario: Scenario) -> dict[str, str]:
    """The scenario's text, versions and layouts, as texts."""
    return {
        "scenario": scenario.name,
        "scenario_path": str(scenario.path or ""),
        "scenario_text": scenario.text,
        "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "versions": json.dumps(
            {
                "simsched": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "platform": platform.platform(),
            }
        ),
        "tasks": json.dumps(
            {
                task.name: {"In": task.layout_in.text, "Out": task.layout_out.text, "Module": task.module}
                for task in scenario.tasks
            }
        ),
    }
