"""Values at the edges of the element types, and their NumPy views: what the documents' rules are tried on."""

from itertools import product

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from golden.program import bits, granularity, lanes

Array = NDArray[np.generic]

CANONICAL = {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0}
FLOATS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def dtype(element: str) -> np.dtype[np.generic]:
    """The NumPy type of an element; signless integers are signed."""
    if element in FLOATS:
        return np.dtype(FLOATS[element])
    return np.dtype(f"{'u' if element.startswith('u') else 'i'}{bits(element) // 8}")


def word(element: str) -> np.dtype[np.generic]:
    """The unsigned type of an element's bits."""
    return np.dtype(f"u{bits(element) // 8}")


def canonical(values: Array, element: str) -> Array:
    """The same with every NaN turned into the quiet NaN without sign."""
    raw = values.astype(dtype(element)).view(word(element)).copy()
    raw[np.isnan(values)] = CANONICAL[element]
    return raw.view(dtype(element))


def edges(element: str) -> Array:
    """Bit patterns at the edges of a type."""
    width = bits(element)
    if element == "f32":
        plain = [
            0,
            -0.0,
            1,
            -1,
            0.5,
            -2.5,
            3,
            1e-45,
            -1e-45,
            1.1754944e-38,
            3.4028235e38,
            -3.4028235e38,
            np.inf,
            -np.inf,
        ]
        return np.concatenate(
            [np.array(plain, np.float32), np.array([0x7FC00000, 0xFFC12345, 0x7F800001], np.uint32).view("f4")]
        )
    if element == "f16":
        plain = [0, -0.0, 1, -1, 0.5, -2.5, 3, 6e-8, -6e-8, 6.1e-5, 65504, -65504, np.inf, -np.inf]
        return np.concatenate([np.array(plain, np.float16), np.array([0x7E00, 0xFE12, 0x7C01], np.uint16).view("f2")])
    if element == "bf16":
        plain = [0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-40, -1e-40, 1.2e-38, 3.3e38, -3.3e38, np.inf, -np.inf]
        return np.concatenate(
            [np.array(plain, FLOATS["bf16"]), np.array([0x7FC0, 0xFFC1, 0x7F81], np.uint16).view(FLOATS["bf16"])]
        )
    whole = [
        0,
        1,
        2,
        3,
        5,
        -1,
        -2,
        100,
        2 ** (width - 1) - 1,
        -(2 ** (width - 1)),
        -(2 ** (width - 1)) + 1,
        2 ** (width - 2),
    ]
    return np.array([v % 2**width for v in whole], word(element)).view(dtype(element))


def data(element: str, count: int, seed: int = 0) -> Array:
    """Random values of moderate size, for integers of the whole range."""
    random = np.random.default_rng(seed)
    if element in FLOATS:
        return random.uniform(-8, 8, count).astype(dtype(element))
    return random.integers(0, 2 ** bits(element), count, np.uint64).astype(word(element)).view(dtype(element))


def pairs(element: str, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Every pair of edges first, then random values."""
    table = edges(element)
    left, right = zip(*product(range(len(table)), repeat=2), strict=True)
    a, b = data(element, count, seed), data(element, count, seed + 1)
    n = min(count, len(left))
    a[:n], b[:n] = table[list(left)][:n], table[list(right)][:n]
    return a, b


def active(element: str, count: int, logical: int) -> NDArray[np.bool_]:
    """The lanes that a shrinking prefix mask leaves on."""
    del element
    return np.arange(count) < logical


def zeroed(values: Array, on: NDArray[np.bool_], element: str) -> Array:
    """Inactive lanes as zero bits."""
    raw = values.astype(dtype(element), copy=False).view(word(element)).copy()
    raw[~on] = 0
    return raw.view(dtype(element))


def equal(left: Array, right: Array) -> None:
    """Bit for bit, with a message that names the first difference."""
    assert left.dtype.itemsize == right.dtype.itemsize and left.size == right.size
    u = f"u{left.dtype.itemsize}"
    one, other = left.reshape(-1).view(u), right.reshape(-1).view(u)
    wrong = np.nonzero(one != other)[0]
    assert not wrong.size, (
        f"{wrong.size} differ, first at {wrong[0]}: {left.reshape(-1)[wrong[0]]} ({one[wrong[0]]:#x}) "
        f"is not {right.reshape(-1)[wrong[0]]} ({other[wrong[0]]:#x})"
    )


def close(result: Array, expected: Array, eps: float) -> None:
    """|expected - result| <= eps + eps * |result|; NaN equals NaN and infinities match."""
    r, e = result.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
    fine = np.isnan(r) & np.isnan(e) | (r == e)
    with np.errstate(invalid="ignore"):
        fine |= np.isfinite(r) & (np.abs(e - r) <= eps + eps * np.abs(r))
    wrong = np.nonzero(~fine)[0]
    assert not wrong.size, f"{wrong.size} differ, first at {wrong[0]}: {r[wrong[0]]} is not {e[wrong[0]]}"


__all__ = [
    "active",
    "canonical",
    "close",
    "data",
    "dtype",
    "edges",
    "equal",
    "granularity",
    "lanes",
    "pairs",
    "word",
    "zeroed",
]
