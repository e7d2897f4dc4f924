"""Lanewise instructions by formulas over every pair of edge values, and whole kernels of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from golden.formulas import lanes_of, widened
from golden.numbers import FLOATS, active, canonical, close, dtype, equal, pairs, word, zeroed
from golden.program import bits
from vector_programs import binary, unary, with_scalar

N, LOGICAL = 1024, 1000
ON = active("", N, LOGICAL)
INTEGERS = [f"{sign}i{width}" for width in (8, 16, 32) for sign in ("", "s", "u")]
WIDE = [element for element in INTEGERS if bits(element) > 8]


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    r = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, r)


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    r = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, r)


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rounded towards zero; a divisor of zero gives zero."""
    pairs_ = zip(a.tolist(), b.tolist(), strict=True)
    found = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0 for x, y in pairs_]
    return np.array([each % 2 ** (8 * a.itemsize) for each in found], f"u{a.itemsize}").view(a.dtype)


FLOAT: dict[str, Callable[..., np.ndarray]] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vmul": np.multiply,
    "vdiv": np.divide,
    "vmax": maximum,
    "vmin": minimum,
}
INTEGER: dict[str, tuple[Callable[..., np.ndarray], list[str]]] = {
    "vadd": (np.add, INTEGERS),
    "vsub": (np.subtract, INTEGERS),
    "vmul": (np.multiply, WIDE),
    "vdiv": (quotient, ["si16", "i16", "si32", "i32"]),
    "vmax": (np.maximum, INTEGERS),
    "vmin": (np.minimum, INTEGERS),
    "vand": (np.bitwise_and, INTEGERS),
    "vor": (np.bitwise_or, INTEGERS),
    "vxor": (np.bitwise_xor, INTEGERS),
}
UNARY: dict[str, tuple[Callable[[np.ndarray, Any], np.ndarray], list[str]]] = {
    "vabs": (lambda a, sign: np.where(a >= sign, 0 - a, a), [each for each in INTEGERS if not each.startswith("u")]),
    "vneg": (lambda a, sign: 0 - a, INTEGERS),
    "vnot": (lambda a, sign: ~a, INTEGERS),
    "vrelu": (lambda a, sign: np.where(a >= sign, 0, a), ["si32", "i32"]),
}
"""By the bits of a lane and its sign bit."""


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", FLOAT)
def test_floats(op: str, element: str) -> None:
    if (op, element) != ("vdiv", "bf16"):
        a, b = pairs(element, N)
        expected = widened(FLOAT[op], element)(a, b)
        equal(lanes_of(binary(op, element), LOGICAL, a=a, b=b), zeroed(expected, ON, element))


@pytest.mark.parametrize(
    "op, element", [(op, element) for op, (_, elements) in INTEGER.items() for element in elements]
)
def test_integers(op: str, element: str) -> None:
    a, b = pairs(element, N)
    equal(lanes_of(binary(op, element), LOGICAL, a=a, b=b), zeroed(INTEGER[op][0](a, b), ON, element))


@pytest.mark.parametrize("op, element", [(op, element) for op, (_, elements) in UNARY.items() for element in elements])
def test_integers_of_one_operand(op: str, element: str) -> None:
    a, _ = pairs(element, N)
    raw = a.view(word(element))
    sign = raw.dtype.type(1 << (bits(element) - 1))
    expected = UNARY[op][0](raw, sign).astype(raw.dtype).view(a.dtype)
    equal(lanes_of(unary(op, element), LOGICAL, a=a), zeroed(expected, ON, element))


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_floats_of_one_operand(element: str) -> None:
    a, _ = pairs(element, N)
    sign, raw = 1 << (bits(element) - 1), a.view(word(element))
    relu = canonical(np.where(np.isnan(a), a, np.where(a > 0, a, np.zeros_like(a))), element)
    for op, patterns in (("vabs", raw & (sign - 1)), ("vneg", raw ^ sign), ("vrelu", relu.view(word(element)))):
        expected = patterns.astype(word(element)).view(a.dtype)
        equal(lanes_of(unary(op, element), LOGICAL, a=a), zeroed(expected, ON, element))


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("op, function", [("vexp", np.exp), ("vln", np.log), ("vsqrt", np.sqrt)])
def test_elementary_functions(op: str, function: Callable[..., np.ndarray], element: str) -> None:
    a, _ = pairs(element, N)
    a[300:700] = np.linspace(-120, 104, 400).astype(dtype(element))
    a[700:900] = np.geomspace(1.18e-38, 3.4e38, 200, dtype=np.float32) if element == "f32" else 1.5
    expected = zeroed(widened(function, element)(a), ON, element)
    out = lanes_of(unary(op, element), LOGICAL, a=a)
    if op == "vsqrt":
        equal(out, expected)
    close(out, expected, 1e-4 if element == "f32" else 1e-2)
    # evaluated in double and rounded once: never more than one unit in the last place away
    assert np.abs(out.view(word(element)).astype(np.int64) - expected.view(word(element)).astype(np.int64)).max() <= 1


