"""One process of the HELICS ring: `helics_node.py ROLE JSON`, a federate's place or the broker."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import Any, Literal

import helics as h
from cores import Pin, settle_as_child
from payload import DT, INITIAL, W_AT, WHOLE, body_on

Form = Literal["fields", "vector", "bytes"]
"""How a federate publishes: nine fields, one vector of 22 doubles, or the packed payload as bytes."""

WARM_UP = 10
LIMIT_S = 60
_CUTS = (3, 6, 9, 12, 15, 18, 22)
"""Where the vectors and the quaternion begin and end among the 22 values."""


@dataclass(frozen=True)
class Ring:
    """What each process of one run must know."""

    n: int
    steps: int
    pin: Pin
    form: Form
    port: int
    launched_s: float
    launcher: int


def _broker(ring: Ring) -> None:
    options = f"-f {ring.n} --local_interface=tcp://127.0.0.1 --port={ring.port} --loglevel=no_print"
    broker = h.helicsCreateBroker("zmq", "broker", options)
    print("up", flush=True)
    h.helicsBrokerWaitForDisconnect(broker, LIMIT_S * 1000)


def _federate(ring: Ring, place: int) -> None:
    federate = _joined(ring, place)
    publish, read = _publisher(federate, ring, place), _reader(federate, ring, place)
    h.helicsFederateEnterExecutingMode(federate)
    values: tuple[Any, ...] = INITIAL
    started = first_s = 0.0
    for step in range(WARM_UP + ring.steps):
        h.helicsFederateRequestTime(federate, step + 1 + place / ring.n)
        if step or place:
            values = read()
        values = body_on((step * DT, *values[1:]))
        publish(values)
        if step == 0:
            first_s = time.monotonic() - ring.launched_s
        if step == WARM_UP - 1:
            started = time.perf_counter()
    taken = time.perf_counter() - started
    if place == ring.n - 1:
        print(json.dumps({"taken_s": taken, "first_s": first_s, "w": values[W_AT]}), flush=True)
    h.helicsFederateDisconnect(federate)
    h.helicsCloseLibrary()


def _joined(ring: Ring, place: int) -> Any:
    info = h.helicsCreateFederateInfo()
    h.helicsFederateInfoSetCoreTypeFromString(info, "zmq")
    h.helicsFederateInfoSetCoreInitString(
        info,
        f"--federates=1 --broker_address=tcp://127.0.0.1 --brokerport={ring.port} "
        "--local_interface=tcp://127.0.0.1 --loglevel=no_print",
    )
    h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_PERIOD, 1.0)
    h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_OFFSET, place / ring.n)
    # nobody has anything to do between its own times, so HELICS need not look for reasons to wake it
    h.helicsFederateInfoSetFlagOption(info, h.HELICS_FLAG_UNINTERRUPTIBLE, True)
    return h.helicsCreateValueFederate(f"module{place}", info)


def _kinds(form: Form) -> list[Any]:
    """The data type of each publication."""
    if form == "bytes":
        return [h.HELICS_DATA_TYPE_RAW]
    if form == "vector":
        return [h.HELICS_DATA_TYPE_VECTOR]
    return [h.HELICS_DATA_TYPE_DOUBLE] * 2 + [h.HELICS_DATA_TYPE_INT] + [h.HELICS_DATA_TYPE_VECTOR] * 6


def _publisher(federate: Any, ring: Ring, place: int) -> Any:
    outs = [
        h.helicsFederateRegisterGlobalPublication(federate, f"{place}/{number}", kind)
        for number, kind in enumerate(_kinds(ring.form))
    ]
    if ring.form == "bytes":
        return lambda values: h.helicsPublicationPublishBytes(outs[0], WHOLE.pack(*values))
    if ring.form == "vector":
        return lambda values: h.helicsPublicationPublishVector(outs[0], values)

    def publish(values: tuple[Any, ...]) -> None:
        h.helicsPublicationPublishDouble(outs[0], values[0])
        h.helicsPublicationPublishDouble(outs[1], values[1])
        h.helicsPublicationPublishInteger(outs[2], values[2])
        for out, start, stop in zip(outs[3:], _CUTS, _CUTS[1:], strict=False):
            h.helicsPublicationPublishVector(out, values[start:stop])

    return publish


def _reader(federate: Any, ring: Ring, place: int) -> Any:
    before = (place - 1) % ring.n
    ins = [
        h.helicsFederateRegisterSubscription(federate, f"{before}/{number}", "")
        for number in range(len(_kinds(ring.form)))
    ]
    if ring.form == "bytes":
        return lambda: WHOLE.unpack(h.helicsInputGetBytes(ins[0]))
    if ring.form == "vector":
        return lambda: tuple(h.helicsInputGetVector(ins[0]))

    def read() -> tuple[Any, ...]:
        values = [
            h.helicsInputGetDouble(ins[0]),
            h.helicsInputGetDouble(ins[1]),
            h.helicsInputGetInteger(ins[2]),
        ]
        for number in ins[3:]:
            values.extend(h.helicsInputGetVector(number))
        return tuple(values)

    return read


def main() -> None:
    role, described = sys.argv[1:]
    ring = Ring(**json.loads(described))
    settle_as_child(ring.pin, ring.launcher)
    if role == "broker":
        _broker(ring)
    else:
        _federate(ring, int(role))


if __name__ == "__main__":
    main()
