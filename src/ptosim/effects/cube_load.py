"""Moves out of L1 into the operand buffers of the cube: which fractals and rows they touch.

The spelling by shape is worked out into the fields of the spelling by fractals here, in closed form, for every engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ptosim.effects import fractal
from ptosim.effects.burst import FB_UNIT, SHORT_LIMIT, gapped, gapped_extent, row_extent
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.float_format import FOUR_BITS
from ptosim.effects.geometry import ceil_div, ceil_to, floor_div
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, required
from ptosim.effects.requirement import Requirements, fits

STEP_LIMIT = 255
"""The largest step of a load, of 8 bits; starts and strides have 16."""
FIELDS = (
    *fits("m_start k_start", SHORT_LIMIT),
    *fits("m_step k_step", STEP_LIMIT),
    *fits("source_stride dest_stride", SHORT_LIMIT),
)
"""The ranges of `Control`, written or computed. (The verifier wants a written one to be 1 at least.)"""


class FractalSteps(NamedTuple):
    """A load in fractals: of source and destination, start, step and stride. Scales count fragments of 32 bytes."""

    m_start: Any
    k_start: Any
    m_step: Any
    k_step: Any
    source_stride: Any
    dest_stride: Any


def _written(operands: Any, *roles: str) -> FractalSteps:
    return FractalSteps(*(getattr(operands, role) for role in roles))


def _start(operands: Any, role: str) -> Any:
    start = getattr(operands, role, None)
    return 0 if start is None else start


# --- data tiles -------------------------------------------------------------------------------------------------------


def tile_control(operands: Any, static: Static, side: str, transpose: bool) -> FractalSteps:
    """The fields of a load of L0A (`side` "m") or L0B ("n"), whichever way it is written."""
    if "m_start" in static.present:
        return _written(operands, "m_start", "k_start", "m_step", "k_step", "source_stride", "dest_stride")
    element = static.elements["source"]
    columns = fractal.fractal_columns(element)
    x, k = getattr(operands, side), operands.k
    k_start = _start(operands, "start_col")
    if element.name in FOUR_BITS:
        k_start = floor_div(k_start, 2)
    if transpose:
        granule = max(fractal.FRACTAL_ROWS, columns)
        depth, across = ceil_to(k, granule), ceil_to(x, granule)
        rows = floor_div(depth, fractal.FRACTAL_ROWS)
        steps = (rows, floor_div(across, columns), rows, floor_div(across, fractal.FRACTAL_ROWS))
    else:
        rows = ceil_div(x, fractal.FRACTAL_ROWS)
        steps = (rows, ceil_div(k, columns), rows, rows)
    return FractalSteps(_start(operands, "start_row"), k_start, *steps)


def tile_source(control: FractalSteps) -> Extent:
    """The fractals that a load reads."""
    start = (control.k_start * control.source_stride + control.m_start) * fractal.FRACTAL
    strides = (control.source_stride * fractal.FRACTAL, fractal.FRACTAL)
    _, size = row_extent((control.k_step, control.m_step), strides, fractal.FRACTAL)
    return start, start + size


def dest_counts(control: FractalSteps, columns: int, transpose: bool) -> tuple[Any, Any]:
    """The fractals that a load writes, as counts of the outer and the inner step."""
    if not transpose:
        return control.k_step, control.m_step
    return floor_div(control.m_step * fractal.FRACTAL_ROWS, columns), floor_div(
        control.k_step * columns, fractal.FRACTAL_ROWS
    )


def tile_dest(control: FractalSteps, columns: int, transpose: bool) -> Extent:
    counts = dest_counts(control, columns, transpose)
    return row_extent(counts, (control.dest_stride * fractal.FRACTAL, fractal.FRACTAL), fractal.FRACTAL)


def tile_accesses(side: str, dest: Space) -> Callable[[Static], tuple[Access, ...]]:
    """Read fractals of L1, write fractals of L0."""

    def accesses(static: Static) -> tuple[Access, ...]:
        transpose = bool(static.integers.get("transpose", 0))
        columns = fractal.fractal_columns(static.elements["source"])

        def control(operands: Any) -> FractalSteps:
            return tile_control(operands, static, side, transpose)

        return (
            Access("read", Space.L1, "source", lambda o: tile_source(control(o)), GRANULE),
            Access("write", dest, "dest", lambda o: tile_dest(control(o), columns, transpose), fractal.FRACTAL),
        )

    return accesses


# --- MX scales --------------------------------------------------------------------------------------------------------


def scale_control(operands: Any, static: Static, side: str) -> FractalSteps:
    """The fields of a load of MX scales, in fragments of 32 bytes: 16 rows or columns x 2 groups along k."""
    if "x_start" in static.present:
        return _written(operands, "x_start", "y_start", "x_step", "y_step", "source_stride", "dest_stride")
    across = ceil_div(getattr(operands, side), fractal.FRACTAL_ROWS)
    depth = ceil_div(ceil_div(operands.k, fractal.SCALE_GROUP), 2) * static.elements["source"].bytes
    return FractalSteps(_start(operands, "start_row"), _start(operands, "start_col"), across, depth, depth, depth)


def scale_source(control: FractalSteps) -> Extent:
    """The fragments that a load of scales reads."""
    start = (control.m_start * control.source_stride + control.k_start) * fractal.SCALE_FRAGMENT
    strides = (control.source_stride * fractal.SCALE_FRAGMENT, fractal.SCALE_FRAGMENT)
    _, size = row_extent((control.m_step, control.k_step), strides, fractal.SCALE_FRAGMENT)
    return start, start + size


def scale_accesses(side: str, dest: Space, shift: int = fractal.SCALE_SHIFT) -> Callable[[Static], tuple[Access, ...]]:
    """Read fragments of L1, write them to the scale buffer, whose address is the pointer shifted right."""

    def accesses(static: Static) -> tuple[Access, ...]:
        def written(operands: Any) -> Extent:
            control = scale_control(operands, static, side)
            _, size = row_extent(
                (control.m_step, control.k_step),
                (control.dest_stride * fractal.SCALE_FRAGMENT, fractal.SCALE_FRAGMENT),
                fractal.SCALE_FRAGMENT,
            )
            start = (operands.dest >> shift) - operands.dest
            return start, start + size

        return (
            Access("read", Space.L1, "source", lambda o: scale_source(scale_control(o, static, side)), GRANULE),
            Access("write", dest, "dest", written),
        )

    return accesses


# --- bias table and fixpipe buffer ------------------------------------------------------------------------------------


def bias_unit(source: Element, convert: Any = True) -> Any:
    """The bytes of the bias table that 32 bytes of the source fill: 16-bit floats are widened.

    `convert` is the flag of the raw spelling, which nothing but f16 heeds.
    """
    if source.bytes == 4:
        return GRANULE
    return GRANULE + GRANULE * (convert != 0) if source.name == "f16" else 2 * GRANULE


def bias_accesses(static: Static) -> tuple[Access, ...]:
    source = static.elements["source"]

    def written(operands: Any) -> Extent:
        unit = bias_unit(source, getattr(operands, "convert", True))
        length = operands.len_burst * unit
        return row_extent((operands.n_burst,), (length + operands.dest_gap * unit,), length)

    return (
        Access("read", Space.L1, "source", gapped_extent("source"), GRANULE),
        Access("write", Space.BT, "dest", written, fractal.BIAS_ALIGNMENT),
    )


def parameter_accesses(static: Static) -> tuple[Access, ...]:
    """Parameter rows; the space is that of the first segment, the address decides."""
    return (
        Access("read", Space.L1, "source", gapped_extent("source", FB_UNIT), GRANULE),
        Access("write", Space.FB, "dest", gapped_extent("dest", FB_UNIT), FB_UNIT),
    )


def _extents(roles: str) -> Callable[[Static], Requirements]:
    """Rounded up to fractals a small negative extent would pass for none. (The verifier wants 1 at least.)"""
    return required(*fits(roles, None, at_load=False))


EFFECTS = named(
    Effects("pto.mte_l1_l0a", Pipe.MTE1, "l1_l0a", Taint.MOVEMENT, tile_accesses("m", Space.L0A), _extents("m k")),
    Effects("pto.mte_l1_l0b", Pipe.MTE1, "l1_l0b", Taint.MOVEMENT, tile_accesses("n", Space.L0B), _extents("k n")),
    Effects(
        "pto.mte_l1_l0a_mx", Pipe.MTE1, "l1_l0a", Taint.MOVEMENT, scale_accesses("m", Space.SCALE_A), _extents("m k")
    ),
    Effects(
        "pto.mte_l1_l0b_mx", Pipe.MTE1, "l1_l0b", Taint.MOVEMENT, scale_accesses("n", Space.SCALE_B), _extents("k n")
    ),
    Effects("pto.mte_l1_bt", Pipe.MTE1, "l1_bt", Taint.MOVEMENT, bias_accesses, required(*gapped())),
    # On FIX: kernels issue the store that reads the rows right behind it, without a flag.
    Effects("pto.mte_l1_fb", Pipe.FIX, "l1_fb", Taint.MOVEMENT, parameter_accesses, required(*gapped())),
)
