"""Operations on tiles that are valid in parts of the result, against NumPy region by region."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from tile_cases import Array, is_float, sampled
from tile_numbers import rounded, same, samples, wide
from tile_programs import Given, Outcome, dtype_of, run_each

ELEMENTS = ("i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32")

Region = tuple[int, int]

REGIONS: dict[str, tuple[Region, Region, Region]] = {
    "both": ((3, 100), (3, 100), (3, 100)),
    "less of src1": ((4, 150), (4, 150), (2, 70)),
    "less of src0": ((4, 150), (4, 33), (4, 150)),
    "fewer rows of src0": ((4, 64), (1, 64), (4, 64)),
    "nothing of src1": ((2, 90), (2, 90), (0, 0)),
    "nothing": ((0, 64), (0, 64), (0, 64)),
}
"""Valid regions of dst, src0 and src1, one of which covers dst."""

NEITHER: dict[str, tuple[Region, Region, Region]] = {
    "neither": ((4, 150), (2, 120), (3, 40)),
    "dst alone": ((2, 64), (0, 0), (0, 0)),
}
"""Regions where elements of dst have no source."""

COMBINED: dict[str, Callable[[Array, Array], Array]] = {
    "tpartadd": lambda a, b: wide(a) + wide(b),
    "tpartmul": lambda a, b: wide(a) * wide(b),
    "tpartmax": lambda a, b: np.maximum(wide(a), wide(b)),
    "tpartmin": lambda a, b: np.minimum(wide(a), wide(b)),
}


CHOSEN = ("tpartargmax", "tpartargmin")


def extreme(element: str, name: str) -> float:
    """What stands where no source is valid: the lowest or the largest finite number."""
    if not is_float(element):
        limits = np.iinfo(dtype_of(element))
        return int(limits.min if name == "tpartmax" else limits.max)
    largest = {"f32": 0x7F7FFFFF, "f16": 0x7BFF, "bf16": 0x7F7F}[element]
    number = np.array([largest], "u4" if element == "f32" else "u2").view(dtype_of(element))
    return float(-number[0] if name == "tpartmax" else number[0])


def tile(element: str, region: Region, dynamic: bool, holds: Array | None = None) -> Given:
    if dynamic:
        return Given(f"4x160x{element}", holds, valid=region)
    return Given(f"4x160x{element}, valid={region[0]}x{region[1]}", holds)


def masks(regions: tuple[Region, Region, Region]) -> tuple[Array, Array, Array]:
    r, c = np.indices((4, 160))
    dst, src0, src1 = ((r < rows) & (c < cols) for rows, cols in regions)
    return dst, src0 & dst, src1 & dst


def unchanged(outcome: Outcome, written: Array, of: str) -> None:
    before = outcome.given.read(outcome.given.image())
    same(np.where(written, before, outcome.all), before, of)


ALL = [*REGIONS, *NEITHER]


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, ALL, ["static", "dynamic"])], 24))
def test_combined(case: tuple[str, str, str]) -> None:
    element, region, extents = case
    check_combined(element, (REGIONS | NEITHER)[region], extents == "dynamic")


def check_combined(element: str, regions: tuple[Region, Region, Region], dynamic: bool) -> None:
    a, b = (samples(element, (4, 160), seed, tame=True) for seed in (1, 2))
    tiles = [tile(element, region, dynamic, holds) for region, holds in zip(regions, (None, a, b), strict=True)]
    operations = {name: f"pto.{name} ins(%a, %b : A, B) outs(%d : D)" for name in COMBINED}
    got = run_each(operations, again=True, a=tiles[1], b=tiles[2], d=tiles[0])
    dst, src0, src1 = masks(regions)
    for name, combined in COMBINED.items():
        outcome, written = got[name]["d"], src0 | src1
        expected = np.where(src0 & src1, rounded(combined(a, b), element), np.where(src0, a, b))
        if name in ("tpartmax", "tpartmin"):
            expected = np.where(written, expected, np.array(extreme(element, name)).astype(a.dtype))
            written = dst
        same(np.where(written, outcome.all, a), np.where(written, expected, a), name)
        unchanged(outcome, written, name)


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, ALL, ["static", "dynamic"])], 16))
def test_chosen_with_index(case: tuple[str, str, str]) -> None:
    element, region, extents = case
    check_chosen(element, (REGIONS | NEITHER)[region], extents == "dynamic")


def check_chosen(element: str, regions: tuple[Region, Region, Region], dynamic: bool) -> None:
    a, b = (samples(element, (4, 160), seed, tame=True) for seed in (1, 2))
    b[:, ::5] = a[:, ::5]  # of equal elements that of src0 is taken
    i, j = (samples("i32", (4, 160), seed) for seed in (3, 4))
    d, x, y = (tile(element, region, dynamic, holds) for region, holds in zip(regions, (None, a, b), strict=True))
    e, p, q = (tile("i32", region, dynamic, holds) for region, holds in zip(regions, (None, i, j), strict=True))
    operations = {name: f"pto.{name} ins(%x, %y, %p, %q : X, Y, P, Q) outs(%d, %e : D, E)" for name in CHOSEN}
    got = run_each(operations, results="de", again=True, x=x, y=y, p=p, q=q, d=d, e=e)
    _, src0, src1 = masks(regions)
    written = src0 | src1
    for name in CHOSEN:
        better = b > a if name == "tpartargmax" else b < a
        second = src1 & (better | ~src0)
        for outcome, one, other in ((got[name]["d"], a, b), (got[name]["e"], i, j)):
            same(np.where(written, outcome.all, one), np.where(written, np.where(second, other, one), one), name)
            unchanged(outcome, written, name)
