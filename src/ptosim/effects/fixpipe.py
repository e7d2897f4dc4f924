"""The way out of the accumulator: which accumulators, parameter words and destination bytes a store touches.

The destination is counted in elements of its own type; 4-bit ones lie two to a byte, and a pair of hif8 counts as two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ptosim.effects.burst import row_extent
from ptosim.effects.element import Element
from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_ROW, FRACTAL_ROWS
from ptosim.effects.geometry import ceil_div, floor_div, maximum, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named
from ptosim.effects.requirement import Requirements, fits, multiple

COLUMN_LIMIT = 4095
ROW_LIMIT = 65535
DEST_LIMIT = (1 << 32) - 1
"""The largest n (12 bits of the raw word), m and source strides (16), destination strides (32)."""
_FIELDS = (
    *fits("n", COLUMN_LIMIT),
    *fits("m source_stride loop0_stride loop3_count loop3_source_stride", ROW_LIMIT),
    *fits("dest_stride loop3_dest_stride", DEST_LIMIT),
    *fits("sid", 3),
    *fits("l2_cache_ctl", 15),
    *fits("sub_block", 1),
)
HALVES = {
    "split_m": multiple("m", 2, "split_m needs a multiple of 2"),
    "split_n": multiple("n", 32, "split_n needs a multiple of 32"),
}
"""Accumulators that the two vector cores can share."""
QUANT_WORD = 8
"""Bytes of a channel's quantisation word."""
RELU_WORD = 4
QUANT_ROW = 128
RELU_ROW = 64
"""Bytes of the words of 16 channels. A store names such a row of its segment by 8 bits; other pointer bits are lost."""
ON_CHIP_ALIGNMENT = 32
ALIGNMENT = {Space.GM: 1, Space.UB: ON_CHIP_ALIGNMENT, Space.L1: ON_CHIP_ALIGNMENT}

LAYOUTS = ("nz2nd", "nz2dn", "nz2nz")

SCALE_MASK = 0xFFFFE000
"""A scale or slope is an f32 cut off behind its tenth fraction bit."""
UNSCALED = frozenset({"no_convert", "f32_f16", "f32_bf16"})
"""Quantisation modes that read no parameters."""
WITH_OFFSET = frozenset({"qf322b8_pre", "qf322s4_pre", "qf162b8_pre", "qf162s4_pre", "req8", "req4"})
EXACT = frozenset({"deqs32_int", "deqs16"})
"""Families of modes: those that add an offset, and those whose integers are not rounded to f32."""


def mode_family(mode: str) -> str:
    """A quantisation mode, whether its parameters are those of each channel or of all."""
    return mode.removesuffix("_vec").removesuffix("_scalar")


class StoreShape(NamedTuple):
    """The sizes of a store. Strides of the source count rows of 16 accumulators, those of the destination elements."""

    m: Any
    n: Any
    source_stride: Any
    """From a group of 16 columns to the next."""
    dest_stride: Any
    row_step: Any
    """From the source row of one matrix row to that of the next; other than 1 only in nz2dn."""
    count: Any
    repeat_source: Any
    repeat_dest: Any


def value_bits(element: Element) -> int:
    """The bits of one stored value."""
    return 8 if element.name == "hif8x2" else element.bits


def group_columns(element: Element, split: bool) -> int:
    """The columns of a fractal that nz2nz writes: of 1 KiB for 32-bit elements, unless split, else of 512 bytes."""
    bits = value_bits(element)
    return FRACTAL_ROWS if bits == 32 and not split else 256 // bits


def quant_row(pointer: Any) -> Any:
    """The offset in its segment of the quantisation words that a pointer names."""
    return pointer & (0xFF * QUANT_ROW)


def relu_row(pointer: Any) -> Any:
    return pointer & (0xFF * RELU_ROW)


def source_extent(shape: StoreShape) -> Extent:
    """The accumulators that a store reads."""
    groups = ceil_div(shape.n, FRACTAL_ROWS)
    last = (shape.m - 1) * shape.row_step + (shape.count - 1) * shape.repeat_source
    partial = (groups - 1) * shape.source_stride * ACCUMULATOR_ROW + (
        shape.n - (groups - 1) * FRACTAL_ROWS
    ) * ACCUMULATOR
    full = (groups > 1) * ((groups - 2) * shape.source_stride * ACCUMULATOR_ROW + ACCUMULATOR_ROW)
    some = (shape.m > 0) & (shape.n > 0) & (shape.count > 0)
    return 0, select(some, last * ACCUMULATOR_ROW + maximum(partial, full), 0)


