"""Copies between memories: which rows they touch. The closed forms hold for Python ints, arrays and IR values alike.

Loops around the rows come inner first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects import burst
from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import ceil_to, is_multiple, maximum, negate, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, required, table
from ptosim.effects.requirement import Requirement, Requirements, fits
from ptosim.target.profile import load_target

PADDING_LIMIT = 255
OLD_COUNT_LIMIT = 4095
"""Rows of the older copies between UB and L1."""
OLDER = "older"
"""The mark of a copy that was written in the older spelling, whose limits stay."""


def padded_width(length: Any, left: Any, right: Any, element_bytes: int, stride: Any) -> Any:
    """The bytes of a padded UB row: pad, data, pad; then up to the row stride, or to 32 bytes where that is short."""
    end = left * element_bytes + length
    least = end + right * element_bytes
    return select(stride < end, maximum(least, ceil_to(end, GRANULE)), maximum(least, stride))


def _rows(operands: Any, side: str, width: Any) -> Extent:
    counts = (operands.n_burst, *operands.loop_counts)
    strides = (getattr(operands, f"{side}_stride"), *getattr(operands, f"loop_{side}_strides"))
    return burst.row_extent(counts, strides, width)


def source_rows(operands: Any) -> Extent:
    """The source of a copy with byte strides."""
    return _rows(operands, "source", operands.len_burst)


def dest_rows(operands: Any) -> Extent:
    """The destination of a copy with byte strides."""
    return _rows(operands, "dest", operands.len_burst)


def _padded_rows(static: Static) -> Callable[[Any], Extent]:
    """The destination of a copy into UB, with padding where the operands turn it on."""
    element_bytes = min(4, static.elements["dest"].bytes)
    has_sides, is_optional = "left_padding" in static.present, "data_select" in static.present

    def extent(operands: Any) -> Extent:
        left, right = (operands.left_padding, operands.right_padding) if has_sides else (0, 0)
        width = padded_width(operands.len_burst, left, right, element_bytes, operands.dest_stride)
        if is_optional:
            width = select((operands.data_select & 1) > 0, width, operands.len_burst)
        return _rows(operands, "dest", width)

    return extent


def _copy(
    name: str,
    pipe: Pipe,
    timing: str,
    source: Space,
    dest: Space,
    read: Callable[[Any], Extent] = source_rows,
    write: Callable[[Any], Extent] = dest_rows,
    registers: tuple[str, ...] = (),
    requires: Callable[[Static], Requirements] | None = None,
) -> Effects:
    def accesses(static: Static) -> tuple[Access, ...]:
        padded = bool({"pad_value", "data_select"} & static.present)
        written = _padded_rows(static) if padded else write
        return (
            Access("read", source, "source", read, burst.alignment_of(source, static.target)),
            Access("write", dest, "dest", written, burst.alignment_of(dest, static.target)),
        )

    return Effects(f"pto.{name}", pipe, timing, Taint.MOVEMENT, accesses, requires or required(), reads=registers)


def _granule_copy(
    name: str, pipe: Pipe, timing: str, source: Space, dest: Space, requires: Callable[[Static], Requirements]
) -> Effects:
    return _copy(
        name, pipe, timing, source, dest, burst.gapped_extent("source"), burst.gapped_extent("dest"), requires=requires
    )


def _whole_rows(static: Static, *padded: str) -> Requirements:
    """Some machines count what the older copies from and to GM do not pad in granules; mte_* never do."""
    target = load_target(static.target)
    unit = target.rules.dma_length_multiple
    if unit == 1:
        return ()
    rule = f"without padding it must be a multiple of {unit} on {target.architecture}"

    def partial(value: Any, is_padded: Any = False) -> Any:
        return negate(is_multiple(value, unit) | is_padded)

    def apart(value: Any, count: Any, is_padded: Any = False) -> Any:
        return partial(value, is_padded) & (count > 1)

    strides = [Requirement(f"{side}_stride", rule, apart, ("n_burst", *padded), "misaligned") for side in _SIDES]
    return (Requirement("len_burst", rule, partial, padded, "misaligned"), *strides)


def _unpadded_rows(static: Static) -> Requirements:
    """Requirements of the copies that replace older ones: padding is a clause, perhaps with a condition."""
    if "data_select" in static.present:
        return _whole_rows(static, "data_select")
    return () if "pad_value" in static.present else _whole_rows(static)


_SIDES = ("source", "dest")
_IN = burst.strided(burst.GM_STRIDE_LIMIT, burst.UB_STRIDE_LIMIT)
_OUT = burst.strided(burst.UB_STRIDE_LIMIT, burst.GM_STRIDE_LIMIT)
_HINTS = fits("sid l2_cache_ctl", 15)
_PADDINGS = fits("left_padding right_padding", PADDING_LIMIT)
_ROWS = burst.gapped()
_OLD_ROWS = burst.gapped(OLD_COUNT_LIMIT)
_STREAM = fits("sid", 15)
_LOOPS = burst.loops(burst.UB_STRIDE_LIMIT, burst.UB_STRIDE_LIMIT)
_LOOPS_IN = burst.loops(burst.GM_STRIDE_LIMIT, burst.UB_STRIDE_LIMIT)
_LOOPS_OUT = burst.loops(burst.UB_STRIDE_LIMIT, burst.GM_STRIDE_LIMIT)


def _none(static: Static) -> Requirements:
    return ()


def _spelled(
    always: Requirements, now: Requirements, before: Callable[[Static], Requirements] = _none
) -> Callable[[Static], Requirements]:
    """Requirements of operands in either spelling, in the current one, whose loops are no registers, and in the
    older."""
    return lambda static: (*always, *(before(static) if OLDER in static.present else now))


_COPIES = (
    _copy(
        *("mte_gm_ub", Pipe.MTE2, "gm_ub", Space.GM, Space.UB),
        requires=_spelled((*_IN, *_HINTS, *_PADDINGS), _LOOPS_IN, _unpadded_rows),
    ),
    _copy(
        *("mte_ub_gm", Pipe.MTE3, "ub_gm", Space.UB, Space.GM),
        registers=("CTRL",),
        requires=_spelled((*_OUT, *_HINTS), _LOOPS_OUT, _whole_rows),
    ),
    _granule_copy("mte_ub_ub", Pipe.V, "ub_ub", Space.UB, Space.UB, required(*_ROWS)),
    _granule_copy("mte_ub_l1", Pipe.MTE3, "ub_l1", Space.UB, Space.L1, _spelled((), _ROWS, required(*_OLD_ROWS))),
    _granule_copy("mte_l1_ub", Pipe.MTE1, "l1_ub", Space.L1, Space.UB, required(*_ROWS, *_LOOPS)),
    _granule_copy("copy_cbuf_to_ubuf", Pipe.MTE1, "l1_ub", Space.L1, Space.UB, required(*_OLD_ROWS, *fits("sid", 1))),
    _copy("mte_gm_l1", Pipe.MTE2, "gm_l1", Space.GM, Space.L1, requires=_spelled(_IN, _LOOPS_IN, _whole_rows)),
    _copy("sim.l1_gm", Pipe.FIX, "l0c_gm", Space.L1, Space.GM, requires=required(*_OUT, *_LOOPS_OUT)),
)

_OLDER = (
    Effects(
        *("pto.copy_gm_to_ubuf", Pipe.MTE2, "gm_ub", Taint.MOVEMENT),
        requires=lambda static: (*_IN, *_HINTS, *_PADDINGS, *_whole_rows(static, "data_select")),
        reads=("LOOP_OUTTOUB", "PAD"),
    ),
    Effects(
        *("pto.copy_ubuf_to_gm", Pipe.MTE3, "ub_gm", Taint.MOVEMENT),
        requires=lambda static: (*_OUT, *fits("sid reserved", 15), *_whole_rows(static)),
        reads=("CTRL", "LOOP_UBTOOUT"),
    ),
    Effects(
        *("pto.copy_gm_to_cbuf", Pipe.MTE2, "gm_l1", Taint.MOVEMENT),
        requires=lambda static: (*_IN, *_whole_rows(static)),
        reads=("LOOP_OUTTOL1",),
    ),
    Effects("pto.copy_ubuf_to_ubuf", Pipe.V, "ub_ub", Taint.MOVEMENT, requires=required(*_ROWS, *_STREAM)),
    Effects("pto.copy_ubuf_to_cbuf", Pipe.MTE3, "ub_l1", Taint.MOVEMENT, requires=required(*_OLD_ROWS, *_STREAM)),
)
"""Older forms that become one of the copies above before they run: their operands are judged as written."""

_ATOMIC = table(
    Pipe.S,
    Taint.NONE,
    {
        "scalar": "set_atomic_none set_atomic_add set_atomic_max set_atomic_min set_atomic_f32 set_atomic_f16 "
        "set_atomic_bf16 set_atomic_s32 set_atomic_s16 set_atomic_s8",
    },
)

ATOMIC_SETTERS = {"pto.set_store_atomic_cfg", *_ATOMIC} - {"pto.set_atomic_none"}
"""Instructions that can make stores to GM atomic."""

EFFECTS = named(*_COPIES, *_OLDER) | _ATOMIC
