"""Copies into L1 that change the layout of a matrix, and the filling of L1: which bytes they touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.burst import COUNT_LIMIT, GM_STRIDE_LIMIT, SHORT_LIMIT, row_extent
from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import ceil_div, ceil_to, is_multiple, negate, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, required
from ptosim.effects.requirement import Requirement, fits

SMALL_ROW = 4
"""Elements of a row with small_c0."""
FILL_LIMIT = 32767
_RULE = f"with small_c0 it must be at most {SMALL_ROW}"


def _is_wide(d: Any, is_small: Any) -> Any:
    return is_small & (d > SMALL_ROW)


_SMALL = Requirement("d", _RULE, _is_wide, ("small_c0",))
_MATRIX = (
    *fits("n d", COUNT_LIMIT),
    *fits("groups", COUNT_LIMIT, at_load=False),  # the verifier wants one at least
    *fits("inner_stride outer_stride", GM_STRIDE_LIMIT),
    *fits("loop2_stride loop3_stride loop4_stride", SHORT_LIMIT),
    *fits("l2_cache_ctl", 15),
    _SMALL,
)
_RUNS = fits("repeat blocks gap", FILL_LIMIT)


def _is_inside_a_granule(offset: Any) -> Any:
    return (offset >= 0) & negate(is_multiple(offset, GRANULE))


_OFFSET = (
    *fits("byte_offset", None),
    Requirement("byte_offset", f"it must be a multiple of {GRANULE}", _is_inside_a_granule),
)


def matrix_source(layout: str, width: int) -> Callable[[Any], Extent]:
    """The rows of a row-major matrix in GM, or the columns of a column-major one."""

    def extent(operands: Any) -> Extent:
        lines, length = (operands.n, operands.d) if layout == "nd2nz" else (operands.d, operands.n)
        outer = getattr(operands, "outer_stride", None)
        strides = (0 if outer is None else outer, operands.inner_stride)
        return row_extent((operands.groups, lines), strides, length * width)

    return extent


def matrix_dest(width: int) -> Callable[[Any], Extent]:
    """The 32-byte pieces of rows in L1, group by group of columns; with small_c0 rows of four elements."""

    def extent(operands: Any) -> Extent:
        columns = ceil_div(operands.d * width, GRANULE)
        counts = (operands.groups, columns, operands.n)
        strides = (operands.loop4_stride * GRANULE, operands.loop3_stride * GRANULE, operands.loop2_stride * GRANULE)
        _, high = row_extent(counts, strides, GRANULE)
        packed = ceil_to(operands.n * (SMALL_ROW * width), GRANULE) * (operands.d > 0)
        _, small = row_extent((operands.groups,), (operands.loop4_stride * GRANULE,), packed)
        return 0, select(operands.small_c0 != 0, small, high)

    return extent


def _matrix_accesses(static: Static) -> tuple[Access, ...]:
    width = static.elements["dest"].bytes
    return (
        Access("read", Space.GM, "source", matrix_source(static.words["layout"], width)),
        Access("write", Space.L1, "dest", matrix_dest(width), GRANULE),
    )


def filled(operands: Any) -> Extent:
    """The runs of a filling."""
    _, size = row_extent((operands.repeat,), ((operands.blocks + operands.gap) * GRANULE,), operands.blocks * GRANULE)
    return operands.byte_offset, operands.byte_offset + size


def _fill_accesses(static: Static) -> tuple[Access, ...]:
    return (Access("write", Space.L1, "dest", filled, GRANULE),)


def _older(layout: str) -> Effects:
    """The older forms of mte_gm_l1_frac."""
    name = f"pto.copy_gm_to_cbuf_multi_{layout}"
    requires = required(*_MATRIX)
    return Effects(name, Pipe.MTE2, "gm_l1", Taint.MOVEMENT, requires=requires, reads=("MTE2_NZ_PARA",))


EFFECTS = named(
    Effects("pto.mte_gm_l1_frac", Pipe.MTE2, "gm_l1", Taint.MOVEMENT, _matrix_accesses, requires=required(*_MATRIX)),
    _older("nd2nz"),
    _older("dn2nz"),
    Effects("pto.raw_fill_l1", Pipe.MTE2, "l1_fill", Taint.MOVEMENT, _fill_accesses, required(*_RUNS, *_OFFSET)),
    Effects("pto.create_cbuf_matrix", Pipe.MTE2, "l1_fill", Taint.MOVEMENT, requires=required(*_RUNS)),
)
