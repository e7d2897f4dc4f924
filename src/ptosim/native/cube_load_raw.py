"""Moves out of L1 in the raw spelling, which names the fields of the hardware."""

from __future__ import annotations

from typing import Any

from ptosim.effects.cube_load import Control
from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import cube_load_raw as op
from ptosim.native.core import Core
from ptosim.native.flow import Function
from ptosim.native.fractals import load_bias, load_parameters, load_scales, load_tile
from ptosim.native.ir import I1, Value
from ptosim.native.lowering import Bind, lowering


def _into(space: Space) -> Bind:
    def bind(static: Static) -> dict[str, Any]:
        return {"space": space, "source_element": static.elements["source"]}

    return bind


@lowering(op.LoadCbufToCa, op.LoadCbufToCaS4, bind=_into(Space.L0A))
@lowering(op.LoadCbufToCb, op.LoadCbufToCbS4, bind=_into(Space.L0B))
def load_cbuf(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    m_start: Value,
    k_start: Value,
    m_step: Value,
    k_step: Value,
    source_stride: Value,
    dest_stride: Value,
    transpose: Value | int | None,
    space: Space,
    source_element: Element,
) -> None:
    """The transpose of 4-bit elements is an operand, of others an attribute."""
    control = Control(m_start, k_start, m_step, k_step, source_stride, dest_stride)
    turned = transpose != 0 if isinstance(transpose, Value) else f.constant(I1, 1 if transpose else 0)
    load_tile(core, space, source, dest, control, source_element, turned)


@lowering(op.LoadCbufToCaMx, bind=_into(Space.SCALE_A))
@lowering(op.LoadCbufToCbMx, bind=_into(Space.SCALE_B))
def load_cbuf_mx(
    core: Core,
    source: Value,
    dest: Value,
    x_start: Value,
    y_start: Value,
    x_step: Value,
    y_step: Value,
    source_stride: Value,
    dest_stride: Value,
    space: Space,
) -> None:
    """The destination is the address in the scale buffer itself."""
    control = Control(x_start, y_start, x_step, y_step, source_stride, dest_stride)
    load_scales(core, space, source, dest, control, shift=0)


@lowering(op.CopyCbufToBt, bind=_into(Space.BT))
def copy_cbuf_to_bt(
    core: Core,
    source: Value,
    dest: Value,
    convert: Value,
    n_burst: Value,
    len_burst: Value,
    source_gap: Value,
    dest_gap: Value,
    source_element: Element,
) -> None:
    load_bias(core, source, dest, n_burst, len_burst, source_gap, dest_gap, source_element, convert)


@lowering(op.CopyCbufToFbuf)
def copy_cbuf_to_fbuf(
    core: Core, source: Value, dest: Value, n_burst: Value, len_burst: Value, source_gap: Value, dest_gap: Value
) -> None:
    load_parameters(core, source, dest, n_burst, len_burst, source_gap, dest_gap)
