"""Raw tasks: a device that knows `struct` and nothing of us."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simsched import load
from simsched.errors import NotJoined, RunError, TaskTimeout

if TYPE_CHECKING:
    from tests.scenarios.conftest import Bench

DEVICE = """
import socket, struct, sys

wire_in, wire_out = struct.Struct("<qdd"), struct.Struct("<d")  # cmd, t, x in; x out
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind(("127.0.0.1", int(sys.argv[1])))
heard = []
while True:
    data, master = line.recvfrom(65536)
    assert len(data) == wire_in.size, len(data)
    cmd, t, x = wire_in.unpack(data)
    if not heard or heard[-1] != cmd:
        heard.append(cmd)
        print("cmd", cmd, flush=True)
    if cmd == 2:
        x = 0.5 * x + t
    line.sendto(wire_out.pack(x), master)
    if cmd == 3:
        heard.clear()
"""


def device_tasks(port: int, **options: object) -> dict[str, dict[str, object]]:
    return {
        "Count": {"In": "n", "Out": "n", "Module": "models.py:Count"},
        "Device": {"In": "cmd,t,x", "Out": "x", "Raw": True, "Addr": ("127.0.0.1", port), **options},
    }


COUNT = """
    class Count(Module):
        def Run(self): self.n += 1
"""


def expected(steps: int, dt: float) -> list[float]:
    found, x = [], 8.0
    for k in range(steps):
        x = 0.5 * x + k * dt
        found.append(x)
    return found


def test_a_device_follows_cmd(bench: Bench) -> None:
    """INIT, STEP, FINAL as 1, 2, 3; and again for a second run without a restart."""
    port = bench.free_ports()
    bench.scenario("n = 0\nx = 8.0", device_tasks(port), COUNT, tmax=2.0)
    bench.write("device.py", DEVICE)
    device = bench.python("device.py", port)
    bench.listening(port)
    first = bench.run()
    second = bench.run()
    assert first["x"].tolist() == expected(20, 0.1)
    assert first.same_as(second) == []
    device.wait_for("cmd 1\ncmd 2\ncmd 3\ncmd 1\ncmd 2\ncmd 3\n")


def test_a_device_without_cmd_is_sent_steps_and_nothing_else(bench: Bench) -> None:
    port = bench.free_ports()
    tasks = device_tasks(port)
    tasks["Device"]["In"] = "t,x"
    bench.scenario("n = 0\nx = 8.0", tasks, COUNT, tmax=2.0)
    told = DEVICE.replace('"<qdd"', '"<dd"').replace("cmd, t, x = wire_in", "cmd, (t, x) = 2, wire_in")
    bench.write("device.py", told)
    bench.python("device.py", port)
    bench.listening(port)
    first = bench.run()
    assert first["x"].tolist() == expected(20, 0.1)
    assert first.initial["x"] == 8.0
    assert first.same_as(bench.run()) == []


def test_a_device_that_is_switched_on_late(bench: Bench) -> None:
    """The master repeats INIT until the first answer."""
    port = bench.free_ports()
    bench.scenario("n = 0\nx = 8.0", device_tasks(port), COUNT, tmax=2.0)
    bench.write("device.py", DEVICE)
    master = bench.master(record="run.arrows")
    master.wait_for("waiting for 'Device'")
    bench.python("device.py", port)
    assert master.wait() == 0, master.text


def test_a_device_that_never_answers(bench: Bench) -> None:
    bench.scenario("n = 0\nx = 8.0", device_tasks(bench.free_ports()), COUNT, Wait=0.3)
    wanted = r"task 'Device' at 127\.0\.0\.1:\d+ did not answer within \d\.\d s: switch it on"
    with pytest.raises(NotJoined, match=wanted) as caught:
        bench.run()
    assert "answer each datagram of 24 bytes with one of 8" in str(caught.value)


def test_a_device_that_answers_nonsense(bench: Bench) -> None:
    """An answer of another size is dropped and counted; the Timeout names the task."""
    port = bench.free_ports()
    bench.scenario("n = 0\nx = 8.0", device_tasks(port, Timeout=0.3), COUNT)
    bench.write(
        "device.py", DEVICE.replace("wire_out.pack(x)", "wire_out.pack(x) + (b'?' if t > 0.25 else b'')")
    )
    bench.python("device.py", port)
    bench.listening(port)
    with pytest.raises(TaskTimeout, match=r"task 'Device' .* did not answer within 0\.3 s at step 3"):
        bench.run(record=bench.folder / "run.arrows")
    summary = load(bench.folder / "run.arrows").summary
    assert summary is not None and summary["tasks"]["Device"]["dropped"]["length"] >= 1


def test_a_device_that_is_switched_off(bench: Bench) -> None:
    port = bench.free_ports()
    bench.scenario("n = 0\nx = 8.0", device_tasks(port, Timeout=2.0), COUNT)
    bench.write("device.py", DEVICE.replace("if cmd == 2:", "if t > 0.25: sys.exit()\n    if cmd == 2:"))
    bench.python("device.py", port)
    bench.listening(port)
    with pytest.raises(RunError, match=r"task 'Device'.* at step [34], t = 0\.[34] s"):
        bench.run()


def test_a_python_module_on_a_raw_line(bench: Bench) -> None:
    """The same class, the same numbers."""
    models = """
    class Device(Module):
        def Initialize(self): self.k = 0
        def Run(self):
            self.k += 1
            self.x = 0.5 * self.x + self.t + 1000.0 * self.k
    """
    tasks = {"Device": {"In": "cmd,t,x", "Out": "x", "Raw": True, "Module": "models.py:Device"}}
    bench.scenario("x = 8.0", tasks, models, tmax=2.0)
    raw = bench.run()
    alone = bench.run(in_process=True)
    tasks["Device"]["Raw"] = False
    bench.scenario("x = 8.0", tasks, models, tmax=2.0, name="headed.py")
    assert raw.same_as(alone) == []
    assert raw.same_as(bench.run("headed.py")) == []
