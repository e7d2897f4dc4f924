"""Mathematics and conversions of scalars, on whole values of a warp; the scalar unit is one lane."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element, element
from ptosim.effects.float_format import BINARY_FORMATS
from ptosim.effects.record import Static
from ptosim.language.simt import simt_math as op
from ptosim.reference.numeric import elementary
from ptosim.reference.numeric.float_lanes import Lanes, canonical, dtype_of, f64_to_f32_odd, fused_multiply_add
from ptosim.reference.numeric.rounding import round_integral
from ptosim.reference.numeric.value_conversion import conversion, exact_double
from ptosim.reference.semantics import define
from ptosim.reference.workitems.arithmetic import greater, lesser
from ptosim.reference.workitems.lifting import enter
from ptosim.reference.workitems.values import (
    Values,
    bits_of,
    floats_of,
    lanes_of,
    numbers_of,
    part_of,
    rounded,
    wrapped,
)

Formula = Callable[..., Values]
"""From numbers of a type, and that type, to others."""


def _enter(name: str, roles: tuple[str, ...], formula: Formula, facts: Callable[[Static], dict[str, Any]]) -> None:
    """For warps, and for the scalar unit."""
    asked = tuple(facts(_ANY)) if facts is not _kind else ("kind",)

    def scalar(*given: Any) -> int:
        numbers = [np.array([_signed64(value)], np.int64) for value in given[: len(roles)]]
        return int(formula(*numbers, *given[len(roles) :])[0])

    define(name, scalar, facts, (*roles, *asked))
    enter(name, formula, (*roles, *asked), facts)


def _signed64(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _kind(static: Static) -> dict[str, Any]:
    return {"kind": part_of(static.elements["result"])}


_ANY = Static(elements={"result": element("i32")})

# --- floats -----------------------------------------------------------------------------------------------------------


def _flushed(values: Lanes, kind: Element) -> Lanes:
    """Subnormal f32 count as zero."""
    if kind.name != "f32":
        return values
    tiny = np.abs(values) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), values), values)


def _sqrt(operand: Values, kind: Element) -> Values:
    values = _flushed(floats_of(operand, kind), kind)
    return rounded(np.sqrt(values), kind)


def _exp(operand: Values, kind: Element) -> Values:
    found = elementary.exp(lanes_of(operand, kind))
    return numbers_of(canonical(_flushed(found, kind)), kind)


def _log(operand: Values, kind: Element) -> Values:
    return numbers_of(canonical(elementary.log(lanes_of(operand, kind))), kind)


def _by_double(function: Callable[[float], float]) -> Formula:
    def evaluate(operand: Values, kind: Element) -> Values:
        doubles: list[float] = floats_of(operand, kind).astype(np.float64).tolist()
        found = [function(value) if math.isfinite(value) else math.nan for value in doubles]
        return rounded(np.array(found, np.float64).astype(np.float32), kind)

    return evaluate


def _power(a: float, b: float) -> float:
    """The power as C has it: Python raises where that gives an infinity or NaN."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b == int(b) and int(b) % 2 else math.inf
    except ValueError:
        if a == 0:  # to a negative power
            is_odd = math.isfinite(b) and b == int(b) and int(b) % 2 == 1
            return math.copysign(math.inf, a) if is_odd else math.inf
        return math.nan


def _pow(lhs: Values, rhs: Values, kind: Element) -> Values:
    sides = [_flushed(floats_of(each, kind), kind).astype(np.float64).reshape(-1) for each in (lhs, rhs)]
    flat = [_power(float(x), float(y)) for x, y in zip(*sides, strict=True)]
    found = np.array(flat, np.float64).reshape(lhs.shape)
    if kind.name == "f32":
        return rounded(_flushed(found.astype(np.float32), kind), kind)
    return numbers_of(canonical(found.astype(dtype_of(kind))), kind)


def _integral(mode: str) -> Formula:
    def evaluate(operand: Values, kind: Element) -> Values:
        values = floats_of(operand, kind)
        found = np.copysign(round_integral(values, mode).astype(np.float32), values)
        return rounded(found, kind)

    return evaluate


