"""Conversions among integers and floats of 16 bits and more: every 16-bit pattern, every mode, edges of the rest."""

from collections.abc import Iterator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from ptosim.effects.element import element
from ptosim.effects.float_format import BF16, F16, F32, BinaryFormat
from ptosim.reference.numeric.rounding import round_integral, round_significand
from ptosim.reference.numeric.value_conversion import conversion, truncation
from reference import exact
from tables import table

INF, NAN = float("inf"), float("nan")
RANGES = {
    "ui8": (0, 255),
    "si8": (-128, 127),
    "ui16": (0, 65535),
    "si16": (-32768, 32767),
    "si32": (-(2**31), 2**31 - 1),
    "si64": (-(2**63), 2**63 - 1),
}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def lanes_of(values: list[float], name: str) -> exact.Array:
    if name == "bf16":
        return np.array(values, np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)
    return np.array(values, {"f16": np.float16, "f32": np.float32, "f64": np.float64}[name])


def convert(values: list[float], source: str, destination: str, rnd: str = "R", sat: str = "SAT") -> exact.Array:
    return conversion(element(source), element(destination), rnd, sat)(lanes_of(values, source))


@np.errstate(all="ignore")
def sources() -> dict[str, tuple[exact.Array, exact.Array]]:
    """Lanes by source type, and their values as double."""
    f32 = exact.some_f32(20, 100_000)
    return {
        "f32": (f32, f32.astype(np.float64)),
        "f16": (exact.all_f16(), exact.all_f16().astype(np.float64)),
        "bf16": (exact.all_bf16(), exact.bf16_values(exact.all_bf16())),
    }


SOURCES = sources()


# --- the modes --------------------------------------------------------------------------------------------------------

# mode: what 2.5, -2.5, 1.4, -1.4 become
TABLE = {
    "R": (2, -2, 1, -1),
    "A": (3, -3, 1, -1),
    "F": (2, -3, 1, -2),
    "C": (3, -2, 2, -1),
    "Z": (2, -2, 1, -1),
    "O": (3, -3, 1, -1),
    "H": (3, -2, 1, -1),
}


@pytest.mark.parametrize("rnd", exact.MODES)
def test_modes(rnd: str) -> None:
    values = np.array([2.5, -2.5, 1.4, -1.4], np.float32)
    assert tuple(round_integral(values, rnd)) == TABLE[rnd]
    assert tuple(exact.round_by(values.astype(np.float64), rnd)) == TABLE[rnd]


def test_half_away_next_to_a_half() -> None:
    just_below = np.nextafter(np.float32(0.5), np.float32(0))
    assert round_integral(np.array([just_below, -just_below, 0.5, -0.5], np.float32), "A").tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize("rnd", "RAFCZ")
@pytest.mark.parametrize("source", SOURCES)
def test_truncation(source: str, rnd: str) -> None:
    lanes, values = SOURCES[source]
    result = truncation(element(source), rnd)(lanes)
    assert result.dtype == lanes.dtype
    got = exact.bf16_values(result) if source == "bf16" else result.astype(np.float64)
    finite = np.isfinite(values)
    expected = values.copy()
    expected[finite] = np.copysign(exact.round_by(values[finite], rnd), values[finite])
    np.testing.assert_array_equal(got, expected)
    assert (np.signbit(got) == np.signbit(values))[~np.isnan(values)].all()
    nan = {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0}[source]
    assert (result.view(f"u{result.itemsize}")[np.isnan(values)] == nan).all()


# --- float to integer -------------------------------------------------------------------------------------------------

FLOAT_TO_INTEGER = [
    ("f32", "si16"),
    ("f32", "si32"),
    ("f32", "si64"),
    ("f16", "si32"),
    ("f16", "si16"),
    ("f16", "si8"),
    ("f16", "ui8"),
    ("bf16", "si32"),
]


