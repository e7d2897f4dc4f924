"""The port of a replay: an instruction that has met taint is carried out again, on taint instead of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Port
from ptosim.reference.observed.taint import Image


class Replay(Port):
    """Reads give the taint that was met, by their number; writes are collected; what is wrong has been said before."""

    goes_on = True  # a copy moves the rows that it has moved before

    def __init__(self, met: Mapping[int, Any], numbers: Sequence[Bytes] = ()) -> None:
        self.collected: list[Image] = []
        self._met = met
        self._numbers = iter(numbers)
        self._reads = 0

    def read(self, place: AccessPlace, by_use: bool = False) -> Bytes:
        taint = self._met.get(self._reads)
        self._reads += 1
        return np.zeros(place.shape, np.uint8) if taint is None else taint.reshape(place.shape)

    def read_numbers(self, place: AccessPlace) -> Bytes:
        return next(self._numbers)

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        self.collected.append(data.copy())

    def say(self, complaint: Complaint) -> None: ...

    def pattern(self, data: Bytes) -> Bytes:
        """Bytes that come from no memory are clean."""
        return np.zeros_like(data)

    def converted(self, data: Bytes, width: int, conversion: Callable[[Bytes], Bytes]) -> Bytes:
        """Each result has the taint of the element that it comes from."""
        lanes = data.reshape(-1, width).max(axis=1)
        return np.repeat(lanes, conversion(data).size // max(lanes.size, 1))
