"""Rows and elements of a table in GM by index."""

from __future__ import annotations

from typing import Any

from ptosim.effects.geometry import minimum, reach
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named

INDEX_BYTES = 4


def index_extent(operands: Any) -> Extent:
    """The bytes of UB that hold the indices."""
    far = reach(operands.rows, operands.index_row) + reach(operands.columns, operands.index_column)
    return 0, _any(operands) * ((far + 1) * INDEX_BYTES)


def base_extent(operands: Any, width: int) -> Extent:
    """The bytes of UB that hold the elements."""
    far = reach(operands.rows, operands.row_stride) + reach(operands.columns, operands.column_stride)
    return 0, _any(operands) * ((far + reach(operands.length, operands.element_stride) + 1) * width)


def table_extent(operands: Any, width: int) -> Extent:
    """The bytes of the table."""
    return 0, _any(operands) * ((reach(operands.capacity, operands.pitch) + operands.length) * width)


def _any(operands: Any) -> Any:
    """1 where anything moves."""
    return minimum(operands.rows * operands.columns * operands.length, 1)


def moved_by_index(operands: Any, static: Static, rows: int) -> tuple[int, int]:
    """The bytes read, and those written without being combined, if so many indices name a row of the table: a gather
    writes zeros for others, unless these are errors."""
    run = operands.length * static.elements["table"].bytes
    indices = operands.rows * operands.columns * _any(operands)
    if "combine" in static.words:
        return indices * INDEX_BYTES + rows * run, rows * run * (static.words["combine"] == "none")
    return indices * INDEX_BYTES + rows * run, (rows if static.words["beyond"] == "undefined" else indices) * run


def _accesses(table: Any, base: Any) -> Any:
    def accesses(static: Static) -> tuple[Access, ...]:
        width = static.elements["table"].bytes
        return (
            Access("read", Space.UB, "indices", index_extent, INDEX_BYTES),
            Access(table, Space.GM, "table", lambda operands: table_extent(operands, width), reach="bound"),
            Access(base, Space.UB, "base", lambda operands: base_extent(operands, width), width),
        )

    return accesses


_GATHER, _SCATTER = _accesses("read", "write"), _accesses("write", "read")

EFFECTS = named(
    Effects("pto.sim.gather", Pipe.V, "gm_ub", Taint.MOVEMENT, _GATHER),
    Effects("pto.sim.gather_mte2", Pipe.MTE2, "gm_ub", Taint.MOVEMENT, _GATHER),
    Effects("pto.sim.scatter", Pipe.V, "ub_gm", Taint.MOVEMENT, _SCATTER),
    Effects("pto.sim.scatter_mte3", Pipe.MTE3, "ub_gm", Taint.MOVEMENT, _SCATTER),
)
