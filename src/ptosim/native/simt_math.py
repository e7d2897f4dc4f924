"""Mathematics and conversions of scalars, in lanes or alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.element import Element, element
from ptosim.effects.float_format import BINARY_FORMATS
from ptosim.effects.record import Static
from ptosim.language.simt import simt_math as op
from ptosim.native.build.lowering import define
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, F64, I32, I64, Type, Value
from ptosim.native.vector import elementary
from ptosim.native.vector.numbers import (
    bits_of,
    canonical,
    f64_to_f32_odd,
    fused_multiply_add,
    lane_type,
    lanes_as,
    narrow,
    widen,
)
from ptosim.native.vector.rounding import round_integral
from ptosim.native.vector.value_conversion import convert, exact_double
from ptosim.native.workitems.values import PackedLanes, WarpValue
from ptosim.native.workitems.warp_body import enter

_NAN = float("nan")


def _kind(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["result"]}


def _float(value: Value, kind: Element) -> Value:
    return widen(kind, lanes_as(value, lane_type(kind)))


def _bits(value: Value, kind: Element) -> Value:
    return bits_of(narrow(kind, value))


def _flushed(f: FunctionBuilder, value: Value, kind: Element) -> Value:
    """Subnormal f32 count as zero."""
    if kind.name != "f32":
        return value
    tiny = f.intrinsic("llvm.fabs", value.kind, value) < 2.0**-126
    return tiny.select(f.intrinsic("llvm.copysign", value.kind, value.like(0.0), value), value)


def _sqrt(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
    value = _flushed(f, _float(operand, kind), kind)
    return _bits(f.intrinsic("llvm.sqrt", value.kind, (value >= 0.0).select(value, _NAN)), kind)


def _exp(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
    found = elementary.exp(f, kind, lanes_as(operand, lane_type(kind)))
    return bits_of(canonical(_flushed(f, found, kind))) if kind.name == "f32" else bits_of(found)


def _log(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
    return bits_of(elementary.log(f, kind, lanes_as(operand, lane_type(kind))))


def _by_double(intrinsic: str) -> Callable[..., Value]:
    def lower(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
        value = _float(operand, kind)
        finite = f.intrinsic("llvm.fabs", value.kind, value) < float("inf")
        found = f.intrinsic(intrinsic, F64.vector(value.kind.lanes), finite.select(value, 0.0).convert("fpext", F64))
        return _bits(finite.select(found.convert("fptrunc", F32), _NAN), kind)

    return lower


def _pow(f: FunctionBuilder, lhs: Value, rhs: Value, kind: Element) -> Value:
    a, b = (_flushed(f, _float(each, kind), kind).convert("fpext", F64) for each in (lhs, rhs))
    found = f.intrinsic("llvm.pow", a.kind, a, b)
    if kind.name == "f32":
        return _bits(_flushed(f, found.convert("fptrunc", F32), kind), kind)
    return bits_of(convert(f, element("f64"), kind, found, "R", "NOSAT"))


def _integral(mode: str) -> Callable[..., Value]:
    def lower(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
        value = _float(operand, kind)
        found = round_integral(f, value, mode)
        found = found.convert("fptrunc", F32) if found.kind.element == F64 else found
        return _bits(f.intrinsic("llvm.copysign", value.kind, found, value), kind)

    return lower


def _magnitude(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
    return operand & ((1 << kind.bits - 1) - 1)


def _fma(f: FunctionBuilder, lhs: Value, rhs: Value, addend: Value, kind: Element) -> Value:
    lanes = (lanes_as(each, lane_type(kind)) for each in (lhs, rhs, addend))
    return bits_of(fused_multiply_add(f, kind, *lanes))


def greater(a: Value, b: Value) -> Value:
    """The greater float, a number rather than a NaN; -0 is less than +0."""
    return _of_two(a, b, (a > b) | ((a == b) & (bits_of(b) < 0)))


def lesser(a: Value, b: Value) -> Value:
    return _of_two(a, b, (a < b) | ((a == b) & (bits_of(a) < 0)))


def _of_two(a: Value, b: Value, first: Value) -> Value:
    return ((first | (b != b)) & (a == a)).select(a, b)


def _picked(pick: Callable[[Value, Value], Value]) -> Callable[..., Value]:
    def lower(f: FunctionBuilder, lhs: Value, rhs: Value, kind: Element) -> Value:
        return _bits(pick(_float(lhs, kind), _float(rhs, kind)), kind)

    return lower


_UNARY, _BINARY = ("f", "operand", "kind"), ("f", "lhs", "rhs", "kind")
for _name, _parameters, _lower in (
    ("absf", _UNARY, _magnitude),
    ("sqrt", _UNARY, _sqrt),
    ("exp", _UNARY, _exp),
    ("log", _UNARY, _log),
    ("sin", _UNARY, _by_double("llvm.sin")),
    ("cos", _UNARY, _by_double("llvm.cos")),
    ("ceil", _UNARY, _integral("C")),
    ("floor", _UNARY, _integral("F")),
    ("rint", _UNARY, _integral("R")),
    ("round", _UNARY, _integral("A")),
    ("pow", _BINARY, _pow),
    ("fmin", _BINARY, _picked(lesser)),
    ("fmax", _BINARY, _picked(greater)),
    ("fma", ("f", "lhs", "rhs", "addend", "kind"), _fma),
):
    define(f"pto.{_name}", _lower, _kind, parameters=_parameters)


# --- integers ---------------------------------------------------------------------------------------------------------


def _signs(static: Static) -> dict[str, Any]:
    return {"extension": "zext" if static.words.get("signedness") == "unsigned" else "sext"}


def _product(lhs: Value, rhs: Value, extension: str) -> Value:
    wide = Type(f"i{2 * lhs.kind.bits}")
    return lhs.convert(extension, wide) * rhs.convert(extension, wide)


def _high(lhs: Value, rhs: Value, extension: str) -> Value:
    return _product(lhs, rhs, extension).lshr(lhs.kind.bits).trunc(lhs.kind.element)


define(op.MulHi.name, _high, _signs, parameters=("lhs", "rhs", "extension"))
define(op.MulI32ToI64.name, _product, _signs, parameters=("lhs", "rhs", "extension"))


def _permuted(lhs: Value, rhs: Value, selector: Value) -> Value:
    both = rhs.zext(I64) | lhs.zext(I64) << 32
    found = both.like(0)
    for place in range(4):
        chosen = selector.zext(I64).lshr(4 * place) & 7
        found = found | (both.lshr(chosen * 8) & 0xFF) << 8 * place
    return found.trunc(I32)


define(op.Prmt.name, _permuted, parameters=("lhs", "rhs", "selector"))


# --- conversions ------------------------------------------------------------------------------------------------------


def _conversion(static: Static) -> dict[str, Any]:
    source, result = static.elements["source"], static.elements["result"]
    sign = static.words.get("signedness")
    mode, sat = static.words.get("rounding", "r").upper(), static.words.get("saturation", "sat").upper()
    return {
        "source_kind": _signed_as(source.part or source, sign),
        "result_kind": _signed_as(result.part or result, sign),
        "mode": mode,
        "sat": sat,
    }


def _signed_as(kind: Element, sign: str | None) -> Element:
    return Element(f"u{kind.name}", kind.bits, "unsigned") if sign == "unsigned" and kind.is_integer else kind


_PAIRS = {"hif8x2": ("hif8", 8), "f4E1M2x2": ("f4E1M2x2", 4), "f4E2M1x2": ("f4E2M1x2", 4)}
"""Types of two values in one number: what each is converted as, and its bits."""


def _convert(
    f: FunctionBuilder, source: WarpValue, source_kind: Element, result_kind: Element, mode: str, sat: str
) -> WarpValue:
    if source_kind.name in _PAIRS and isinstance(source, Value):
        name, bits = _PAIRS[source_kind.name]
        halves = [source.lshr(far).trunc(Type("i8")) & ((1 << bits) - 1) for far in (0, bits)]
        return PackedLanes(tuple(_converted(f, half, element(name), result_kind, mode, sat) for half in halves))
    if isinstance(source, PackedLanes):
        if result_kind.name not in _PAIRS:
            return PackedLanes(tuple(_converted(f, part, source_kind, result_kind, mode, sat) for part in source.parts))
        name, bits = _PAIRS[result_kind.name]
        whole = Type(f"i{2 * bits}")
        low, high = (
            (_converted(f, part, source_kind, element(name), mode, sat) & ((1 << bits) - 1)).zext(Type("i16"))
            for part in source.parts
        )
        return (low | high << bits).trunc(whole)
    return _converted(f, source, source_kind, result_kind, mode, sat)


def _converted(f: FunctionBuilder, value: Value, kind: Element, result: Element, mode: str, sat: str) -> Value:
    lanes = lanes_as(value, lane_type(kind)) if kind.is_float else value
    if kind.is_integer and result.name != "f32":
        exact = f64_to_f32_odd(f, exact_double(f, kind, lanes))
        return bits_of(convert(f, element("f32"), result, exact, mode, sat))
    if kind.is_float and result.is_float and (kind.name == result.name or result.bits > kind.bits):
        exact = value if kind.name == result.name else _bits(_float(value, kind), result)
        return _limited(exact, result, sat)
    if kind.kind == "lowprecision" and result.name == "f16":
        wide = element("f32")
        return bits_of(convert(f, wide, result, convert(f, kind, wide, lanes), mode, sat))
    found = bits_of(convert(f, kind, result, lanes, mode, sat))
    return _limited(found, result, sat) if kind.kind == "lowprecision" else found


def _limited(bits: Value, result: Element, sat: str) -> Value:
    """Beyond the largest finite value the largest, and 0 for NaN; otherwise NaN is canonical."""
    form = BINARY_FORMATS[result.name]
    sign = 1 << result.bits - 1
    magnitude = bits & (sign - 1)
    is_nan = magnitude > form.infinity
    if sat == "NOSAT":
        return is_nan.select(bits.like(form.nan), bits)
    kept = magnitude.compare("uge", form.infinity).select(magnitude.like(form.infinity - 1), magnitude) | (bits & sign)
    return is_nan.select(bits.like(0), kept)


_CONVERSION = ("f", "source", "source_kind", "result_kind", "mode", "sat")
define(op.Convert.name, _convert, _conversion, parameters=_CONVERSION)
enter(op.Convert.name, _convert, _CONVERSION, _conversion)
