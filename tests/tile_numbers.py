"""Numbers for tests of tile operations: edge values and random ones of every element type, and how results round.

Arithmetic on f16 and bf16 is that of f32, rounded; a NaN that is computed is the quiet one without a sign.
"""

from __future__ import annotations

import numpy as np

from tile_cases import NAN, Array, is_float
from tile_programs import dtype_of

WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

_SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, np.inf, -np.inf, np.nan, 65504.0, 6e-8, -1e-5, 2.5, -3.5, 1e30]


def samples(element: str, shape: tuple[int, int], seed: int, tame: bool = False) -> Array:
    """Random numbers of a type with edge values among them; `tame` leaves NaN, infinities and extremes out."""
    chance, dtype = np.random.default_rng(seed), dtype_of(element)
    count = shape[0] * shape[1]
    if is_float(element):
        values = chance.normal(0, 4, count) * 10.0 ** (0 if tame else chance.integers(-3, 4, count))
        edges = np.array([] if tame else _SPECIAL)
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        values = chance.integers(low, high, count, dtype=dtype, endpoint=True)
        small = chance.integers(0, 20, count).astype(dtype)
        values = np.where(chance.random(count) < 0.4, small, values)
        edges = np.array([low, high, 0, 1, high if low == 0 else -1, 2, 7, low + 1], dtype)
    places = chance.choice(count, min(3 * len(edges), count), replace=False)
    values[places] = chance.permutation(np.resize(edges, len(places)))
    with np.errstate(over="ignore"):
        return values.astype("f4").astype(dtype).reshape(shape) if is_float(element) else values.reshape(shape)


def wide(values: Array) -> Array:
    """Floats as f32, integers as they are."""
    return values.astype("f4") if values.dtype.itemsize == 2 and values.dtype.kind not in "iu" else values


def rounded(values: Array, element: str) -> Array:
    """Computed values as elements: floats rounded to nearest with the one NaN, integers modulo 2^W."""
    if not is_float(element):
        return values.astype(dtype_of(element))
    with np.errstate(over="ignore"):
        found = np.asarray(values).astype(dtype_of(element))
    bits(found)[np.isnan(found)] = NAN[element]
    return found


def bits(values: Array) -> Array:
    return values.view(WORDS[values.dtype.itemsize])


def same(got: Array, expected: Array, of: str = "") -> None:
    """Every bit is equal; a message names what this is of."""
    expected = np.ascontiguousarray(expected)
    differ = bits(np.ascontiguousarray(got)) != bits(expected)
    places = list(zip(*np.nonzero(differ), strict=True))[:4]
    assert not places, (of, [(place, got[place], expected[place]) for place in places])
