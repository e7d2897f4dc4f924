"""Argument words of the command line: what `rand:24x128`, `file.npy` or `7` stand for, given their parameter."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.arguments import Parameter, dtype_of
from ptosim.diagnostics import PTOError, error, writing
from ptosim.effects.element import ELEMENTS

Array = NDArray[Any]
Shape = tuple[int, ...]

LARGEST = 256 << 20
"""Bytes of all arrays together that are made up."""
LARGEST_ARRAY = 1 << 34
"""Bytes; a shape beyond this is taken for a slip of the pen."""
MOST_SIDES = 32
LONGEST_NUMBER = 40
"""Digits; Python refuses to read numbers that are very much longer."""
NULL = "null"
"""The word for a pointer to nothing."""
AUTO = "auto"
"""The word for an argument that is made up."""
PLACE = "{rank}"
"""Stands for the number of a rank in the name of a file."""
KNOWN_WORDS = (
    "file.npy, file.bin, zeros:SHAPE, ones:SHAPE, rand:SHAPE[:TYPE][:SEED][:LOW..HIGH], arange:SHAPE, "
    "index:SHAPE:LIMIT, full:SHAPE:VALUE, null, auto"
)
RANGE = re.compile(r"(.+?)\.\.(.+)")
_SEEDED = re.compile(r"(rand:[^:]*(?::[a-z]\w*)?)(?::(\d+))?((?::[^:]*\.\.[^:]*)?)")
_TYPES = frozenset(name for name, element in ELEMENTS.items() if element.bits >= 8)


def value_of(word: str, parameter: Parameter, seed: int = 0) -> Any:
    """The array or number that a word stands for; `seed`: of random numbers, where the word names none."""
    if not parameter.is_pointer:
        return _number(word, parameter)
    if word == NULL:
        return None
    dtype = dtype_of(parameter.element)
    path = Path(word)
    if path.suffix in (".npy", ".bin"):
        return _read(path, dtype, parameter)
    kind, colon, rest = word.partition(":")
    if not colon or kind not in _FIELDS:
        near = get_close_matches(kind, _FIELDS, 1) if colon else []
        meant = f"; did you mean {near[0]}:{rest[:40]}?" if near else ""
        raise wrong(word, parameter, f"expected an array, one of {KNOWN_WORDS}{meant}")
    made = _made(word, kind, rest.split(":"), dtype, parameter, seed)
    try:
        with np.errstate(all="ignore"):  # arange counts beyond the largest f16
            return made.array()
    except MemoryError:
        raise error("limit", f"'{word}' does not fit into this computer's memory") from None


def word_of_rank(word: str, rank: int, seed: int) -> str:
    """The word of one rank for that of all: random numbers differ, and so do files."""
    if match := _SEEDED.fullmatch(word):
        return f"{match[1]}:{int(match[2] or seed) + rank}{match[3]}"
    return word.replace(PLACE, str(rank))


@dataclass(frozen=True)
class MadeArray:
    """An array that a word describes."""

    kind: str
    shape: Shape
    dtype: np.dtype[Any]
    seed: int = 0
    between: tuple[float, float] | None = None
    """Lowest and highest value of random numbers; integers may be either."""
    limit: int = 0
    value: float = 0

    def array(self) -> Array:
        shape, dtype = self.shape, self.dtype
        match self.kind:
            case "zeros":
                return np.zeros(shape, dtype)
            case "ones":
                return np.ones(shape, np.float32).astype(dtype)
            case "arange":
                return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
            case "full":
                return np.full(shape, self.value, np.float64 if dtype.kind not in "iu" else np.int64).astype(dtype)
            case "index":
                return np.random.default_rng(self.seed).integers(0, self.limit, shape).astype(dtype)
            case _:
                return self._random()

    def _random(self) -> Array:
        generator = np.random.default_rng(self.seed)
        if self.dtype.kind in "iu":
            low, high = self.between or (0, 99)
            return generator.integers(int(low), int(high), self.shape, endpoint=True).astype(self.dtype)
        low, high = self.between or (-1, 1)
        return generator.uniform(low, high, self.shape).astype(self.dtype)


_FIELDS: dict[str, tuple[str, ...]] = {
    "zeros": ("type",),
    "ones": ("type",),
    "rand": ("type", "seed", "range"),
    "arange": ("type",),
    "index": ("limit", "seed"),
    "full": ("value",),
}
"""Fields behind the shape, in this order; limit and value must be given."""


def _made(
    word: str, kind: str, given: Sequence[str], dtype: np.dtype[Any], parameter: Parameter, seed: int
) -> MadeArray:
    shape, *rest = given
    taken = dict[str, Any](seed=seed)
    for name in _FIELDS[kind]:
        if name in ("limit", "value"):
            if not rest:
                raise wrong(word, parameter, f"{kind} needs a {name}: {kind}:{shape[:40]}:{name.upper()}")
            taken[name] = _limit(word, rest.pop(0), dtype, parameter) if name == "limit" else rest.pop(0)
        elif name == "type" and rest and rest[0] in _TYPES:
            taken["dtype"] = dtype = dtype_of(ELEMENTS[rest.pop(0)])
        elif name == "seed" and rest and not RANGE.search(rest[0]):
            taken[name] = _seed(word, rest.pop(0), parameter)
        elif name == "range" and rest:
            taken["between"] = _range(word, rest.pop(0), dtype, parameter)
    if rest and kind in ("zeros", "ones", "arange") and rest[0].isdecimal():
        raise wrong(word, parameter, f"{kind} takes no seed")
    if rest:
        follows = "".join(f"[:{name.upper()}]" for name in _FIELDS[kind])
        raise wrong(word, parameter, f"'{rest[0][:40]}' is not part of {kind}:SHAPE{follows}")
    if "value" in taken:
        taken["value"] = _value(word, taken["value"], dtype, parameter)
    return MadeArray(kind, _shape(word, shape, dtype, parameter), taken.pop("dtype", dtype), **taken)


def _limit(word: str, text: str, dtype: np.dtype[Any], parameter: Parameter) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER and int(text)):
        raise wrong(word, parameter, "a limit is a positive whole number")
    if dtype.kind in "iu" and int(text) - 1 > np.iinfo(dtype).max:
        raise wrong(word, parameter, f"{int(text) - 1} does not fit {parameter.element.name}")
    return min(int(text), 1 << 62)


def _range(word: str, text: str, dtype: np.dtype[Any], parameter: Parameter) -> tuple[float, float]:
    match = RANGE.fullmatch(text)
    if match is None:
        raise wrong(word, parameter, "a range is written as LOW..HIGH, such as -1..1")
    low, high = (_value(word, each, dtype, parameter) for each in match.groups())
    if not math.isfinite(high - low):
        raise wrong(word, parameter, f"the range {text} has no length: numbers lie between two that are finite")
    if low > high:
        raise wrong(word, parameter, f"the range {text} is empty: {match[1]} is above {match[2]}")
    return low, high


def _value(word: str, text: str, dtype: np.dtype[Any], parameter: Parameter) -> float:
    """A number that an array can hold."""
    is_whole = dtype.kind in "iu"
    try:
        value = int(text, 0) if is_whole else float(text)
    except ValueError:
        expected = "a whole number" if is_whole else "a number"
        raise wrong(word, parameter, f"'{text[:40]}' is not {expected}") from None
    if is_whole and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise wrong(word, parameter, f"{value} does not fit {dtype.name}")
    return value


def wrong(word: str, parameter: Parameter, reason: str) -> PTOError:
    """The error of a word."""
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
    """The contents that a file gives for an argument of so many elements, in the order of its bytes."""
    wanted = value_of(path, parameter).reshape(-1)
    if wanted.size != size:
        raise error("argument", f"{path} has {wanted.size} elements, argument {index} has {size}")
    return wanted


def differing(found: Array, wanted: Array, atol: float, rtol: float) -> Array:
    """The places at which flat arrays differ by more than the tolerance; NaN equals NaN. Without a tolerance numbers
    are compared exactly, whatever their type."""
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