def _magnitude(operand: Values, kind: Element) -> Values:
    return operand & (1 << kind.bits - 1) - 1


def _fma(lhs: Values, rhs: Values, addend: Values, kind: Element) -> Values:
    shape = lhs.shape
    lanes = [lanes_of(each, kind).reshape(-1) for each in (lhs, rhs, addend)]
    return numbers_of(canonical_of(fused_multiply_add(kind, *lanes), kind), kind).reshape(shape)


def canonical_of(lanes: Lanes, kind: Element) -> Lanes:
    return lanes if kind.name == "bf16" else canonical(lanes)


def _picked(pick: Callable[[Lanes, Lanes], Lanes]) -> Formula:
    def evaluate(lhs: Values, rhs: Values, kind: Element) -> Values:
        return rounded(pick(floats_of(lhs, kind), floats_of(rhs, kind)), kind)

    return evaluate


_FLOATS: Mapping[str, tuple[tuple[str, ...], Formula]] = {
    "absf": (("operand",), _magnitude),
    "sqrt": (("operand",), _sqrt),
    "exp": (("operand",), _exp),
    "log": (("operand",), _log),
    "sin": (("operand",), _by_double(math.sin)),
    "cos": (("operand",), _by_double(math.cos)),
    "ceil": (("operand",), _integral("C")),
    "floor": (("operand",), _integral("F")),
    "rint": (("operand",), _integral("R")),
    "round": (("operand",), _integral("A")),
    "pow": (("lhs", "rhs"), _pow),
    "fmin": (("lhs", "rhs"), _picked(lesser)),
    "fmax": (("lhs", "rhs"), _picked(greater)),
    "fma": (("lhs", "rhs", "addend"), _fma),
}

for _name, (_roles, _formula) in _FLOATS.items():
    _enter(f"pto.{_name}", _roles, _formula, _kind)


# --- integers ---------------------------------------------------------------------------------------------------------


def _signs(static: Static) -> dict[str, Any]:
    return {
        "kind": static.elements.get("lhs", static.elements["result"]),
        "signed": static.words.get("signedness") != "unsigned",
    }


def _product(lhs: Values, rhs: Values, kind: Element, signed: bool) -> list[int]:
    mask = 0 if signed else (1 << kind.bits) - 1
    a, b = ([each & mask if mask else each for each in side.tolist()] for side in (lhs, rhs))
    return [x * y for x, y in zip(a, b, strict=True)]


def _high(lhs: Values, rhs: Values, kind: Element, signed: bool) -> Values:
    high = [_signed64(each >> kind.bits & (1 << 64) - 1) for each in _product(lhs, rhs, kind, signed)]
    return wrapped(np.array(high, np.int64), kind)


def _wide(lhs: Values, rhs: Values, kind: Element, signed: bool) -> Values:
    return np.array([_signed64(each & (1 << 64) - 1) for each in _product(lhs, rhs, kind, signed)], np.int64)


_enter(op.MulHi.name, ("lhs", "rhs"), _high, _signs)
_enter(op.MulI32ToI64.name, ("lhs", "rhs"), _wide, _signs)


def _permuted(lhs: Values, rhs: Values, selector: Values, kind: Element) -> Values:
    both: Any = bits_of(rhs, kind) | bits_of(lhs, kind) << 32
    found = np.zeros(lhs.shape, np.int64)
    for place in range(4):
        chosen = selector >> 4 * place & 7
        found |= (both >> 8 * chosen & 0xFF) << 8 * place
    return wrapped(found, kind)


_enter(op.Prmt.name, ("lhs", "rhs", "selector"), _permuted, _kind)


# --- conversions ------------------------------------------------------------------------------------------------------


