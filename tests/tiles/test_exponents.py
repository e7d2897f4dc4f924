"""Scale exponents in the order of the cube unit, byte by byte as the instruction set numbers them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from tile_moves import loads_again, sampled
from tile_programs import Given, run

ZZ = "blayout=row_major, slayout=row_major"
MOVE = "pto.tmov ins(%a, %t : A, T) outs(%d : D) {{grpAxis = #pto<mx_group_axis {}>}}"


def exponents(rows: int, cols: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(rows * cols).integers(1, 256, (rows, cols), np.uint8)


def boxed(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Byte (rb*P + p)*32 + 2q + d is that of row 16*rb + q and column 2*p + d; rows are filled up with zeros."""
    rows, cols = values.shape
    filled = np.zeros((-(-rows // 16) * 16, cols), np.uint8)
    filled[:rows] = values
    return filled.reshape(-1, 16, cols // 2, 2).transpose(0, 2, 1, 3).ravel()


def moved(axis: str, a: Given, d: Given) -> np.ndarray[Any, Any]:
    """The bytes of the result, as many as boxes have; the others are what they were."""
    room = 64 + -(-d.rows // 16) * d.cols
    got = run(MOVE.format(axis), a=a, d=d, t=Given(f"1x{-(-room // 32) * 32}x{a.element}"))
    return got["d"].image


@sampled(
    6,
    ("rows, cols", [(16, 32), (32, 64), (48, 96), (64, 160)]),
    ("element", ["ui8", "!pto.hif8", "!pto.f8E8M0"]),
    ("fractal", [32, 512, 1024]),
)
def test_groups_along_columns(rows: int, cols: int, element: str, fractal: int) -> None:
    """Boxes have 16 rows and 2 columns whatever `fractal` says."""
    values = exponents(rows, cols)
    a, d = Given(f"{rows}x{cols}x{element}", values), Given(f"{rows}x{cols}x{element}, {ZZ}, fractal={fractal}")
    assert np.array_equal(moved("axis1", a, d), boxed(values))


@pytest.mark.parametrize("rows", [1, 5, 17, 20])
def test_missing_rows_are_zero(rows: int) -> None:
    height = -(-rows // 16) * 16
    values = exponents(rows, 32)
    a, d = Given(f"{height}x32xui8, valid={rows}x32", values), Given(f"{height}x32xui8, valid={rows}x32, {ZZ}")
    assert np.array_equal(moved("axis1", a, d), boxed(values))


@pytest.mark.parametrize("rows, cols", [(16, 8), (32, 4), (16, 6), (64, 2), (16, 32)])
def test_a_source_has_the_rows_of_the_result(rows: int, cols: int) -> None:
    """Exponents of one row, or of rows of another length."""
    values = exponents(rows, cols)
    d = Given(f"{rows}x{cols}xui8, {ZZ}, fractal=32")
    row = Given(f"1x{rows * cols}xui8, slayout=row_major", values.reshape(1, -1))
    assert np.array_equal(moved("axis1", row, d), boxed(values))
    if rows * cols % 32 == 0:
        lines = Given(f"{rows * cols // 32}x32xui8", values.reshape(-1, 32))
        assert np.array_equal(moved("axis1", lines, d), boxed(values))


@pytest.mark.parametrize("groups, cols", [(2, 32), (8, 64), (6, 128)])
@pytest.mark.parametrize("shape", ["{cols}x{groups}", "{groups}x{cols}", "1x{all}", "16x{sixteenth}"])
def test_groups_along_rows(groups: int, cols: int, shape: str) -> None:
    """Byte (c*H/2 + p)*32 + 2q + d is that of row 2*p + d and column 16*c + q, whatever shape the result has."""
    values = exponents(groups, cols)
    size = shape.format(cols=cols, groups=groups, all=groups * cols, sixteenth=groups * cols // 16)
    fractal = 32 if size.startswith(("16x", f"{cols}x")) else 512
    a, d = Given(f"{groups}x{cols}xui8", values), Given(f"{size}xui8, {ZZ}, fractal={fractal}")
    if size.startswith("1x") or (d.cols % 2 == 0 and fractal == 32):
        assert np.array_equal(moved("axis0", a, d), boxed(values.T))


def test_the_lowered_text_loads_again() -> None:
    loads_again(MOVE.format("axis0"), a=Given("8x64xui8"), d=Given(f"64x8xui8, {ZZ}, fractal=32"), t=Given("1x128xui8"))


@pytest.mark.parametrize("groups, cols", [(8, 10240), (2, 40960)])
def test_groups_that_lie_far_apart(groups: int, cols: int) -> None:
    """Four boxes would reach further than the 16 bits of an offset."""
    values = exponents(groups, cols)
    a, d = Given(f"{groups}x{cols}xui8", values), Given(f"{cols}x{groups}xui8, {ZZ}, fractal=32")
    got = run(MOVE.format("axis0"), a=a, d=d, t=Given("1x32xui8"))
    assert np.array_equal(got["d"].image, boxed(values.T))


def test_rows_that_lie_too_far_apart_are_refused() -> None:
    a, d = Given("16x4384xui8"), Given(f"16x4384xui8, {ZZ}, fractal=32")
    with pytest.raises(ptosim.PTOError, match="65535 bytes apart"):
        moved("axis1", a, d)


@pytest.mark.parametrize("source", ["1x64", "2x32"])
def test_one_row_takes_the_bytes_in_order(source: str) -> None:
    values = exponents(1, 64)
    rows, cols = map(int, source.split("x"))
    a, d = Given(f"{source}xui8", values.reshape(rows, cols)), Given(f"1x64xui8, {ZZ}")
    assert np.array_equal(moved("axis1", a, d), values.ravel())


@pytest.mark.parametrize("role", ["t", "d"])
def test_tiles_that_lie_over_each_other_are_refused(role: str) -> None:
    tiles = {"a": Given("16x32xui8", address=0), "t": Given("1x96xui8", address=0x2000)}
    tiles["d"] = Given(f"16x32xui8, {ZZ}", address=0x3000)
    tiles[role].address = 256
    with pytest.raises(ptosim.PTOError, match="different storage"):
        run(MOVE.format("axis1"), **tiles)
