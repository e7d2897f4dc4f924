"""Moves out of L1 into L0A, L0B, their MX scales, the bias table and the fixpipe buffer."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

from ptosim.effects.cube_load import scale_control, tile_control
from ptosim.effects.element import Element
from ptosim.effects.fractal import SCALE_SHIFT
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import cube_load as op
from ptosim.language import cube_load_raw as raw
from ptosim.reference.core import Core
from ptosim.reference.fractals import load_bias, load_parameters, load_scales, load_tile
from ptosim.reference.semantics import semantics

_A = {"space": Space.L0A, "side": "m", "n": None}
_B = {"space": Space.L0B, "side": "n", "m": None}


@semantics(op.MteL1L0a, bind=lambda static: _A)
@semantics(op.MteL1L0b, bind=lambda static: _B)
def mte_l1_l0(
    core: Core,
    source: int,
    dest: int,
    m: int | None,
    k: int | None,
    n: int | None,
    start_row: int | None,
    start_col: int | None,
    m_start: int | None,
    k_start: int | None,
    m_step: int | None,
    k_step: int | None,
    source_stride: int | None,
    dest_stride: int | None,
    transpose: int | None,
    static: Static,
    space: Space,
    side: str,
) -> Iterator[None]:
    fields = {"m_start": m_start, "k_start": k_start, "m_step": m_step, "k_step": k_step}
    strides = {"source_stride": source_stride, "dest_stride": dest_stride}
    written = SimpleNamespace(m=m, k=k, n=n, start_row=start_row, start_col=start_col, **fields, **strides)
    control = tile_control(written, static, side, bool(transpose))
    columns = m if side == "m" else n
    if transpose and columns is not None and k is not None and op.holds_bytes(static.elements["source"]):
        _remark(core, op.misses_its_place(side, columns, k))
    _remark_on_starts(core, start_row=start_row, start_col=start_col)
    yield from load_tile(core, space, source, dest, control, static.elements["source"], bool(transpose))


def _remark(core: Core, message: str | None) -> None:
    if message is not None:
        core.lint(message)


def _remark_on_starts(core: Core, **starts: int | None) -> None:
    for role, start in starts.items():
        if start:
            core.lint(op.counts_fractals(role))


_SCALE_A = {"space": Space.SCALE_A, "side": "m", "n": None, "shift": SCALE_SHIFT}
_SCALE_B = {"space": Space.SCALE_B, "side": "n", "m": None, "shift": SCALE_SHIFT}
_ADDRESSED = {**dict.fromkeys(("m", "k", "n", "start_row", "start_col")), "shift": 0}
"""In the raw spelling the destination is the address in the scale buffer itself."""


@semantics(op.MteL1L0aMx, bind=lambda static: _SCALE_A)
@semantics(op.MteL1L0bMx, bind=lambda static: _SCALE_B)
@semantics(raw.LoadCbufToCaMx, bind=lambda static: _SCALE_A | _ADDRESSED)
@semantics(raw.LoadCbufToCbMx, bind=lambda static: _SCALE_B | _ADDRESSED)
def mte_l1_l0_mx(
    core: Core,
    source: int,
    dest: int,
    m: int | None,
    k: int | None,
    n: int | None,
    start_row: int | None,
    start_col: int | None,
    x_start: int | None,
    y_start: int | None,
    x_step: int | None,
    y_step: int | None,
    source_stride: int | None,
    dest_stride: int | None,
    static: Static,
    space: Space,
    side: str,
    shift: int,
) -> Iterator[None]:
    fields = {"x_start": x_start, "y_start": y_start, "x_step": x_step, "y_step": y_step}
    strides = {"source_stride": source_stride, "dest_stride": dest_stride}
    written = SimpleNamespace(m=m, k=k, n=n, start_row=start_row, start_col=start_col, **fields, **strides)
    _remark_on_starts(core, start_row=start_row, start_col=start_col)
    yield from load_scales(core, space, source, dest, scale_control(written, static, side), shift)


@semantics(op.MteL1Bt, bind=lambda static: {"source_element": static.elements["source"], "convert": 1})
@semantics(raw.CopyCbufToBt, bind=lambda static: {"source_element": static.elements["source"]})
def mte_l1_bt(
    core: Core,
    source: int,
    dest: int,
    len_burst: int,
    n_burst: int,
    source_gap: int,
    dest_gap: int,
    convert: int,
    source_element: Element,
) -> Iterator[None]:
    yield from load_bias(core, source, dest, n_burst, len_burst, source_gap, dest_gap, source_element, convert)


@semantics(op.MteL1Fb)
def mte_l1_fb(
    core: Core, source: int, dest: int, len_burst: int, n_burst: int, source_gap: int, dest_gap: int
) -> Iterator[None]:
    yield from load_parameters(core, source, dest, n_burst, len_burst, source_gap, dest_gap)
