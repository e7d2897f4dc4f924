"""Transposes, pads and concatenations against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tile_moves import holds, loads_again, numbers, of, same, sampled
from tile_programs import Given, run

DN = "blayout=col_major"

# --- transposes -------------------------------------------------------------------------------------------------------


@sampled(
    10,
    (
        "src, dst",
        [
            ("32x64xE", "64x32xE"),
            ("32x64xE, valid=19x37", "64x32xE, valid=37x19"),
            ("1x64xE", "64x32xE, valid=64x1"),
            ("32x32xE, valid=0x5", "32x32xE, valid=5x0"),
        ],
    ),
    ("element", ["i8", "ui8", "i16", "f16", "bf16", "i32", "f32"]),
)
def test_transposes(src: str, dst: str, element: str) -> None:
    a, d = Given(of(src, element)), Given(of(dst, element))
    a.holds = numbers(element, a.rows, a.cols)
    got = run("pto.ttrans ins(%a : A) outs(%d : D)", a=a, d=d)
    rows, cols = a.region
    assert holds(got["d"], a.holds[:rows, :cols].T)


@pytest.mark.parametrize("element", ["i8", "f16"])
@pytest.mark.parametrize("src, dst", [("32x1024xE", "1024x32xE"), ("1024x32xE", "32x1024xE")])
def test_transposes_of_wide_tiles(src: str, dst: str, element: str) -> None:
    a, d = Given(of(src, element)), Given(of(dst, element))
    a.holds = numbers(element, a.rows, a.cols)
    got = run("pto.ttrans ins(%a : A) outs(%d : D)", a=a, d=d, check=False)
    assert same(got["d"].all, a.holds.T)


def test_a_transpose_whose_region_only_the_run_knows() -> None:
    a = Given("32x64xf16", numbers("f16", 32, 64), valid=(19, 37))
    d = Given("64x32xf16", valid=(37, 19))
    operation = "pto.ttrans ins(%a : A) outs(%d : D)"
    assert a.holds is not None
    assert holds(run(operation, a=a, d=d)["d"], a.holds[:19, :37].T)
    loads_again(operation, a=a, d=d)


# --- pads -------------------------------------------------------------------------------------------------------------

PADS = {
    "i8": (0, 0x7F, 0x80),
    "ui8": (0, 0xFF, 0),
    "i16": (0, 0x7FFF, 0x8000),
    "f16": (0, 0x7BFF, 0xFBFF),
    "bf16": (0, 0x7F7F, 0xFF7F),
    "i32": (0, 0x7FFFFFFF, 0x80000000),
    "f32": (0, 0x7F7FFFFF, 0xFF7FFFFF),
}
SHAPES = [
    ("8x64xE, valid=5x37", "8x64xE, pad=P"),
    ("8x64xE, valid=8x64", "8x64xE, pad=P"),
    ("8x64xE, valid=8x37", "16x320xE, valid=13x300, pad=P"),
    ("8x320xE, valid=3x290", "8x320xE, valid=7x310, pad=P"),
    ("8x64xE, valid=0x5", "8x64xE, pad=P"),
    (f"64x8xE, valid=37x5, {DN}", f"64x8xE, {DN}, pad=P"),
]


@sampled(
    16,
    ("pad, element", [(1 + number % 3, element) for number, element in enumerate(PADS)]),
    ("number, shapes", list(enumerate(SHAPES))),
    ("dynamic", [False, True]),
)
def test_pads(element: str, pad: int, number: int, shapes: tuple[str, str], dynamic: bool) -> None:
    src, dst = shapes
    a, d = Given(of(src, element)), Given(of(dst.replace("P", str(pad)), element))
    a.holds = numbers(element, a.rows, a.cols)
    if dynamic:
        a.valid, d.valid = a.region, d.region
    expected = np.full(d.region, PADS[element][pad - 1], f"u{a.dtype.itemsize}").view(a.dtype)
    rows, cols = a.region
    expected[:rows, :cols] = a.holds[:rows, :cols]
    got = run("pto.tfillpad ins(%a : A) outs(%d : D)", a=a, d=d)
    assert holds(got["d"], expected)


@pytest.mark.parametrize("name", ["pto.tfillpad", "pto.tfillpad_inplace"])
@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
def test_a_tile_is_padded_in_place(element: str, name: str) -> None:
    a = Given(f"8x96x{element}, valid=5x37", numbers(element, 8, 96), address=0)
    d = Given(f"8x96x{element}, valid=7x90, pad=2", a.holds, address=0)
    got = run(f"{name} ins(%a : A) outs(%d : D)", a=a, d=d)
    assert a.holds is not None
    expected = np.full((7, 90), PADS[element][1], f"u{a.dtype.itemsize}").view(a.dtype)
    expected[:5, :37] = a.holds[:5, :37]
    assert holds(got["d"], expected)


def test_the_older_name_of_a_larger_result() -> None:
    a, d = Given("4x32xi16", numbers("i16", 4, 32)), Given("6x48xi16, pad=2")
    expected = np.full((6, 48), 0x7FFF, "i2")
    assert a.holds is not None
    expected[:4, :32] = a.holds
    assert holds(run("pto.tfillpad_expand ins(%a : A) outs(%d : D)", a=a, d=d)["d"], expected)


def test_pads_load_again() -> None:
    loads_again("pto.tfillpad ins(%a : A) outs(%d : D)", a=Given("8x64xui16, valid=5x37"), d=Given("8x64xui16, pad=3"))


# --- concatenations ---------------------------------------------------------------------------------------------------


@sampled(
    14,
    ("element", ["i8", "f16", "f32", "i64"]),
    ("first, second", [(64, 64), (63, 64), (32, 96), (1, 5), (100, 28), (0, 7), (9, 0)]),
    ("dynamic", [False, True]),
)
def test_side_by_side(element: str, first: int, second: int, dynamic: bool) -> None:
    a, b = (Given(f"5x128x{element}, valid=5x{cols}", numbers(element, 5, 128)) for cols in (first, second))
    d = Given(f"5x128x{element}, valid=5x{first + second}")
    if dynamic:
        for tile in (a, b, d):
            tile.valid = tile.region
    assert a.holds is not None
    got = run("pto.tconcat ins(%a, %b : A, B) outs(%d : D)", a=a, b=b, d=d)
    assert holds(got["d"], np.hstack([a.holds[:, :first], a.holds[:, :second]]))


def test_columns_side_by_side() -> None:
    a, b = (Given(f"64x{cols}xf16, {DN}", numbers("f16", 64, cols)) for cols in (3, 4))
    d = Given(f"64x8xf16, valid=64x7, {DN}")
    got = run("pto.tconcat ins(%a, %b : A, B) outs(%d : D)", a=a, b=b, d=d)
    assert a.holds is not None and b.holds is not None
    assert holds(got["d"], np.hstack([a.holds, b.holds]))
    loads_again("pto.tconcat ins(%a, %b : A, B) outs(%d : D)", a=a, b=b, d=d)


@sampled(6, ("element", ["i8", "f16", "f32", "i64"]), ("index", ["i8", "i16", "i32", "ui32"]))
def test_as_many_columns_as_an_index_says(element: str, index: str) -> None:
    a, b = (Given(f"5x64x{element}, valid=5x{cols}", numbers(element, 5, 64)) for cols in (60, 50))
    width = Given(f"1x1x{index}").dtype.itemsize
    counts = np.array([[3, 5], [0, 20], [20, 0], [25, 25], [31, 31]])
    x, y = (Given(f"5x32x{index}", (counts[:, [side]] * width).astype(Given(f"1x1x{index}").dtype)) for side in (0, 1))
    d = Given(f"5x64x{element}, valid=5x40")
    got = run("pto.tconcatidx ins(%a, %b, %x, %y : A, B, X, Y) outs(%d : D)", a=a, b=b, x=x, y=y, d=d)
    expected = d.read(d.image())
    assert a.holds is not None
    for row, (first, wanted) in enumerate(counts):
        second = min(wanted, 40 - first)
        expected[row, :first] = a.holds[row, :first]
        expected[row, first : first + second] = a.holds[row, :second]
    assert same(got["d"].all, expected)


def test_concatenations_by_index_load_again() -> None:
    tiles = {name: Given("5x64xf16") for name in "abd"} | {name: Given("5x8xi32") for name in "xy"}
    loads_again("pto.tconcatidx ins(%a, %b, %x, %y : A, B, X, Y) outs(%d : D)", **tiles)
