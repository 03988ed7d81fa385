"""A scenario in YAML: the same checks and the same results as the Python form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simsched.errors import ScenarioError

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

MODELS = """
    import quaternion

    class Spin(Module):
        rate = 0.1  # [rad/s]
        def Run(self):
            self.w = self.w + np.array([0.0, 1e-3, -1e-5]) * self.dt + self.J @ self.w * self.rate
            self.q = self.q * np.exp(quaternion.quaternion(0.0, *self.w) * self.dt / 2)
            self.count = np.uint16(self.count + 1)

    class Watch(Module):
        def Run(self):
            self.mode = b"hot".ljust(8, b"\\0") if self.w[1] > 0.0 else bytes(8)
"""
PYTHON = """
    import numpy as np
    import quaternion

    class DataBase:
        t = 0.0
        dt = 0.25
        tmax = 10
        w = np.array([1e-3, 0.0, 0.0])
        J = np.array([[1.0, 0.0, 0.5], [0.0, 2.0, 0.0], [0.5, 0.0, 3.0]])
        q = quaternion.one
        count = np.uint16(7)
        mode = bytes(8)

    Tasks = {
        'Spin': {'In': 't,dt,w,J,q,count', 'Out': 'w,q,count', 'Module': 'models.py:Spin',
                 'Params': {'rate': 0.2}},
        'Watch': {'In': 'w', 'Out': 'mode', 'Every': 4, 'Phase': 1, 'Module': 'models.py:Watch'},
    }
    Coupling = 'jacobi'
"""
YAML = """
    database:
      t: 0.0
      dt: 0.25
      tmax: 10
      w: [1e-3, 0, 0]
      J: [[1, 0, 0.5], [0, 2, 0], [0.5, 0, 3]]
      q: {type: quat, comment: body relative to inertial}
      count: {type: u2, value: 7}
      mode: {type: S8}
    tasks:
      Spin: {In: 't,dt,w,J,q,count', Out: 'w,q,count', Module: 'models.py:Spin', Params: {rate: 0.2}}
      Watch:
        In: w
        Out: mode
        Every: 4
        Phase: 1
        Module: models.py:Watch
    settings:
      Coupling: jacobi
"""


@pytest.mark.parametrize("in_process", [False, True], ids=["processes", "one process"])
def test_same_results_as_python(bench: Bench, in_process: bool) -> None:
    bench.write("models.py", "import numpy as np\nfrom simsched import Module\n" + bench.dedent(MODELS))
    bench.write("form.py", PYTHON)
    bench.write("form.yaml", YAML)
    python = bench.run("form.py", in_process=in_process)
    assert len(python) == 40
    assert python["count"][-1] == 47
    assert python["mode"][-1] == b"hot\0\0\0\0\0"
    assert python.same_as(bench.run("form.yaml", in_process=in_process)) == []


def test_same_checks(bench: Bench) -> None:
    bench.write(
        "form.yaml",
        YAML.replace("Out: mode", "Out: mood").replace(
            "Module: models.py:W", "Timeout: soon\n        Module: models.py:W"
        ),
    )
    with pytest.raises(ScenarioError) as caught:
        bench.run("form.yaml")
    text = str(caught.value)
    assert "form.yaml: 2 problems" in text
    assert "task 'Watch': Out: 'mood' is not a field of DataBase; did you mean 'mode'?" in text
    assert "task 'Watch': Timeout is 'soon'; wanted seconds > 0, or None" in text


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("database: {dt: 1, dt: 2, tmax: 3}", "'dt' is declared twice"),
        ("database: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("- 1", "wanted the words database: and tasks:"),
        ("database: {dt: 1, tmax: 3}\ntask: {}", "unknown word 'task'; did you mean 'tasks'?"),
        ("database: [", "form.yaml:"),
    ],
)
def test_yaml_that_is_none(bench: Bench, yaml: str, words: str) -> None:
    bench.write("form.yaml", yaml)
    with pytest.raises(ScenarioError) as caught:
        bench.run("form.yaml")
    assert words in str(caught.value)
