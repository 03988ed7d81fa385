"""simsched: co-simulation of Python models, flight code and rigs, in the order that you declare.

>>> from simsched import Module, run, load
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simsched._version import __version__
from simsched.database import field
from simsched.errors import SimschedError
from simsched.module import Module

if TYPE_CHECKING:
    from simsched.loading import load_scenario
    from simsched.record import load
    from simsched.running import run

_LAZY = {
    "run": "simsched.running",
    "load": "simsched.record",
    "load_scenario": "simsched.loading",
    "Results": "simsched.results",
}
"""What a module's process does not need is imported when it is first used."""

__all__ = ["Module", "Results", "SimschedError", "__version__", "field", "load", "load_scenario", "run"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'simsched' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)