def _conversion(static: Static) -> dict[str, Any]:
    source, result = static.elements["source"], static.elements["result"]
    sign = static.words.get("signedness")
    mode, sat = static.words.get("rounding", "r").upper(), static.words.get("saturation", "sat").upper()
    return {"source_kind": _signed_as(part_of(source), sign), "result_kind": _signed_as(part_of(result), sign),
            "mode": mode, "sat": sat}  # fmt: skip


def _signed_as(kind: Element, sign: str | None) -> Element:
    return Element(f"u{kind.name}", kind.bits, "unsigned") if sign == "unsigned" and kind.is_integer else kind


_PAIRS = {"hif8x2": ("hif8", 8), "f4E1M2x2": ("f4E1M2x2", 4), "f4E2M1x2": ("f4E2M1x2", 4)}
"""Types of two values in one number: what each is converted as, and its bits."""


def convert(source: Values, source_kind: Element, result_kind: Element, mode: str, sat: str) -> Values:
    if source_kind.name in _PAIRS:
        name, bits = _PAIRS[source_kind.name]
        halves = np.stack([source & (1 << bits) - 1, source >> bits & (1 << bits) - 1], axis=-1)
        return _converted(halves, element(name), result_kind, mode, sat)
    if result_kind.name in _PAIRS:
        name, bits = _PAIRS[result_kind.name]
        halves = _converted(source, source_kind, element(name), mode, sat) & (1 << bits) - 1
        return halves[..., 0] | halves[..., 1] << bits
    return _converted(source, source_kind, result_kind, mode, sat)


def _converted(source: Values, kind: Element, result: Element, mode: str, sat: str) -> Values:
    lanes = lanes_of(wrapped(source, kind), kind).reshape(-1)
    if kind.is_integer:
        found = _from_integers(lanes, result, mode, sat)
    elif kind.is_float and result.is_float and (kind.name == result.name or result.bits > kind.bits):
        exact = rounded(floats_of(source, kind), result)
        found = _limited(lanes_of(exact, result).reshape(-1).copy(), result, sat)
    elif kind.kind == "lowprecision" and result.name == "f16":
        wide = element("f32")
        found = conversion(wide, result, mode, sat)(conversion(kind, wide)(lanes))
    elif kind.kind == "lowprecision":
        found = _limited(conversion(kind, result, mode, sat)(lanes), result, sat)
    else:
        found = conversion(kind, result, mode, sat)(lanes)
    return numbers_of(found, result).reshape(source.shape)


def _from_integers(lanes: Lanes, result: Element, mode: str, sat: str) -> Lanes:
    """By way of f32, rounded to odd, which has bits enough for what is narrower."""
    f32 = element("f32")
    if result.name == "f32":
        source = element(f"{'u' if lanes.dtype.kind == 'u' else ''}i{8 * lanes.itemsize}")
        return conversion(source, result, mode, sat)(lanes)
    return conversion(f32, result, mode, sat)(f64_to_f32_odd(exact_double(lanes)))


def _limited(lanes: Lanes, result: Element, sat: str) -> Lanes:
    """Beyond the largest finite value the largest, and 0 for NaN."""
    if sat == "NOSAT":
        return lanes if result.name == "bf16" else canonical(lanes)
    if result.name == "bf16":
        form = BINARY_FORMATS["bf16"]
        sign, magnitude = lanes & 0x8000, lanes & 0x7FFF
        found = np.minimum(magnitude, form.infinity - 1) | sign
        found[magnitude > form.infinity] = 0
        return found.astype(np.uint16)
    largest = np.finfo(lanes.dtype).max
    found = np.clip(lanes, -largest, largest)
    found[lanes != lanes] = 0
    return found


_CONVERSION = ("source", "source_kind", "result_kind", "mode", "sat")


def _convert_scalar(source: int, source_kind: Element, result_kind: Element, mode: str, sat: str) -> int:
    found = int(convert(np.array([_signed64(source)], np.int64), source_kind, result_kind, mode, sat)[0])
    return found


define(op.Convert.name, _convert_scalar, _conversion, _CONVERSION)
enter(op.Convert.name, convert, _CONVERSION, _conversion)