def integers_by_rule(values: exact.Array, rnd: str, sat: str, name: str) -> list[int]:
    low, high = RANGES[name]
    finite = np.isfinite(values)
    rounded = values.copy()
    rounded[finite] = exact.round_by(values[finite], rnd)
    clamp = (low, high) if sat == "SAT" or name == "si64" else RANGES["si32"]
    result: list[int] = []
    for value in rounded.tolist():
        if value != value:
            result.append(0)
            continue
        limited = clamp[0] if value <= clamp[0] else clamp[1] if value >= clamp[1] else int(value)
        result.append((limited - low) % (high - low + 1) + low)
    return result


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@pytest.mark.parametrize("rnd", exact.MODES)
@pytest.mark.parametrize(("source", "name"), FLOAT_TO_INTEGER)
def test_float_to_integer(source: str, name: str, rnd: str, sat: str) -> None:
    lanes, values = SOURCES[source]
    step = 5 if source == "f32" else 1
    result = conversion(element(source), element(name), rnd, sat)(lanes[::step])
    assert result.tolist() == integers_by_rule(values[::step], rnd, sat, name)


def test_asserted_float_to_integer() -> None:
    assert convert([32767.5, -32768.5, 1e9, INF, -INF, NAN], "f32", "si16").tolist() == [
        32767, -32768, 32767, 32767, -32768, 0,
    ]  # fmt: skip
    assert convert([255.5, -0.25, -3, INF, NAN], "f16", "ui8").tolist() == [255, 0, 0, 255, 0]
    assert convert([INF, -INF, 2.0**31, -(2.0**31)], "f32", "si32").tolist() == [2**31 - 1, -(2**31)] * 2
    assert convert([INF, -INF, NAN, 2.0**63], "f32", "si64").tolist() == [2**63 - 1, -(2**63), 0, 2**63 - 1]
    assert convert([INF, -INF, NAN], "f16", "si32", "Z").tolist() == [2**31 - 1, -(2**31), 0]


def test_float_to_integer_without_saturation_keeps_low_bits() -> None:
    assert convert([INF, -INF, NAN, 300, -1], "f16", "ui8", sat="NOSAT").tolist() == [255, 0, 0, 44, 255]
    assert convert([INF, -INF, 40000, 65536 + 5], "f32", "si16", sat="NOSAT").tolist() == [-1, 0, 40000 - 65536, 5]


def test_double_and_unsigned_64_bits_of_the_scalar_unit() -> None:
    assert convert([2.0**64, 2.0**63, -1, NAN, 3.9], "f64", "ui64", "Z").tolist() == [2**64 - 1, 2**63, 0, 0, 3]


# --- integer to float -------------------------------------------------------------------------------------------------


def rounded_integer(value: int, fraction: int, rnd: str) -> float:
    """An integer rounded to a significand, by Python integers."""
    lost = max(abs(value).bit_length() - (fraction + 1), 0)
    below, part = value >> lost, Fraction(value & ((1 << lost) - 1), 1 << lost)
    nearer_up = part > Fraction(1, 2)
    tie = part == Fraction(1, 2)
    up = {
        "R": nearer_up or (tie and below % 2 == 1),
        "A": nearer_up or (tie and value > 0),
        "H": nearer_up or tie,
        "F": False,
        "C": part > 0,
        "Z": part > 0 and value < 0,
        "O": part > 0 and below % 2 == 0,
    }[rnd]
    return float((below + up) << lost)


def some_integers(name: str) -> list[int]:
    low, high = RANGES[name]
    if name == "si16":
        return list(range(low, high + 1))
    random = np.random.default_rng(21)
    edges = [s * (2**k + d) for k in range(1, high.bit_length()) for d in range(-5, 6) for s in (1, -1)]
    ties = [
        s * ((2**k) * (2 * n + 1) + d)
        for k in range(5, 38)
        for n in (2**23, 2**24 - 1)
        for d in (-1, 0, 1)
        for s in (1, -1)
    ]
    wide = [int(v) for v in random.integers(low, high, 3000)]
    return [v for v in [*edges, *ties, *wide, low, high, 0] if low <= v <= high]


@pytest.mark.parametrize("rnd", exact.MODES)
@pytest.mark.parametrize(("name", "destination"), [("si16", "f16"), ("si32", "f32"), ("si64", "f32")])
def test_integer_to_float(name: str, destination: str, rnd: str) -> None:
    integers = some_integers(name)
    lanes = np.array(integers, f"i{element(name).bytes}")
    result = conversion(element(name), element(destination), rnd)(lanes)
    assert result.dtype == {"f16": np.float16, "f32": np.float32}[destination]
    assert result.tolist() == [rounded_integer(v, exact.FORMATS[destination][0], rnd) for v in integers]


