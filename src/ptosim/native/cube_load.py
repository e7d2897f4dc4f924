"""Moves out of L1 into L0A, L0B, their MX scales, the bias table and the fixpipe buffer."""

from __future__ import annotations

from types import SimpleNamespace

from ptosim.effects.cube_load import scale_control, tile_control
from ptosim.effects.element import Element
from ptosim.effects.fractal import SCALE_SHIFT
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import cube_load as op
from ptosim.language import cube_load_raw as raw
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.fractals import load_bias, load_parameters, load_scales, load_tile
from ptosim.native.ir.flow import Function
from ptosim.native.ir.values import I1, Value


def _known(start: Value | None, like: Value) -> Value:
    return like.like(0) if start is None else start


def _suspect_starts(core: Core, *starts: Value | None) -> None:
    """What counts fractals, where other operands count elements, is remarked on."""
    for start in starts:
        if start is not None:
            core.suspect(lambda start=start: start != 0)


_A = {"space": Space.L0A, "side": "m", "n": None}
_B = {"space": Space.L0B, "side": "n", "m": None}


@lowering(op.MteL1L0a, bind=lambda static: _A)
@lowering(op.MteL1L0b, bind=lambda static: _B)
def mte_l1_l0(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    m: Value | None,
    k: Value | None,
    n: Value | None,
    start_row: Value | None,
    start_col: Value | None,
    m_start: Value | None,
    k_start: Value | None,
    m_step: Value | None,
    k_step: Value | None,
    source_stride: Value | None,
    dest_stride: Value | None,
    transpose: int | None,
    static: Static,
    space: Space,
    side: str,
) -> None:
    starts = {"start_row": _known(start_row, source), "start_col": _known(start_col, source)}
    fields = {"m_start": m_start, "k_start": k_start, "m_step": m_step, "k_step": k_step}
    strides = {"source_stride": source_stride, "dest_stride": dest_stride}
    written = SimpleNamespace(m=m, k=k, n=n, **starts, **fields, **strides)
    control = tile_control(written, static, side, bool(transpose))
    _suspect_starts(core, start_row, start_col)
    columns = m if side == "m" else n
    if transpose and columns is not None and k is not None and op.holds_bytes(static.elements["source"]):
        core.suspect(lambda: ((((columns + 15) >> 4) & 1) != 0) & (k > 32))  # `op.misses_its_place`
    turned = f.constant(I1, 1 if transpose else 0)
    load_tile(core, space, source, dest, control, static.elements["source"], turned)


_SCALE_A = {"space": Space.SCALE_A, "side": "m", "n": None, "shift": SCALE_SHIFT}
_SCALE_B = {"space": Space.SCALE_B, "side": "n", "m": None, "shift": SCALE_SHIFT}
_ADDRESSED = {**dict.fromkeys(("m", "k", "n", "start_row", "start_col")), "shift": 0}
"""In the raw spelling the destination is the address in the scale buffer itself."""


@lowering(op.MteL1L0aMx, bind=lambda static: _SCALE_A)
@lowering(op.MteL1L0bMx, bind=lambda static: _SCALE_B)
@lowering(raw.LoadCbufToCaMx, bind=lambda static: _SCALE_A | _ADDRESSED)
@lowering(raw.LoadCbufToCbMx, bind=lambda static: _SCALE_B | _ADDRESSED)
def mte_l1_l0_mx(
    core: Core,
    source: Value,
    dest: Value,
    m: Value | None,
    k: Value | None,
    n: Value | None,
    start_row: Value | None,
    start_col: Value | None,
    x_start: Value | None,
    y_start: Value | None,
    x_step: Value | None,
    y_step: Value | None,
    source_stride: Value | None,
    dest_stride: Value | None,
    static: Static,
    space: Space,
    side: str,
    shift: int,
) -> None:
    starts = {"start_row": _known(start_row, source), "start_col": _known(start_col, source)}
    fields = {"x_start": x_start, "y_start": y_start, "x_step": x_step, "y_step": y_step}
    strides = {"source_stride": source_stride, "dest_stride": dest_stride}
    written = SimpleNamespace(m=m, k=k, n=n, **starts, **fields, **strides)
    _suspect_starts(core, start_row, start_col)
    load_scales(core, space, source, dest, scale_control(written, static, side), shift)


@lowering(op.MteL1Bt, bind=lambda static: {"source_element": static.elements["source"], "convert": None})
@lowering(raw.CopyCbufToBt, bind=lambda static: {"source_element": static.elements["source"]})
def mte_l1_bt(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    len_burst: Value,
    n_burst: Value,
    source_gap: Value,
    dest_gap: Value,
    convert: Value | None,
    source_element: Element,
) -> None:
    widens = f.constant(I1, 1) if convert is None else convert
    load_bias(core, source, dest, n_burst, len_burst, source_gap, dest_gap, source_element, widens)


@lowering(op.MteL1Fb)
def mte_l1_fb(
    core: Core, source: Value, dest: Value, len_burst: Value, n_burst: Value, source_gap: Value, dest_gap: Value
) -> None:
    load_parameters(core, source, dest, n_burst, len_burst, source_gap, dest_gap)
