"""Copies between GM and UB: rows at equally spaced places, hardware loops around them, padding, atomic stores.

How rows are checked and placed is in burst.py; copies that stay on the chip and those into L1 are in dma_granules.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.dma import padded_width
from ptosim.effects.names import Space
from ptosim.language.micro import dma_grouped as grouped
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import GmPlace, read_inside
from ptosim.native.build.lowering import Operands, define, given, lowering
from ptosim.native.ir.context import Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, Value
from ptosim.native.routines.atomic import accumulate, accumulate_inside, atomic_checks, element_bytes, is_atomic
from ptosim.native.routines.burst import (
    Burst,
    BurstLoop,
    Side,
    byte_rows,
    each_row,
    fill,
    read_rows,
    unless_empty,
    write_rows_inside,
)
from ptosim.native.routines.row_transfer import stream

STREAMED_BUFFER = 4 << 20
"""Rows stored to a buffer from this size on pass by the caches: little of it would still be there when it is read."""
STREAMED_ROW = 512
"""Shorter rows are not worth the trouble."""


# --- GM to UB ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Padding:
    """The padding around the data of a UB row: four bytes of pattern, elements of `width` bytes before and behind."""

    pattern: Value  # i32
    left: Value
    right: Value
    width: int


def _load(core: Core, source: Value, dest: Value, burst: Burst, pad: Padding | None) -> None:
    width = None
    if pad is not None:
        width = padded_width(burst.length, pad.left, pad.right, pad.width, burst.loops[0].dest)
    burst.check(core, Side(Space.GM, source), Side(Space.UB, dest), width)
    unless_empty(core.f, burst, lambda: _load_rows(core, source, dest, burst, pad, width))


def _load_rows(core: Core, source: Value, dest: Value, burst: Burst, pad: Padding | None, width: Value | None) -> None:
    place, outside = core.global_place("reads", source, burst.source_extent())
    ub = core.stretch("writes", Space.UB, dest, burst.dest_extent(width), core.alignment_of(Space.UB))
    burst.observe(core, Side(Space.GM, source), Side(Space.UB, dest), width)
    if pad is None or width is None:
        read_rows(core, burst, place, outside, ub)
        return

    with each_row(core.f, burst.loops) as (row, dest):  # the pattern begins anew behind the data
        start, before = ub.at(dest), pad.left * pad.width
        fill(core.f, core.unit, start, before, pad.pattern)
        if core.unit.drop:
            read_inside(place.further(row), start.at(before), burst.length)
        else:
            start.at(before).copy_from(place.address.at(row), burst.length)
        fill(core.f, core.unit, start.at(before + burst.length), width - before - burst.length, pad.pattern)


def _repeated(value: Value, width: int) -> Value:
    """The low `width` bytes of a pad value, filling four."""
    bits = (value.zext(I32) if value.kind.bits < 32 else value.trunc(I32)) & ((1 << 8 * width) - 1)
    return bits * (0xFFFFFFFF // ((1 << 8 * width) - 1))


@lowering(grouped.MteGmUb, bind=lambda static: {"pad_width": min(4, static.elements["dest"].bytes)})
def mte_gm_ub(f: FunctionBuilder, core: Core, operands: Operands, pad_width: int) -> None:
    """`data_select` is the condition of an older copy for its padding."""
    burst, pad = byte_rows(operands), None
    if operands.pad_value is not None:
        none = f.constant(I64, 0)
        sides = operands.left_padding, operands.right_padding
        left, right = (none if side is None else side for side in sides)
        pad = Padding(_repeated(operands.pad_value, pad_width), left, right, pad_width)
    padded, plain = (lambda how=how: _load(core, operands.source, operands.dest, burst, how) for how in (pad, None))
    if operands.data_select is None:
        padded()
    else:
        f.either(operands.data_select, padded, plain)


# --- UB to GM ---------------------------------------------------------------------------------------------------------


def _store_rows(core: Core, source: Value, dest: Value, burst: Burst, ctrl: Value) -> None:
    ub = core.stretch("reads", Space.UB, source, burst.source_extent(), core.alignment_of(Space.UB))
    place, outside = core.global_place("writes", dest, burst.dest_extent())
    may_combine = ctrl if core.unit.may_store_atomically else None
    burst.observe(core, Side(Space.UB, source), Side(Space.GM, dest), ctrl=may_combine)

    def plain() -> None:
        core.dropping(
            outside, lambda: _write(core, burst, ub, place), lambda: write_rows_inside(core.f, burst, ub, place)
        )

    def atomic() -> None:
        core.dropping(
            outside,
            lambda: _accumulate(core, burst, ub, place, ctrl),
            lambda: _accumulate_inside(core, burst, ub, place, ctrl),
        )

    def store() -> None:
        if core.unit.may_store_atomically:
            core.f.either(is_atomic(ctrl), atomic, plain)
        else:
            plain()

    core.store_global(dest, store)


def _write(core: Core, burst: Burst, ub: Value, place: GmPlace) -> None:
    f, burst = core.f, burst.joined()
    streamed = (place.size >= STREAMED_BUFFER) & (burst.length >= STREAMED_ROW)
    with each_row(f, burst.loops) as (source, dest):
        target, data = place.address.at(dest), ub.at(source)
        f.either(
            streamed, lambda: stream(core, target, data, burst.length), lambda: target.copy_from(data, burst.length)
        )


def _accumulate(core: Core, burst: Burst, ub: Value, place: GmPlace, ctrl: Value) -> None:
    with each_row(core.f, burst.loops) as (source, dest):
        accumulate(core.f, core.unit, place.address.at(dest), ub.at(source), burst.length, ctrl)


def _accumulate_inside(core: Core, burst: Burst, ub: Value, place: GmPlace, ctrl: Value) -> None:
    """Element by element."""
    f, width = core.f, element_bytes(ctrl)
    with each_row(f, [BurstLoop(burst.length.udiv(width), width, width), *burst.loops]) as (source, dest):
        accumulate_inside(f, core.unit, place.further(dest), ub.at(source), width, ctrl)


@lowering(grouped.MteUbGm)
def mte_ub_gm(core: Core, operands: Operands, ctrl: Value) -> None:
    """Plain, or combined with GM as CTRL says."""
    burst, source, dest = byte_rows(operands), operands.source, operands.dest
    if core.unit.may_store_atomically:
        atomic_checks(core, burst.length, ctrl)
    burst.check(core, Side(Space.UB, source), Side(Space.GM, dest))
    unless_empty(core.f, burst, lambda: _store_rows(core, source, dest, burst, ctrl))


# --- atomic stores ----------------------------------------------------------------------------------------------------


def _set_ctrl(core: Core, low: int, width: int, value: int) -> None:
    kept = core.register(Register.CTRL) & ~(((1 << width) - 1) << low)
    core.set_register(Register.CTRL, kept | value << low)


define("pto.set_atomic_none", _set_ctrl, given(low=6, width=5, value=0))
for _code, _name in ATOMIC_OPERATIONS.items():
    define(f"pto.set_atomic_{_name}", _set_ctrl, given(low=9, width=2, value=_code))
for _code, _name in ATOMIC_TYPES.items():
    define(f"pto.set_atomic_{_name.replace('si', 's')}", _set_ctrl, given(low=6, width=3, value=_code))