def test_si64_to_f32_does_not_round_twice() -> None:
    # 2^60 + 2^36 is the middle of two f32; one more would be lost in a double, and the tie would go to even
    integers = np.array([2**60 + 2**36 + 1, -(2**60 + 2**36 + 1), 2**24 + 1, 2**24 + 3], np.int64)
    expected = [2**60 + 2**37, -(2**60 + 2**37), 2**24, 2**24 + 4]
    assert conversion(element("si64"), element("f32"))(integers).tolist() == expected


@pytest.mark.parametrize("name", ["ui8", "si8"])
def test_bytes_to_f16_are_exact(name: str) -> None:
    low, high = RANGES[name]
    lanes = np.arange(low, high + 1).astype("u1" if name == "ui8" else "i1")
    assert conversion(element(name), element("f16"))(lanes).tolist() == list(range(low, high + 1))


def test_si16_to_f32_is_exact() -> None:
    lanes = np.arange(-32768, 32768).astype(np.int16)
    assert conversion(element("si16"), element("f32"))(lanes).tolist() == list(range(-32768, 32768))


def test_integer_to_bf16_rounds_once() -> None:
    integers = some_integers("si64")
    result = exact.bf16_values(conversion(element("i64"), element("bf16"))(np.array(integers, np.int64)))
    assert result.tolist() == [rounded_integer(v, 7, "R") for v in integers]


