"""Conversions of the native engine, bit for bit those of the reference engine: every pair, mode and saturation."""

from collections.abc import Iterator

import numpy as np
import pytest

from native.applied import Array, apply, assert_same_bits
from ptosim.effects.element import element
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import Value
from ptosim.native.vector.narrow_formats import decode
from ptosim.native.vector.numbers import lane_type
from ptosim.native.vector.value_conversion import convert, truncate
from ptosim.reference.numeric.float_lanes import dtype_of
from ptosim.reference.numeric.narrow_formats import DECODING
from ptosim.reference.numeric.value_conversion import conversion, truncation
from reference import exact


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def lanes_of(name: str) -> Array:
    """Every pattern of up to 16 bits; random ones, ordinary numbers and edges of wider types."""
    kind = element(name)
    random = np.random.default_rng(40)
    if name == "f32":
        return exact.some_f32(41, 100_000)
    if name == "f64":
        wide = exact.some_f32(42, 20_000).astype(np.float64)
        return np.concatenate([wide, wide * (1 + 2.0**-40), random.integers(0, 1 << 62, 20_000).view(np.float64)])
    if kind.bits <= 16:
        return np.arange(1 << kind.bits, dtype=f"u{kind.bytes}").view(dtype_of(kind))
    edges = np.array([1 << k for k in range(kind.bits)], np.uint64)
    near = np.concatenate([edges + np.uint64(d) for d in range(4)] + [edges - np.uint64(d) for d in range(4)])
    ties = np.array([(2 * n + 1) << k for k in range(5, 38) for n in (2**23, 2**24 - 1)], np.uint64)
    wide = random.integers(0, 1 << 63, 20_000, dtype=np.uint64)
    around = np.concatenate([near, ties, ties + np.uint64(1), ties - np.uint64(1), wide])
    return np.concatenate([around, np.uint64(0) - around]).astype(f"u{kind.bytes}").view(dtype_of(kind))


PAIRS = """
    f32:f16 f32:bf16 bf16:f16 f32:si16 f32:si32 f32:si64 f16:si32 f16:si16 f16:si8 f16:ui8 bf16:si32
    f32:f8E4M3FN f32:f8E5M2 f16:f8E4M3FN f16:f8E5M2 bf16:f8E4M3FN bf16:f8E5M2 bf16:f4E1M2x2 bf16:f4E2M1x2
""".split()


def check(source: str, destination: str, rnd: str, sat: str) -> None:
    lanes, kinds = lanes_of(source), (element(source), element(destination))

    def lowering(function: FunctionBuilder, value: Value) -> Value:
        return convert(function, *kinds, value, rnd, sat)

    result = apply(lowering, [(lanes, lane_type(kinds[0]))], dtype_of(kinds[1]))
    assert_same_bits(result, conversion(*kinds, rnd, sat)(lanes), lanes)


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@pytest.mark.parametrize("rnd", exact.MODES)
@pytest.mark.parametrize("pair", PAIRS)
def test_conversion_by_mode(pair: str, rnd: str, sat: str) -> None:
    source, destination = pair.split(":")
    if rnd == "O" and element(destination).kind == "lowprecision":
        return  # no such pair: the mode is not for these formats
    check(source, destination, rnd, sat)


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@pytest.mark.parametrize("rnd", "RAH")
@pytest.mark.parametrize("source", ["f32", "f16"])
def test_conversion_to_hif8(source: str, rnd: str, sat: str) -> None:
    check(source, "hif8", rnd, sat)


@pytest.mark.parametrize("rnd", exact.MODES)
@pytest.mark.parametrize("pair", ["si16:f16", "si32:f32", "si64:f32"])
def test_integer_to_float_by_mode(pair: str, rnd: str) -> None:
    check(*pair.split(":"), rnd, "SAT")


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@pytest.mark.parametrize(
    "pair", "ui16:ui8 si16:ui8 ui32:ui8 ui32:ui16 ui32:si16 si32:ui8 si32:ui16 si32:si16 si64:si32".split()
)
def test_integer_narrowing(pair: str, sat: str) -> None:
    check(*pair.split(":"), "R", sat)


@pytest.mark.parametrize(
    "pair",
    """
    ui8:f16 ui8:ui16 ui8:ui32 si8:f16 si8:si16 si8:si32 ui16:ui32 si16:f32 si16:ui32 si16:si32 si32:si64
    f16:f32 bf16:f32 f8E4M3FN:f32 f8E5M2:f32 hif8:f32
    bf16:f64 f32:f64 f64:f32 f64:f16 f64:bf16 i64:bf16 ui64:bf16 ui64:f32 si32:f16 i64:f64
    """.split(),
)
def test_conversion_without_attributes(pair: str) -> None:
    check(*pair.split(":"), "R", "SAT")


@pytest.mark.parametrize("destination", ["ui64", "si64", "si32"])
def test_double_to_integer(destination: str) -> None:
    check("f64", destination, "Z", "SAT")


@pytest.mark.parametrize("name", ["f4E1M2x2", "f4E2M1x2"])
def test_four_bits_to_bf16(name: str) -> None:
    codes = np.arange(16, dtype=np.uint8)
    kinds = element(name), element("bf16")
    result = apply(lambda function, value: convert(function, *kinds, value), [(codes, lane_type(kinds[0]))], "u2")
    assert_same_bits(result, conversion(*kinds)(codes), codes)


@pytest.mark.parametrize("name", DECODING)
def test_decoding(name: str) -> None:
    codes = np.arange(len(DECODING[name]), dtype=np.uint8)
    result = apply(lambda _, value: decode(name, value), [(codes, lane_type(element(name)))], "f4")
    assert_same_bits(result, DECODING[name], codes)


@pytest.mark.parametrize("rnd", "RAFCZ")
@pytest.mark.parametrize("name", ["f32", "f16", "bf16"])
def test_truncation(name: str, rnd: str) -> None:
    lanes, kind = lanes_of(name), element(name)
    result = apply(lambda function, v: truncate(function, kind, v, rnd), [(lanes, lane_type(kind))], lanes.dtype)
    assert_same_bits(result, truncation(kind, rnd)(lanes), lanes)
