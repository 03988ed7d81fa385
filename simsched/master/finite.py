"""Results that are not finite: named once, or the end of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simsched.errors import ResultError
from simsched.image import Image
from simsched.master.steps import Order
from simsched.master.waiting import Notify
from simsched.values import wanted


class FiniteCheck:
    """Says which task left what in which field, when a step's results are not all finite."""

    def __init__(self, image: Image, strict: bool, where: Callable[[], str], notify: Notify) -> None:
        self._image = image
        self._strict = strict
        self._where = where
        self._notify = notify
        self._warned: set[str] = set()

    def name(self, order: Order) -> None:
        """Name the results of a step that are not finite: stop the run, or warn once for each."""
        for place, task in self._image.results_of(seat.task for seat in order.seats).items():
            field = self._image.fields[place]
            value = self._image.get(place)
            if field.finite == "ignore" or not field.layout.type.is_float or _is_finite(value):
                continue
            text = (
                f"task '{task}', field '{place.rpartition('.')[2]}', {self._where()}: "
                f"found {' '.join(str(value).split())}; wanted {wanted(field)}, all finite"
            )
            if field.finite == "stop" or self._strict:
                raise ResultError(text)
            if place not in self._warned:
                self._warned.add(place)
                self._notify(f"{text} (said once; --strict stops the run)")


def _is_finite(value: Any) -> bool:
    components = getattr(value, "components", value)
    if getattr(components, "dtype", None) is not None and components.dtype.kind not in "fiub":
        import quaternion

        components = quaternion.as_float_array(components)
    return bool(np.all(np.isfinite(components)))
