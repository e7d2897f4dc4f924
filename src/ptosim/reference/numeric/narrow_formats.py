"""Floats of 8 and 4 bits: decoding by table, and encoding by one binary search.

Codes are `uint8` lanes (a 4-bit code in the low nibble), values are f32 lanes. All f32 bit patterns between two
neighbouring boundaries have the same code: rounding mode, saturation, sign, overflow, infinity and NaN are all in the
table of boundaries. The formats themselves are in `effects.float_format`.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np

from ptosim.effects.float_format import F32, HIF8_OVERFLOW, NARROW_FORMATS, NarrowFormat
from ptosim.reference.numeric.float_lanes import Lanes

_NAN = float("nan")
_F32_SIGN = 1 << F32.width


def _decoding(form: NarrowFormat) -> Lanes:
    table = np.array([*form.values, *(-v for v in form.values)], np.float32)
    if form.layout is None:
        table[form.nan] = _NAN  # HiF8 has its NaN in the place of -0
    table[np.isnan(table)] = _NAN  # without the sign of the codes
    return table


# f32 values by code: 256 entries, 16 for the 4-bit formats. NaN codes give the canonical NaN.
DECODING: dict[str, Lanes] = {name: _decoding(form) for name, form in NARROW_FORMATS.items()}
DECODING["f8E8M0"] = np.array([*(2.0 ** (code - 127) for code in range(255)), _NAN], np.float32)


def _bits(value: float) -> int:
    return int(np.array(value, np.float32).view(np.uint32))


def _rounds_up(mode: str, negative: bool) -> bool | None:
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


def _half_line(form: NarrowFormat, mode: str, saturate: bool, negative: bool) -> Iterator[tuple[int, int]]:
    """(first magnitude pattern, code) in ascending order, for values of one sign."""
    sign = form.sign if negative else 0
    grid = sorted((value, code) for code, value in enumerate(form.values) if value < form.overflow_at)
    up = _rounds_up(mode, negative)
    ties_up = mode == "A" or (mode == "H" and not negative)
    yield 0, sign if form.layout else 0
    for (low, _), (high, code) in pairwise(grid):
        yield _boundary(low, high, up, ties_up or (mode == "R" and code % 2 == 0)), code | sign
    infinity = form.largest if saturate else form.infinity
    beyond = infinity if infinity == form.nan else infinity | sign
    if form.layout is None and up is None:
        yield _bits(HIF8_OVERFLOW), beyond
    elif up is not False:
        tie_up = ties_up or (mode == "R" and form.largest % 2 == 1)
        yield _boundary(form.values[form.largest], form.overflow_at, up, tie_up), beyond
    yield F32.infinity, beyond
    yield F32.infinity + 1, 0 if saturate else form.nan


@cache
def encoding(name: str, mode: str, saturate: bool) -> Callable[[Lanes], Lanes]:
    """The function from f32 lanes to codes. Saturating: overflow and infinity give the largest finite value, NaN +0."""
    form = NARROW_FORMATS[name]
    lines = list(_half_line(form, mode, saturate, negative=False))
    lines += [(first + _F32_SIGN, code) for first, code in _half_line(form, mode, saturate, negative=True)]
    boundaries = np.array([first for first, _ in lines[1:]], np.uint32)
    codes = np.array([code for _, code in lines], np.uint8)

    def encode(values: Lanes) -> Lanes:
        return codes[boundaries.searchsorted(values.view(np.uint32), "right")]

    return encode
