"""Canonical NaNs, 16-bit floats, fused multiply-add, sums, tf32 and sort keys against exact arithmetic."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cmp_to_key

import ml_dtypes
import numpy as np
import pytest

from ptosim.effects.element import element
from ptosim.reference.numeric import float_lanes
from reference import exact


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def bits(values: exact.Array) -> exact.Array:
    return values.view(f"u{values.itemsize}")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        word.split(":")
        for word in "i8:i1 ui16:u2 si64:i8 index:i8 f16:f2 bf16:u2 f32:f4 f64:f8 f8E5M2:u1 hif8x2:u2".split()
    ],
)
def test_dtype_has_the_width_of_the_element(name: str, dtype: str) -> None:
    assert float_lanes.dtype_of(element(name)) == np.dtype(dtype)
    assert float_lanes.dtype_of(element(name)).itemsize == element(name).bytes


@pytest.mark.parametrize(("dtype", "nan"), [("f2", 0x7E00), ("f4", 0x7FC00000), ("f8", 0x7FF8 << 48)])
def test_canonical_nan(dtype: str, nan: int) -> None:
    size = np.dtype(dtype).itemsize
    every_nan_bit = (1 << (8 * size)) - 1
    patterns = np.array([every_nan_bit, every_nan_bit >> 1, nan | 1, 0, 1], f"u{size}")
    result = bits(float_lanes.canonical(patterns.view(dtype)))
    assert result.tolist() == [nan, nan, nan, 0, 1]


def test_bf16_of_every_pattern_is_exact() -> None:
    values = float_lanes.bf16_to_f32(exact.all_bf16())
    np.testing.assert_array_equal(values.astype(np.float64), exact.bf16_values(exact.all_bf16()))
    assert (bits(values) == exact.all_bf16().astype(np.uint32) << 16).all()


def test_bf16_round_trip() -> None:
    back = float_lanes.f32_to_bf16(float_lanes.bf16_to_f32(exact.all_bf16()))
    is_nan = np.isnan(exact.bf16_values(exact.all_bf16()))
    assert (back == np.where(is_nan, 0x7FC0, exact.all_bf16())).all()


def test_f32_to_bf16_rounds_to_nearest_even() -> None:
    values = exact.some_f32(1)
    result = float_lanes.f32_to_bf16(values)
    oracle = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert (result == np.where(np.isnan(values), 0x7FC0, oracle)).all()


def test_f32_nan_that_would_carry_into_infinity() -> None:
    patterns = np.array([0x7F80_0001, 0xFF80_0001, 0x7FFF_FFFF, 0xFFFF_FFFF], np.uint32)
    assert float_lanes.f32_to_bf16(patterns.view(np.float32)).tolist() == [0x7FC0] * 4


def random_16_bit_pairs(name: str, seed: int, count: int = 30_000) -> tuple[exact.Array, exact.Array]:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 1 << 16, (2, count)).astype(np.uint16)
    b[: count // 2] = a[: count // 2] ^ random.integers(0, 1 << 11, count // 2).astype(
        np.uint16
    )  # sizes alike: sums tie
    return (a.view(np.float16), b.view(np.float16)) if name == "f16" else (a, b)


OPERATIONS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}


@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_16_bit_arithmetic_has_one_rounding(name: str, operation: str) -> None:
    kind = element(name)
    a, b = random_16_bit_pairs(name, 2, 8000)
    values = float_lanes.narrow(kind, OPERATIONS[operation](float_lanes.widen(kind, a), float_lanes.widen(kind, b)))
    got = values.astype(np.float64) if name == "f16" else exact.bf16_values(values)
    x, y = (v.astype(np.float64) if name == "f16" else exact.bf16_values(v) for v in (a, b))
    checked = 0
    for left, right, result in zip(x.tolist(), y.tolist(), got.tolist(), strict=True):
        if not (math.isfinite(left) and math.isfinite(right)) or (operation == "divide" and right == 0):
            continue
        f, g = Fraction(left), Fraction(right)
        value = {"add": f + g, "subtract": f - g, "multiply": f * g, "divide": f / g if g else f}[operation]
        assert result == exact.nearest_even(value, *exact.FORMATS[name]), (left, right)
        checked += 1
    assert checked > 7000


def patterns_of(values: exact.Array, name: str) -> exact.Array:
    """Lanes of an element holding f32 values, rounded by the test's own means."""
    if name == "bf16":
        return values.astype(ml_dtypes.bfloat16).view(np.uint16)
    return values.astype(np.float16 if name == "f16" else np.float32)


