"""Parts of tiles keep the distances of the whole: what lies between their rows belongs to others."""

import numpy as np
import pytest

from ptosim.diagnostics import PTOError
from tile_moves import numbers
from tile_programs import Given, run

WHOLE, RIGHT = "!pto.tile_buf<vec, 8x96xi32>", "!pto.tile_buf<vec, 4x32xi32>"
CUT = f"""%c2 = arith.constant 2 : index
%c32 = arith.constant 32 : index
%part = pto.subview %a[%c2, %c32] sizes [4, 32] : {WHOLE} -> {RIGHT}
%one = arith.constant 1 : i32"""


def test_other_elements_of_a_part_lie_where_they_did() -> None:
    x = numbers("i32", 8, 96)
    other = "!pto.tile_buf<vec, 4x32xui32>"
    got = run(
        f"pto.tadds ins(%other, %one : {other}, i32) outs(%other : {other})",
        before=f"{CUT}\n%other = pto.bitcast %part : {RIGHT} -> {other}",
        a=Given("8x96xi32", x),
    )["a"]
    x[2:6, 32:64] += 1
    assert np.array_equal(got.all, x)


def test_narrower_elements_of_a_part_are_refused() -> None:
    other = "!pto.tile_buf<vec, 4x32xi16>"
    with pytest.raises(PTOError, match="%part is a part of a tile with gaps between its rows"):
        run(
            f"pto.tadds ins(%other, %one : {other}, i32) outs(%other : {other})",
            before=f"{CUT}\n%other = pto.bitcast %part : {RIGHT} -> {other}",
            a=Given("8x96xi32"),
        )


def test_other_elements_have_the_rows_that_only_the_run_knows() -> None:
    x = numbers("i32", 8, 96)
    some, other = "!pto.tile_buf<vec, 8x96xi32, valid=?x32>", "!pto.tile_buf<vec, 8x96xui32, valid=?x32>"
    got = run(
        f"pto.tadds ins(%other, %one : {other}, i32) outs(%other : {other})",
        3,
        scalars="%rows: index",
        before=f"""%one = arith.constant 1 : i32
%some = pto.alloc_tile addr = %at_a valid_row = %rows : {some}
%other = pto.bitcast %some : {some} -> {other}""",
        a=Given("8x96xi32", x),
    )["a"]
    x[:3, :32] += 1
    assert np.array_equal(got.all, x)


@pytest.mark.parametrize("lower", [False, True])
def test_rows_of_a_tile_are_handed_on(lower: bool) -> None:
    """Whole rows follow each other in the part as they do in the tile."""
    x = numbers("i32", 8, 96)
    half = "!pto.tile_buf<vec, 4x96xi32>"
    got = run(
        f"pto.tadds ins(%half, %one : {half}, i32) outs(%half : {half})",
        lower,
        scalars="%lower: i1",
        before=f"""%one = arith.constant 1 : i32
%c4 = arith.constant 4 : index
%half = scf.if %lower -> ({half}) {{
  %below = pto.subview %a[%c4, %c0] sizes [4, 96] : {WHOLE} -> {half}
  scf.yield %below : {half}
}} else {{
  %above = pto.subview %a[%c0, %c0] sizes [4, 96] : {WHOLE} -> {half}
  scf.yield %above : {half}
}}""",
        a=Given("8x96xi32", x),
    )["a"]
    x[4:8] += lower
    x[:4] += not lower
    assert np.array_equal(got.all, x)


def test_a_working_tile_has_no_rows_but_its_own() -> None:
    """Two rows of 64 have as many elements as four of 32; the rows behind them are not those of tmp."""
    two, four = "!pto.tile_buf<vec, 2x64xf32>", "!pto.tile_buf<vec, 4x64xf32>"
    with pytest.raises(PTOError, match="tmp has 2 rows; it takes one for every two of src, 4"):
        run(
            f"pto.tcolsum ins(%a, %two {{isBinary = true}} : A, {two}) outs(%d : D)",
            before=f"%c2 = arith.constant 2 : index\n%two = pto.subview %t[%c2, %c0] sizes [2, 64] : {four} -> {two}",
            a=Given("8x32xf32"),
            t=Given("4x64xf32"),
            d=Given("1x32xf32"),
        )