# --- integer to integer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@table(
    "source, name",
    ("ui16", "ui8"),
    ("si16", "ui8"),
    ("ui32", "ui8"),
    ("ui32", "ui16"),
    ("ui32", "si16"),
    ("si32", "ui8"),
    ("si32", "ui16"),
    ("si32", "si16"),
    ("si64", "si32"),
)
def test_integer_narrowing(source: str, name: str, sat: str) -> None:
    bits, unsigned = element(source).bits, source.startswith("u")
    lowest, highest = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    low, high = RANGES[name]
    around = [v + d for v in (0, low, high, lowest, highest, 300, -300, 70000, -70000) for d in (-2, -1, 0, 1, 2)]
    values = [v for v in around if lowest <= v <= highest]
    result = conversion(element(source), element(name), sat=sat)(
        np.array(values, ("u" if unsigned else "i") + str(bits // 8))
    )
    expected = [min(max(v, low), high) if sat == "SAT" else (v - low) % (high - low + 1) + low for v in values]
    assert result.tolist() == expected


def test_integer_widening() -> None:
    def widen(source: str, destination: str, values: list[int]) -> list[int]:
        dtype = ("u" if source.startswith("u") else "i") + str(element(source).bytes)
        return conversion(element(source), element(destination))(np.array(values, dtype)).tolist()

    assert widen("ui8", "ui16", [0, 255]) == widen("ui8", "ui32", [0, 255]) == [0, 255]
    assert widen("si8", "si16", [-128, 127]) == widen("si8", "si32", [-128, 127]) == [-128, 127]
    assert widen("si16", "ui32", [-1, -32768, 5]) == [2**32 - 1, 2**32 - 32768, 5]
    assert widen("i32", "si64", [-(2**31), 7]) == [-(2**31), 7]


# --- float to float ---------------------------------------------------------------------------------------------------


def directed_to_infinity(values: exact.Array, rnd: str) -> exact.Array:
    """Whether a finite overflow becomes infinite: not where the mode points towards zero."""
    never = np.zeros(values.shape, bool)
    return {"Z": never, "O": never, "F": values < 0, "C": values > 0}.get(rnd, ~never)


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@pytest.mark.parametrize("rnd", exact.MODES)
@pytest.mark.parametrize(("source", "name"), [("f32", "f16"), ("f32", "bf16"), ("bf16", "f16")])
def test_float_to_narrower_float(source: str, name: str, rnd: str, sat: str) -> None:
    lanes, values = SOURCES[source]
    result = conversion(element(source), element(name), rnd, sat)(lanes)
    got = exact.bf16_values(result) if name == "bf16" else result.astype(np.float64)
    fraction, lowest, highest = exact.FORMATS[name]
    largest = (2 - 2.0**-fraction) * 2.0**highest
    rounded = exact.round_to_grid(values, rnd, fraction, lowest)
    beyond = np.abs(rounded) > largest
    infinite = np.isinf(values) | directed_to_infinity(values, rnd)
    limit = np.where(infinite, INF, largest) if sat == "NOSAT" else largest
    rounded = np.where(beyond, np.copysign(limit, values), rounded)
    nan = np.isnan(values)
    assert (got[~nan] == rounded[~nan]).all()
    assert (np.signbit(got) == np.signbit(values))[~nan].all()
    nan_code = 0 if sat == "SAT" else {"f16": 0x7E00, "bf16": 0x7FC0}[name]
    assert (result.view(np.uint16)[nan] == nan_code).all()


@pytest.mark.parametrize("rnd", exact.MODES)
@pytest.mark.parametrize(("name", "form"), [("f16", F16), ("bf16", BF16)])
def test_round_significand(name: str, form: BinaryFormat, rnd: str) -> None:
    values = SOURCES["f32"][0]
    values = values[np.abs(values) < {"f16": 65000, "bf16": 3e38}[name]]
    bits = values.view(np.int32)
    codes = round_significand(bits & 0x7FFFFFFF, (bits >> 31) & 1, F32, form, rnd)
    lanes = codes.astype(np.uint16)
    got = exact.bf16_values(lanes) if name == "bf16" else lanes.view(np.float16).astype(np.float64)
    fraction, lowest, _ = exact.FORMATS[name]
    assert (got == np.abs(exact.round_to_grid(values.astype(np.float64), rnd, fraction, lowest))).all()


def test_asserted_f32_to_f16() -> None:
    result = convert([INF, -INF, NAN, 65504, 123.75, -0.0], "f32", "f16").view(np.uint16).tolist()
    assert result == [0x7BFF, 0xFBFF, 0, 0x7BFF, 0x57BC, 0x8000]
    assert convert([INF, -INF, NAN], "f32", "bf16").tolist() == [0x7F7F, 0xFF7F, 0]
    assert convert([INF, -INF, NAN, 65520, 65519], "f32", "f16", sat="NOSAT").view(np.uint16).tolist() == [
        0x7C00, 0xFC00, 0x7E00, 0x7C00, 0x7BFF,
    ]  # fmt: skip


@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_widening_of_every_pattern(source: str) -> None:
    lanes, values = SOURCES[source]
    result = conversion(element(source), element("f32"))(lanes)
    np.testing.assert_array_equal(result.astype(np.float64), values)
    assert (result.view(np.uint32)[np.isnan(values)] == 0x7FC00000).all()


@pytest.mark.parametrize("name", ["f32", "f16", "bf16"])
def test_double_to_narrower_rounds_once(name: str) -> None:
    random = np.random.default_rng(22)
    fraction = exact.FORMATS[name][0]
    middles = (1 + (2 * random.integers(0, 1 << fraction, 1000) + 1) * 2.0 ** -(fraction + 1)) * 2.0 ** random.integers(
        -12, 12, 1000
    )
    values = np.concatenate(
        [middles, np.nextafter(middles, 0), np.nextafter(middles, INF), -middles, random.normal(0, 1, 1000)]
    )
    result = conversion(element("f64"), element(name))(values)
    got = exact.bf16_values(result) if name == "bf16" else result.astype(np.float64)
    assert got.tolist() == [exact.nearest_even(Fraction(v), *exact.FORMATS[name]) for v in values.tolist()]
    special = conversion(element("f64"), element(name))(np.array([1e300, -1e300, INF, 0.0, -0.0, 1e-300, NAN]))
    inf, sign, nan = {
        "f32": (0x7F800000, 1 << 31, 0x7FC00000),
        "f16": (0x7C00, 1 << 15, 0x7E00),
        "bf16": (0x7F80, 1 << 15, 0x7FC0),
    }[name]
    assert special.view(f"u{special.itemsize}").tolist() == [inf, inf | sign, inf, 0, sign, 0, nan]


def test_widening_to_double() -> None:
    lanes, values = SOURCES["bf16"]
    np.testing.assert_array_equal(conversion(element("bf16"), element("f64"))(lanes), values)
