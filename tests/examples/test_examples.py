"""Every example gives the same numbers however it is run, and the right ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Turn

import simsched
from simsched.results import Results
from simsched.scenario import Scenario

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def check_two_modules(r: Results) -> None:
    """A mass on a spring under a held force, by the matrix exponential of the whole linear system."""
    mass, stiffness, gain, dt = 1.0, 4.0, 0.8, 0.01  # [kg], [N/m], [N·s/m], [s]
    rates = np.array([[0.0, 1.0, 0.0], [-stiffness / mass, 0.0, 1.0 / mass], [0.0, 0.0, 0.0]])
    step = expm(rates * dt)[:2]
    x, force = np.array([1.0, 0.0]), 0.0
    for k in range(1000):
        x = step @ [*x, force]
        force = -gain * x[1]
        assert np.allclose(r["x"][k], x, rtol=0.0, atol=1e-12)
        assert abs(r["F"][k] - force) < 1e-12
    assert len(r) == 1000
    assert np.linalg.norm(r["x"][-1]) < 0.05  # [m], [m/s]: damped by exp(-4)


def check_terminals(r: Results) -> None:
    """A rigid body under a torque L × B, by an adaptive solver and rotation vectors in place of ours."""
    inertia = np.array([0.010, 0.012, 0.008])  # [kg·m²]
    field_i = np.array([0.0, 1e-5, 0.0])  # [T]
    w, attitude, current = np.zeros(3), Turn.identity(), 0.1

    def rates(_: float, state: Any) -> Any:
        turn = attitude * Turn.from_rotvec(state[3:])
        torque = np.cross([0.2 * current, 0.0, 0.0], turn.inv().apply(field_i))
        spin = state[:3]
        # over one step the rotation vector is so small that its rate is w up to half its product with w
        return np.concatenate(
            [(torque - np.cross(spin, inertia * spin)) / inertia, spin + np.cross(state[3:], spin) / 2]
        )

    for k in range(16):
        end = solve_ivp(rates, (0.0, 0.25), [*w, 0.0, 0.0, 0.0], rtol=1e-12, atol=1e-18).y[:, -1]
        w, attitude = end[:3], attitude * Turn.from_rotvec(end[3:])
        assert np.allclose(r["w_B"][k], w, rtol=1e-9, atol=1e-15)
        x, y, z, scalar = attitude.as_quat()
        assert np.allclose(r["q_IB"][k].components, [scalar, x, y, z], rtol=0.0, atol=1e-12)
        current = 0.1 if int(0.25 * k) % 2 == 0 else 0.0
        assert r["U"][k].tolist() == [current, 0.0, 0.0]
    assert len(r) == 16


@dataclass(frozen=True)
class Example:
    """How an example is run, and what must come out."""

    scenario: str
    check: Callable[[Results], None]
    modules: dict[str, str] = field(default_factory=dict)
    """What to start for tasks that their user starts by hand."""


REGISTRY = {
    "two_modules": Example("scenario.py", check_two_modules),
    "terminals": Example(
        "db.py",
        check_terminals,
        {
            "Rotation": "rotation.py:Rotation",
            "Control": "controller.py:Controller",
            "Plot2D": "plot2d.py:Plot2D",
        },
    ),
}


def scenario_of(name: str) -> Scenario:
    """The example's scenario, every module to be started at a port that is free."""
    example = REGISTRY[name]
    found = simsched.load_scenario(EXAMPLES / name / example.scenario)
    tasks = tuple(
        replace(task, module=example.modules.get(task.name, task.module), has_addr=False)
        for task in found.tasks
    )
    return replace(found, tasks=tasks)


@pytest.fixture(autouse=True)
def fresh_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files of one example must not be found by the next."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(EXAMPLES):
            del sys.modules[name]


def test_every_example_is_in_the_registry() -> None:
    folders = {
        path.name for path in EXAMPLES.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))
    }
    assert folders == set(REGISTRY)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_example_says_what_it_shows(name: str) -> None:
    assert (EXAMPLES / name / "README.md").read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize("name", REGISTRY)
def test_right_numbers(name: str) -> None:
    REGISTRY[name].check(simsched.run(scenario_of(name), in_process=True))


@pytest.mark.parametrize("name", REGISTRY)
def test_same_numbers_however_it_is_run(name: str, tmp_path: Path) -> None:
    scenario = scenario_of(name)
    alone = simsched.run(scenario, in_process=True)
    ways: dict[str, dict[str, Any]] = {
        "in one process, in order": {"in_process": True, "early": False},
        "processes": {},
        "processes, in order": {"early": False},
        "processes on one core": {"placement": "one"},
        "processes, free": {"placement": "free"},
        "recorded": {"record": tmp_path / "run.arrows"},
    }
    different = {way: alone.same_as(simsched.run(scenario, **options)) for way, options in ways.items()}
    assert different == {way: [] for way in ways}
