"""Moves out of L1 in the raw spelling, which names the fields of the hardware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptosim.effects.cube_load import Control
from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import cube_load_raw as op
from ptosim.reference.core import Core
from ptosim.reference.fractals import load_bias, load_parameters, load_scales, load_tile
from ptosim.reference.semantics import semantics


def _into(space: Space) -> Any:
    def bind(static: Static) -> dict[str, Any]:
        return {"space": space, "source_element": static.elements["source"]}

    return bind


@semantics(op.LoadCbufToCa, op.LoadCbufToCaS4, bind=_into(Space.L0A))
@semantics(op.LoadCbufToCb, op.LoadCbufToCbS4, bind=_into(Space.L0B))
def load_cbuf(
    core: Core,
    source: int,
    dest: int,
    m_start: int,
    k_start: int,
    m_step: int,
    k_step: int,
    source_stride: int,
    dest_stride: int,
    transpose: int | None,
    space: Space,
    source_element: Element,
) -> Iterator[None]:
    control = Control(m_start, k_start, m_step, k_step, source_stride, dest_stride)
    yield from load_tile(core, space, source, dest, control, source_element, bool(transpose))


@semantics(op.LoadCbufToCaMx, bind=_into(Space.SCALE_A))
@semantics(op.LoadCbufToCbMx, bind=_into(Space.SCALE_B))
def load_cbuf_mx(
    core: Core,
    source: int,
    dest: int,
    x_start: int,
    y_start: int,
    x_step: int,
    y_step: int,
    source_stride: int,
    dest_stride: int,
    space: Space,
) -> Iterator[None]:
    """The destination is the address in the scale buffer itself."""
    control = Control(x_start, y_start, x_step, y_step, source_stride, dest_stride)
    yield from load_scales(core, space, source, dest, control, shift=0)


@semantics(op.CopyCbufToBt, bind=_into(Space.BT))
def copy_cbuf_to_bt(
    core: Core,
    source: int,
    dest: int,
    convert: int,
    n_burst: int,
    len_burst: int,
    source_gap: int,
    dest_gap: int,
    source_element: Element,
) -> Iterator[None]:
    yield from load_bias(core, source, dest, n_burst, len_burst, source_gap, dest_gap, source_element, convert)


@semantics(op.CopyCbufToFbuf)
def copy_cbuf_to_fbuf(
    core: Core, source: int, dest: int, n_burst: int, len_burst: int, source_gap: int, dest_gap: int
) -> Iterator[None]:
    yield from load_parameters(core, source, dest, n_burst, len_burst, source_gap, dest_gap)
