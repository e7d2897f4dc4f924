"""Byte tables of the effects floor as NumPy gathers: permutations of bytes, in the largest units possible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.vector_memory import NOTHING, largest_unit
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.numeric.float_lanes import UNSIGNED


@dataclass(frozen=True)
class Distribution:
    """Gathers units of some bytes; units that come from nowhere are zero."""

    unit: Any
    count: int
    places: NDArray[np.intp]
    filled: NDArray[np.intp] | None
    """The lanes of the gathered units, unless they are all."""

    def __call__(self, data: Bytes) -> Bytes:
        units = data.view(self.unit)[self.places]
        if self.filled is None:
            return units.view(np.uint8)
        spread = np.zeros(self.count, self.unit)
        spread[self.filled] = units
        return spread.view(np.uint8)


@cache
def distribution(table: tuple[int, ...]) -> Distribution | None:
    """The gather of a byte table; None for one that changes nothing."""
    if table == tuple(range(len(table))):
        return None
    size = largest_unit(table)
    units = np.array(table[::size], np.intp)
    from_somewhere = units != NOTHING
    places = units[from_somewhere] // size
    filled = None if from_somewhere.all() else np.flatnonzero(from_somewhere)
    return Distribution(UNSIGNED[size], len(units), places, filled)
