"""Conversions between element types: pick source lanes, convert their values, place them among zeros.

Both registers have 256 bytes: seen in lanes of the wider type, the narrower values are a part of each lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptosim.effects import conversion as matrix
from ptosim.effects.element import Element, element
from ptosim.effects.record import Static
from ptosim.language.micro import conversion as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, Type, Value
from ptosim.native.vector.numbers import bits_of, lane_type, lanes_as, narrow
from ptosim.native.vector.registers import Mask, lane_numbers, shuffle, view, zeroed
from ptosim.native.vector.tables import gated
from ptosim.native.vector.value_conversion import convert, truncate

# --- lanes ------------------------------------------------------------------------------------------------------------


def _part(f: FunctionBuilder, register: Value, bits: int, ratio: int, part: int) -> Value:
    """The integers of that width in one part of each lane `ratio` times as wide."""
    return view(f, register, Type(f"i{ratio * bits}")).lshr(part * bits).trunc(Type(f"i{bits}"))


def _among_zeros(values: Value, ratio: int, part: int) -> Value:
    """The register in which these integers are one part of each lane that is `ratio` times as wide."""
    bits = values.kind.bits
    return values.zext(Type(f"i{ratio * bits}")) << (part * bits)


def _nibbles(f: FunctionBuilder, lanes: Value) -> Value:
    """Twice as many lanes, the low nibble of each first."""
    low, high = lanes & 15, lanes.lshr(4)
    count = lanes.kind.lanes
    return shuffle(f, [lane + side for lane in range(count) for side in (0, count)], low, high)


def _pairs(f: FunctionBuilder, codes: Value) -> Value:
    """Half as many lanes, of two codes each."""
    low, high = (shuffle(f, range(first, codes.kind.lanes, 2), codes) for first in (0, 1))
    return low | high << 4


# --- vcvt -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    """A conversion, as far as it is known before it runs."""

    source: Element
    dest: Element
    rnd: str
    ratio: int
    part: int
    gates: tuple[int, ...]
    """The predicate bit of each converted value."""


def _facts(static: Static) -> dict[str, Any]:
    source, dest = static.elements["input"], static.elements["result"]
    pair = matrix.conversion(source, dest)
    assert pair is not None, "the verifier lets no other pair pass"
    word = static.words.get("part")
    gates = tuple(gate for gate in matrix.placement(pair, word).gates if gate is not None)
    part = pair.parts.index(word) if word else 0
    return {
        "pair": _Pair(source, dest, static.words.get("rnd", "R"), len(pair.parts) or 1, part, gates),
        "saturates": static.words.get("sat", "SAT") == "SAT",
        "decided_by_ctrl": bool(pair.saturations),
    }


@lowering(op.VCvt, bind=_facts)
def vcvt(
    f: FunctionBuilder,
    core: Core,
    input: Value,
    mask: Mask,
    ctrl: Value,
    pair: _Pair,
    saturates: bool,
    decided_by_ctrl: bool,
) -> Value:
    if not decided_by_ctrl or not core.unit.may_set_ctrl:
        return _converted(f, input, mask, pair, saturates)
    (result,) = f.choose(
        _saturating(ctrl, saturates),
        lambda: [_converted(f, input, mask, pair, True)],
        lambda: [_converted(f, input, mask, pair, False)],
    )
    return result


def _saturating(ctrl: Value, saturates: bool) -> Value:
    """CTRL bit 60 takes the decision from the instruction and gives it to bit 59."""
    decided, against = (ctrl & (1 << 60)) != 0, (ctrl & (1 << 59)) != 0
    return ~(decided & against) if saturates else decided & ~against


def _converted(f: FunctionBuilder, input: Value, mask: Mask, pair: _Pair, saturates: bool) -> Value:
    source, dest = pair.source, pair.dest
    lanes = bits_of(input)
    if dest.bits > source.bits:
        lanes = _part(f, lanes, source.bits, pair.ratio, pair.part)
    if matrix.values_per_lane(source) == 2:
        lanes = _nibbles(f, lanes)
    sat = "SAT" if saturates else "NOSAT"
    values = bits_of(convert(f, source, dest, lanes_as(lanes, lane_type(source)), pair.rnd, sat))
    active = gated(f, mask, pair.gates)
    if active.text != "splat (i1 true)":
        values = active.select(values, 0)
    if matrix.values_per_lane(dest) == 2:
        values = _pairs(f, values)
    return _among_zeros(values, pair.ratio, pair.part) if dest.bits < source.bits else values


# --- the others -------------------------------------------------------------------------------------------------------


@lowering(op.VTrc)
def vtrc(f: FunctionBuilder, input: Value, rnd: str, element: Element) -> Value:
    return truncate(f, element, input, rnd)


@lowering(op.VCi)
def vci(f: FunctionBuilder, core: Core, base: Value, order: str | None, result_element: Element) -> Value:
    """base + i or base - i; integers wrap, floats are added in f32 and rounded to their own type."""
    first = core.splat(base, result_element)
    if not result_element.is_float:
        ramp = lane_numbers(f, first.kind.element, result_element.lanes)
        return first - ramp if order == "DESC" else first + ramp
    ramp = lane_numbers(f, F32, result_element.lanes)
    first = first.convert("fpext", F32)
    return narrow(result_element, first - ramp if order == "DESC" else first + ramp)


@lowering(op.VBitcast)
def vbitcast(input: Value) -> Value:
    return input


_F32, _F16 = element("f32"), element("f16")


@lowering(op.VMulsCvt)
def vmulscvt(f: FunctionBuilder, core: Core, input: Value, scalar: Value, mask: Mask, part: str) -> Value:
    """A product in f32, rounded to f16 with ties away from zero, in every second lane."""
    product = zeroed(input * core.splat(scalar, _F32), mask)
    return _among_zeros(bits_of(convert(f, _F32, _F16, product, "A", "SAT")), 2, matrix.HALVES.index(part))
