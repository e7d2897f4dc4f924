"""Floats of 8 and 4 bits: every code, every f16 and bf16 pattern, ties and edges of f32."""

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

from ptosim.effects.element import element
from ptosim.reference.numeric.narrow_formats import DECODING
from ptosim.reference.numeric.value_conversion import conversion
from reference import exact
from tables import table

INF, NAN = float("inf"), float("nan")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def convert(values: list[float], name: str, rnd: str = "R", sat: str = "SAT", source: str = "f32") -> list[int]:
    """f32 values through a conversion, as codes."""
    lanes = np.array(values, np.float32)
    if source == "bf16":
        lanes = lanes.astype(ml_dtypes.bfloat16).view(np.uint16)
    return conversion(element(source), element(name), rnd, sat)(lanes).tolist()


# --- decoding ---------------------------------------------------------------------------------------------------------


@table(
    "name, oracle",
    ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
    ("f8E5M2", ml_dtypes.float8_e5m2),
    ("f8E8M0", ml_dtypes.float8_e8m0fnu),
)
def test_decoding_of_every_code(name: str, oracle: type) -> None:
    codes = np.arange(256, dtype=np.uint8)
    expected = codes.view(oracle).astype(np.float32)
    expected[np.isnan(expected)] = np.array(0x7FC00000, np.uint32).view(np.float32)
    assert DECODING[name][codes].tobytes() == expected.tobytes()


def test_decoding_of_four_bits() -> None:
    assert DECODING["f4E1M2x2"].tolist()[:8] == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]
    assert DECODING["f4E2M1x2"].tolist()[:8] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    for name in ("f4E1M2x2", "f4E2M1x2"):
        assert DECODING[name][8:].tobytes() == (-DECODING[name][:8]).tobytes()


def hif8_value(code: int) -> float:
    """HiF8 read from its bits as a string: sign, prefix, exponent, fraction."""
    text = f"{code:08b}"
    sign, rest = (-1.0 if text[0] == "1" else 1.0), text[1:]
    if rest == "0000000":
        return NAN if text[0] == "1" else 0.0
    if rest == "1101111":
        return sign * INF
    if rest.startswith("0000"):
        return sign * 2.0 ** (int(rest[4:], 2) - 23)
    prefix, width = next(
        (p, w) for p, w in (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0)) if rest.startswith(p)
    )
    exponent_bits, fraction = rest[len(prefix) : len(prefix) + width], rest[len(prefix) + width :]
    exponent = 0
    if width:
        exponent = int("1" + exponent_bits[1:], 2) * (-1 if exponent_bits[0] == "1" else 1)
    return sign * 2.0**exponent * (1 + int(fraction, 2) / 2 ** len(fraction))


def test_decoding_of_hif8() -> None:
    table = DECODING["hif8"]
    assert [table[c] for c in (0x08, 0x40, 0xC0, 0x6E, 0x01, 0x6F, 0xEF)] == [1, 16, -16, 32768, 2.0**-22, INF, -INF]
    np.testing.assert_array_equal(table.astype(np.float64), [hif8_value(code) for code in range(256)])
    assert table.view(np.uint32)[0x80] == 0x7FC00000
    finite = table[np.isfinite(table)]
    assert len(set(finite.tolist())) == len(finite) == 253


# --- asserted pairs ---------------------------------------------------------------------------------------------------


def test_asserted_fp8_pairs() -> None:
    assert convert([1.0625, 1.1875, 1000, INF, NAN], "f8E4M3FN") == [0x38, 0x3A, 0x7E, 0x7E, 0x00]
    assert convert([1.125, 1.375, 1e10], "f8E5M2") == [0x3C, 0x3E, 0x7B]
    assert convert([NAN, INF, -INF], "hif8", "A", "NOSAT") == [0x80, 0x6F, 0xEF]


