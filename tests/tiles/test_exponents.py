"""Scale exponents in the order of the cube unit, byte by byte as the instruction set numbers them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from tile_moves import loads_again, sampled
from tile_programs import Given, run

ZZ = "blayout=row_major, slayout=row_major, fractal=32"
NN = "blayout=col_major, slayout=col_major, fractal=32"
MOVE = "pto.tmov ins(%a, %t : A, T) outs(%d : D) {{grpAxis = #pto<mx_group_axis {}>}}"


def exponents(rows: int, cols: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(rows * cols).integers(1, 256, (rows, cols), np.uint8)


def boxed(values: np.ndarray[Any, Any], pairs: int) -> np.ndarray[Any, Any]:
    """Byte (rb*P + p)*32 + 2q + d is that of row 16*rb + q and column 2*p + d; rows are filled up with zeros."""
    rows, cols = values.shape
    filled = np.zeros((-(-rows // 16) * 16, 2 * pairs), np.uint8)
    filled[:rows, :cols] = values
    return filled.reshape(-1, 16, pairs, 2).transpose(0, 2, 1, 3).ravel()


@sampled(6, ("rows, cols", [(16, 2), (32, 8), (48, 40), (64, 64)]), ("element", ["ui8", "!pto.hif8", "!pto.f8E8M0"]))
def test_groups_along_columns(rows: int, cols: int, element: str) -> None:
    width = -(-cols // 32) * 32
    a = Given(f"{rows}x{width}x{element}, valid={rows}x{cols}", exponents(rows, width))
    d = Given(f"{rows}x{cols}x{element}, {ZZ}")
    got = run(MOVE.format("axis1"), a=a, d=d, t=Given(f"1x32x{element}"))
    assert a.holds is not None
    assert np.array_equal(got["d"].image, boxed(a.holds[:, :cols], cols // 2))


@pytest.mark.parametrize("dynamic", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("rows", [1, 5, 20])
def test_missing_rows_are_zero(rows: int, dynamic: bool) -> None:
    height = -(-rows // 16) * 16
    a, d = Given(f"{height}x32xui8, valid={rows}x8", exponents(height, 32)), Given(f"{height}x8xui8, {ZZ}")
    if dynamic:
        a.valid = a.region
        d.valid = d.region
    got = run(MOVE.format("axis1"), a=a, d=d, t=Given("1x32xui8"))
    assert a.holds is not None
    assert np.array_equal(got["d"].image, boxed(a.holds[:rows, :8], 4))


@pytest.mark.parametrize("rows, cols", [(16, 8), (32, 4), (16, 6)])
def test_a_linear_source_has_the_rows_of_the_result(rows: int, cols: int) -> None:
    values = exponents(rows, cols)
    a = Given(f"1x{rows * cols}xui8, slayout=row_major", values.reshape(1, -1))
    d = Given(f"{rows}x{cols}xui8, {ZZ}")
    got = run(MOVE.format("axis1"), a=a, d=d, t=Given("1x32xui8"))
    assert np.array_equal(got["d"].image, boxed(values, cols // 2))


@pytest.mark.parametrize("layout", ["ZZ", "NN"])
@pytest.mark.parametrize("groups, cols", [(2, 32), (8, 64), (6, 128)])
def test_groups_along_rows(groups: int, cols: int, layout: str) -> None:
    """Byte (c*H/2 + p)*32 + 2q + d is that of row 2*p + d and column 16*c + q."""
    a = Given(f"{groups}x{cols}xui8", exponents(groups, cols))
    d = Given(f"{cols}x{groups}xui8, {ZZ}") if layout == "ZZ" else Given(f"{groups}x{cols}xui8, {NN}")
    got = run(MOVE.format("axis0"), a=a, d=d, t=Given("1x32xui8"))
    assert a.holds is not None
    assert np.array_equal(got["d"].image, boxed(a.holds.T, groups // 2))
    loads_again(MOVE.format("axis0"), a=a, d=d, t=Given("1x32xui8"))


@pytest.mark.parametrize("groups, cols", [(8, 10240), (2, 40960)])
def test_groups_that_lie_far_apart(groups: int, cols: int) -> None:
    """Four boxes would reach further than the 16 bits of an offset."""
    a, d = Given(f"{groups}x{cols}xui8", exponents(groups, cols)), Given(f"{cols}x{groups}xui8, {ZZ}")
    got = run(MOVE.format("axis0"), a=a, d=d, t=Given("1x32xui8"))
    assert a.holds is not None
    assert np.array_equal(got["d"].image, boxed(a.holds.T, groups // 2))


def test_rows_that_lie_too_far_apart_are_refused() -> None:
    a, d = Given("16x4384xui8"), Given(f"16x4384xui8, {ZZ}")
    with pytest.raises(ptosim.PTOError, match="65535 bytes apart"):
        run(MOVE.format("axis1"), a=a, d=d, t=Given("1x32xui8"))


def test_one_row_takes_the_bytes_in_order() -> None:
    a, d = Given("1x64xui8", exponents(1, 64)), Given(f"1x64xui8, {ZZ}")
    got = run(MOVE.format("axis1"), a=a, d=d, t=Given("1x32xui8"))
    assert a.holds is not None
    assert np.array_equal(got["d"].image, a.holds.ravel())
