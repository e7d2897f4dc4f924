"""Copies between GM and UB: rows at equally spaced places, hardware loops around them, padding, atomic stores.

What a copy of the older generation takes from loop registers a grouped one takes from its clauses; from then on they
are the same rows (native/burst.py). Copies that stay on the chip and those into L1 are in dma_blocks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptosim.effects.burst import BLOCK
from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.dma import padded_width
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.language import dma_registers as register
from ptosim.language.burst import COUNT_LIMIT
from ptosim.language.dma_registers import GM_STRIDE_LIMIT, UB_STRIDE_LIMIT
from ptosim.native.atomic import accumulate, atomic_checks, element_bytes, is_atomic
from ptosim.native.burst import (
    Burst,
    Loop,
    Side,
    each_row,
    either,
    fill,
    fits,
    loops_fit,
    read_rows,
    unless_empty,
)
from ptosim.native.context import Register
from ptosim.native.core import Core
from ptosim.native.flow import Function
from ptosim.native.global_memory import Place, read_inside, write_inside
from ptosim.native.ir import I32, I64, Value
from ptosim.native.lowering import define, lowering
from ptosim.native.transfer import stream

PADDING_LIMIT = 255

LOAD_LIMITS = (COUNT_LIMIT, GM_STRIDE_LIMIT, UB_STRIDE_LIMIT)
STORE_LIMITS = (COUNT_LIMIT, UB_STRIDE_LIMIT, GM_STRIDE_LIMIT)
"""The largest count, source stride and destination stride of each direction."""

STREAMED_BUFFER = 4 << 20
"""Rows stored to a buffer from this size on pass by the caches: little of it would still be there when it is read."""
STREAMED_ROW = 512
"""Shorter rows are not worth the trouble."""


def _rows(
    core: Core,
    limits: tuple[int, int, int],
    len_burst: Value,
    n_burst: Value,
    source_stride: Value,
    dest_stride: Value,
) -> Loop:
    count_limit, source_limit, dest_limit = limits
    fits(core, COUNT_LIMIT, len_burst=len_burst)
    fits(core, count_limit, n_burst=n_burst)
    fits(core, source_limit, source_stride=source_stride)
    fits(core, dest_limit, dest_stride=dest_stride)
    return Loop(n_burst, source_stride, dest_stride)


def _whole_blocks(core: Core, burst: Burst) -> None:
    """On a2a3 the older spelling of a copy counts in blocks where it does not pad."""
    if core.target.architecture != "a2a3":
        return
    rows = burst.loops[0]
    message = f"on a2a3 the {{}} of a copy, {{{{}}}} bytes, must be a multiple of {BLOCK}"
    core.fail((burst.length & (BLOCK - 1)) != 0, "misaligned", message.format("length"), burst.length)
    for stride in (rows.source, rows.dest):
        partial = (rows.count > 1) & ((stride & (BLOCK - 1)) != 0)
        core.fail(partial, "misaligned", message.format("stride"), stride)


# --- GM to UB -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Padding:
    """What surrounds the data of a UB row: four bytes of pattern, and elements of `width` bytes before and behind."""

    pattern: Value  # i32
    left: Value
    right: Value
    width: int


def _load(core: Core, source: Value, dest: Value, burst: Burst, pad: Padding | None) -> None:
    width = None
    if pad is not None:
        fits(core, PADDING_LIMIT, left_padding=pad.left, right_padding=pad.right)
        width = padded_width(burst.length, pad.left, pad.right, pad.width, burst.loops[0].dest)
    burst.check(core, Side(Space.GM, source), Side(Space.UB, dest), width)
    unless_empty(core.f, burst, lambda: _load_rows(core, source, dest, burst, pad, width))


def _load_rows(core: Core, source: Value, dest: Value, burst: Burst, pad: Padding | None, width: Value | None) -> None:
    place, outside = core.global_place("reads", source, burst.source_extent())
    ub = core.stretch("writes", Space.UB, dest, burst.dest_extent(width), BLOCK)
    burst.observe(core, Side(Space.GM, source), Side(Space.UB, dest), width)
    if pad is None or width is None:
        read_rows(core, burst, place, outside, ub)
        return

    def row(source: Value, dest: Value) -> None:
        """The pattern begins anew behind the data."""
        start, before = ub.at(dest), pad.left * pad.width
        fill(core.f, core.unit, start, before, pad.pattern)
        if core.unit.drop:
            read_inside(place.further(source), start.at(before), burst.length)
        else:
            start.at(before).copy_from(place.address.at(source), burst.length)
        fill(core.f, core.unit, start.at(before + burst.length), width - before - burst.length, pad.pattern)

    each_row(core.f, burst.loops, row)


def _pad_facts(static: Static) -> dict[str, Any]:
    return {"pad_width": min(4, static.elements["dest"].bytes)}


def _repeated(value: Value, width: int) -> Value:
    """The low `width` bytes of a pad value, filling four."""
    bits = (value.zext(I32) if value.kind.bits < 32 else value.trunc(I32)) & ((1 << 8 * width) - 1)
    return bits * (0xFFFFFFFF // ((1 << 8 * width) - 1))


@lowering(grouped.MteGmUb, bind=_pad_facts)
def mte_gm_ub(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    len_burst: Value,
    n_burst: Value,
    source_stride: Value,
    dest_stride: Value,
    loop_counts: Sequence[Value],
    loop_source_strides: Sequence[Value],
    loop_dest_strides: Sequence[Value],
    pad_value: Value | None,
    left_padding: Value | None,
    right_padding: Value | None,
    pad_width: int,
) -> None:
    rows = _rows(core, LOAD_LIMITS, len_burst, n_burst, source_stride, dest_stride)
    loops = loops_fit(core, LOAD_LIMITS, loop_counts, loop_source_strides, loop_dest_strides)
    burst, pad = Burst(len_burst, [rows, *loops]), None
    if pad_value is not None:
        none = f.constant(I64, 0)
        left, right = (none if side is None else side for side in (left_padding, right_padding))
        pad = Padding(_repeated(pad_value, pad_width), left, right, pad_width)
    _load(core, source, dest, burst, pad)


@lowering(op.CopyGmToUbuf, bind=_pad_facts)
def copy_gm_to_ubuf(
    f: Function,
    core: Core,
    source: Value,
    dest: Value,
    n_burst: Value,
    len_burst: Value,
    left_padding: Value,
    right_padding: Value,
    data_select: Value,
    source_stride: Value,
    dest_stride: Value,
    pad: Value,
    outtoub_loop1_size: Value,
    outtoub_loop1_source: Value,
    outtoub_loop1_destination: Value,
    outtoub_loop2_size: Value,
    outtoub_loop2_source: Value,
    outtoub_loop2_destination: Value,
    pad_width: int,
) -> None:
    rows = _rows(core, LOAD_LIMITS, len_burst, n_burst, source_stride, dest_stride)
    inner = Loop(outtoub_loop1_size, outtoub_loop1_source, outtoub_loop1_destination)
    outer = Loop(outtoub_loop2_size, outtoub_loop2_source, outtoub_loop2_destination)
    burst = Burst(len_burst, [rows, inner, outer])

    def padded() -> None:
        padding = Padding(_repeated(pad, pad_width), left_padding, right_padding, pad_width)
        _load(core, source, dest, burst, padding)

    def plain() -> None:
        _whole_blocks(core, burst)
        _load(core, source, dest, burst, None)

    either(f, data_select, padded, plain)


# --- UB to GM -------------------------------------------------------------------------------------------------------


def _store(core: Core, source: Value, dest: Value, burst: Burst, ctrl: Value) -> None:
    """Plain, or combined with GM as CTRL says."""
    if core.unit.may_store_atomically:
        atomic_checks(core, burst.length, ctrl)
    burst.check(core, Side(Space.UB, source), Side(Space.GM, dest))
    unless_empty(core.f, burst, lambda: _store_rows(core, source, dest, burst, ctrl))


def _store_rows(core: Core, source: Value, dest: Value, burst: Burst, ctrl: Value) -> None:
    ub = core.stretch("reads", Space.UB, source, burst.source_extent(), BLOCK)
    place, outside = core.global_place("writes", dest, burst.dest_extent())
    burst.observe(core, Side(Space.UB, source), Side(Space.GM, dest))

    def plain() -> None:
        _dropping(core, outside, lambda: _write(core, burst, ub, place), lambda: _write_inside(core, burst, ub, place))

    def atomic() -> None:
        _dropping(
            core,
            outside,
            lambda: _accumulate(core, burst, ub, place, ctrl),
            lambda: _accumulate_inside(core, burst, ub, place, ctrl),
        )

    if core.unit.may_store_atomically:
        either(core.f, is_atomic(ctrl), atomic, plain)
    else:
        plain()


def _dropping(core: Core, outside: Value, whole: Any, clipped: Any) -> None:
    """Rows one by one where some of their bytes are to be dropped, otherwise the fast way."""
    if core.unit.drop:
        either(core.f, outside, clipped, whole)
    else:
        whole()


def _write(core: Core, burst: Burst, ub: Value, place: Place) -> None:
    f, burst = core.f, burst.joined()
    streamed = (place.size >= STREAMED_BUFFER) & (burst.length >= STREAMED_ROW)

    def row(source: Value, dest: Value) -> None:
        target, data = place.address.at(dest), ub.at(source)
        either(
            f,
            streamed,
            lambda: stream(core, target, data, burst.length),
            lambda: target.copy_from(data, burst.length),
        )

    each_row(f, burst.loops, row)


def _write_inside(core: Core, burst: Burst, ub: Value, place: Place) -> None:
    each_row(core.f, burst.loops, lambda source, dest: write_inside(place.further(dest), ub.at(source), burst.length))


def _accumulate(core: Core, burst: Burst, ub: Value, place: Place, ctrl: Value) -> None:
    each_row(
        core.f,
        burst.loops,
        lambda source, dest: accumulate(core.f, core.unit, place.address.at(dest), ub.at(source), burst.length, ctrl),
    )


def _accumulate_inside(core: Core, burst: Burst, ub: Value, place: Place, ctrl: Value) -> None:
    """Element by element; one that lies half outside is combined as if there were zeros."""
    f, width = core.f, element_bytes(ctrl)
    room = f.scratch(8)

    def one(source: Value, dest: Value) -> None:
        read_inside(place.further(dest), room, width)
        accumulate(f, core.unit, room, ub.at(source), width, ctrl)
        write_inside(place.further(dest), room, width)

    each_row(f, [Loop(burst.length.udiv(width), width, width), *burst.loops], one)


@lowering(grouped.MteUbGm)
def mte_ub_gm(
    core: Core,
    source: Value,
    dest: Value,
    len_burst: Value,
    n_burst: Value,
    source_stride: Value,
    dest_stride: Value,
    loop_counts: Sequence[Value],
    loop_source_strides: Sequence[Value],
    loop_dest_strides: Sequence[Value],
    ctrl: Value,
) -> None:
    rows = _rows(core, STORE_LIMITS, len_burst, n_burst, source_stride, dest_stride)
    loops = loops_fit(core, STORE_LIMITS, loop_counts, loop_source_strides, loop_dest_strides)
    burst = Burst(len_burst, [rows, *loops])
    _store(core, source, dest, burst, ctrl)


@lowering(op.CopyUbufToGm)
def copy_ubuf_to_gm(
    core: Core,
    source: Value,
    dest: Value,
    n_burst: Value,
    len_burst: Value,
    dest_stride: Value,
    source_stride: Value,
    ctrl: Value,
    ubtoout_loop1_size: Value,
    ubtoout_loop1_source: Value,
    ubtoout_loop1_destination: Value,
    ubtoout_loop2_size: Value,
    ubtoout_loop2_source: Value,
    ubtoout_loop2_destination: Value,
) -> None:
    rows = _rows(core, STORE_LIMITS, len_burst, n_burst, source_stride, dest_stride)
    inner = Loop(ubtoout_loop1_size, ubtoout_loop1_source, ubtoout_loop1_destination)
    outer = Loop(ubtoout_loop2_size, ubtoout_loop2_source, ubtoout_loop2_destination)
    burst = Burst(len_burst, [rows, inner, outer])
    _whole_blocks(core, burst)
    _store(core, source, dest, burst, ctrl)


# --- configuration registers ----------------------------------------------------------------------------------------


def _set_strides(direction: str, loop: int, limits: tuple[int, int, int]) -> Any:
    source, dest = (Register[f"{direction}_LOOP{loop}_{side}"] for side in ("SOURCE", "DESTINATION"))

    def set_strides(core: Core, source_stride: Value, dest_stride: Value) -> None:
        fits(core, limits[1], source_stride=source_stride)
        fits(core, limits[2], dest_stride=dest_stride)
        core.set_register(source, source_stride)
        core.set_register(dest, dest_stride)

    return set_strides


def _set_size(direction: str) -> Any:
    inner, outer = (Register[f"{direction}_LOOP{loop}_SIZE"] for loop in (1, 2))

    def set_size(core: Core, loop1: Value, loop2: Value) -> None:
        fits(core, COUNT_LIMIT, 1, loop1=loop1, loop2=loop2)
        core.set_register(inner, loop1)
        core.set_register(outer, loop2)

    return set_size


for _direction, _limits in (("outtoub", LOAD_LIMITS), ("ubtoout", STORE_LIMITS)):
    define(f"pto.set_loop_size_{_direction}", _set_size(_direction.upper()))
    define(f"pto.set_loop1_stride_{_direction}", _set_strides(_direction.upper(), 1, _limits))
    define(f"pto.set_loop2_stride_{_direction}", _set_strides(_direction.upper(), 2, _limits))


@lowering(register.SetMovPadVal)
def set_mov_pad_val(core: Core, value: Value) -> None:
    core.set_register(Register.PAD, value.zext(I64))


@lowering(register.SetPadValOutToL1, register.SetStoreAtomicCfg)
def nothing() -> None:
    """No copy here pads L1, and how the word of atomic stores is laid out is not published: neither has an effect."""


def _set_ctrl(low: int, width: int, value: int) -> Any:
    def set_field(core: Core) -> None:
        kept = core.register(Register.CTRL) & ~(((1 << width) - 1) << low)
        core.set_register(Register.CTRL, kept | value << low)

    return set_field


define("pto.set_atomic_none", _set_ctrl(6, 5, 0))
for _code, _name in ATOMIC_OPERATIONS.items():
    define(f"pto.set_atomic_{_name}", _set_ctrl(9, 2, _code))
for _code, _name in ATOMIC_TYPES.items():
    define(f"pto.set_atomic_{_name.replace('si', 's')}", _set_ctrl(6, 3, _code))