def dest_extent(shape: StoreShape, layout: str, element: Element, split: bool = False) -> Extent:
    """The bytes that a store writes into one memory."""
    if layout == "nz2nz":
        columns = group_columns(element, split)
        groups = ceil_div(shape.n, columns)
        partial = (groups - 1) * shape.dest_stride + shape.n - (groups - 1) * columns
        full = (groups > 1) * ((groups - 2) * shape.dest_stride + columns)
        size = (shape.m - 1) * columns + maximum(partial, full)
    else:
        rows, length = (shape.m, shape.n) if layout == "nz2nd" else (shape.n, shape.m)
        _, size = row_extent((rows,), (shape.dest_stride,), length)
    some = (shape.m > 0) & (shape.n > 0) & (shape.count > 0)
    return 0, select(some, ceil_div(((shape.count - 1) * shape.repeat_dest + size) * value_bits(element), 8), 0)


# --- stores with clauses ----------------------------------------------------------------------------------------------


def _given(operands: Any, role: str, default: int) -> Any:
    value = getattr(operands, role, None)
    return default if value is None else value


def written_shape(operands: Any) -> StoreShape:
    """The sizes that the operands of a store say; a missing clause has its neutral value."""
    return StoreShape(
        operands.m,
        operands.n,
        operands.source_stride,
        operands.dest_stride,
        _given(operands, "loop0_stride", 1),
        _given(operands, "loop3_count", 1),
        _given(operands, "loop3_source_stride", 0),
        _given(operands, "loop3_dest_stride", 0),
    )


def halved(shape: StoreShape, dst_mode: str | None) -> StoreShape:
    """The part of each of the two vector cores in a split mode."""
    if dst_mode == "split_m":
        return shape._replace(m=floor_div(shape.m, 2))
    return shape._replace(n=floor_div(shape.n, 2)) if dst_mode == "split_n" else shape


def _dest(static: Static) -> Callable[[Any], Extent]:
    element, layout = static.elements["dest"], static.words.get("layout", "nz2nd")

    def extent(operands: Any) -> Extent:
        shape = halved(written_shape(operands), static.words.get("dst_mode"))
        low, plain = dest_extent(shape, layout, element)
        if "split" not in static.present:
            return low, plain
        return low, select(operands.split != 0, dest_extent(shape, layout, element, True)[1], plain)

    return extent


def quant_words(operands: Any) -> Extent:
    """A word for each channel, in the first segment whatever the pointer says."""
    start = quant_row(operands.quant_payload) - operands.quant_payload
    return start, start + operands.n * QUANT_WORD


def relu_words(operands: Any) -> Extent:
    """A word for each channel, in the second segment, which has addresses of its own."""
    start = relu_row(operands.relu_payload) - operands.relu_payload
    return start, start + operands.n * RELU_WORD


def _accesses(space: Space) -> Callable[[Static], tuple[Access, ...]]:
    def accesses(static: Static) -> tuple[Access, ...]:
        found = [Access("read", Space.L0C, "source", lambda o: source_extent(written_shape(o)), ACCUMULATOR_ROW)]
        if static.words.get("quant_mode", "").endswith("_vec"):
            found.append(Access("read", Space.FB, "quant_payload", quant_words))
        if static.words.get("relu_mode") == "vector_relu":
            found.append(Access("read", Space.FB_RELU, "relu_payload", relu_words))
        found.append(Access("write", space, "dest", _dest(static), ALIGNMENT[space]))
        return tuple(found)

    return accesses


def _required(static: Static) -> Requirements:
    mode = static.words.get("dst_mode")
    return _FIELDS if mode is None else (*_FIELDS, HALVES[mode])


def _store(name: str, timing: str, space: Space) -> Effects:
    return Effects(f"pto.{name}", Pipe.FIX, timing, Taint.USE, _accesses(space), _required, reads=("CTRL",))


EFFECTS = named(
    _store("mte_l0c_l1", "l0c_l1", Space.L1),
    _store("mte_l0c_gm", "l0c_gm", Space.GM),
    _store("mte_l0c_ub", "l0c_ub", Space.UB),
)
