"""Fixpipe stores in the raw spelling: the fields of their two words, and the accesses that follow.

What the words leave to registers are further operands on the copy that engines read
(language/passes/register_operands.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.configuration import FIXPIPE
from ptosim.effects.fixpipe import ALIGNMENT, LAYOUTS, StoreShape, dest_extent, source_extent
from ptosim.effects.fractal import ACCUMULATOR_ROW
from ptosim.effects.geometry import floor_div, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named

SPLIT_MODES: tuple[str | None, ...] = (None, "split_m", "split_n")
RELU_MODES: tuple[str, ...] = ("no_relu", "normal_relu", "scalar_relu", "vector_relu")


def field(word: Any, high: int, low: int) -> Any:
    """Bits high:low of a word."""
    return word >> low & ((1 << (high - low + 1)) - 1)


def quant_code(config1: Any) -> Any:
    """The quantisation mode: its sixth bit stands apart from the other five."""
    return field(config1, 38, 34) + field(config1, 29, 29) * 32


def is_layout(config1: Any, layout: str) -> Any:
    """Row-major and column-major have a bit each; neither means fractals."""
    row_major, column_major = field(config1, 43, 43), field(config1, 62, 62)
    if layout == "nz2nd":
        return row_major == 1
    return (row_major == 0) & (column_major == (1 if layout == "nz2dn" else 0))


def raw_shape(operands: Any) -> StoreShape:
    """The sizes in the words and registers. Only column-major stores have a row step, fractals are not repeated."""
    config0, config1, loop3 = operands.config0, operands.config1, operands.loop3_para
    fractals = is_layout(config1, "nz2nz")
    return StoreShape(
        field(config0, 31, 16),
        field(config0, 15, 4),
        field(config1, 15, 0),
        field(config0, 63, 32),
        select(is_layout(config1, "nz2dn"), field(operands.channel_para, 63, 48), 1),
        select(fractals, 1, field(loop3, 15, 0)),
        select(fractals, 0, field(loop3, 31, 16)),
        select(fractals, 0, field(loop3, 63, 32)),
    )


def _dest(static: Static, space: Space) -> Callable[[Any], Extent]:
    element = static.elements["dest"]

    def extent(operands: Any) -> Extent:
        shape, config1 = raw_shape(operands), operands.config1
        if space is Space.UB:
            mode = field(config1, 17, 16)
            shape = shape._replace(m=select(mode == 1, floor_div(shape.m, 2), shape.m))
            shape = shape._replace(n=select(mode == 2, floor_div(shape.n, 2), shape.n))
        high = sum(is_layout(config1, layout) * dest_extent(shape, layout, element)[1] for layout in LAYOUTS)
        halves = is_layout(config1, "nz2nz") & (field(config1, 42, 42) == 1)
        return 0, select(halves, dest_extent(shape, "nz2nz", element, split=True)[1], high)

    return extent


def _accesses(space: Space) -> Callable[[Static], tuple[Access, ...]]:
    """Parameter words are named by a register, not by a pointer: engines check them where they read them."""

    def accesses(static: Static) -> tuple[Access, ...]:
        return (
            Access("read", Space.L0C, "source", lambda o: source_extent(raw_shape(o)), ACCUMULATOR_ROW),
            Access("write", space, "dest", _dest(static, space), ALIGNMENT[space]),
        )

    return accesses


def _store(name: str, timing: str, space: Space) -> Effects:
    reads = (*(register.upper() for register in FIXPIPE), "CTRL")
    return Effects(f"pto.{name}", Pipe.FIX, timing, Taint.USE, _accesses(space), reads=reads)


EFFECTS = named(
    _store("copy_matrix_cc_to_gm", "l0c_gm", Space.GM),
    _store("copy_matrix_cc_to_cbuf", "l0c_l1", Space.L1),
    _store("copy_matrix_cc_to_ub", "l0c_ub", Space.UB),
)
