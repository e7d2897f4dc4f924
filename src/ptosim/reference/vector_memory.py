"""Vector loads and stores between UB and registers: every dist mode is a table of bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.vector_memory import LOAD_MODES, NOTHING, LoadMode
from ptosim.language import vector_memory as op
from ptosim.reference.core import Bytes, Core
from ptosim.reference.mask import Mask
from ptosim.reference.numbers import dtype_of
from ptosim.reference.semantics import semantics

Lanes = NDArray[Any]


@cache
def _gather(mode: LoadMode) -> tuple[NDArray[np.intp] | None, ...]:
    """Per result register, where each byte comes from; one past the window stands for zero. None: the window as it is."""
    tables: list[NDArray[np.intp] | None] = []
    for table in mode.tables:
        places = np.array([mode.footprint if place == NOTHING else place for place in table], np.intp)
        tables.append(None if (places == np.arange(256)).all() else places)
    return tuple(tables)


def _distribute(window: Bytes, places: NDArray[np.intp] | None) -> Bytes:
    return window.copy() if places is None else np.append(window, np.uint8(0))[places]


def _load_facts(static: Static) -> dict[str, Any]:
    mode = LOAD_MODES[static.words.get("dist", "NORM")]
    return {
        "mode": mode,
        "places": _gather(mode),
        "unit": static.elements["source"].bytes,
        "dtype": dtype_of(static.elements["result"]),
        "post": "next" in static.present,
    }


@semantics(op.VLds, bind=_load_facts)
def vlds(core: Core, source: int, offset: int, mode: LoadMode, places: Any, unit: int, dtype: Any, post: bool) -> Any:
    address = source if post else source + offset * unit
    window = core.read(Space.UB, address, mode.footprint, mode.alignment, by_use=True)
    value = _distribute(window, places[0]).view(dtype)
    return (value, source + offset * unit) if post else value


def _store_facts(static: Static) -> dict[str, Any]:
    return {
        "unit": static.elements["dest"].bytes,
        "width": static.elements["value"].bytes,
        "post": "next" in static.present,
    }


@semantics(op.VSts, bind=_store_facts)
def vsts(
    core: Core, value: Lanes, dest: int, offset: int, mask: Mask | None, unit: int, width: int, post: bool
) -> int | None:
    address = dest if post else dest + offset * unit
    if mask is None or mask.is_full(width):
        core.write(Space.UB, address, value.view(np.uint8), 32)
    else:
        core.write(Space.UB, address, value.view(np.uint8), 32, np.repeat(mask.lanes(width), width))
    return dest + offset * unit if post else None