def values_of(lanes: exact.Array, name: str) -> list[float]:
    return (exact.bf16_values(lanes) if name == "bf16" else lanes.astype(np.float64)).tolist()


def fused_operands(name: str) -> list[exact.Array]:
    """Random triples, and triples whose sum lies exactly on, or next to, the middle of two floats of the type."""
    random = np.random.default_rng(3)
    fraction = exact.FORMATS[name][0]
    scale = 2.0 ** random.integers(-12, 13, 1000)
    ordinary = [random.normal(0, 1, 1000) * scale, random.normal(0, 1, 1000), random.normal(0, 1, 1000) * scale]
    # c is odd in its last place, a*b is half of that place give or take next to nothing: sticky bits decide.
    c = 1 + random.integers(0, 1 << fraction, 1000) * 2.0**-fraction
    a = (1 + random.integers(-3, 4, 1000) * 2.0**-fraction) * 2.0 ** -(fraction + 1)
    b = 1 + random.integers(-3, 4, 1000) * 2.0**-fraction
    tiny = [
        random.normal(0, 1, 500) * 2.0**-70,
        random.normal(0, 1, 500) * 2.0**-70,
        random.normal(0, 1, 500) * 2.0**-126,
    ]
    groups = [ordinary, [a, b, c], [-a, b, c], [a, b, -c], tiny]
    columns = [np.concatenate(column).astype(np.float32) for column in zip(*groups, strict=True)]
    return [patterns_of(column, name) for column in columns]


@pytest.mark.parametrize("name", ["f32", "f16", "bf16"])
def test_fused_multiply_add_rounds_once(name: str) -> None:
    lanes = fused_operands(name)
    result = values_of(float_lanes.fused_multiply_add(element(name), *lanes), name)
    twice_rounded = 0
    for a, b, c, r in zip(*(values_of(lane, name) for lane in lanes), result, strict=True):
        expected = exact.nearest_even(Fraction(a) * Fraction(b) + Fraction(c), *exact.FORMATS[name])
        assert r == expected, (a.hex(), b.hex(), c.hex())
        product = exact.nearest_even(Fraction(a) * Fraction(b), *exact.FORMATS[name])
        twice_rounded += expected != exact.nearest_even(Fraction(product) + Fraction(c), *exact.FORMATS[name])
    assert twice_rounded > 100  # the cases do tell fused from separate


def test_fused_multiply_add_where_a_double_sum_would_round_twice() -> None:
    # 2^46 + 1 = 8384513 * 8392705, and (1 + 2^-23)(1 - 2^-23) = 1 - 2^-46: the product is half a unit in the last place
    # of c, give or take 2^-70. In double that is lost and leaves a tie, which goes the other way.
    half = 2.0**-24
    a = np.array([8384513 * 2.0**-23 * half, (1 + 2.0**-23) * half], np.float32)
    b = np.array([8392705 * 2.0**-23, 1 - 2.0**-23], np.float32)
    c = np.array([1.0, 1 + 2.0**-23], np.float32)
    twice = (a.astype(np.float64) * b + c).astype(np.float32)
    assert twice.tolist() == [1.0, 1 + 2.0**-22]
    assert float_lanes.fused_multiply_add(element("f32"), a, b, c).tolist() == [1 + 2.0**-23, 1 + 2.0**-23]