def test_nan_and_infinity_without_saturation() -> None:
    assert convert([NAN, -NAN, INF, -INF, 1e9, -1e9], "f8E4M3FN", sat="NOSAT") == [0x7F] * 6
    assert convert([NAN, -NAN, INF, -INF, 1e9, -1e9], "f8E5M2", sat="NOSAT") == [0x7E, 0x7E, 0x7C, 0xFC, 0x7C, 0xFC]


def test_saturation() -> None:
    values = [NAN, -NAN, INF, -INF, 1e9, -1e9]
    assert convert(values, "f8E4M3FN") == [0, 0, 0x7E, 0xFE, 0x7E, 0xFE]
    assert convert(values, "f8E5M2") == [0, 0, 0x7B, 0xFB, 0x7B, 0xFB]
    assert convert(values, "hif8", "A") == [0, 0, 0x6E, 0xEE, 0x6E, 0xEE]


def test_largest_ties() -> None:
    # 464 is the middle of 448 and 480, 61440 that of 57344 and 65536
    assert convert([464, np.nextafter(np.float32(464), np.float32(INF))], "f8E4M3FN", "R", "NOSAT") == [0x7E, 0x7F]
    assert convert([464], "f8E4M3FN", "A", "NOSAT") == [0x7F]
    assert convert([61440, np.nextafter(np.float32(61440), np.float32(0))], "f8E5M2", "R", "NOSAT") == [0x7C, 0x7B]
    # towards zero, nothing finite overflows
    assert convert([1e9, -1e9, INF], "f8E5M2", "Z", "NOSAT") == [0x7B, 0xFB, 0x7C]
    assert convert([1e9, -1e9], "f8E5M2", "F", "NOSAT", "bf16") == [0x7B, 0xFC]
    assert convert([1e9, -1e9], "f8E5M2", "C", "NOSAT", "bf16") == [0x7C, 0xFB]


def test_four_bit_pairs() -> None:
    assert convert([0.625, 0.875, -0.625, -0.0, 100, -100, INF, NAN], "f4E1M2x2", source="bf16") == [
        2, 4, 10, 8, 7, 15, 7, 0,
    ]  # fmt: skip
    assert convert([0.75, 1.25, 1.75, -0.75, 7, -INF, NAN, -NAN], "f4E2M1x2", source="bf16") == [
        2, 2, 4, 10, 7, 15, 0, 0,
    ]  # fmt: skip


# --- every code round-trips -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "hif8", "f4E1M2x2", "f4E2M1x2"])
@pytest.mark.parametrize("rnd", "RAFCZH")
def test_every_code_round_trips(name: str, rnd: str) -> None:
    codes = np.arange(len(DECODING[name]), dtype=np.uint8)
    back = conversion(element("f32"), element(name), rnd, "NOSAT")(DECODING[name])
    numbers = ~np.isnan(DECODING[name])
    assert (back[numbers] == codes[numbers]).all()


@pytest.mark.parametrize("name", ["f4E1M2x2", "f4E2M1x2"])
def test_four_bits_to_bf16(name: str) -> None:
    lanes = conversion(element(name), element("bf16"))(np.arange(16, dtype=np.uint8))
    np.testing.assert_array_equal(exact.bf16_values(lanes), DECODING[name].astype(np.float64))


# --- rounding ---------------------------------------------------------------------------------------------------------

# fraction bits, exponent of the lowest normal number, largest finite value
GRIDS = {
    "f8E4M3FN": (3, -6, 448.0),
    "f8E5M2": (2, -14, 57344.0),
    "f4E1M2x2": (2, 0, 1.75),
    "f4E2M1x2": (1, 0, 6.0),
}


@np.errstate(all="ignore")
def sources() -> dict[str, tuple[exact.Array, exact.Array]]:
    """Lanes by source type, and their values as double."""
    f32 = np.concatenate([exact.some_f32(10, 50_000), np.arange(-(1 << 15), 1 << 15).astype(np.float32) / 1024])
    return {
        "f32": (f32, f32.astype(np.float64)),
        "f16": (exact.all_f16(), exact.all_f16().astype(np.float64)),
        "bf16": (exact.all_bf16(), exact.bf16_values(exact.all_bf16())),
    }


