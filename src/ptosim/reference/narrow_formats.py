"""Floats of 8 and 4 bits: decoding tables and encoding, both computed from the definition of the format.

Codes are `uint8` lanes (a 4-bit code in the low nibble), values are f32 lanes. Encoding is one binary search: every
f32 bit pattern between two neighbouring boundaries has the same code, so that rounding mode, saturation, sign,
overflow, infinity and NaN are all in the table of boundaries.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ptosim.reference.numbers import Lanes
from ptosim.reference.rounding import Rounding

_NAN = float("nan")
_INF = float("inf")


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """What encoding needs besides the decoded values. Codes are those of the positive half."""

    values: tuple[float, ...]  # of the codes without a sign
    sign: int  # the sign bit
    largest: int  # the code of the largest finite value
    overflow_at: float  # the grid point after the largest: what rounds there overflows
    infinity: int  # the code of an overflow that does not saturate
    nan: int  # the canonical NaN; it has no sign
    signed_zero: bool = True
    tie_overflows: bool = False  # the last tie goes to overflow in every mode that rounds to nearest


def _minifloat(fraction: int, bias: int, exponent_bits: int) -> list[float]:
    """Magnitudes of sign-exponent-fraction codes as if the highest exponent were an ordinary one."""
    values: list[float] = []
    for code in range(1 << (exponent_bits + fraction)):
        exponent, rest = code >> fraction, code & ((1 << fraction) - 1)
        leading = 1 if exponent else 0
        values.append((leading + rest / (1 << fraction)) * 2.0 ** (max(exponent, 1) - bias))
    return values


# HiF8: a prefix code after the sign tells how wide the exponent is (lowest code with that prefix, exponent, fraction).
_HIF8_PREFIXES = ((0x60, 4, 1), (0x40, 3, 2), (0x20, 2, 3), (0x10, 1, 3), (0x08, 0, 3))


def _hif8_magnitude(code: int) -> float:
    if code == 0x6F:
        return _INF
    if code < 0x08:  # the prefix 0000: powers of two, and zero
        return 2.0 ** (code - 23) if code else 0.0
    lowest, width, fraction = next(row for row in _HIF8_PREFIXES if code >= row[0])
    significand = 1 + (code & ((1 << fraction) - 1)) / (1 << fraction)
    if width == 0:
        return significand
    # The exponent: its sign, then its size below an implicit leading one.
    leading = 1 << (width - 1)
    exponent = (code - lowest) >> fraction
    size = leading | (exponent & (leading - 1))
    return significand * 2.0 ** (-size if exponent & leading else size)


_E4M3 = _minifloat(3, 7, 4)
_E5M2 = _minifloat(2, 15, 5)
_HIF8 = [_hif8_magnitude(code) for code in range(128)]
_E1M2 = _minifloat(2, 1, 1)
_E2M1 = _minifloat(1, 1, 2)

FORMATS: dict[str, NarrowFormat] = {
    "f8E4M3FN": NarrowFormat((*_E4M3[:0x7F], _NAN), 0x80, 0x7E, _E4M3[0x7F], infinity=0x7F, nan=0x7F),
    "f8E5M2": NarrowFormat((*_E5M2[:0x7C], _INF, _NAN, _NAN, _NAN), 0x80, 0x7B, _E5M2[0x7C], infinity=0x7C, nan=0x7E),
    "hif8": NarrowFormat(
        tuple(_HIF8), 0x80, 0x6E, 1.5 * 2.0**15, infinity=0x6F, nan=0x80, signed_zero=False, tie_overflows=True
    ),
    # Four bits have neither infinity nor NaN and always saturate; the point after the largest only places the last tie.
    "f4E1M2x2": NarrowFormat(tuple(_E1M2), 0x8, 0x7, 2.0, infinity=0x7, nan=0),
    "f4E2M1x2": NarrowFormat(tuple(_E2M1), 0x8, 0x7, 8.0, infinity=0x7, nan=0),
}


def _decoding(form: NarrowFormat) -> Lanes:
    table = np.array([*form.values, *(-v for v in form.values)], np.float32)
    if not form.signed_zero:
        table[form.sign] = _NAN
    table[np.isnan(table)] = _NAN
    return table


# f32 values by code: 256 entries, 16 for the 4-bit formats. NaN codes give the canonical NaN.
DECODING: dict[str, Lanes] = {name: _decoding(form) for name, form in FORMATS.items()}
DECODING["f8E8M0"] = np.array([*(2.0 ** (code - 127) for code in range(255)), _NAN], np.float32)

_F32_SIGN = 1 << 31
_F32_INFINITY = 0x7F800000


def _bits(value: float) -> int:
    return int(np.array(value, np.float32).view(np.uint32))


def _rounds_up(mode: Rounding, negative: bool) -> bool | None:
    """Whether a magnitude between two grid points goes to the upper one; None: to the nearer one."""
    if mode == "Z":
        return False
    if mode in ("F", "C"):
        return (mode == "F") == negative
    return None


def _boundary(low: float, high: float, up: bool | None, tie_up: bool) -> int:
    """The first f32 pattern from `low` to `high` that rounds to `high`."""
    if up is None:
        return _bits((low + high) / 2) + (not tie_up)
    return _bits(low) + 1 if up else _bits(high)


def _half_line(form: NarrowFormat, mode: Rounding, saturate: bool, negative: bool) -> Iterator[tuple[int, int]]:
    """(first magnitude pattern, code) in ascending order, for values of one sign."""
    sign = form.sign if negative else 0
    grid = sorted((form.values[code], code) for code in range(form.sign) if abs(form.values[code]) < form.overflow_at)
    up = _rounds_up(mode, negative)
    ties_up = mode == "A" or (mode == "H" and not negative)
    yield 0, sign if form.signed_zero else 0
    for (low, _), (high, code) in pairwise(grid):
        yield _boundary(low, high, up, ties_up or (mode == "R" and code % 2 == 0)), code | sign
    infinity = form.largest if saturate else form.infinity
    beyond = infinity if infinity == form.nan else infinity | sign
    if up is not False:
        tie_up = ties_up or form.tie_overflows or (mode == "R" and form.largest % 2 == 1)
        yield _boundary(form.values[form.largest], form.overflow_at, up, tie_up), beyond
    yield _F32_INFINITY, beyond
    yield _F32_INFINITY + 1, 0 if saturate else form.nan


@cache
def encoding(name: str, mode: Rounding, saturate: bool) -> Callable[[Lanes], Lanes]:
    """The function from f32 lanes to codes. Saturating: overflow and infinity give the largest finite value, NaN +0."""
    form = FORMATS[name]
    lines = [(first, code) for first, code in _half_line(form, mode, saturate, negative=False)]
    lines += [(first + _F32_SIGN, code) for first, code in _half_line(form, mode, saturate, negative=True)]
    boundaries = np.array([first for first, _ in lines[1:]], np.uint32)
    codes = np.array([code for _, code in lines], np.uint8)

    def encode(values: Lanes) -> Lanes:
        return codes[boundaries.searchsorted(values.view(np.uint32), "right")]

    return encode