def test_fused_multiply_add_of_infinities_and_nan() -> None:
    inf, nan, big = np.inf, np.nan, 3e38
    a = np.array([inf, inf, 0, big, nan, 1, -0.0], np.float32)
    b = np.array([1, 1, inf, big, 1, 1, 1], np.float32)
    c = np.array([1, -inf, 1, -big, 1, -inf, -0.0], np.float32)
    result = float_lanes.fused_multiply_add(element("f32"), a, b, c)
    nan_bits = 0x7FC00000
    assert bits(result).tolist() == [0x7F800000, nan_bits, nan_bits, 0x7F800000, nan_bits, 0xFF800000, 0x80000000]


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_maximum_and_minimum(dtype: str) -> None:
    a = np.array([0.0, -0.0, 1, -1, np.nan, 2, -np.inf], dtype)
    b = np.array([-0.0, 0.0, 2, -2, 1, np.nan, np.inf], dtype)
    nan = float_lanes.canonical(np.array([np.nan], dtype))[0]
    assert float_lanes.maximum(a, b).tobytes() == np.array([0.0, 0.0, 2, -1, nan, nan, np.inf], dtype).tobytes()
    assert float_lanes.minimum(a, b).tobytes() == np.array([-0.0, -0.0, 1, -2, nan, nan, -np.inf], dtype).tobytes()


def test_tree_sum_adds_halves() -> None:
    values = np.random.default_rng(4).normal(0, 1, 64).astype(np.float32)
    lanes = values.tolist()
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [float(np.float32(x) + np.float32(y)) for x, y in zip(lanes[:half], lanes[half:], strict=True)]
    assert float(float_lanes.tree_sum(values)) == lanes[0]
    # the order shows: 2^24 + 1 is lost, but the two ones meet first in the halving order
    x = np.array([2.0**24, 1.0, 0.0, 1.0], np.float32)
    assert float(float_lanes.tree_sum(x)) == 2.0**24 + 2


def test_tree_sum_of_groups_and_of_f16() -> None:
    groups = np.arange(64, dtype=np.float32).reshape(8, 8)
    assert float_lanes.tree_sum(groups).tolist() == [sum(range(8 * b, 8 * b + 8)) for b in range(8)]
    # In f16 every single addition of 1 to 2048 would be lost; in f32 the sum is 2175 and rounds once, to 2176.
    lanes = np.ones(128, np.float16)
    lanes[0] = 2048
    total = float_lanes.tree_sum(lanes)
    assert total.dtype == np.float16 and float(total) == 2176


def test_tree_sum_zero_and_nan() -> None:
    assert bits(float_lanes.tree_sum(np.full(8, -0.0, np.float32))) == 0x80000000
    assert bits(float_lanes.tree_sum(np.array([-0.0, 0.0], np.float32))) == 0
    assert bits(float_lanes.tree_sum(np.array([np.inf, -np.inf], np.float32))) == 0x7FC00000


@pytest.mark.parametrize(("ties", "mode"), [("even", "R"), ("away", "A")])
def test_tf32(ties: str, mode: str) -> None:
    values = exact.some_f32(5)
    values = values[np.abs(values) >= 2.0**-126]  # the formula works on bits: below, fewer than ten bits remain
    result = float_lanes.round_tf32(values, ties)  # type: ignore[arg-type]
    expected = exact.round_to_grid(values.astype(np.float64), mode, 10, -126)
    with np.errstate(over="ignore"):
        assert (result == expected.astype(np.float32)).all()
    special = np.array([0x7F800000, 0xFF800000, 0x7F800001, 0xFFFFFFFF, 0x80000000], np.uint32)
    assert bits(float_lanes.round_tf32(special.view(np.float32), ties)).tolist() == special.tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_sort_key_orders_scores(dtype: str) -> None:
    nan = np.array([np.nan], dtype)
    ordered = [-nan[0], -np.inf, -2.5, -1e-7, 0.0, 1e-7, 1.0, np.inf, nan[0]]
    scores = np.array(ordered, dtype)
    keys = float_lanes.sort_key(scores).tolist()
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    zeros = float_lanes.sort_key(np.array([0.0, -0.0], dtype))
    assert zeros[0] == zeros[1]
    random = np.random.default_rng(6).normal(0, 1, 32).astype(dtype)
    by_key = sorted(range(32), key=lambda i: int(float_lanes.sort_key(random)[i]))
    by_value = sorted(range(32), key=cmp_to_key(lambda i, j: int(random[i] > random[j]) - int(random[i] < random[j])))
    assert by_key == by_value
