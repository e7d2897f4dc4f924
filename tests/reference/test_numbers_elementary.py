"""exp and log against decimal arithmetic, special values, sqrt and division against exact fractions."""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from ptosim.effects import elementary as definition
from ptosim.reference.numeric import elementary
from reference import exact


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def bits(values: exact.Array) -> list[int]:
    return values.view(f"u{values.itemsize}").tolist()


def correctly_rounded(function: Callable[[Decimal], Decimal], x: float, name: str) -> float:
    with localcontext() as context:
        context.prec = 40
        return exact.nearest_even(Fraction(function(Decimal(x))), *exact.FORMATS[name])


def exp_by_definition(x: float) -> float:
    """The sequence that the module describes, on Python floats; no NaN."""
    x = min(max(x, definition.EXP_LOWEST), definition.EXP_HIGHEST)
    y = x * definition.LOG2_E
    n = (y + definition.ROUNDING_SHIFT) - definition.ROUNDING_SHIFT
    f = y - n
    p = definition.EXP_COEFFICIENTS[7]
    for k in range(6, -1, -1):
        p = p * f + definition.EXP_COEFFICIENTS[k]
    p = p * p
    p = p * p
    return math.ldexp(p, int(n))


def log_by_definition(x: float) -> float:
    """Likewise, of a positive finite number; frexp and a comparison in place of the integer steps."""
    m, k = math.frexp(x)
    if m < definition.LOG_LOWEST_MANTISSA:
        m, k = m * 2, k - 1
    f = m - 1
    s = f / (2 + f)
    z = s * s
    q = definition.LOG_COEFFICIENTS[8]
    for j in range(7, -1, -1):
        q = q * z + definition.LOG_COEFFICIENTS[j]
    q = q * z
    h = (0.5 * f) * f
    return k * definition.LN2_HIGH - ((h - (s * (h + q) + k * definition.LN2_LOW)) - f)


def exp_arguments(count: int) -> exact.Array:
    random = np.random.default_rng(7)
    wide = random.uniform(-104, 89, count)
    small = random.normal(0, 1, count) * 10.0 ** random.integers(-8, 1, count)
    return np.concatenate([wide, small]).astype(np.float32)


def log_arguments(count: int) -> exact.Array:
    random = np.random.default_rng(8)
    patterns = random.integers(1, 0x7F800000, count).astype(np.uint32).view(np.float32)
    near_one = (1 + random.normal(0, 1, count) * 2.0 ** random.integers(-23, -1, count)).astype(np.float32)
    return np.concatenate([patterns, near_one[near_one > 0]])


def test_exp_evaluates_the_definition_bit_for_bit() -> None:
    x = exp_arguments(4000)
    expected = np.array([exp_by_definition(v) for v in x.tolist()]).astype(np.float32)
    assert bits(elementary.exp(x)) == bits(expected)


def test_log_evaluates_the_definition_bit_for_bit() -> None:
    x = log_arguments(4000)
    expected = np.array([log_by_definition(v) for v in x.tolist()]).astype(np.float32)
    assert bits(elementary.log(x)) == bits(expected)


def test_exp_is_correctly_rounded() -> None:
    x = exp_arguments(20_000)
    expected = [correctly_rounded(Decimal.exp, v, "f32") for v in x.tolist()]
    assert elementary.exp(x).tolist() == expected


def test_log_is_correctly_rounded() -> None:
    x = log_arguments(10_000)
    expected = [correctly_rounded(Decimal.ln, v, "f32") for v in x.tolist()]
    assert elementary.log(x).tolist() == expected


def test_f16_exp_and_log_are_correctly_rounded() -> None:
    every = exact.all_f16()
    x = every[np.isfinite(every) & (np.abs(every) < 20) & (every != 0)][::9]
    assert elementary.exp(x).tolist() == [correctly_rounded(Decimal.exp, v, "f16") for v in x.tolist()]
    x = every[(every > 0) & np.isfinite(every)][::9]
    assert elementary.log(x).tolist() == [correctly_rounded(Decimal.ln, v, "f16") for v in x.tolist()]


