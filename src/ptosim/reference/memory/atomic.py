"""Atomic stores to GM: what CTRL says of them, and how a stored value is combined with the one that is there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.element import element
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.port import Atomic
from ptosim.reference.numeric import float_lanes


def atomic_store(ctrl: int) -> Atomic | None:
    """The effect of an atomic store on the bytes in GM; None for a plain store."""
    kind = ATOMIC_TYPES.get(ctrl >> 6 & 7)
    if kind is None:
        return None
    operation = ATOMIC_OPERATIONS.get(ctrl >> 9 & 3, "add")
    described = element(kind)
    dtype = float_lanes.dtype_of(described)

    def combine(old: Bytes, new: Bytes) -> Bytes:
        first, second = old.copy().view(dtype), new.copy().view(dtype)
        return _combined(operation, described, first, second).view(np.uint8)

    return Atomic(f"{operation} {kind}", described.bytes, combine)


def check_length(atomic: Atomic | None, length: int) -> None:
    """Rows of an atomic store have whole elements."""
    if atomic is not None and length % atomic.width:
        raise Fault("misaligned", f"an atomic store of {length} bytes is no whole number of {atomic.name} elements")


def _combined(operation: str, kind: Any, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    if not kind.is_float:
        return {"add": np.add, "max": np.maximum, "min": np.minimum}[operation](first, second)
    wide, other = float_lanes.widen(kind, first), float_lanes.widen(kind, second)
    functions = {"add": np.add, "max": float_lanes.maximum, "min": float_lanes.minimum}
    return float_lanes.narrow(kind, functions[operation](wide, other))
