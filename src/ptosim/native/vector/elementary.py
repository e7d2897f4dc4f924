"""exp, log and sqrt on f32 and f16 lanes.

exp and log follow `effects.elementary` operation by operation, without contraction, and are rounded once from double;
where the processor can, exp takes the way of `quick_exp` to the same bits.
"""

from collections.abc import Callable, Sequence

from ptosim.effects import elementary
from ptosim.effects.element import Element
from ptosim.effects.element import element as element_named
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import F32, F64, I32, Value
from ptosim.native.vector.numbers import bits_of, canonical, f64_to_f16, lane_type, lanes_as, numeric, widen
from ptosim.native.vector.quick_exp import quick_exp
from ptosim.native.vector.registers import register_type

_INF = float("inf")
_NAN = float("nan")


def exp(function: FunctionBuilder, element: Element, lanes: Value) -> Value:
    """e^x; overflows to +inf and underflows through the subnormals to +0."""
    if element.name != "f32" or lanes.kind.lanes != element.lanes or not function.module.avx512:
        return _apart(function, "exp", element, lanes, _exp_of)
    bits, address = bits_of(numeric(lanes)), function.base(ContextWord.EXP)
    return lanes_as(function.emit(bits.kind, f"call {bits.kind} {address.text}({bits}) nounwind memory(none)"), F32)


def build_exp(module: ObjectModule, name: str) -> None:
    """The exponential function of a whole register of f32, for processors with AVX-512."""
    element, bits = element_named("f32"), register_type(I32)
    compute = _quick_exp_of if module.avx512 else _exp_of

    def fill(function: FunctionBuilder, given: Value) -> Value:
        return bits_of(compute(function, element, lanes_as(given, F32)))

    module.pure(name, [bits], bits, fill, "exported")


def _quick_exp_of(function: FunctionBuilder, element: Element, lanes: Value) -> Value:
    return quick_exp(function, lanes, lambda: _apart(function, "exp", element, lanes, _exp_of))


def _exp_of(_: FunctionBuilder, element: Element, lanes: Value) -> Value:
    x = widen(element, lanes)
    power = _exp(x)
    if element.name == "f16":
        return f64_to_f16((x != x).select(_NAN, power))
    return (x != x).select(_NAN, power.convert("fptrunc", F32))


def _apart(
    function: FunctionBuilder,
    name: str,
    element: Element,
    lanes: Value,
    compute: Callable[[FunctionBuilder, Element, Value], Value],
) -> Value:
    """For a whole register a function of its own, which all instructions share: such a sequence is long."""
    if lanes.kind.lanes != element.lanes:
        return compute(function, element, lanes)

    def fill(apart: FunctionBuilder, given: Value) -> Value:
        return bits_of(compute(apart, element, lanes_as(given, lane_type(element))))

    bits = bits_of(numeric(lanes))
    pure = function.module.pure(f"{name}_{element.name}", [bits.kind], bits.kind, fill)
    return lanes_as(pure(function, bits), lane_type(element))


def _exp(x: Value) -> Value:
    """Double lanes from float lanes, whose range is cut while they are narrow."""
    x = (x < elementary.EXP_LOWEST).select(elementary.EXP_LOWEST, x)
    x = (x > elementary.EXP_HIGHEST).select(elementary.EXP_HIGHEST, x)
    y = x.convert("fpext", F64) * elementary.LOG2_E
    t = y + elementary.ROUNDING_SHIFT
    n = t - elementary.ROUNDING_SHIFT
    p = _horner(y - n, elementary.EXP_COEFFICIENTS)
    p = p * p
    p = p * p
    return lanes_as(bits_of(p) + (bits_of(t) << 52), F64)


def log(function: FunctionBuilder, element: Element, lanes: Value) -> Value:
    """The natural logarithm; -inf at either zero, NaN below."""
    return _apart(function, "log", element, lanes, _log_of)


def _log_of(_: FunctionBuilder, element: Element, lanes: Value) -> Value:
    x = numeric(lanes).convert("fpext", F64)
    result = (x < _INF).select(_log(x), x)
    result = (x > 0.0).select(result, (x == 0.0).select(x.like(-_INF), _NAN))
    return f64_to_f16(result) if element.name == "f16" else canonical(result.convert("fptrunc", F32))


def _log(x: Value) -> Value:
    bits = bits_of(x)
    k = (bits - bits_of(x.like(elementary.LOG_LOWEST_MANTISSA))) >> 52
    f = lanes_as(bits - (k << 52), F64) - 1.0
    e = lanes_as(bits_of(x.like(elementary.ROUNDING_SHIFT)) + k, F64) - elementary.ROUNDING_SHIFT
    s = f / (2.0 + f)
    z = s * s
    q = _horner(z, elementary.LOG_COEFFICIENTS) * z
    h = (0.5 * f) * f
    return e * elementary.LN2_HIGH - ((h - (s * (h + q) + e * elementary.LN2_LOW)) - f)


def _horner(x: Value, coefficients: Sequence[float]) -> Value:
    result = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def sqrt(function: FunctionBuilder, element: Element, lanes: Value) -> Value:
    """Correctly rounded; sqrt(-0) is -0. The root of f16 is taken in f32, whose second rounding never matters."""
    x = widen(element, lanes)
    # NaN goes in, canonical: LLVM drops a select of NaN after the root of a negative number, whose NaN has a sign.
    root = function.intrinsic("llvm.sqrt", x.kind, (x >= 0.0).select(x, _NAN))
    return root.convert("fptrunc", lane_type(element))
