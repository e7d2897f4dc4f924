"""The float formats as data: where their bits are, what their codes mean. Converting lanes is left to the engines."""

from dataclasses import dataclass

_NAN = float("nan")
_INF = float("inf")


@dataclass(frozen=True, slots=True)
class BinaryFormat:
    """Sign, exponent, fraction: the layout of IEEE formats and, but for the highest codes, of the 8- and 4-bit ones."""

    fraction: int
    bias: int

    @property
    def infinity(self) -> int:
        """The code of infinity, where an exponent of all ones means infinity or NaN; all below are finite."""
        return (2 * self.bias + 1) << self.fraction

    @property
    def nan(self) -> int:
        """The canonical quiet NaN of such a format."""
        return self.infinity | 1 << (self.fraction - 1)

    @property
    def width(self) -> int:
        """Bits below the sign."""
        return self.infinity.bit_length()

    def magnitude(self, code: int) -> float:
        """The value of a code without sign, as if the highest exponent were an ordinary one."""
        exponent, rest = code >> self.fraction, code & ((1 << self.fraction) - 1)
        significand = rest / (1 << self.fraction) + (1 if exponent else 0)
        return significand * 2.0 ** (max(exponent, 1) - self.bias)


F64 = BinaryFormat(52, 1023)
F32 = BinaryFormat(23, 127)
F16 = BinaryFormat(10, 15)
BF16 = BinaryFormat(7, 127)
BINARY_FORMATS = {"f64": F64, "f32": F32, "f16": F16, "bf16": BF16}


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """A format of 8 or 4 bits: its finite codes, and what becomes of values beyond them. All codes are without sign."""

    layout: BinaryFormat | None  # None: HiF8, whose exponent has no fixed width
    sign: int  # the sign bit
    values: tuple[float, ...]  # by code
    largest: int  # the code of the largest finite value
    infinity: int  # the code of an overflow that does not saturate
    nan: int  # the canonical NaN; it has no sign
    overflow_at: float  # the grid point after the largest value: what rounds to it overflows


# HiF8: a prefix code after the sign tells how wide the exponent is (lowest code with that prefix, exponent, fraction).
# An exponent is its sign, then its size below an implicit leading one.
HIF8_PREFIXES = ((0x60, 4, 1), (0x40, 3, 2), (0x20, 2, 3), (0x10, 1, 3), (0x08, 0, 3))
# Below the last prefix come bare powers of two from 2^-22 (code 1) to 2^-16 (code 7), and zero. There is no -0.
HIF8_POWER_BIAS = 23
# Halfway between the largest value and the code of infinity: from here on values overflow, in every mode.
HIF8_OVERFLOW = 1.25 * 2.0**15


def _hif8_magnitude(code: int) -> float:
    if code < HIF8_PREFIXES[-1][0]:
        return 2.0 ** (code - HIF8_POWER_BIAS) if code else 0.0
    lowest, width, fraction = next(row for row in HIF8_PREFIXES if code >= row[0])
    significand = 1 + (code & ((1 << fraction) - 1)) / (1 << fraction)
    if width == 0:
        return significand
    leading = 1 << (width - 1)
    exponent = (code - lowest) >> fraction
    size = leading | (exponent & (leading - 1))
    return significand * 2.0 ** (-size if exponent & leading else size)


def _minifloat(layout: BinaryFormat, bits: int, largest: int, infinity: int, nan: int) -> NarrowFormat:
    sign = 1 << (bits - 1)
    values = [layout.magnitude(code) for code in range(sign)]
    for code in range(largest + 1, sign):
        values[code] = _NAN if code != infinity or infinity == nan else _INF
    return NarrowFormat(layout, sign, tuple(values), largest, infinity, nan, layout.magnitude(largest + 1))


def _hif8() -> NarrowFormat:
    values = [_hif8_magnitude(code) for code in range(128)]
    overflow_at, values[0x6F] = values[0x6F], _INF
    return NarrowFormat(None, 0x80, tuple(values), largest=0x6E, infinity=0x6F, nan=0x80, overflow_at=overflow_at)


NARROW_FORMATS: dict[str, NarrowFormat] = {
    "f8E4M3FN": _minifloat(BinaryFormat(3, 7), 8, largest=0x7E, infinity=0x7F, nan=0x7F),
    "f8E5M2": _minifloat(BinaryFormat(2, 15), 8, largest=0x7B, infinity=0x7C, nan=0x7E),
    "hif8": _hif8(),
    # Four bits, two to an element, have neither infinity nor NaN and always saturate.
    "f4E1M2x2": _minifloat(BinaryFormat(2, 1), 4, largest=0x7, infinity=0x7, nan=0),
    "f4E2M1x2": _minifloat(BinaryFormat(1, 1), 4, largest=0x7, infinity=0x7, nan=0),
}
FOUR_BITS = frozenset({"f4E1M2x2", "f4E2M1x2"})


def largest(name: str) -> float:
    """The largest finite number of a float type."""
    if (narrow := NARROW_FORMATS.get(name)) is not None:
        return narrow.values[narrow.largest]
    form = BINARY_FORMATS[name]
    return form.magnitude(form.infinity - 1)
