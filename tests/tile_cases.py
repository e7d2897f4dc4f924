"""What tests of tile operations share beside the programs: samples of cases, numbers of every type, equality."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from tile_programs import Given, dtype_of

Array = np.ndarray[Any, Any]

ROWS, COLS = 5, 160
"""Three registers of f32 with a tail, two of f16, one of bytes."""
REGIONS = [(5, 160), (5, 131), (3, 7), (1, 160), (5, 1), (2, 128)]
"""Valid rows and columns: everything, tails, one row, one column, whole registers."""
EMPTY = [(0, 160), (5, 0)]
"""What only the run knows to be nothing."""

NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, 1e-7, -1e-7, 65504.0, -3.5]


def sampled(cases: Sequence[Any], count: int) -> list[Any]:
    """All cases as parameters; but for a repeatable sample they are of the long suites."""
    some = set(random.Random(count).sample(range(len(cases)), min(count, len(cases))))
    return [
        pytest.param(case, marks=() if number in some else pytest.mark.full, id=_id(case))
        for number, case in enumerate(cases)
    ]


def _id(case: Any) -> str:
    return "-".join(map(_id, cast("tuple[Any, ...]", case))) if isinstance(case, tuple) else str(case)


def is_float(element: str) -> bool:
    return element in NAN


def numbers(element: str, shape: tuple[int, int], seed: int, special: bool = False) -> Array:
    """Random elements: floats around 1, integers of all bits; with special ones among them if asked."""
    rng = np.random.default_rng(seed)
    dtype = dtype_of(element)
    if not is_float(element):
        return np.frombuffer(rng.bytes(shape[0] * shape[1] * dtype.itemsize), dtype).reshape(shape).copy()
    x = (rng.standard_normal(shape) * 2).astype(dtype)
    if special:
        places = rng.random(shape) < 0.2
        with np.errstate(over="ignore"):
            x[places] = rng.choice(np.array(SPECIAL), int(places.sum())).astype(dtype)
    return x


def bits(x: Array, element: str) -> Array:
    """The bits of elements, every NaN being the one that instructions give."""
    x = np.ascontiguousarray(x)
    found = x.view(f"u{x.dtype.itemsize}").copy()
    if is_float(element):
        found[np.isnan(x.astype("f4"))] = NAN[element]
    return found


def same(got: Array, expected: Array, element: str) -> bool:
    """Whether two arrays are equal to the bit."""
    expected = np.ascontiguousarray(expected, dtype_of(element))
    return got.shape == expected.shape and np.array_equal(bits(got, element), bits(expected, element))


def tile(element: str, region: tuple[int, int], holds: Array | None = None, known: bool = True) -> Given:
    """A tile of five rows with a valid region that is written down, or only known to the run."""
    if known:
        return Given(f"{ROWS}x{COLS}x{element}, valid={region[0]}x{region[1]}", holds)
    return Given(f"{ROWS}x{COLS}x{element}", holds, valid=region)


def column(element: str, rows: int, layout: str, holds: Array | None = None, known: bool = True) -> Given:
    """One element for each row: a column in DN, the first column of rows of 32 bytes in ND."""
    block = 32 // dtype_of(element).itemsize
    shape = f"{-(-ROWS // block) * block}x1" if layout == "DN" else f"{ROWS}x{block}"
    more = ", blayout=col_major" if layout == "DN" else ""
    if known:
        return Given(f"{shape}x{element}, valid={rows}x1{more}", holds)
    return Given(f"{shape}x{element}{more}", holds, valid=(rows, 1))
