"""Valid regions that only the run knows, and results that are smaller tiles: no byte behind these is touched."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from tables import table
from tile_programs import Given, Outcome, run


def source(type_: str, valid: tuple[int, int], address: int = 0x8000) -> Given:
    """A tile full of nines, wholly valid; nothing else of a test holds any."""
    rows, cols, *_ = type_.split("x")
    return Given(type_, np.full((int(rows), int(cols)), 9), valid, address=address)


def behind(operation: str, dst: Given, other: Given | None = None, **given: object) -> dict[str, Outcome]:
    """Run an operation on %a, whose result %d, and %e, is followed by another tile, which must stay as it is."""
    dst.address = 0
    tiles = {"d": dst, "y": Given("1x512xui8", address=dst.room)}
    if other is not None:
        other.address = 0x4000
        tiles |= {"e": other, "z": Given("1x512xui8", address=0x4000 + other.room)}
    got = run(operation, check=False, **given, **tiles)  # type: ignore[arg-type]
    for name in tiles.keys() & {"y", "z"}:
        assert np.array_equal(got[name].image, tiles[name].image()), "bytes behind the result have changed"
    return got


@pytest.mark.parametrize("name", ["trowsum", "trowprod", "trowargmax", "tcolmax", "tcolargmin", "tcolsum"])
def test_reductions(name: str) -> None:
    kind = "i32" if "arg" in name else "f32"
    by_rows, by_columns = Given(f"32x1x{kind}, blayout=col_major", valid=(32, 1)), Given(f"1x32x{kind}", valid=(1, 32))
    dst = by_rows if "row" in name else by_columns
    got = behind(f"pto.{name} ins(%a : A) outs(%d : D)", dst, a=source("64x64xf32", (64, 64)))
    assert len({*got["d"].all.ravel().tolist()}) == 1


def test_histograms() -> None:
    filters = Given("32x1xui8, blayout=col_major", np.zeros((32, 1)), (32, 1), address=0x14000)
    operation = "pto.thistogram ins(%a, %i : A, I) outs(%d : D) {byte = 1 : i32}"
    got = behind(operation, Given("8x256xui32", valid=(8, 256)), a=source("32x64xui16", (32, 64)), i=filters)
    assert (got["d"].all == 64).all()


@pytest.mark.parametrize(("axis", "size"), [("row", "16x64"), ("row", "16x128"), ("col", "32x64")])
def test_scatters_by_a_pattern(axis: str, size: str) -> None:
    words = f'{{maskPattern = #pto.mask_pattern<P1010>, axis = "{axis}"}}'
    rows, cols = map(int, size.split("x"))
    dst = Given(f"{size}xf32", valid=(rows, cols))
    got = behind(f"pto.tscatter ins(%a : A) outs(%d : D) {words}", dst, a=source("64x64xf32", (64, 64)))
    expected = np.zeros((rows, cols))
    if axis == "row":
        expected[:, 1::2] = 9
    else:
        expected[1::2] = 9
    assert np.array_equal(got["d"].all, expected)


def test_gathers_by_comparison() -> None:
    operation = "pto.tgather ins(%a, %x, %t : A, f32, T) outs(%d, %e : D, E) {cmpMode = #pto<cmp gt>, offset = 0 : i32}"
    dst, counts = Given("64x32xi32", valid=(64, 32)), Given("32x8xi32", valid=(32, 1))
    given = {"a": source("64x64xf32", (64, 64)), "t": Given("1x64xf32", address=0x14000)}
    before = "%x = arith.constant 0.0 : f32"
    got = behind(operation, dst, counts, before=before, **given)
    assert (got["e"].all[:, 0] == 64).all()


@table(
    "operation, type_",
    ("pto.tcmp ins(%a, %c {cmpMode = #pto<cmp lt>} : A, C) outs(%d : D)", "32x32xui8"),
    ("pto.tcmps ins(%a, %x {cmpMode = #pto<cmp lt>} : A, f32) outs(%d : D)", "16x32xui8"),
    ("pto.tcmps ins(%a, %x {cmpMode = #pto<cmp lt>} : A, f32) outs(%d : D)", "4x64xui8"),
)
def test_bits_that_find_no_place_end_the_run(operation: str, type_: str) -> None:
    dst = Given(type_, valid=(4, 8))
    given = {"a": source("64x64xf32", (64, 64)), "c": source("64x64xf32", (64, 64), 0xC000)}
    with pytest.raises(ptosim.PTOError, match="too few for the bits of the comparison"):
        behind(operation, dst, before="%x = arith.constant 0.0 : f32", **given)
