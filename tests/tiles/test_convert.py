"""Conversions of tiles against exact arithmetic: every pair, every rounding, edge values.

The expected values are found with fractions: a number is rounded to the grid of its target by the definition of the
rounding, and only then clamped or wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import floor

import ml_dtypes
import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from tables import table
from tile_cases import NAN, Array, is_float
from tile_numbers import bits, same, samples
from tile_programs import Given, dtype_of, run, run_each

MODES = {"RINT": "R", "ROUND": "A", "FLOOR": "F", "CEIL": "C", "TRUNC": "Z", "ODD": "O"}

WRAPPING = {
    *(("f16", to) for to in ("ui8", "si8", "i8", "i16")),
    ("f32", "i16"),
    ("i64", "i32"),
    ("i32", "i16"),
}
PAIRS = (
    *(("f32", to) for to in ("i32", "i64", "f32", "f16", "bf16", "i16", "f8E4M3FN", "f8E5M2", "!pto.hif8")),
    *(("f16", to) for to in ("f32", "i32", "i16", "ui8", "si8", "i8", "!pto.hif8")),
    *(("bf16", to) for to in ("f32", "i32", "f16")),
    *(("i16", to) for to in ("f32", "i32", "ui32", "f16", "ui8")),
    *(("i32", to) for to in ("f32", "f16", "i16", "ui16", "ui8", "i64")),
    *(("ui32", to) for to in ("i16", "ui16", "ui8")),
    *(("ui8", to) for to in ("ui16", "f16", "ui32")),
    *(("si8", to) for to in ("f16", "si16", "i32")),
    *(("i64", to) for to in ("i32", "f32")),
    *((source, "f32") for source in ("f8E4M3FN", "f8E5M2")),
)
FIXED = {("f32", "!pto.hif8"): "A", ("f16", "!pto.hif8"): "A", ("i32", "f16"): "R"}
"""Pairs that round in one way only."""
SHAPES = ("2x128", "3x128, valid=3x77", "2x320, valid=2x300", "3x64, valid=3x1", "2x64, valid=2x0")


# --- the grid of a type, and rounding to it ---------------------------------------------------------------------------


def hif8(code: int) -> Fraction | None:
    """The magnitude of a code without its sign, None for inf."""
    if code in (0x00, 0x6F):
        return Fraction(0) if code == 0 else None
    if code < 8:
        return Fraction(2) ** ((code & 7) - 23)
    if code < 16:
        return 1 + Fraction(code & 7, 8)
    if code < 32:
        return (1 + Fraction(code & 7, 8)) * Fraction(2) ** (-1 if code & 8 else 1)
    if code < 64:
        return (1 + Fraction(code & 7, 8)) * Fraction(2) ** ((-1 if code & 16 else 1) * (2 + (code >> 3 & 1)))
    if code < 96:
        return (1 + Fraction(code & 3, 4)) * Fraction(2) ** ((-1 if code & 16 else 1) * (4 + (code >> 2 & 3)))
    return (1 + Fraction(code & 1, 2)) * Fraction(2) ** ((-1 if code & 16 else 1) * (8 + (code >> 1 & 7)))


def grid(element: str) -> tuple[list[Fraction], list[int]]:
    """The finite magnitudes of a float type in rising order, and the code of each."""
    if element == "!pto.hif8":
        found = sorted((value, code) for code in range(128) if (value := hif8(code)) is not None)
        return [value for value, _ in found], [code for _, code in found]
    width = dtype_of(element).itemsize
    codes = np.arange(1 << 8 * width - 1, dtype=f"u{width}")
    with np.errstate(invalid="ignore"):
        values = codes.view(dtype_of(element)).astype("f8")
    finite = np.isfinite(values)
    return [Fraction(float(value)) for value in values[finite]], [int(code) for code in codes[finite]]


def choose(low: int, value: Fraction, below: Fraction, above: Fraction, mode: str, negative: bool, even: bool) -> int:
    """Which of two neighbours in magnitude: 0 or 1 added to `low`."""
    if value == below:
        return low
    middle = (below + above) / 2
    up = {
        "Z": False,
        "F": negative,
        "C": not negative,
        "O": even,
        "R": value > middle or (value == middle and not even),
        "A": value >= middle,
    }[mode]
    return low + up


def to_integer(value: Fraction, mode: str) -> int:
    magnitude = abs(value)
    low = floor(magnitude)
    rounded = choose(low, magnitude, Fraction(low), Fraction(low + 1), mode, value < 0, low % 2 == 0)
    return -rounded if value < 0 else rounded


class Floats:
    """Rounds to a float type, clamped or not, and gives codes."""

    def __init__(self, element: str) -> None:
        self.element = element
        self.values, self.codes = grid(element)
        self.sign = 1 << 8 * dtype_of(element).itemsize - 1

    def __call__(self, number: float, mode: str, clamped: bool) -> int:
        is_hif8 = self.element == "!pto.hif8"
        if np.isnan(number):
            return 0 if clamped else 0x80 if is_hif8 else NAN[self.element]
        negative = bool(np.signbit(number)) and not (number == 0 and isinstance(number, int))
        if np.isinf(number):
            code = self.codes[-1] if clamped else 0x6F
        else:
            magnitude = abs(Fraction(number))
            low = min(int(np.searchsorted(self._floats, float(magnitude), "right")) - 1, len(self.values) - 1)
            while self.values[low] > magnitude:
                low -= 1
            if low == len(self.values) - 1:  # beyond the largest: hif8 goes on to what would be its next number
                beyond = is_hif8 and magnitude >= Fraction(5, 4) * 2**15
                code = 0x6F if beyond and not clamped else self.codes[-1]
            else:
                pair = self.values[low], self.values[low + 1]
                code = self.codes[choose(low, magnitude, *pair, mode, negative, self.codes[low] % 2 == 0)]
        if is_hif8 and code == 0:
            return 0
        return code | self.sign * negative

    @property
    def _floats(self) -> Array:
        if not hasattr(self, "_cached"):
            self._cached = np.array([float(value) for value in self.values])
        return self._cached


floats = cache(Floats)


def expected_of(source: str, to: str, mode: str, values: Array, on: bool) -> Array:
    """Element by element."""
    dtype = dtype_of(to)
    wraps = (source, to) in WRAPPING and not on
    numbers = [int(x) if values.dtype.kind in "iu" else float(x) for x in values.ravel()]
    if dtype.kind in "iu" and to != "!pto.hif8":
        return np.array([integer(x, to, mode, wraps) for x in numbers], object).astype(dtype).reshape(values.shape)
    word = f"u{dtype.itemsize}"
    if to == "f32":
        return in_f32(source, numbers, mode).reshape(values.shape)
    convert = floats(to)
    codes = [convert(x, mode, clamped=to != "!pto.hif8") for x in numbers]
    return np.array(codes, word).view(dtype).reshape(values.shape)


def integer(number: float, to: str, mode: str, wraps: bool) -> int:
    limits = np.iinfo(dtype_of(to))
    if number != number:
        return 0
    wide = (-(2**31), 2**31 - 1) if dtype_of(to).itemsize < 8 else (int(limits.min), int(limits.max))
    if number in (np.inf, -np.inf):
        number = 1e30 if number > 0 else -1e30
    whole = to_integer(Fraction(number), mode)
    if not wraps:
        return min(max(whole, int(limits.min)), int(limits.max))
    if not isinstance(number, int):
        whole = min(max(whole, wide[0]), wide[1])
    width = 8 * dtype_of(to).itemsize
    low = whole & (1 << width) - 1
    return low - (1 << width) if limits.min < 0 and low >> width - 1 else low


def in_f32(source: str, numbers: list[float], mode: str) -> Array:
    """Floats are exact (f32 itself becomes whole), integers are rounded between two neighbours."""
    if source == "f32":
        rounding: dict[str, Callable[[Array], Array]] = {
            "R": np.rint,
            "A": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
            "F": np.floor,
            "C": np.ceil,
            "Z": np.trunc,
        }
        found = rounding[mode](np.array(numbers)).astype("f4")
    elif source in ("i32", "i64"):
        found = np.array([nearest_f32(int(x), mode) for x in numbers], "f4")
    else:
        found = np.array(numbers, "f4")
    bits(found)[np.isnan(found)] = NAN["f32"]
    return found


def nearest_f32(number: int, mode: str) -> float:
    magnitude = abs(number)
    unit = 1 << max(magnitude.bit_length() - 24, 0)
    low = magnitude // unit
    below, above = Fraction(low * unit), Fraction((low + 1) * unit)
    found = choose(low, Fraction(magnitude), below, above, mode, number < 0, low % 2 == 0)
    return float(found * unit * (-1 if number < 0 else 1))


# --- values -----------------------------------------------------------------------------------------------------------


def values_of(element: str, to: str, shape: tuple[int, int]) -> Array:
    if element in ("f8E4M3FN", "f8E5M2"):
        return np.resize(np.arange(256, dtype=np.uint8), shape).view(dtype_of(element))
    found = samples(element, shape, 7)
    with np.errstate(over="ignore"):
        add_edges(found, element, to)
    return found


def add_edges(found: Array, element: str, to: str) -> None:
    """Ties, and values near the ends of the target."""
    if is_float(element):
        ties = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 127.5, 128.5, 255.5, -128.5, 32767.5, 40000.0, -40000.0, 3e9])
        flat = found.reshape(-1)
        flat[5 : 5 + len(ties)] = ties.astype("f4").astype(flat.dtype)
        if to in ("f8E4M3FN", "f8E5M2", "!pto.hif8"):
            narrow = np.array([1.0625, 1.1875, 1000, 440, 465, 1.125, 1.375, 1e10, 2**-9, 2**-10, 40000, 45000, 2**-23])
            flat[30 : 30 + len(narrow)] = narrow.astype("f4").astype(flat.dtype)
    elif element == "i64":
        found.reshape(-1)[:4] = [2**24 + 1, -(2**24) - 3, 2**31, -(2**31) - 1]


def modes(source: str, to: str) -> list[str]:
    if to in ("f8E4M3FN", "f8E5M2"):
        return ["RINT", "ROUND", "TRUNC"]
    return [mode for mode in MODES if (source, to, mode) != ("f32", "f32", "ODD")]


@pytest.mark.parametrize(("source", "to"), PAIRS, ids=lambda name: name.removeprefix("!pto."))
def test_pairs(source: str, to: str, full: bool) -> None:
    turn = PAIRS.index((source, to))
    known = modes(source, to)
    for shape in SHAPES if full else SHAPES[turn % 3 :][:1]:
        check_pair(source, to, known if full else known[turn % len(known) :][:1], shape)


def check_pair(source: str, to: str, known: list[str], shape: str, on: bool = False) -> None:
    """All these roundings."""
    extents, *fields = shape.split(", ")
    a = Given(", ".join([f"{extents}x{source}", *fields]))
    a.holds = values_of(source, to, (a.rows, a.cols))
    sat = ", satmode = #pto<saturation_mode ON>" if on else ""
    got = run_each(
        {mode: f"pto.tcvt ins(%a {{rmode = #pto<round_mode {mode}>{sat}}} : A) outs(%d : D)" for mode in known},
        a=a,
        d=Given(", ".join([f"{extents}x{to}", *fields])),
        again=True,
    )
    rows, cols = a.region
    for mode in known:
        letter, of = FIXED.get((source, to), MODES[mode]), f"{shape}, {mode}"
        same(got[mode]["d"].valid, expected_of(source, to, letter, a.holds[:rows, :cols], on), of)
        assert got[mode]["d"].unchanged_outside(), of


@pytest.mark.parametrize(("source", "to"), sorted(WRAPPING))
def test_satmode_on_clamps(source: str, to: str) -> None:
    check_pair(source, to, ["RINT"], SHAPES[1], on=True)


def test_the_default_rounds_to_nearest_even() -> None:
    a = np.resize(np.array([0.5, 1.5, 2.5, -3.5, 7.2, 1e10, np.nan], "f4"), (2, 64))
    got = run("pto.tcvt ins(%a : A) outs(%d : D)", a=Given("2x64xf32", a), d=Given("2x64xi32"))
    expected = np.resize(np.array([0, 2, 2, -4, 7, 2**31 - 1, 0], "i4"), (2, 64))
    same(got["d"].valid, expected)


def test_a2a3_converts_i32_to_f16() -> None:
    a = np.resize(np.array([0, 1, -5, 2049, 70000, -(2**31), 2**31 - 1], "i4"), (2, 64))
    given = {"a": Given("2x64xi32", a), "d": Given("2x64xf16")}
    got = run("pto.tcvt ins(%a {rmode = #pto<round_mode FLOOR>} : A) outs(%d : D)", target="a2a3", **given)
    same(got["d"].valid, np.resize(np.array([0, 1, -5, 2048, 65504, -65504, 65504], "f2"), (2, 64)))


def test_dynamic_regions() -> None:
    a = samples("f16", (4, 128), 1, tame=True)
    got = run(
        "pto.tcvt ins(%a : A) outs(%d : D)", a=Given("4x128xf16", a, (3, 70)), d=Given("4x128xf32", None, (3, 70))
    )
    same(got["d"].valid, a[:3, :70].astype("f4"))
    assert got["d"].unchanged_outside()


def test_narrowing_in_place() -> None:
    a = samples("f32", (4, 64), 1, tame=True)
    got = run(
        "pto.tcvt ins(%a : A) outs(%d : D)",
        b=Given("1x32xf32"),
        d=Given("4x64xf16", address=0x4000),
        a=Given("4x64xf32", a, address=0x4000),
        check=False,  # the two tiles are filled one after the other, in no order that the machine keeps
    )
    same(got["d"].valid, a.astype("f2"))


# --- pairs of four-bit floats -----------------------------------------------------------------------------------------

FP4 = {
    "!pto.f4E1M2x2": [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75],
    "!pto.f4E2M1x2": [0, 0.5, 1, 1.5, 2, 3, 4, 6],
}


def nibble(number: float, element: str, mode: str) -> int:
    if number != number:
        return 0
    values = [Fraction(value) for value in FP4[element]]
    magnitude, sign = abs(number), 8 * int(np.signbit(number))
    if magnitude >= values[-1]:
        return 7 | sign
    low = max(code for code, value in enumerate(values) if value <= magnitude)
    pair = values[low], values[low + 1]
    return choose(low, Fraction(magnitude), *pair, mode, sign > 0, low % 2 == 0) | sign


@pytest.mark.parametrize("mode", ["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"])
@pytest.mark.parametrize("element", FP4)
@pytest.mark.parametrize("cols", [64, 50])
def test_to_four_bits(element: str, mode: str, cols: int) -> None:
    a = samples("bf16", (2, 128), 3)
    a[0, :16] = np.array([0.625, 0.875, 0.75, 1.25, 1.75, 2.5, 5, 7, -0.0, -0.625, -0.125, 0.125, 0.25, 3.5, -5, -6])
    got = run(
        f"pto.tcvt ins(%a {{rmode = #pto<round_mode {mode}>}} : A) outs(%d : D)",
        a=Given(f"2x128xbf16, valid=2x{2 * cols}", a),
        d=Given(f"2x64x{element}, valid=2x{cols}"),
        again=True,
    )
    codes = np.array([[nibble(float(x), element, MODES[mode]) for x in row] for row in a])
    expected = (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)
    same(got["d"].valid, expected[:, :cols])
    assert got["d"].unchanged_outside()


@pytest.mark.parametrize("element", FP4)
@pytest.mark.parametrize("cols", [64, 50])
def test_from_four_bits(element: str, cols: int) -> None:
    a = np.resize(np.arange(256, dtype=np.uint8), (4, 64))
    got = run(
        "pto.tcvt ins(%a : A) outs(%d : D)",
        a=Given(f"4x64x{element}, valid=4x{cols}", a),
        d=Given(f"4x128xbf16, valid=4x{2 * cols}"),
        again=True,
    )
    numbers = np.array(FP4[element] + [-value for value in FP4[element]]).astype(ml_dtypes.bfloat16)
    bits(numbers)[8] = 0x8000
    expected = np.stack([numbers[a & 15], numbers[a >> 4]], axis=-1).reshape(4, 128)
    same(got["d"].valid, expected[:, : 2 * cols])
    assert got["d"].unchanged_outside()


@pytest.mark.parametrize("cols", [64, 50])
def test_from_hif8(cols: int) -> None:
    a = np.resize(np.arange(256, dtype=np.uint8), (4, 64))
    got = run(
        "pto.tcvt ins(%a : A) outs(%d : D)",
        a=Given(f"4x64x!pto.hif8, valid=4x{cols}", a),
        d=Given(f"4x64xf32, valid=4x{cols}"),
    )
    magnitudes = [np.inf if (value := hif8(code)) is None else float(value) for code in range(128)]
    table = np.array(magnitudes + [-value for value in magnitudes], "f4")
    bits(table)[0x80] = NAN["f32"]
    same(got["d"].valid, table[a][:, :cols])


# --- what is refused --------------------------------------------------------------------------------------------------


@table(
    "source, to, mode, message",
    ("f32", "ui8", "RINT", "pto.tcvt does not convert f32 to ui8"),
    ("i32", "i32", "RINT", "pto.tcvt does not convert i32 to i32"),
    ("f32", "f32", "ODD", "not rounded to odd whole numbers"),
    ("f32", "f8E4M3FN", "FLOOR", "rounds as R, A, H, Z, not F"),
)
def test_refused(source: str, to: str, mode: str, message: str) -> None:
    with pytest.raises(PTOError, match=message):
        run(
            f"pto.tcvt ins(%a {{rmode = #pto<round_mode {mode}>}} : A) outs(%d : D)",
            a=Given(f"2x64x{source}"),
            d=Given(f"2x64x{to}"),
        )


@pytest.mark.parametrize("pair", ["f16 f32", "f32 f16", "f8E4M3FN f32", "i64 f32", "f32 i64", "i32 i16", "ui32 ui8"])
def test_a_register_is_a_load_a_conversion_and_a_store(pair: str) -> None:
    """Lanes that become wider or narrower are spread by the load or packed by the store, whatever the tail."""
    source, to = (f"!pto.tile_buf<vec, 2x64x{element}, valid=2x40>" for element in pair.split())
    lowered = ptosim.load(f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k() attributes {{pto.kernel}} {{
  %a = pto.alloc_tile : {source}
  %b = pto.alloc_tile : {to}
  pto.tcvt ins(%a : {source}) outs(%b : {to})
  return
}}
}}
""").lowered()
    found = re.findall(r"(?<!!)pto\.(v(?!ecscope)\w+)", re.sub(r"//.*", "", str(lowered)))
    assert [name for name in found if name != "vbitcast"] == ["vlds", "vcvt", "vsts"]
