"""Moves between tiles of vec: element by element against the layout table, whatever path they take."""

from __future__ import annotations

from typing import Any

import pytest

import ptosim
from ptosim.diagnostics import PTOError
from tile_moves import holds, loads_again, numbers, of, same, sampled
from tile_programs import Given, run, text

DN = "blayout=col_major"
NZ = "blayout=col_major, slayout=row_major"
ZN = "blayout=row_major, slayout=col_major"
ZZ = "blayout=row_major, slayout=row_major"
ELEMENTS = ("i8", "ui8", "i16", "i32", "f16", "bf16", "f32", "i64", "f8E4M3FN")


def moved(src: str, dst: str, extent: tuple[int, int] | None = None, valid: bool = False, target: str = "a5") -> None:
    """tmov of one type to another; `valid`: the regions are given when the tiles are made."""
    a, d = Given(src), Given(dst)
    a.holds = numbers(a.element, a.rows, a.cols)
    expected = a.holds[tuple(slice(min(one, other)) for one, other in zip(a.region, d.region, strict=True))]
    if valid:
        a.valid, d.valid = a.region, d.region
    got = run("pto.tmov ins(%a : A) outs(%d : D)", a=a, d=d, target=target)
    assert holds(got["d"], expected)
    assert same(got["a"].image, a.image())
    assert extent is None or extent == expected.shape


@pytest.mark.parametrize("element", ELEMENTS)
def test_rows(element: str) -> None:
    moved(f"8x64x{element}", f"8x64x{element}")
    moved(f"8x64x{element}, valid=7x45", f"8x96x{element}, valid=7x45", valid=True)


@sampled(
    10,
    (
        "src, dst",
        [
            ("5x320xE, valid=5x301", "5x320xE, valid=5x301"),
            ("1x320xE", "1x320xE"),
            ("8x64xE, valid=0x64", "8x64xE, valid=0x64"),
            ("8x64xE, valid=8x0", "8x64xE, valid=8x0"),
            (f"64x8xE, valid=45x7, {DN}", f"96x8xE, valid=45x7, {DN}"),
            (f"32x64xE, {NZ}", f"48x64xE, valid=32x64, {NZ}"),
            (f"32x64xE, valid=19x37, {NZ}", f"32x64xE, valid=19x37, {NZ}"),
            (f"64x32xE, valid=37x19, {ZN}", f"64x32xE, valid=37x19, {ZN}"),
        ],
    ),
    ("element", ["i8", "f16", "f32", "i64"]),
)
def test_the_same_layout(src: str, dst: str, element: str) -> None:
    moved(of(src, element), of(dst, element))


@sampled(
    14,
    (
        "src, dst",
        [
            ("32x64xE", f"32x64xE, {NZ}"),
            ("32x64xE, valid=19x37", f"32x64xE, valid=19x37, {NZ}"),
            ("32x512xE, valid=3x300", f"32x512xE, valid=3x300, {NZ}"),
            ("32x64xE, valid=20x64", f"32x64xE, valid=20x64, {NZ}, compact=2"),
            ("64x32xE", f"64x32xE, {ZN}"),
            ("64x32xE, valid=37x19", f"64x32xE, valid=37x19, {ZN}"),
            ("32x64xE, valid=19x37", f"32x64xE, valid=19x37, {ZZ}"),
            ("32x64xE, valid=19x37", f"32x64xE, valid=19x37, {DN}"),
            (f"64x32xE, valid=37x19, {DN}", "64x32xE, valid=37x19"),
            (f"64x32xE, valid=37x19, {DN}", f"64x32xE, valid=37x19, {NZ}"),
            (f"32x64xE, valid=19x37, {NZ}", "32x64xE, valid=19x37"),
            (f"64x32xE, valid=37x19, {ZN}", f"64x32xE, valid=37x19, {DN}"),
            (f"64x32xE, valid=37x19, {ZN}", "64x32xE, valid=37x19"),
        ],
    ),
    ("element", ["i8", "f16", "f32"]),
)
def test_another_layout(src: str, dst: str, element: str) -> None:
    moved(of(src, element), of(dst, element))


@pytest.mark.parametrize(("src", "dst", "words"), [(NZ, ZN, "NZ .* as ZN"), (ZN, NZ, "ZN .* as NZ")])
def test_boxes_of_one_order_do_not_become_those_of_the_other(src: str, dst: str, words: str) -> None:
    with pytest.raises(PTOError, match=f"a tile laid out as {words}"):
        moved(f"32x32xf16, {src}", f"32x32xf16, {dst}")


def test_boxes_of_sixteen_columns() -> None:
    moved("32x64xf32, valid=20x40", f"32x64xf32, valid=20x40, {NZ}, fractal=1024")
    moved(f"32x64xf32, valid=20x40, {NZ}, fractal=1024", f"48x64xf32, valid=20x40, {NZ}, fractal=1024")


@pytest.mark.parametrize("layout", ["", f", {DN}", f", {NZ}"])
def test_what_both_regions_have_in_common(layout: str) -> None:
    moved(f"32x64xf16, valid=9x40{layout}", f"32x64xf16, valid=12x33{layout}", (9, 33), valid=True)


def test_on_a2a3() -> None:
    moved("32x64xf16, valid=19x37", f"32x64xf16, valid=19x37, {NZ}", target="a2a3")


