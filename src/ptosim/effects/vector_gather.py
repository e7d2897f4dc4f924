"""Gathers and scatters: the address of each lane or block as a closed form of the offsets.

The forms hold for one offset at a time as well as for a NumPy array of int64 with all of them. Extents are relative to
the pointer. Which lanes are active, and what happens where two lanes of a scatter meet, is left to the engines.
"""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import GRANULE, VECTOR_BYTES, Element
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named

SCATTER_SOURCE: dict[int, tuple[int, ...]] = {size: tuple(range(0, VECTOR_BYTES, max(size, 2))) for size in (1, 2, 4)}
"""By element bytes: the first register byte that each lane of vscatter stores. Bytes are taken from 16-bit slots."""


def _pointer(static: Static) -> str:
    return "dest" if "dest" in static.present else "source"


def _unsigned(element: Element) -> int:
    return (1 << element.bits) - 1


def lane_offsets(operands: Any, static: Static) -> Any:
    """The byte offset of each lane from the pointer; the offsets count elements, without sign."""
    return (operands.offsets & _unsigned(static.elements["offsets"])) * static.elements[_pointer(static)].bytes


def block_offsets(operands: Any, static: Static) -> Any:
    """The byte offset of each block of vgatherb from the pointer; the offsets count bytes, without sign."""
    return operands.offsets & _unsigned(static.elements["offsets"])


def _mask(static: Static) -> str | None:
    return "mask" if "mask" in static.present else None


def _lanes(static: Static) -> tuple[Access, ...]:
    base = _pointer(static)
    size = static.elements[base].bytes

    def extent(operands: Any) -> Extent:
        low = lane_offsets(operands, static)
        return low, low + size

    direction = "write" if base == "dest" else "read"
    return (Access(direction, Space.UB, base, extent, size, "active", _mask(static), lane_offsets),)


def _blocks(static: Static) -> tuple[Access, ...]:
    def extent(operands: Any) -> Extent:
        low = block_offsets(operands, static)
        return low, low + GRANULE

    return (Access("read", Space.UB, "source", extent, GRANULE, "active", _mask(static), block_offsets),)


EFFECTS = named(
    Effects("pto.vgather2", Pipe.V, "gather", Taint.CROSSING, _lanes),
    Effects("pto.vgather2_bc", Pipe.V, "gather", Taint.CROSSING, _lanes),
    Effects("pto.vgatherb", Pipe.V, "gather_block", Taint.CROSSING, _blocks),
    Effects("pto.vscatter", Pipe.V, "scatter", Taint.MOVEMENT, _lanes),
)
