"""What tests of moves share: tiles whose elements can be told apart, and tiles that hold something and nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import ptosim
from tile_programs import Given, Outcome, text

Array = np.ndarray[Any, Any]


def sampled(count: int, *axes: tuple[str, Sequence[Any]]) -> pytest.MarkDecorator:
    """Parameters over a product of axes; all but a repeatable sample of so many are of the long suites."""
    names = ", ".join(name for name, _ in axes)
    width = [len(name.split(",")) for name, _ in axes]
    cases = [
        [value for values, many in zip(case, width, strict=True) for value in (values if many > 1 else [values])]
        for case in product(*(values for _, values in axes))
    ]
    some = set(random.Random(count).sample(range(len(cases)), min(count, len(cases))))
    marked = [pytest.param(*case, marks=() if n in some else pytest.mark.full) for n, case in enumerate(cases)]
    return pytest.mark.parametrize(names, marked)


def numbers(element: str, rows: int, cols: int) -> Array:
    """Every element has bits of its own, as far as its width allows; no NaN."""
    size = Given(f"1x1x{element}").dtype.itemsize
    bits = (np.arange(rows * cols) * 31 + 7) % 0x71 if size == 1 else np.arange(1, rows * cols + 1)
    return bits.astype(f"u{size}").reshape(rows, cols).view(Given(f"1x1x{element}").dtype)


def same(one: Array, other: Array) -> bool:
    return bool(np.array_equal(np.ascontiguousarray(one).view(np.uint8), np.ascontiguousarray(other).view(np.uint8)))


def holds(outcome: Outcome, expected: Array, row: int = 0, col: int = 0) -> bool:
    """Whether a tile holds this from a place on, and around it what it held before."""
    before = outcome.given.read(outcome.given.image())
    rows, cols = expected.shape
    before[row : row + rows, col : col + cols] = expected
    return same(outcome.all, before)


def loads_again(operation: str, **tiles: Given) -> None:
    ptosim.load(text(operation, tiles), sync="written").lowered()


def of(type_: str, element: str) -> str:
    shape, *rest = type_.split(", ")
    return ", ".join([shape.removesuffix("E") + element, *rest])
