"""Loads with `for %mask`: the bytes that active lanes call for, and zeros for the rest."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import UB
from ptosim.effects.vector_memory import LoadMode, demand
from ptosim.reference.core import Bytes, Core
from ptosim.reference.numeric.mask import Mask


@cache
def _callers(mode: LoadMode, width: int) -> NDArray[np.intp]:
    """Per byte of the footprint, a row of the lanes of `width` bytes that are filled from it, -1 for none."""
    wanted = demand(mode, width)
    most = max(map(len, wanted.lanes))
    rows = [(*lanes, *(-1,) * (most - len(lanes))) for lanes in wanted.lanes]
    return np.repeat(np.array(rows, np.intp), wanted.unit, axis=0)


def read_logical(core: Core, address: int, mode: LoadMode, alignment: int, mask: Mask, width: int) -> Bytes:
    """The footprint of a load whose lanes have `width` bytes. Bytes that no active lane calls for may lie outside."""
    if mask.is_full(width) and demand(mode, width).is_whole:
        return core.read(UB, address, mode.footprint, alignment)
    core.aligned("reads", UB, address, alignment)
    active = np.append(mask.lanes(width), False)
    places = np.flatnonzero(active[_callers(mode, width)].any(axis=1))
    data = np.zeros(mode.footprint, np.uint8)
    if len(places) == 0:
        return data
    low, high = int(places[0]), int(places[-1]) + 1
    if high - low == len(places):
        data[low:high] = core.read(UB, address + low, high - low)
    else:
        data[places] = core.read_pieces(UB, address + places, 1).reshape(-1)
    return data
