"""Every quantisation mode, with a word for each channel and with a scalar, against its formula; and their payloads."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import ptosim
from cube_programs import Text, pointer_type
from fixpipe_programs import padded, quant, row_in_l0c, stored, word

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.3, -2.7, 5.5, 6.5, -7.5, 100.25, -131.7, 250.1, 17.3, -0.01, 2049.0, -33.3]
INTEGERS = [0, 1, -1, 3, 5, 7, -9, 100, -100, 255, 256, -300, 2049, 4099, -60001, 12345]
SCALES = [1.0, 0.5, -0.25, 1.5] * 4
OFFSETS = [0, 10, -200, 255, -256, 3, 100, -5] * 2
SHIFTS = [0, 1, 3, 15] * 4
SIGNS = [True, False] * 8

FAMILIES = {
    "qf322f16_pre": ("f32", "f16"),
    "qf322bf16_pre": ("f32", "bf16"),
    "qf322f32_pre": ("f32", "f32"),
    "qf322fp8_pre": ("f32", "f8E4M3FN"),
    "qf322hif8_pre": ("f32", "hif8"),
    "qf322hif8_pre_hybrid": ("f32", "hif8"),
    "qf322b8_pre": ("f32", "ui8"),
    "qf322s4_pre": ("f32", "i4"),
    "qf162b8_pre": ("f32", "i8"),
    "qf162s4_pre": ("f32", "i4"),
    "qf162s16_pre": ("i32", "i16"),
    "req8": ("i32", "ui8"),
    "req4": ("i32", "i4"),
    "deqf16": ("i32", "f16"),
    "deqs32_int": ("i32", "i32"),
    "deqs16": ("i32", "i16"),
    "qs322bf16_pre": ("i32", "bf16"),
}
MODES = [
    *((family, *kinds) for family, kinds in FAMILIES.items()),
    *((family, "f32", "si4") for family in ("qf322s4_pre", "qf162s4_pre")),
    *(("qf322b8_pre", "f32", "i8"), ("qf162b8_pre", "f32", "ui8"), ("req8", "i32", "i8"), ("req4", "i32", "si4")),
    ("qf322fp8_pre", "f32", "f8E5M2"),
]
WITH_OFFSET = {"qf322b8_pre", "qf322s4_pre", "qf162b8_pre", "qf162s4_pre", "req8", "req4"}


def accumulators(family: str) -> list[float]:
    """Sixteen values that the destination can hold or that are clamped."""
    if FAMILIES[family][0] == "i32":
        return list(INTEGERS)
    small = "fp8" in family or "hif8" in family
    return [float(np.float32(40.1 if small and x > 1000 else x)) for x in FLOATS]


def to_even(x: Fraction) -> int:
    return round(x)  # of a Fraction: halves to the even neighbour


def hif8(code: int) -> float:
    """Sign; a prefix that says how many exponent bits follow; sign and rest of the exponent; fraction."""
    bits, sign = code & 0x7F, -1.0 if code & 0x80 else 1.0
    for width, prefix, exponent_bits in ((2, 3, 4), (2, 2, 3), (2, 1, 2), (3, 1, 1), (4, 1, 0)):
        if bits >> (7 - width) == prefix:
            rest = 7 - width - exponent_bits
            field = bits >> rest & ((1 << exponent_bits) - 1)
            half = 1 << exponent_bits >> 1
            exponent = (half + field % half if half else 0) * (-1 if half and field >= half else 1)
            return sign * 2.0**exponent * (1 + (bits & ((1 << rest) - 1)) / (1 << rest))
    return sign * 2.0 ** ((bits & 7) - 23) if bits & 7 else 0.0


def nearest_hif8(x: float) -> int:
    """Of the finite codes; 0x6F and 0xEF are infinities, 0x80 is NaN. No value here lies halfway."""
    codes = [code for code in range(256) if code not in (0x6F, 0xEF, 0x80)]
    return min(codes, key=lambda code: abs(hif8(code) - x))


def scaled(family: str, x: float, scale: float, offset: int, shift: int) -> Fraction:
    """The first step, as an f32 (integers that stay integers are exact)."""
    if family == "deqs16":
        return Fraction(int(x) >> (shift + 1))
    value = Fraction(float(np.float16(x))) if family.startswith("qf16") else Fraction(x)
    value = value * Fraction(scale) + (offset if family in WITH_OFFSET else 0)
    return value if family == "deqs32_int" else Fraction(float(np.float32(float(value))))


def expected(family: str, dest: str, x: float, scale: float, offset: int, shift: int, signed: bool | None) -> int:
    """The bits of the result. `signed` None: the destination decides."""
    value = scaled(family, x, scale, offset, shift)
    if dest == "hif8":
        return nearest_hif8(float(value))
    kinds = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn}
    kinds["f8E5M2"] = ml_dtypes.float8_e5m2
    if dest in kinds:
        number = np.array([float(value)], np.float32).astype(kinds[dest])
        return int(number.view(f"u{number.itemsize}")[0])
    bits = {"i4": 4, "si4": 4, "i8": 8, "ui8": 8, "i16": 16, "i32": 32}[dest]
    is_signed = signed if bits == 8 and signed is not None else dest != "ui8"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    return min(max(to_even(value), low), high) & ((1 << bits) - 1)


def bits_of(found: np.ndarray, dest: str) -> list[int]:
    if dest.endswith("i4"):
        return [int(byte) >> shift & 15 for byte in found for shift in (0, 4)]
    return found.view(f"u{found.itemsize}").tolist()


def plus_zero(bits: int, dest: str) -> int:
    """-0.0 * scale may have either sign in an exact formula."""
    return (
        0
        if bits == {"f16": 0x8000, "bf16": 0x8000, "f32": 1 << 31, "f8E4M3FN": 0x80, "f8E5M2": 0x80}.get(dest)
        else bits
    )


@pytest.mark.parametrize(("family", "source", "dest"), MODES)
def test_a_word_for_each_channel(family: str, source: str, dest: str) -> None:
    values = accumulators(family)
    channels = list(zip(SCALES, OFFSETS, SHIFTS, SIGNS, strict=True))
    words = [word(scale, shift, offset, signed) for scale, offset, shift, signed in channels]
    found = bits_of(stored(values, dest, quant(f"{family}_vec"), source=source, words=words), dest)
    wanted = [expected(family, dest, x, *channel) for x, channel in zip(values, channels, strict=True)]
    assert [plus_zero(bits, dest) for bits in found] == [plus_zero(bits, dest) for bits in wanted]


@pytest.mark.parametrize("scale", [1.0, -0.25])
@pytest.mark.parametrize(("family", "source", "dest"), MODES)
def test_one_scalar_for_all(family: str, source: str, dest: str, scale: float) -> None:
    """No offset, a shift of 1, and the sign of the destination type."""
    values = accumulators(family)
    found = bits_of(stored(values, dest, quant(f"{family}_scalar"), ((scale, "f32"),), source), dest)
    wanted = [expected(family, dest, x, scale, 0, 0, None) for x in values]
    assert [plus_zero(bits, dest) for bits in found] == [plus_zero(bits, dest) for bits in wanted]


def test_no_convert_ignores_its_payload() -> None:
    clauses = quant("no_convert")
    np.testing.assert_array_equal(stored([3, -1.5], "f32", clauses, ((7.0, "f32"),)), [3, -1.5])
    np.testing.assert_array_equal(stored([3, -1], "i32", clauses, ((7.0, "f32"),), "i32"), [3, -1])


@pytest.mark.parametrize("pointer", [0x80, 0x85, 0x10080, 0x30080])
def test_of_a_pointer_only_the_row_counts(pointer: int) -> None:
    """Words come from the first segment, from a multiple of 128; another segment is remarked on."""
    text = Text(x=pointer_type("f32", "gm"), w=pointer_type("ui64", "gm"), y=pointer_type("f32", "gm"))
    row_in_l0c(text, 3, "f32")
    text.plain("%w", 0, "ui64", 64)
    ends = [text.pointer(0, "ui64", "l1"), text.pointer(0x80, "f32", "fb"), text.number(1)]
    types = [pointer_type("ui64", "l1"), pointer_type("f32", "fb"), *["i64"] * 4]
    text.op("mte_l1_fb", ends, types, f" nburst({', '.join(text.integers(1, 0, 0))})")
    clauses = f"pre_quant({text.pointer(pointer, 'f32', 'fb')}, mode = qf322f32_pre_vec)"
    text.store("%y", "f32", 1, 3, 3, clauses, types=(pointer_type("f32", "fb"),))
    kernel, words, y = text.kernel(), padded([word(2), word(3), word(4)], np.uint64), np.zeros(3, np.float32)
    kernel(padded([1, 1, 1], np.float32), words, y)
    np.testing.assert_array_equal(y, [2, 3, 4])
    report = ptosim.check(kernel.kernel, padded([1, 1, 1], np.float32), words, y)
    remarks = [found for found in report.findings if "another segment" in found.message]
    assert len(remarks) == (1 if pointer >> 16 else 0)