# --- vector-scalar ----------------------------------------------------------------------------------------------------

SCALARS = [
    *(("f32", "f32", np.float32(value)) for value in (3.14, np.nan)),
    *(("f16", "f16", np.float16(1.5)), ("bf16", "bf16", FLOATS["bf16"](1.5)), ("i16", "i16", np.int16(1024))),
    *(("si16", "i16", np.int16(37)), ("ui16", "i16", np.uint16(4096)), ("ui8", "i8", np.uint8(201))),
    *(("si8", "i8", np.int8(-55)), ("ui32", "i32", np.uint32(0xFFFFFFFF)), ("i32", "i32", np.int32(-7))),
]


@pytest.mark.parametrize("element, kind, value", SCALARS, ids=str)
@pytest.mark.parametrize("op", ["vadds", "vmuls", "vmaxs", "vmins"])
def test_vector_scalar(op: str, element: str, kind: str, value: np.generic) -> None:
    if op == "vmuls" and bits(element) == 8:
        return
    a, _ = pairs(element, N)
    given = value if element in FLOATS else int(value)  # type: ignore[call-overload]
    out = lanes_of(with_scalar(op, element, kind), LOGICAL, a=a, s=given)
    b, name = np.full(N, value), "v" + op[1:4]
    with np.errstate(over="ignore"):
        expected = widened(FLOAT[name], element)(a, b) if element in FLOATS else INTEGER[name][0](a, b)
    equal(out, zeroed(expected, ON, element))


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("alpha", [0.125, -2.0])
def test_leaky_relu(element: str, alpha: float) -> None:
    a, _ = pairs(element, N)
    product = widened(lambda x: x * alpha, element)(a)
    with np.errstate(invalid="ignore"):
        expected = canonical(np.where(a >= 0, a, product), element)
    equal(lanes_of(with_scalar("vlrelu", element), LOGICAL, a=a, s=alpha), zeroed(expected, ON, element))


# --- shifts -----------------------------------------------------------------------------------------------------------


def shifted(a: np.ndarray, count: np.ndarray, element: str, left: bool) -> np.ndarray:
    """A count is unsigned; one out of range clears the lane or fills it with the sign."""
    width = bits(element)
    counts = [min(given % 2**width, width) for given in count.tolist()]
    moved = [value << by if left else value >> by for value, by in zip(a.tolist(), counts, strict=True)]
    return np.array([each % 2**width for each in moved], word(element)).view(dtype(element))


@pytest.mark.parametrize("element", INTEGERS)
@pytest.mark.parametrize("op", ["vshl", "vshr"])
def test_shifts(op: str, element: str) -> None:
    a, _ = pairs(element, N)
    width = bits(element)
    count = (np.arange(N) % (width + 3)).astype(dtype(element))
    count[-40:] = -1 if not element.startswith("u") else 2**width - 1
    expected = shifted(a, count, element, op == "vshl")
    equal(lanes_of(binary(op, element), LOGICAL, a=a, b=count), zeroed(expected, ON, element))
    for by in (0, 3, 7, 15, 31, 40, -1):
        expected = shifted(a, np.full(N, min(by % 65536, width)), element, op == "vshl")
        out = lanes_of(with_scalar(f"{op}s", element, "i16"), LOGICAL, a=a, s=by)
        equal(out, zeroed(expected, ON, element))
