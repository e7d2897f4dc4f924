"""Copies between GM and UB: rows at equally spaced places, hardware loops around them, padding, atomic stores.

The whole footprint of a copy is checked before it begins, by the closed forms of the effects floor. What a copy of the
older generation takes from loop registers a grouped one takes from its clauses; from then on they are the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptosim.effects.dma import BLOCK, padded_width
from ptosim.effects.geometry import minimum
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import dma as op
from ptosim.language import dma_grouped as grouped
from ptosim.language import dma_registers as register
from ptosim.language.burst import COUNT_LIMIT
from ptosim.language.dma_registers import GM_STRIDE_LIMIT
from ptosim.native.atomic import ATOMIC_OPERATIONS, ATOMIC_TYPES, accumulate, element_bytes, is_atomic
from ptosim.native.context import Register
from ptosim.native.core import Core
from ptosim.native.flow import Function
from ptosim.native.global_memory import Place, read_inside, write_inside
from ptosim.native.ir import I1, I32, I64, Value
from ptosim.native.lowering import define, lowering
from ptosim.native.rows import STREAMED_BUFFER, STREAMED_ROW, Loop, each_row, fill, joined, stream

FARTHEST = 1 << 47
"""No buffer reaches so far; sums of extents stay far below 2^63."""


@dataclass(frozen=True, eq=False)
class Copy:
    """The operands of one copy."""

    core: Core
    source: Value
    dest: Value
    length: Value
    loops: Sequence[Loop]

    def extent(self, side: str, width: Value) -> Value:
        """From the pointer of a side to the end of its last row; 0 if there is none."""
        last, some = width, width > 0
        for loop in self.loops:
            stride = loop.source if side == "source" else loop.dest
            # no overflow: the fields have been checked
            last = last + minimum((loop.count - 1) * stride, FARTHEST)
            some = some & (loop.count > 0)
        return some.select(last, last.like(0))

    def check(self, on_chip: str, padded: bool) -> None:
        """Counts, lengths and strides must be representable; on-chip strides that are used must be whole blocks."""
        core, sides = self.core, ("source", "dest")
        strides = {side: [getattr(loop, side) for loop in self.loops] for side in sides}
        counts = [loop.count for loop in self.loops]
        short = _union([self.length, *counts, *strides[on_chip]])
        long = _union(strides["dest" if on_chip == "source" else "source"])
        core.fail((short | long) < 0, "arithmetic", NEGATIVE)
        core.fail((short > COUNT_LIMIT) | (long > GM_STRIDE_LIMIT), "arithmetic", TOO_LARGE)
        for count, stride in zip(counts, strides[on_chip], strict=True):
            core.fail((count > 1) & ((stride & (BLOCK - 1)) != 0), "misaligned", PARTIAL_STRIDE, stride)
        if core.target.name == "a2a3" and not padded:
            core.fail((self.length & (BLOCK - 1)) != 0, "misaligned", PARTIAL_LENGTH, self.length)


NEGATIVE = "the length, counts and strides of a copy cannot be negative"
TOO_LARGE = "a length, count or stride of a copy does not fit its field: 21 bits, or 40 for a stride in GM"
PARTIAL_STRIDE = f"an on-chip stride of {{}} bytes is not a multiple of {BLOCK}"
PARTIAL_LENGTH = f"on a2a3 a copy moves whole blocks: its length {{}} is not a multiple of {BLOCK}"


def _union(values: Sequence[Value]) -> Value:
    """A number that is negative or above a power of two exactly where one of these is."""
    union = values[0]
    for value in values[1:]:
        union = union | value
    return union


def _zip_loops(counts: Sequence[Value], sources: Sequence[Value], dests: Sequence[Value]) -> list[Loop]:
    return [Loop(*loop) for loop in zip(counts, sources, dests, strict=True)]


def _unless_empty(f: Function, copy: Copy, act: Any) -> None:
    """Nothing happens where the rows have no bytes."""

    def then() -> Sequence[Value]:
        act()
        return ()

    f.settle()
    f.choose(copy.length > 0, then)


# --- GM to UB -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Padding:
    """What surrounds the data of a UB row: four bytes of pattern, and elements of `width` bytes on each side."""

    pattern: Value  # i32
    left: Value
    right: Value
    width: int


def _load(copy: Copy, pad: Padding | None) -> None:
    """GM to UB, with or without padding."""
    core, f = copy.core, copy.core.f
    copy.check("dest", pad is not None)
    if pad is not None:
        core.fail((pad.left | pad.right) < 0, "arithmetic", "padding cannot be negative")
        core.fail((pad.left | pad.right) > COUNT_LIMIT, "arithmetic", TOO_LARGE)
    _unless_empty(f, copy, lambda: _load_rows(copy, pad))


def _load_rows(copy: Copy, pad: Padding | None) -> None:
    core, f = copy.core, copy.core.f
    place, outside = core.global_place("reads", copy.source, copy.extent("source", copy.length))
    width = copy.length
    if pad is not None:
        width = padded_width(copy.length, pad.left, pad.right, pad.width, copy.loops[0].dest)
    ub = core.stretch("writes", Space.UB, copy.dest, copy.extent("dest", width), BLOCK)

    def rows(clip: bool) -> None:
        length, loops = (copy.length, copy.loops) if clip or pad is not None else joined(copy.length, copy.loops)

        def row(source: Value, dest: Value) -> None:
            data = ub.at(dest)
            if pad is not None:
                data = _pad(core, pad, data, length, width)
            if clip:
                read_inside(place.further(source), data, length)
            else:
                data.copy_from(place.address.at(source), length)

        each_row(f, loops, row)

    _clip_if(core, outside, rows)


def _pad(core: Core, pad: Padding, row: Value, length: Value, width: Value) -> Value:
    """Padding around the data of a row, whose address it gives; the pattern begins anew behind the data."""
    before = pad.left * pad.width
    fill(core.f, core.unit, row, before, pad.pattern)
    fill(core.f, core.unit, row.at(before + length), width - before - length, pad.pattern)
    return row.at(before)


def _clip_if(core: Core, outside: Value, rows: Any) -> None:
    """Rows one by one where some of their bytes are to be dropped, otherwise the fast way."""

    def arm(clip: bool) -> Any:
        def act() -> Sequence[Value]:
            rows(clip)
            return ()

        return act

    if core.unit.drop:
        core.f.choose(outside, arm(True), arm(False))
    else:
        rows(False)


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
    loops = _zip_loops(loop_counts, loop_source_strides, loop_dest_strides)
    pad = None
    if pad_value is not None:
        none = f.constant(I64, 0)
        left, right = (none if side is None else side for side in (left_padding, right_padding))
        pad = Padding(_repeated(pad_value, pad_width), left, right, pad_width)
    _load(Copy(core, source, dest, len_burst, [Loop(n_burst, source_stride, dest_stride), *loops]), pad)


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
    loops = [
        Loop(n_burst, source_stride, dest_stride),
        Loop(outtoub_loop1_size, outtoub_loop1_source, outtoub_loop1_destination),
        Loop(outtoub_loop2_size, outtoub_loop2_source, outtoub_loop2_destination),
    ]
    copy = Copy(core, source, dest, len_burst, loops)
    padding = Padding(_repeated(pad, pad_width), left_padding, right_padding, pad_width)
    if data_select.literal is not None:
        _load(copy, padding if data_select.literal else None)
        return

    def arm(padding: Padding | None) -> Any:
        def act() -> Sequence[Value]:
            _load(copy, padding)
            return ()

        return act

    f.choose(data_select, arm(padding), arm(None))


# --- UB to GM -------------------------------------------------------------------------------------------------------


def _store(copy: Copy, ctrl: Value) -> None:
    """UB to GM, plain or atomic."""
    copy.check("source", False)
    _unless_empty(copy.core.f, copy, lambda: _store_rows(copy, ctrl))


def _store_rows(copy: Copy, ctrl: Value) -> None:
    core, f = copy.core, copy.core.f
    ub = core.stretch("reads", Space.UB, copy.source, copy.extent("source", copy.length), BLOCK)
    atomic = is_atomic(ctrl) if core.unit.may_store_atomically else f.constant(I1, 0)
    width = element_bytes(ctrl)
    partial = (copy.length & (width - 1)) != 0
    core.fail(atomic & partial, "misaligned", PARTIAL_ELEMENTS, copy.length, width)
    place, outside = core.global_place("writes", copy.dest, copy.extent("dest", copy.length))
    if core.unit.may_store_atomically:
        f.choose(
            atomic, lambda: _accumulated(copy, ub, place, outside, ctrl), lambda: _written(copy, ub, place, outside)
        )
    else:
        _written(copy, ub, place, outside)


PARTIAL_ELEMENTS = "an atomic store of {} bytes is not a whole number of {}-byte elements"


def _accumulated(copy: Copy, ub: Value, place: Place, outside: Value, ctrl: Value) -> Sequence[Value]:
    core, f = copy.core, copy.core.f

    def rows(clip: bool) -> None:
        def row(source: Value, dest: Value) -> None:
            accumulate(f, core.unit, place.address.at(dest), ub.at(source), copy.length, ctrl)

        def elements(source: Value, dest: Value) -> None:
            """An element that lies half outside is combined as if there were zeros."""
            width, room = element_bytes(ctrl), f.scratch(8)
            read_inside(place.further(dest), room, width)
            accumulate(f, core.unit, room, ub.at(source), width, ctrl)
            write_inside(place.further(dest), room, width)

        if not clip:
            each_row(f, copy.loops, row)
            return
        width = element_bytes(ctrl)
        each_row(f, [Loop(copy.length.udiv(width), width, width), *copy.loops], elements)

    _clip_if(core, outside, rows)
    return ()


def _written(copy: Copy, ub: Value, place: Place, outside: Value) -> Sequence[Value]:
    core, f = copy.core, copy.core.f

    def rows(clip: bool) -> None:
        length, loops = (copy.length, copy.loops) if clip else joined(copy.length, copy.loops)
        streamed = (place.size >= STREAMED_BUFFER) & (length >= STREAMED_ROW)

        def row(source: Value, dest: Value) -> None:
            if clip:
                write_inside(place.further(dest), ub.at(source), length)
                return
            target, data = place.address.at(dest), ub.at(source)

            def by() -> Sequence[Value]:
                stream(f, core.unit, target, data, length)
                return ()

            def through() -> Sequence[Value]:
                target.copy_from(data, length)
                return ()

            f.choose(streamed, by, through)

        each_row(f, loops, row)

    _clip_if(core, outside, rows)
    return ()


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
    loops = _zip_loops(loop_counts, loop_source_strides, loop_dest_strides)
    _store(Copy(core, source, dest, len_burst, [Loop(n_burst, source_stride, dest_stride), *loops]), ctrl)


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
    loops = [
        Loop(n_burst, source_stride, dest_stride),
        Loop(ubtoout_loop1_size, ubtoout_loop1_source, ubtoout_loop1_destination),
        Loop(ubtoout_loop2_size, ubtoout_loop2_source, ubtoout_loop2_destination),
    ]
    _store(Copy(core, source, dest, len_burst, loops), ctrl)


# --- configuration registers ----------------------------------------------------------------------------------------


def _set(direction: str, loop: int) -> Any:
    source, dest = (Register[f"{direction}_LOOP{loop}_{side}"] for side in ("SOURCE", "DESTINATION"))

    def set_pair(core: Core, source_stride: Value, dest_stride: Value) -> None:
        core.set_register(source, source_stride)
        core.set_register(dest, dest_stride)

    return set_pair


def _set_size(direction: str) -> Any:
    inner, outer = (Register[f"{direction}_LOOP{loop}_SIZE"] for loop in (1, 2))

    def set_size(core: Core, loop1: Value, loop2: Value) -> None:
        least = minimum(loop1, loop2)
        core.fail(least <= 0, "arithmetic", "a hardware loop must run at least once, not {} times", least)
        core.set_register(inner, loop1)
        core.set_register(outer, loop2)

    return set_size


for _direction in ("outtoub", "ubtoout"):
    define(f"pto.set_loop_size_{_direction}", _set_size(_direction.upper()))
    define(f"pto.set_loop1_stride_{_direction}", _set(_direction.upper(), 1))
    define(f"pto.set_loop2_stride_{_direction}", _set(_direction.upper(), 2))


@lowering(register.SetMovPadVal)
def set_mov_pad_val(core: Core, value: Value) -> None:
    core.set_register(Register.PAD, value.zext(I64))


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
