"""Predicates: patterns and tails, algebra, rearrangement by bit tables, loads and stores of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.element import Granularity
from ptosim.effects.names import Space
from ptosim.effects.predicate import (
    DEINTERLEAVE,
    INTERLEAVE,
    LOAD_MODES,
    NOTHING,
    PACK,
    PREDICATE_BITS,
    STORE_MODES,
    STREAM_BITS,
    STRIDES,
    UNPACK,
    PredicateMode,
    Table,
    pattern_lanes,
)
from ptosim.effects.record import Static
from ptosim.language.micro import predicate as op
from ptosim.language.micro.predicate_memory import Pstu
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import define, given, lowering
from ptosim.native.build.state import Align
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I16, I32, I64, I128, Type, Value
from ptosim.native.routines.stream import append
from ptosim.native.vector.registers import Mask, constant_mask, prefix_mask, shuffle
from ptosim.native.vector.tables import gated

# --- generation -------------------------------------------------------------------------------------------------------


def _by_pattern(f: FunctionBuilder, pattern: str, granularity: Granularity) -> Mask:
    return constant_mask(f, STRIDES[granularity], map(int, pattern_lanes(pattern, granularity)))


def _tail(f: FunctionBuilder, count: Value, granularity: Granularity) -> tuple[Mask, Value]:
    """The count is read without sign."""
    mask = prefix_mask(f, STRIDES[granularity], count)
    return mask, f.intrinsic("llvm.usub.sat", count.kind, count, count.like(mask.bits.kind.lanes))


def _loop_tail(f: FunctionBuilder, loop: Value, bound: Value, granularity: Granularity) -> Mask:
    lanes = PREDICATE_BITS // STRIDES[granularity]
    left = bound.sext(I128) - loop.sext(I128) * lanes
    count = f.intrinsic("llvm.smin", I128, f.intrinsic("llvm.smax", I128, left, left.like(0)), left.like(lanes))
    return prefix_mask(f, STRIDES[granularity], count.trunc(I32))


# --- algebra, on all 256 bits -----------------------------------------------------------------------------------------


@lowering(op.PAnd)
def pand(lhs: Mask, rhs: Mask, mask: Mask) -> Mask:
    return lhs & rhs & mask


@lowering(op.POr)
def por(lhs: Mask, rhs: Mask, mask: Mask) -> Mask:
    return (lhs | rhs) & mask


@lowering(op.PXor)
def pxor(lhs: Mask, rhs: Mask, mask: Mask) -> Mask:
    return (lhs ^ rhs) & mask


@lowering(op.PNot)
def pnot(input: Mask, mask: Mask) -> Mask:
    return mask.without(input)


@lowering(op.PSel)
def psel(lhs: Mask, rhs: Mask, select: Mask) -> Mask:
    return (lhs & select) | rhs.without(select)


# --- rearrangement ----------------------------------------------------------------------------------------------------


def _moved(f: FunctionBuilder, table: Table, *sources: Mask) -> Mask:
    """The predicate whose bits come from these of one or two others; as few lanes as can hold a set bit are moved."""
    given = min(source.width for source in sources)
    places = [NOTHING if bit == NOTHING or bit % given else bit // given for bit in table]
    set_bits = [bit for bit, place in enumerate(places) if place != NOTHING]
    width = next(size for size in (8, 4, 2, 1) if all(bit % size == 0 for bit in set_bits))
    lanes = [source.lanes(given) for source in sources]
    both = lanes[0] if len(lanes) == 1 else shuffle(f, range(2 * lanes[0].kind.lanes), *lanes)
    zero = both.kind.lanes  # the first lane of the second operand
    order = [zero if place == NOTHING else place for place in places[::width]]
    return Mask(f, shuffle(f, order, both, both.like(0)), width)


def _part(tables: dict[str, Table]) -> Callable[[Static], dict[str, Any]]:
    return lambda static: {"table": tables[static.words["part"]]}


def _resized(f: FunctionBuilder, input: Mask, table: Table) -> Mask:
    return _moved(f, table, input)


define("pto.ppack", _resized, _part(PACK))
define("pto.punpack", _resized, _part(UNPACK))


def _two(f: FunctionBuilder, tables: tuple[Table, Table], lhs: Mask, rhs: Mask) -> tuple[Mask, Mask]:
    low, high = (_moved(f, table, lhs, rhs) for table in tables)
    return low, high


def _interleaved(f: FunctionBuilder, lhs: Mask, rhs: Mask, granularity: Granularity) -> tuple[Mask, Mask]:
    """Groups of bits are shifted, not shuffled: two or four bits and a gap of zeros are to LLVM the extension of an i2
    or i4, which it cannot compile."""
    width = min(lhs.width, rhs.width)
    group = STRIDES[granularity] // width
    if group < 2:
        return _two(f, INTERLEAVE[granularity], lhs, rhs)
    first, second = (_spread(f, mask.lanes(width), group) for mask in (lhs, rhs))
    kind = I1.vector(PREDICATE_BITS // width)
    low, high = (Mask(f, (a | b << group).bitcast(kind), width) for a, b in zip(first, second, strict=True))
    return low, high


def _spread(f: FunctionBuilder, bits: Value, group: int) -> list[Value]:
    """The low and the high half of the bits in 16-bit lanes, a gap of its own size behind each group of two or four."""
    octets = bits.bitcast(I8.vector(bits.kind.lanes // 8))
    half = octets.kind.lanes // 2
    spread: list[Value] = []
    for first in (0, half):
        wide = shuffle(f, range(first, first + half), octets).zext(I16)
        wide = (wide | wide << 4) & 0x0F0F
        spread.append(wide if group == 4 else (wide | wide << 2) & 0x3333)
    return spread


def _deinterleaved(f: FunctionBuilder, lhs: Mask, rhs: Mask, granularity: Granularity) -> tuple[Mask, Mask]:
    return _two(f, DEINTERLEAVE[granularity], lhs, rhs)


_BY_GRANULARITY = {
    "pset": _by_pattern,
    "pge": _by_pattern,
    "plt": _tail,
    "pltm": _loop_tail,
    "pintlv": _interleaved,
    "pdintlv": _deinterleaved,
}
for _name, _function in _BY_GRANULARITY.items():
    for _granularity in STRIDES:
        define(f"pto.{_name}_{_granularity}", _function, given(granularity=_granularity))


@lowering(op.PBitcast)
def pbitcast(input: Mask) -> Mask:
    return input


# --- load and store ---------------------------------------------------------------------------------------------------


def _facts(modes: dict[str, PredicateMode], immediate: bool) -> Callable[[Static], dict[str, Any]]:
    def facts(static: Static) -> dict[str, Any]:
        mode = modes[static.words["dist"]]
        return {"mode": mode, "scale": mode.unit if immediate else 1, "post": "next" in static.present}

    return facts


def _load(
    f: FunctionBuilder, core: Core, source: Value, offset: Value, mode: PredicateMode, scale: int, post: bool
) -> Any:
    """With an updated pointer the access is at the old one."""
    further = source + offset.signed(I64) * scale
    window = core.window("reads", Space.UB, source if post else further, mode.footprint, mode.unit)
    bits = 8 * mode.footprint
    image = window.load(Type(f"i{bits}")).bitcast(I1.vector(bits))
    mask = Mask(f, shuffle(f, mode.bits, image), 1)
    return (mask, further) if post else mask


def _store(
    f: FunctionBuilder, core: Core, value: Mask, dest: Value, offset: Value, mode: PredicateMode, scale: int, post: bool
) -> Value | None:
    further = dest + offset.signed(I64) * scale
    window = core.window("writes", Space.UB, dest if post else further, mode.footprint, mode.unit)
    window.store(_packed(f, value, mode.bits))
    return further if post else None


def _packed(f: FunctionBuilder, mask: Mask, bits: Table) -> Value:
    """These bits of a predicate as one integer."""
    return gated(f, mask, bits).bitcast(Type(f"i{len(bits)}"))


define("pto.plds", _load, _facts(LOAD_MODES, immediate=False))
define("pto.pldi", _load, _facts(LOAD_MODES, immediate=True))
define("pto.psts", _store, _facts(STORE_MODES, immediate=False))
define("pto.psti", _store, _facts(STORE_MODES, immediate=True))

_STREAM_BITS = {STRIDES[name]: bits for name, bits in STREAM_BITS.items()}


@lowering(Pstu, bind=lambda static: {"bits": _STREAM_BITS[static.mask_strides["value"]]})
def pstu(f: FunctionBuilder, core: Core, align: Align, value: Mask, dest: Value, bits: Table) -> tuple[Align, Value]:
    """One bit for each lane."""
    length = len(bits) // 8
    return append(core, align, dest, _packed(f, value, bits), f.constant(I64, length)), dest + length
