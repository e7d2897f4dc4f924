"""Queries, votes, shuffles and reductions of a warp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.effects.simt import WARP
from ptosim.language.simt import simt_lane as op
from ptosim.native.build.lowering import define, lowering
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Type, Value
from ptosim.native.simt_math import greater, lesser
from ptosim.native.vector.numbers import bits_of, lane_type, lanes_as, narrow, widen
from ptosim.native.vector.registers import extract, shuffle
from ptosim.native.workitems.values import PackedLanes, WarpValue, as_bits, numbers, spread
from ptosim.native.workitems.warp_body import WarpBody

# --- queries ----------------------------------------------------------------------------------------------------------


def _coordinates(warp: WarpBody) -> tuple[Value, Value, Value]:
    """The coordinates of each workitem, i32."""
    number = warp.lanes
    if warp.sizes[1].literal == warp.sizes[2].literal == 1:
        zero = warp.f.constant(I32, 0)
        return number, zero, zero
    x, y, _ = (spread(warp.f, size.trunc(I32)) for size in warp.sizes)
    return number.urem(x), number.udiv(x).urem(y), number.udiv(x).udiv(y)


def _clock(kind: Type) -> Callable[[WarpBody], Value]:
    def query(warp: WarpBody) -> Value:
        f = warp.f
        if warp.clocks is None:
            warp.clocks = f.zeroed_slot(I64.vector(WARP))
        found = warp.clocks.load(I64.vector(WARP), 64)
        warp.clocks.store(found + warp.mask.zext(I64), 64)
        warp.changes()
        return found.trunc(kind)

    return query


def _word(warp: WarpBody, word: ContextWord) -> Value:
    return warp.f.word(word).load(I64, WORD_BYTES)


def _core_number(warp: WarpBody) -> Value:
    subblock, count = _word(warp, ContextWord.SUBBLOCK), _word(warp, ContextWord.SUBBLOCK_NUM)
    return (_word(warp, ContextWord.BLOCK) * count + subblock).trunc(I32)


def _lane_mask(choose: Callable[[int], int]) -> Callable[[WarpBody], Value]:
    return lambda warp: numbers(warp.f, I32, [choose(lane) for lane in range(WARP)])


def _axis(number: int) -> Callable[[WarpBody], Value]:
    return lambda warp: _coordinates(warp)[number]


def _size(number: int) -> Callable[[WarpBody], Value]:
    return lambda warp: warp.sizes[number].trunc(I32)


def _zero(warp: WarpBody) -> Value:
    return warp.f.constant(I32, 0)


_WHOLE = (1 << WARP) - 1
_QUERIES: Mapping[str, Callable[[WarpBody], Value]] = {
    **{f"get_tid_{axis}": _axis(number) for number, axis in enumerate("xyz")},
    **{f"get_block_dim_{axis}": _size(number) for number, axis in enumerate("xyz")},
    **{f"get_{what}_{axis}": _zero for what in ("grid_dim", "block_idx") for axis in "xyz"},
    "get_veccoreid": _core_number,
    "get_laneid": lambda warp: numbers(warp.f, I32),
    "get_clock32": _clock(I32),
    "get_clock64": _clock(I64),
    "get_lanemask_eq": _lane_mask(lambda lane: 1 << lane),
    "get_lanemask_lt": _lane_mask(lambda lane: (1 << lane) - 1),
    "get_lanemask_le": _lane_mask(lambda lane: (2 << lane) - 1),
    "get_lanemask_gt": _lane_mask(lambda lane: _WHOLE & ~((2 << lane) - 1)),
    "get_lanemask_ge": _lane_mask(lambda lane: _WHOLE & ~((1 << lane) - 1)),
}
for _name, _query in _QUERIES.items():
    define(f"pto.{_name}", _query, parameters=("warp",))


# --- votes ------------------------------------------------------------------------------------------------------------


@lowering(op.VoteAll)
def vote_all(warp: WarpBody, condition: Value) -> Value:
    return (as_bits(warp.mask) & ~as_bits(spread(warp.f, condition))) == 0


@lowering(op.VoteAny)
def vote_any(warp: WarpBody, condition: Value) -> Value:
    return (as_bits(warp.mask) & as_bits(spread(warp.f, condition))) != 0


@lowering(op.VoteUni)
def vote_uni(warp: WarpBody, condition: Value) -> Value:
    found = as_bits(warp.mask) & as_bits(spread(warp.f, condition))
    return (found == 0) | (found == as_bits(warp.mask))


@lowering(op.VoteBallot)
def vote_ballot(warp: WarpBody, condition: Value) -> Value:
    return as_bits(warp.mask) & as_bits(spread(warp.f, condition))


# --- shuffles ---------------------------------------------------------------------------------------------------------


def _sources(name: str, control: Value, own: Value, width: int) -> Value:
    first = own & -width
    if name.endswith("idx"):
        return first + (control & (width - 1))
    if name.endswith("up"):
        return (own - control < first).select(own, own - control)
    other = own + control if name.endswith("down") else own ^ control
    return (other > first + (width - 1)).select(own, other)


def _shuffle(name: str) -> Callable[..., WarpValue]:
    def lower(warp: WarpBody, value: WarpValue, control: Value, width: int | None) -> WarpValue:
        f = warp.f
        own = numbers(f, I32)
        lanes = _sources(name, spread(f, control) & (WARP - 1), own, width or WARP)
        awake = (spread(f, as_bits(warp.mask)).lshr(lanes) & 1) != 0
        warp.watch.shuffled(warp, lanes, awake)
        lanes = awake.select(lanes, own)
        if isinstance(value, PackedLanes):
            return PackedLanes(tuple(_permuted(f, spread(f, part), lanes) for part in value.parts))
        return _permuted(f, spread(f, value), lanes)

    return lower


def _permuted(f: FunctionBuilder, lanes: Value, sources: Value) -> Value:
    """Each lane from another one, by way of memory."""
    width = max(1, lanes.kind.bits // 8)
    room = f.scratch(WARP * 8)
    room.store(lanes, 64)
    offsets = sources.zext(I64) * width
    places = f.emit(Type("ptr", WARP), f"getelementptr i8, {room}, {offsets}")
    every = f.constant(I1.vector(WARP), 1)
    kind = lanes.kind
    sources_text = f"<{WARP} x ptr> align 1 {places.text}, {every}, {kind} zeroinitializer"
    return f.emit(kind, f"call {kind} @llvm.masked.gather.{kind.mangled}.v{WARP}p0({sources_text})")


for _name in ("shuffle_idx", "shuffle_up", "shuffle_down", "shuffle_bfly"):
    define(f"pto.{_name}", _shuffle(_name), parameters=("warp", "value", "control", "width"))


# --- reductions -------------------------------------------------------------------------------------------------------


def _reduced(warp: WarpBody, value: Value, join: Callable[[Value, Value], Value]) -> Value:
    """Neighbours first; where one of a pair is absent the other is the result."""
    f, lanes, present = warp.f, spread(warp.f, value), warp.mask
    while lanes.kind.lanes > 1:
        count = lanes.kind.lanes
        left, right = (shuffle(f, range(start, count, 2), lanes) for start in (0, 1))
        has_left, has_right = (shuffle(f, range(start, count, 2), present) for start in (0, 1))
        both = join(left, right)
        lanes = has_left.select(has_right.select(both, left), right)
        present = has_left | has_right
    return extract(lanes, 0)


def _kind(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["value"]}


def _floats(kind: Element, join: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def joined(a: Value, b: Value) -> Value:
        x, y = (widen(kind, lanes_as(each, lane_type(kind))) for each in (a, b))
        return bits_of(narrow(kind, join(x, y)))

    return joined


@lowering(op.ReduxAdd, bind=_kind)
def redux_add(warp: WarpBody, value: Value, kind: Element) -> Value:
    def add(a: Value, b: Value) -> Value:
        return a + b

    return _reduced(warp, value, add if kind.is_integer else _floats(kind, add))


def _extreme(warp: WarpBody, value: Value, kind: Element, signedness: str | None, is_greatest: bool) -> Value:
    sign = "u" if signedness == "unsigned" else "s"

    def integers(a: Value, b: Value) -> Value:
        return a.compare(f"{sign}{'gt' if is_greatest else 'lt'}", b).select(a, b)

    return _reduced(warp, value, integers if kind.is_integer else _floats(kind, greater if is_greatest else lesser))


@lowering(op.ReduxMax, bind=_kind)
def redux_max(warp: WarpBody, value: Value, kind: Element, signedness: str | None) -> Value:
    return _extreme(warp, value, kind, signedness, True)


@lowering(op.ReduxMin, bind=_kind)
def redux_min(warp: WarpBody, value: Value, kind: Element, signedness: str | None) -> Value:
    return _extreme(warp, value, kind, signedness, False)
