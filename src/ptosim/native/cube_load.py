"""Moves out of L1 into L0A, L0B, their MX scales, the bias table and the fixpipe buffer."""

from __future__ import annotations

from collections.abc import Mapping

from ptosim.effects.burst import FB_UNIT, row_extent
from ptosim.effects.cube_load import bias_unit, scale_control, tile_control
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.fractal import ACCUMULATOR, BIAS_ALIGNMENT, SCALE_SHIFT, SEGMENT_BITS, SEGMENTS
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import cube_load as op
from ptosim.language.micro import cube_load_raw as raw
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, given, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.burst import BurstLoop, each_row
from ptosim.native.routines.fractals import load_scales, load_tile
from ptosim.native.vector.numbers import canonical, lane_type, widen


def _with_starts(core: Core, operands: Operands) -> Operands:
    """The operands, with zeros for starts that are not written. What counts fractals, where other operands count
    elements, is remarked on."""
    starts = {role: getattr(operands, role, None) for role in ("start_row", "start_col")}
    for start in starts.values():
        if start is not None:
            core.suspect(lambda start=start: start != 0)
    none = operands.source.like(0)
    known = {role: none if start is None else start for role, start in starts.items()}
    return Operands(**vars(operands) | known)


@lowering(op.MteL1L0a, bind=given(space=Space.L0A, side="m"))
@lowering(op.MteL1L0b, bind=given(space=Space.L0B, side="n"))
def mte_l1_l0(core: Core, operands: Operands, transpose: int | None, static: Static, space: Space, side: str) -> None:
    element = static.elements["source"]
    control = tile_control(_with_starts(core, operands), static, side, bool(transpose))
    columns, k = getattr(operands, side), operands.k
    if transpose and columns is not None and k is not None and op.holds_bytes(element):
        core.suspect(lambda: ((((columns + 15) >> 4) & 1) != 0) & (k > 32))  # `op.misses_its_place`
    load_tile(core, space, operands.source, operands.dest, control, element, bool(transpose))


@lowering(op.MteL1L0aMx, bind=given(space=Space.SCALE_A, side="m", shift=SCALE_SHIFT))
@lowering(op.MteL1L0bMx, bind=given(space=Space.SCALE_B, side="n", shift=SCALE_SHIFT))
@lowering(raw.LoadCbufToCaMx, bind=given(space=Space.SCALE_A, side="m", shift=0))
@lowering(raw.LoadCbufToCbMx, bind=given(space=Space.SCALE_B, side="n", shift=0))
def mte_l1_l0_mx(core: Core, operands: Operands, static: Static, space: Space, side: str, shift: int) -> None:
    """In the raw spelling the destination is the address in the scale buffer itself."""
    control = scale_control(_with_starts(core, operands), static, side)
    load_scales(core, space, operands.source, operands.dest, control, shift)


# --- rows -------------------------------------------------------------------------------------------------------------


def _check_rows(core: Core, spaces: Mapping[Space, Value], unit: Value | int, n_burst: Value, len_burst: Value) -> None:
    """Rows that the destination could not hold end here, before they are read.

    `spaces` are those that the destination may lie in, and the conditions under which it does.
    """
    for space, named in spaces.items():
        size, wanted = core.target.memory[space], n_burst * len_burst * unit
        message = f"writes {{}} bytes of {space}, which has {size} bytes"
        core.fail(named & (wanted > size), "out-of-bounds", message, wanted)
    core.f.settle()


@lowering(op.MteL1Bt, bind=given(convert=None))
@lowering(raw.CopyCbufToBt)
def mte_l1_bt(f: FunctionBuilder, core: Core, operands: Operands, element: Element, convert: Value | None) -> None:
    """Rows of L1 into the bias table; lengths and gaps count 32 bytes of the source."""
    source, dest, count, blocks = operands.source, operands.dest, operands.n_burst, operands.len_burst
    unit = bias_unit(element, f.constant(I1, 1) if convert is None else convert)
    unit = unit if isinstance(unit, Value) else count.like(unit)
    _check_rows(core, {Space.BT: f.constant(I1, 1)}, unit, count, blocks)

    def load() -> None:
        length = blocks * GRANULE
        strides = (blocks + operands.source_gap) * GRANULE, (blocks + operands.dest_gap) * unit
        _, read = row_extent((count,), (strides[0],), length)
        origin = core.stretch("reads", Space.L1, source, read, core.alignment_of(Space.L1))
        _, written = row_extent((count,), (strides[1],), blocks * unit)
        target = core.stretch("writes", Space.BT, dest, written, BIAS_ALIGNMENT)
        taken = CopyRows(Space.L1, source, [(count, strides[0])], length)
        given = CopyRows(Space.BT, dest, [(count, strides[1])], blocks * unit)
        if element.bytes == ACCUMULATOR:  # rows that are only moved stay as defined as they are
            core.observer.carried(core, taken, given)
        else:
            core.observer.copied(core, "reads", taken)
            core.observer.copied(core, "writes", given)
        with each_row(f, [BurstLoop(count, *strides)]) as (from_, to):

            def copy() -> None:
                target.at(to).copy_from(origin.at(from_), length)

            def widened() -> None:
                _widen(f, element, origin.at(from_), target.at(to), blocks)

            f.either(unit == GRANULE, copy, widened) if element.bytes == 2 else copy()

    f.either((count > 0) & (blocks > 0), load)


def _widen(f: FunctionBuilder, element: Element, origin: Value, target: Value, granules: Value) -> None:
    """Granules of 16-bit floats as f32."""
    with f.each(granules) as index:
        values = origin.at(index * GRANULE).load(lane_type(element).vector(GRANULE // 2))
        target.at(index * (2 * GRANULE)).store(canonical(widen(element, values)))


@lowering(op.MteL1Fb)
def mte_l1_fb(core: Core, operands: Operands) -> None:
    """Rows of L1 into a segment of the fixpipe buffer, in units of 64 bytes. Nothing reads a third segment."""
    f, source, count = core.f, operands.source, operands.n_burst
    segment, offset = operands.dest >> SEGMENT_BITS, operands.dest & ((1 << SEGMENT_BITS) - 1)
    spaces = {Space.FB: segment != 1, Space.FB_RELU: segment == 1}  # a segment that nothing reads counts as the first
    _check_rows(core, spaces, FB_UNIT, count, operands.len_burst)
    length = operands.len_burst * FB_UNIT
    strides = length + operands.source_gap * FB_UNIT, length + operands.dest_gap * FB_UNIT

    def load() -> None:
        _, read = row_extent((count,), (strides[0],), length)
        origin = core.stretch("reads", Space.L1, source, read, core.alignment_of(Space.L1))

        def into(space: Space) -> None:
            _, written = row_extent((count,), (strides[1],), length)
            target = core.stretch("writes", space, offset, written, FB_UNIT)
            taken = CopyRows(Space.L1, source, [(count, strides[0])], length)
            core.observer.carried(core, taken, CopyRows(space, offset, [(count, strides[1])], length))
            with each_row(f, [BurstLoop(count, *strides)]) as (from_, to):
                target.at(to).copy_from(origin.at(from_), length)

        for number, space in SEGMENTS.items():
            f.either(segment == number, lambda space=space: into(space))

    f.either((count > 0) & (operands.len_burst > 0), load)
