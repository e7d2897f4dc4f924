"""Mathematics and conversions of workitems, against exact arithmetic; the scalar unit has them as well."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ptosim
from ptosim.effects.element import element
from ptosim.language.text.literals import float_bits
from tables import table
from workitem_programs import lanes

RANDOM = np.random.default_rng(7)
F32 = np.concatenate([
    np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, np.inf, -np.inf, np.nan, 1e-40, -1e-40], "f4"),
    np.array([65504, 65520, 3e38], "f4"),
    RANDOM.normal(size=15).astype("f4") * 100,
])  # fmt: skip


def unary(name: str, type_: str = "f32", values: np.ndarray = F32) -> np.ndarray:
    return lanes(f"%r = pto.{name} %a : {type_} -> {type_}", [(type_, values)], type_)


@table("name, exact", ("ceil", np.ceil), ("floor", np.floor), ("rint", np.rint), ("absf", np.abs))
def test_roundings(name: str, exact: np.ufunc) -> None:
    assert np.array_equal(unary(name), exact(F32), equal_nan=True)
    assert np.array_equal(np.signbit(unary(name))[:11], np.signbit(exact(F32))[:11])


def test_round_takes_ties_away_from_zero() -> None:
    found = unary("round")
    assert [found[4], found[5], found[6], found[7], found[8]] == [1, -1, 3, -3, 2]
    assert np.signbit(found[1])


@pytest.mark.parametrize(("name", "function"), [("sin", math.sin), ("cos", math.cos)])
def test_sin_and_cos_are_rounded_once(name: str, function: object) -> None:
    expected = [np.float32(function(float(x))) if math.isfinite(x) else np.float32(np.nan) for x in F32]  # type: ignore[operator]
    assert np.array_equal(unary(name), np.array(expected), equal_nan=True)


def test_sqrt_flushes_subnormals() -> None:
    found = unary("sqrt")
    assert found[12] == 0 and not np.signbit(found[12]) and np.signbit(found[13]) and found[13] == 0
    assert np.isnan(found[3]) and np.signbit(found[1]) and found[2] == 1


def test_exp_and_log() -> None:
    exp, log = unary("exp"), unary("log")
    assert exp[0] == 1 and exp[10] == 0 and exp[9] == np.inf and np.isnan(exp[11])
    assert log[0] == -np.inf and np.isnan(log[3]) and log[2] == 0 and log[9] == np.inf
    positive = F32[17:][F32[17:] > 0]
    assert np.allclose(log[17:][F32[17:] > 0], np.log(positive.astype("f8")), rtol=1e-7)


def test_pow_has_the_special_cases_of_c() -> None:
    a = np.array([1, np.nan, -2, -2, 0, -0.0, 0, 2, -8, np.inf, -np.inf, 4, 2], "f4")
    b = np.array([np.nan, 0, 3, 0.5, -1, -1, 2, 10, 1 / 3, -1, 3, 0.5, 200], "f4")
    a, b = (np.resize(each, 32).astype("f4") for each in (a, b))
    found = lanes("%r = pto.pow %a, %b : f32, f32 -> f32", [("f32", a), ("f32", b)], "f32")
    expected = [1, 1, -8, np.nan, np.inf, -np.inf, 0, 1024, np.nan, 0, -np.inf, 2, np.inf]
    assert np.array_equal(found[:13], np.array(expected, "f4"), equal_nan=True)


def test_fmin_and_fmax_prefer_numbers() -> None:
    a = np.resize(np.array([1, np.nan, np.nan, 0.0, -0.0, 5], "f4"), 32)
    b = np.resize(np.array([np.nan, 2, np.nan, -0.0, 0.0, 3], "f4"), 32)
    least = lanes("%r = pto.fmin %a, %b : f32, f32 -> f32", [("f32", a), ("f32", b)], "f32")
    most = lanes("%r = pto.fmax %a, %b : f32, f32 -> f32", [("f32", a), ("f32", b)], "f32")
    assert np.array_equal(least[:6], np.array([1, 2, np.nan, -0.0, -0.0, 3], "f4"), equal_nan=True)
    assert np.signbit(least[3]) and np.signbit(least[4]) and not np.signbit(most[3]) and not np.signbit(most[4])
    assert np.array_equal(most[[0, 1, 5]], np.array([1, 2, 5], "f4"))


def test_fma_rounds_once() -> None:
    a, b, c = (RANDOM.normal(size=32).astype("f4") for _ in range(3))
    found = lanes("%r = pto.fma %a, %b, %c : f32, f32, f32 -> f32", [("f32", a), ("f32", b), ("f32", c)], "f32")
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
    bits = [float_bits(value, element("f32")) for value in exact]  # type: ignore[arg-type]
    assert found.view("u4").tolist() == bits


def test_products() -> None:
    a = np.concatenate(
        [np.array([-1, 1, -(2**31), 2**31 - 1], "i4"), RANDOM.integers(-(2**31), 2**31, 28).astype("i4")]
    )
    b = a[::-1].copy()
    wide = a.astype("i8") * b.astype("i8")
    unsigned = [int(x) * int(y) for x, y in zip(a.view("u4"), b.view("u4"), strict=True)]
    inputs = [("i32", a), ("i32", b)]
    assert np.array_equal(
        lanes("%r = pto.mulhi %a, %b signed : i32, i32 -> i32", inputs, "i32"), (wide >> 32).astype("i4")
    )
    high = lanes("%r = pto.mulhi %a, %b unsigned : i32, i32 -> i32", inputs, "i32").view("u4")
    assert high.tolist() == [each >> 32 for each in unsigned]
    assert np.array_equal(lanes("%r = pto.mul_i32toi64 %a, %b signed : i32, i32 -> i64", inputs, "i64"), wide)
    full = lanes("%r = pto.mul_i32toi64 %a, %b unsigned : i32, i32 -> i64", inputs, "i64").view("u8")
    assert full.tolist() == unsigned


def test_prmt_takes_bytes_of_b_first() -> None:
    a, b = np.full(32, 0x77665544, "i4"), np.full(32, 0x33221100, "i4")
    s = np.resize(np.array([0x7654, 0x3210, 0x0F17, 0x12345670], "i4"), 32)
    found = lanes("%r = pto.prmt %a, %b, %c : i32, i32, i32 -> i32", [("i32", a), ("i32", b), ("i32", s)], "i32")
    assert found[:4].tolist() == [0x77665544, 0x33221100, 0x00771177, 0x55667700]


# --- conversions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", "rafcz")
def test_floats_to_integers(mode: str) -> None:
    found = lanes(f"%r = pto.convert %a round({mode}) sat signed : f32 -> i32", [("f32", F32)], "i32")
    assert found.tolist() == [integral(float(x), mode, -(2**31), 2**31 - 1) for x in F32]
    found = lanes(f"%r = pto.convert %a round({mode}) sat unsigned : f32 -> i64", [("f32", F32)], "i64").view("u8")
    assert found.tolist() == [integral(float(x), mode, 0, 2**64 - 1) for x in F32]


def integral(value: float, mode: str, low: int, high: int) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    ways = {"r": round, "f": math.floor, "c": math.ceil, "z": math.trunc}
    away = int(math.copysign(math.floor(abs(value) + 0.5), value))
    return min(max(ways[mode](value) if mode in ways else away, low), high)


@pytest.mark.parametrize(("sat", "beyond"), [("sat", 65504.0), ("nosat", np.inf)])
def test_integers_to_f16(sat: str, beyond: float) -> None:
    a = np.resize(np.array([0, 1, -1, 2049, 2051, 65504, 70000, -70000, 2**31 - 1], "i4"), 32)
    found = lanes(f"%r = pto.convert %a round(r) {sat} signed : i32 -> f16", [("i32", a)], "f16")
    assert found[:9].tolist() == [0, 1, -1, 2048, 2052, 65504, beyond, -beyond, beyond]


@pytest.mark.parametrize("mode", "rafczo")
def test_f32_to_f16_by_every_rounding(mode: str) -> None:
    found = lanes(f"%r = pto.convert %a round({mode}) nosat : f32 -> f16", [("f32", F32)], "f16").astype("f4")
    finite = np.isfinite(F32) & (np.abs(F32) < 65504)
    x, y = F32[finite].astype("f8"), found[finite].astype("f8")
    nearest = F32[finite].astype("f2").astype("f8")
    assert {
        "f": (y <= x).all(),
        "c": (y >= x).all(),
        "z": (np.abs(y) <= np.abs(x)).all(),
        "r": (y == nearest).all(),
    }.get(mode, (np.abs(y - x) <= np.maximum(np.abs(x) * 2.0**-10, 2.0**-24)).all())


def test_saturation_and_nan() -> None:
    sat = lanes("%r = pto.convert %a round(r) sat : f32 -> f16", [("f32", F32)], "f16")
    assert sat[9] == 65504 and sat[10] == -65504 and sat[11] == 0 and sat[15] == 65504
    nosat = lanes("%r = pto.convert %a round(r) nosat : f32 -> f16", [("f32", F32)], "f16")
    assert nosat[9] == np.inf and np.isnan(nosat[11]) and nosat[15] == np.inf
    halves = np.clip(F32, -6e4, 6e4).astype("f2")
    halves[9] = np.inf
    wide = lanes("%r = pto.convert %a round(r) sat : f16 -> f32", [("f16", halves)], "f32")
    assert wide[11] == 0 and wide[9] == np.finfo("f4").max
    same = lanes("%r = pto.convert %a round(r) sat : f16 -> f16", [("f16", halves)], "f16")
    assert same[9] == 65504 and same[11] == 0


def test_packed_conversions_keep_the_order() -> None:
    pairs = RANDOM.normal(size=64).astype("f4")
    found = lanes(
        "%r = pto.convert %a round(r) sat : vector<2xf32> -> vector<2xf16>", [("vector<2xf32>", pairs)], "vector<2xf16>"
    )
    assert np.array_equal(found.view("f2"), pairs.astype("f2"))
    text = "%h = pto.convert %a round(a) sat : vector<2xf32> -> !pto.hif8x2\n"
    text += "%r = pto.convert %h round(r) sat : !pto.hif8x2 -> vector<2xf32>"
    exact = np.resize(np.array([1.0, -2.0, 0.5, 8.0], "f4"), 64)
    assert np.array_equal(lanes(text, [("vector<2xf32>", exact)], "vector<2xf32>").view("f4"), exact)


def test_the_scalar_unit_has_them() -> None:
    kernel = ptosim.load("""module attributes {pto.target_arch = "a5"} {
      func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<i32, gm>) attributes {pto.kernel} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %v = pto.load %x[%c0] : !pto.ptr<f32, gm> -> f32
        %f = pto.floor %v : f32 -> f32
        %n = pto.convert %f round(r) sat signed : f32 -> i32
        pto.store %n, %y[%c0] : !pto.ptr<i32, gm>, i32
        %h = pto.mulhi %n, %n unsigned : i32, i32 -> i32
        pto.store %h, %y[%c1] : !pto.ptr<i32, gm>, i32
        return
      }
    }
    """).kernel()
    for engine in ("reference", "native"):
        y = np.zeros(2, "i4")
        kernel(np.array([-3.5], "f4"), y, engine=engine)
        assert y.tolist() == [-4, (0xFFFFFFFC * 0xFFFFFFFC >> 32) - (1 << 32)]


def test_narrow_floats_become_halves() -> None:
    codes = np.resize(np.array([0x00, 0x38, 0xB8, 0x7E, 0x08], "u1"), 64)  # 0, 1, -1, 448, the least normal
    text = "%r = pto.convert %a round(r) sat : vector<2xf8E4M3FN> -> vector<2xf16>"
    found = lanes(text, [("vector<2xf8E4M3FN>", codes)], "vector<2xf16>").view("f2")
    assert found[:5].tolist() == [0, 1, -1, 448, 2.0**-6]