SOURCES = sources()


def may_overflow(values: exact.Array, rnd: str) -> exact.Array:
    """Whether rounding moves away from zero, or to the nearest: only then can a finite value overflow."""
    return {"Z": values != values, "F": values < 0, "C": values > 0}.get(rnd, np.ones(values.shape, bool))


def check_magnitudes(name: str, codes: exact.Array, values: exact.Array, rounded: exact.Array) -> None:
    """Codes decode to the rounded values, with the sign of the source also on zeros."""
    decoded = DECODING[name][codes].astype(np.float64)
    np.testing.assert_array_equal(decoded, rounded)
    assert (np.signbit(decoded) == np.signbit(values)).all()


@pytest.mark.parametrize("rnd", "RAFCZH")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", GRIDS)
def test_rounding_of_every_pattern(name: str, source: str, rnd: str) -> None:
    lanes, values = SOURCES[source]
    fraction, lowest, largest = GRIDS[name]
    codes = conversion(element(source), element(name), rnd, "SAT")(lanes)
    assert (codes[np.isnan(values)] == 0).all()
    number = ~np.isnan(values)
    rounded = np.clip(exact.round_to_grid(values, rnd, fraction, lowest), -largest, largest)
    check_magnitudes(name, codes[number], values[number], rounded[number])


@pytest.mark.parametrize("rnd", "RAFCZH")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2"])
def test_overflow_without_saturation(name: str, source: str, rnd: str) -> None:
    lanes, values = SOURCES[source]
    fraction, lowest, largest = GRIDS[name]
    exceptional = {"f8E4M3FN": NAN, "f8E5M2": INF}[name]
    codes = conversion(element(source), element(name), rnd, "NOSAT")(lanes)
    rounded = exact.round_to_grid(values, rnd, fraction, lowest)
    beyond = np.abs(rounded) > largest
    overflow = np.isinf(values) | (beyond & may_overflow(values, rnd))
    rounded = np.where(beyond, np.copysign(np.where(overflow, exceptional, largest), values), rounded)
    np.testing.assert_array_equal(DECODING[name][codes].astype(np.float64), rounded)


@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
@pytest.mark.parametrize("rnd", "AH")
@pytest.mark.parametrize("source", SOURCES)
def test_hif8_rounding(source: str, rnd: str, sat: str) -> None:
    lanes, values = SOURCES[source]
    codes = conversion(element(source), element("hif8"), rnd, sat)(lanes)
    exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))[1] - 1
    size = np.abs(exponent)
    fraction = np.select([size <= 3, size <= 7, size <= 15], [3, 2, 1], 0)
    q = np.ldexp(1.0, np.maximum(exponent - fraction, -22))
    rounded = np.where(
        np.isfinite(values), exact.round_by(np.where(np.isfinite(values), values, 0) / q, rnd) * q, values
    )
    overflow = np.abs(values) >= 1.25 * 2**15
    rounded = np.where(overflow, np.copysign(32768.0 if sat == "SAT" else INF, values), rounded)
    rounded[np.isnan(values)] = 0 if sat == "SAT" else NAN
    decoded = DECODING["hif8"][codes].astype(np.float64)
    np.testing.assert_array_equal(decoded, rounded)
    assert (codes[decoded == 0] == 0).all()


def test_hif8_nearest_even_in_the_ordinary_range() -> None:
    # fixpipe rounds to hif8 this way: 1.0625 lies between 1 (even) and 1.125, 1.1875 between 1.125 and 1.25 (even)
    assert convert([1.0625, 1.1875, 2.0**-23, 40960, -40960], "hif8", "R", "NOSAT") == [0x08, 0x0A, 0x00, 0x6F, 0xEF]