def test_in_place() -> None:
    a = Given("8x64xf32", numbers("f32", 8, 64), address=0)
    got = run("pto.tmov ins(%a : A) outs(%a : A)", a=a)
    assert same(got["a"].all, a.holds if a.holds is not None else a.image())


def test_it_loads_again() -> None:
    for dst in ("8x64xf16, valid=7x40", f"8x64xf16, valid=7x40, {NZ}"):
        loads_again("pto.tmov ins(%a : A) outs(%d : D)", a=Given("8x64xf16, valid=7x40"), d=Given(dst))


# --- windows ----------------------------------------------------------------------------------------------------------

OFFSETS = "%row: index, %col: index"


def constants(row: int, col: int) -> str:
    return f"%row = arith.constant {row} : index\n%col = arith.constant {col} : index"


@sampled(
    10,
    ("element", ["i8", "f16", "f32", "i64"]),
    ("row, col", [(0, 0), (3, 0), (2, 32), (5, 7), (1, 33)]),
    ("dynamic", [False, True]),
)
def test_a_window_is_taken(element: str, row: int, col: int, dynamic: bool) -> None:
    a = Given(f"16x192x{element}", numbers(element, 16, 192))
    d = Given(f"8x96x{element}, valid=7x90")
    where: dict[str, Any] = {"scalars": OFFSETS} if dynamic else {"before": constants(row, col)}
    operation = "pto.textract ins(%a, %row, %col : A, index, index) outs(%d : D)"
    got = run(operation, *((row, col) if dynamic else ()), a=a, d=d, **where)
    assert a.holds is not None
    assert holds(got["d"], a.holds[row : row + 7, col : col + 90])


@sampled(
    10,
    ("element", ["i8", "f16", "f32", "i64"]),
    ("row, col", [(0, 0), (3, 0), (2, 32), (5, 7), (1, 33)]),
    ("dynamic", [False, True]),
)
def test_a_window_is_filled(element: str, row: int, col: int, dynamic: bool) -> None:
    a = Given(f"8x96x{element}, valid=7x90", numbers(element, 8, 96))
    d = Given(f"16x192x{element}")
    where: dict[str, Any] = {"scalars": OFFSETS} if dynamic else {"before": constants(row, col)}
    operation = "pto.tinsert ins(%a, %row, %col : A, index, index) outs(%d : D)"
    got = run(operation, *((row, col) if dynamic else ()), a=a, d=d, **where)
    assert a.holds is not None
    assert holds(got["d"], a.holds[:7, :90], row, col)


def test_a_window_of_blocks_of_columns() -> None:
    a = Given(f"16x32xf16, valid=9x20, {NZ}", numbers("f16", 16, 32))
    d = Given(f"48x64xf16, {NZ}")
    got = run("pto.tinsert ins(%a, %row, %col : A, index, index) outs(%d : D)", a=a, d=d, before=constants(5, 16))
    assert a.holds is not None
    assert holds(got["d"], a.holds[:9, :20], 5, 16)


def test_a_window_inside_of_a_granule_is_refused() -> None:
    tiles = {"a": Given(f"16x32xf16, {NZ}"), "d": Given(f"48x64xf16, {NZ}")}
    operation = "pto.tinsert ins(%a, %row, %col : A, index, index) outs(%d : D)"
    kernel = ptosim.load(text(operation, tiles, before=constants(5, 7)), sync="written").kernel()
    with pytest.raises(PTOError, match="col is no multiple of 16"):
        _ = kernel.program


@pytest.mark.parametrize("element", ["i8", "f16", "f32", "i64"])
def test_a_single_element_is_put_in_by_the_scalar_unit(element: str) -> None:
    a = Given(f"1x32x{element}, valid=1x1", numbers(element, 1, 32))
    d = Given(f"4x64x{element}")
    got = run("pto.tinsert ins(%a, %row, %col : A, index, index) outs(%d : D)", a=a, d=d, before=constants(2, 5))
    assert a.holds is not None
    assert holds(got["d"], a.holds[:1, :1], 2, 5)


def test_a_window_outside_of_the_tile_ends_the_run() -> None:
    tiles = {"a": Given("16x64xf32"), "d": Given("8x32xf32")}
    operation = "pto.textract ins(%a, %row, %col : A, index, index) outs(%d : D)"
    kernel = ptosim.load(text(operation, tiles, scalars=OFFSETS), sync="written").kernel()
    for engine in ("native", "reference"):
        with pytest.raises(PTOError, match="col is outside of the 64 of %a"):
            kernel(*(tile.image() for tile in tiles.values()), 0, 33, engine=engine)


def test_a_window_that_becomes_too_large_ends_the_run() -> None:
    """It begins at a row that is known; how many rows follow is not."""
    tiles = {"a": Given("16x64xf32", valid=(9, 64)), "d": Given("16x64xf32")}
    operation = "pto.tinsert ins(%a, %row, %col : A, index, index) outs(%d : D)"
    kernel = ptosim.load(text(operation, tiles, before=constants(8, 0)), sync="written").kernel()
    images = [tile.image() for tile in tiles.values()]
    kernel(*images, 8, 64)
    for engine in ("native", "reference"):
        with pytest.raises(PTOError, match="row is outside of the 16 of %d"):
            kernel(*images, 9, 64, engine=engine)
