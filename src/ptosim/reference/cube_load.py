"""Moves out of L1 into L0A, L0B, their MX scales, the bias table and the fixpipe buffer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptosim.effects.burst import FB_UNIT, alignment_of
from ptosim.effects.cube_load import bias_unit, scale_control, tile_control
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.fractal import BIAS_ALIGNMENT, SCALE_SHIFT, SEGMENT_BITS, SEGMENTS
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import cube_load as op
from ptosim.language.micro import cube_load_raw as raw
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import places
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.fractals import load_scales, load_tile
from ptosim.reference.semantics import Operands, semantics

_A = {"space": Space.L0A, "side": "m"}
_B = {"space": Space.L0B, "side": "n"}


@semantics(op.MteL1L0a, bind=lambda static: _A)
@semantics(op.MteL1L0b, bind=lambda static: _B)
def mte_l1_l0(
    core: Core, operands: Operands, transpose: int | None, static: Static, space: Space, side: str
) -> Iterator[None]:
    source, element = operands.source, static.elements["source"]
    control = tile_control(operands, static, side, bool(transpose))
    columns, k = getattr(operands, side), operands.k
    if transpose and columns is not None and k is not None and op.holds_bytes(element):
        message = op.misses_its_place(side, columns, k)
        if message is not None:
            core.lint(message)
    _remark_on_starts(core, operands)
    yield from load_tile(core, space, source, operands.dest, control, element, bool(transpose))


def _remark_on_starts(core: Core, operands: Operands) -> None:
    for role in ("start_row", "start_col"):
        if getattr(operands, role, None):
            core.lint(op.counts_fractals(role))


_SCALE_A = {"space": Space.SCALE_A, "side": "m", "shift": SCALE_SHIFT}
_SCALE_B = {"space": Space.SCALE_B, "side": "n", "shift": SCALE_SHIFT}
_ADDRESSED = {"shift": 0}
"""In the raw spelling the destination is the address in the scale buffer itself."""


@semantics(op.MteL1L0aMx, bind=lambda static: _SCALE_A)
@semantics(op.MteL1L0bMx, bind=lambda static: _SCALE_B)
@semantics(raw.LoadCbufToCaMx, bind=lambda static: _SCALE_A | _ADDRESSED)
@semantics(raw.LoadCbufToCbMx, bind=lambda static: _SCALE_B | _ADDRESSED)
def mte_l1_l0_mx(core: Core, operands: Operands, static: Static, space: Space, side: str, shift: int) -> Iterator[None]:
    _remark_on_starts(core, operands)
    control = scale_control(operands, static, side)
    yield from load_scales(core, space, operands.source, operands.dest, control, shift)


# --- rows -------------------------------------------------------------------------------------------------------------


def _check_rows(core: Core, space: Space, unit: int, n_burst: int, len_burst: int) -> None:
    """Rows that the destination could not hold end here, before they are read."""
    size, wanted = len(core.memories[space]), n_burst * len_burst * unit
    if wanted > size:
        raise Fault("out-of-bounds", f"writes {wanted} bytes of {space}, which has {size} bytes")


@semantics(op.MteL1Bt, bind=lambda static: {"convert": 1})
@semantics(raw.CopyCbufToBt)
def mte_l1_bt(core: Core, operands: Operands, element: Element, convert: int) -> Iterator[None]:
    """Rows of L1 into the bias table; lengths and gaps count 32 bytes of the source. Of the rows only the first has an
    alignment: those of 32-bit elements may be 32 bytes apart."""
    count, blocks, unit = operands.n_burst, operands.len_burst, bias_unit(element, convert)
    _check_rows(core, Space.BT, unit, count, blocks)
    if not count or not blocks:
        yield
        return
    rows = places(operands.source, (count, (blocks + operands.source_gap) * GRANULE))
    data = core.read_pieces(Space.L1, rows, blocks * GRANULE, alignment_of(Space.L1, core.target))
    yield
    if unit != GRANULE:
        data = core.converted(data.reshape(-1), element.bytes, lambda bytes_: _widened(bytes_, element))
    dest, stride = operands.dest, (blocks + operands.dest_gap) * unit
    if core.holds("writes", Space.BT, dest, (count - 1) * stride + blocks * unit, BIAS_ALIGNMENT):
        core.write_pieces(Space.BT, places(dest, (count, stride)), data.reshape(count, -1))


def _widened(data: Bytes, element: Element) -> Bytes:
    """16-bit floats as f32."""
    return float_lanes.canonical(float_lanes.widen(element, data.view(float_lanes.dtype_of(element)))).view(np.uint8)


@semantics(op.MteL1Fb)
def mte_l1_fb(
    core: Core, source: int, dest: int, n_burst: int, len_burst: int, source_gap: int, dest_gap: int
) -> Iterator[None]:
    """Rows of L1 into a segment of the fixpipe buffer, in units of 64 bytes. Nothing reads a third segment."""
    space = SEGMENTS.get(dest >> SEGMENT_BITS)
    _check_rows(core, space or Space.FB, FB_UNIT, n_burst, len_burst)
    if not n_burst or not len_burst:
        yield
        return
    read = places(source, (n_burst, (len_burst + source_gap) * FB_UNIT))
    data = core.read_pieces(Space.L1, read, len_burst * FB_UNIT, alignment_of(Space.L1, core.target))
    yield
    if space is not None:
        offset = dest & ((1 << SEGMENT_BITS) - 1)
        starts = places(offset, (n_burst, (len_burst + dest_gap) * FB_UNIT))
        core.write_pieces(space, starts, data, FB_UNIT)
