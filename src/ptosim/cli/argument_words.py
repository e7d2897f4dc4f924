"""Argument words of the command line: what `rand:24x128`, `file.npy` or `7` stand for, given their parameter."""

from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.arguments import Parameter, dtype_of
from ptosim.diagnostics import PTOError, error, writing

Array = NDArray[Any]
Shape = tuple[int, ...]

LARGEST_ARRAY = 1 << 34
"""Bytes; a shape beyond this is taken for a slip of the pen."""
MOST_SIDES = 32
LONGEST_NUMBER = 40
"""Digits; Python refuses to read numbers that are very much longer."""


def value_of(word: str, parameter: Parameter, seed: int = 0) -> Any:
    """The array or number that a word stands for; `seed`: of random numbers, where the word names none."""
    if not parameter.is_pointer:
        return _number(word, parameter)
    dtype = dtype_of(parameter.element)
    path = Path(word)
    if path.suffix in (".npy", ".bin"):
        return _read(path, dtype, parameter)
    kind, colon, rest = word.partition(":")
    if not colon or kind not in _MAKERS:
        known = "file.npy, file.bin, zeros:SHAPE, ones:SHAPE, rand:SHAPE[:SEED], arange:SHAPE"
        near = get_close_matches(kind, _MAKERS, 1) if colon else []
        meant = f"; did you mean {near[0]}:{rest[:40]}?" if near else ""
        raise wrong(word, parameter, f"expected an array, one of {known}{meant}")
    shape, _, own_seed = rest.partition(":")
    if own_seed and kind != "rand":
        raise wrong(word, parameter, f"{kind} takes no seed")
    sides = _shape(word, shape, dtype, parameter)
    try:
        with np.errstate(all="ignore"):  # arange counts beyond the largest f16
            return _MAKERS[kind](sides, dtype, _seed(word, own_seed, parameter) if own_seed else seed)
    except MemoryError:
        raise error("limit", f"'{word}' does not fit into this computer's memory") from None


def wrong(word: str, parameter: Parameter, reason: str) -> PTOError:
    """What is wrong with a word."""
    shown = word if len(word) <= 80 else f"{word[:77]}..."
    return error("argument", f"'{shown}' for {parameter.name}: {parameter.type}: {reason}")


def _shape(word: str, text: str, dtype: np.dtype[Any], parameter: Parameter) -> Shape:
    sides = text.split("x")
    if not all(side.isascii() and side.isdecimal() for side in sides) or len(sides) > MOST_SIDES:
        raise wrong(word, parameter, "a shape is written as 24x128")
    if any(len(side) > LONGEST_NUMBER for side in sides):
        raise wrong(word, parameter, "a side has too many digits")
    shape = tuple(int(side) for side in sides)
    if math.prod(shape) * dtype.itemsize > LARGEST_ARRAY:
        raise error("limit", f"'{word}': more than {LARGEST_ARRAY >> 30} GiB")
    return shape


def _seed(word: str, text: str, parameter: Parameter) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER):
        raise wrong(word, parameter, "a seed is a whole number")
    return int(text)


def _zeros(shape: Shape, dtype: np.dtype[Any], seed: int) -> Array:
    return np.zeros(shape, dtype)


def _ones(shape: Shape, dtype: np.dtype[Any], seed: int) -> Array:
    return np.ones(shape, np.float32).astype(dtype)


def _random(shape: Shape, dtype: np.dtype[Any], seed: int) -> Array:
    """Floats from -1 to 1, integers from 0 to 99."""
    generator = np.random.default_rng(seed)
    if dtype.kind in "iu":
        return generator.integers(0, 100, shape).astype(dtype)
    return generator.uniform(-1, 1, shape).astype(dtype)


def _counting(shape: Shape, dtype: np.dtype[Any], seed: int) -> Array:
    return np.arange(math.prod(shape)).astype(dtype).reshape(shape)


_MAKERS: dict[str, Callable[[Shape, np.dtype[Any], int], Array]] = {
    "zeros": _zeros,
    "ones": _ones,
    "rand": _random,
    "arange": _counting,
}


def _number(word: str, parameter: Parameter) -> int | float:
    try:
        return float(word) if parameter.element.is_float else int(word, 0)
    except ValueError:
        expected = "a number" if parameter.element.is_float else "a whole number"
        raise wrong(word, parameter, f"expected {expected}") from None


def _read(path: Path, dtype: np.dtype[Any], parameter: Parameter) -> Array:
    try:
        if path.suffix == ".npy":
            with path.open("rb") as file:
                return _typed(np.ascontiguousarray(np.lib.format.read_array(file, allow_pickle=False)), dtype)
        data = path.read_bytes()
    except MemoryError:
        raise error("limit", f"{path} does not fit into this computer's memory") from None
    except Exception as reason:  # for a broken header NumPy raises whatever Python's parser does
        text = getattr(reason, "strerror", None) or str(reason).partition("\n")[0]
        raise error("argument", f"cannot read {path} for {parameter.name}: {text}") from None
    if len(data) % dtype.itemsize:
        raise error("argument", f"{path} has {len(data)} bytes, which are no whole number of {parameter.element.name}")
    return np.frombuffer(bytearray(data), dtype)


def _typed(array: Array, dtype: np.dtype[Any]) -> Array:
    """NumPy writes the formats that it does not know as raw bytes; here it is known what they are."""
    return array.view(dtype) if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize else array


def expected(path: str, parameter: Parameter, index: int, size: int) -> Array:
    """What a file says that an argument of so many elements should hold, in the order of its bytes."""
    wanted = value_of(path, parameter).reshape(-1)
    if wanted.size != size:
        raise error("argument", f"{path} has {wanted.size} elements, argument {index} has {size}")
    return wanted


def differing(found: Array, wanted: Array, atol: float, rtol: float) -> Array:
    """Where flat arrays differ by more than the tolerance; NaN equals NaN. Without a tolerance numbers are compared
    exactly, whatever their type."""
    with np.errstate(all="ignore"):
        if atol == rtol == 0:
            return ~((found == wanted) | ((found != found) & (wanted != wanted)))
        return ~np.isclose(found.astype(np.float64), wanted.astype(np.float64), rtol, atol, equal_nan=True)


def shown(array: Array) -> str:
    """An array in one line: its type, its shape, and how it begins."""
    first = ", ".join(str(item) for item in array.reshape(-1)[:6])
    return f"{array.dtype} {'x'.join(map(str, array.shape))}  [{first}{', ...' if array.size > 6 else ''}]"


def save(path: str, value: Any) -> None:
    """Write an array as .npy, or as raw bytes for any other name."""
    with writing(path):
        if path.endswith(".npy"):
            np.save(path, value)
        else:
            Path(path).write_bytes(value.tobytes())