def test_exp_special_values() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, 90, 104, 88.72283, 88.72284, -103.97207, -103.97209, -120], np.float32)
    result = elementary.exp(x).tolist()
    assert result[:6] == [1, 1, np.inf, 0, np.inf, np.inf]
    # ln(largest f32) = 88.72283905..., ln(half the smallest subnormal) = -103.97208...
    assert math.isfinite(result[6]) and result[7] == np.inf
    assert result[8:] == [2.0**-149, 0, 0]
    assert bits(elementary.exp(np.array([0xFFFFFFFF, 0x7F800001], np.uint32).view(np.float32))) == [0x7FC00000] * 2
    assert bits(elementary.exp(np.array([0xFFFF, 0x7C00, 0xFC00, 0x8000], np.uint16).view(np.float16))) == [
        0x7E00,
        0x7C00,
        0,
        0x3C00,
    ]


def test_log_special_values() -> None:
    x = np.array([0, -0.0, 1, np.inf, -np.inf, -1, np.nan, -1e-45], np.float32)
    minus_inf, nan, inf = 0xFF800000, 0x7FC00000, 0x7F800000
    assert bits(elementary.log(x)) == [minus_inf, minus_inf, 0, inf, nan, nan, nan, nan]
    x16 = np.array([0, -0.0, 1, np.inf, -1, -np.nan], np.float16)
    assert bits(elementary.log(x16)) == [0xFC00, 0xFC00, 0, 0x7C00, 0x7E00, 0x7E00]


def test_exp_polynomial_error() -> None:
    """The stated relative error of the polynomial, measured exactly at points of the reduced interval."""
    coefficients = [Decimal(c) for c in definition.EXP_COEFFICIENTS]
    worst = Decimal(0)
    with localcontext() as context:
        context.prec = 40
        for k in range(-500, 501):
            f = Decimal(k) / 1000
            p = Decimal(0)
            for c in reversed(coefficients):
                p = p * f + c
            worst = max(worst, abs(p**4 / (Decimal(2).ln() * f).exp() - 1))
    assert worst < Decimal("5.3e-15")


def test_ln2_parts() -> None:
    with localcontext() as context:
        context.prec = 50
        ln2 = Decimal(2).ln()
        assert abs(ln2 - Decimal(definition.LN2_HIGH) - Decimal(definition.LN2_LOW)) < Decimal("1e-29")
        assert Decimal(1) / ln2 - Decimal(definition.LOG2_E) < Decimal("2e-16")
    assert (definition.LN2_HIGH * 2.0**42).is_integer()
    assert definition.ROUNDING_SHIFT == 1.5 * 2.0**52


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_sqrt_is_correctly_rounded(name: str) -> None:
    every = exact.all_f16() if name == "f16" else log_arguments(2000)
    x = every[(every >= 0) & np.isfinite(every)]
    fraction, lowest, _ = exact.FORMATS[name]
    for value, root in zip(x.tolist(), elementary.sqrt(x).tolist(), strict=True):
        # r is nearest when v lies between the squares of the middles of r and its neighbours; no root is a middle.
        exponent = max(math.frexp(root)[1] - 1, lowest)
        half = Fraction(2) ** (exponent - fraction - 1)
        r, v = Fraction(root), Fraction(value)
        assert (r - half) ** 2 <= v <= (r + half) ** 2 or v == r == 0
    special = np.array([-0.0, -1, np.inf, np.nan], every.dtype)
    assert (
        bits(elementary.sqrt(special))
        == {
            "f16": [0x8000, 0x7E00, 0x7C00, 0x7E00],
            "f32": [0x80000000, 0x7FC00000, 0x7F800000, 0x7FC00000],
        }[name]
    )


def test_divide() -> None:
    a = np.array([0, -0.0, 1, -np.inf, 1, -1, np.nan, 5, np.inf], np.float32)
    b = np.array([0, 0, np.inf, 2, 0, 0, 1, 0.0, np.inf], np.float32)
    nan, inf = 0x7FC00000, 0x7F800000
    assert bits(elementary.divide(a, b)) == [nan, nan, 0, inf | 1 << 31, inf, inf | 1 << 31, nan, inf, nan]
    random = np.random.default_rng(9)
    x, y = random.integers(0, 0x7C00, (2, 4000)).astype(np.uint16).view(np.float16)
    x, y = x[y > 0], y[y > 0]
    expected = [
        exact.nearest_even(Fraction(p) / Fraction(q), *exact.FORMATS["f16"])
        for p, q in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert elementary.divide(x, y).tolist() == expected
