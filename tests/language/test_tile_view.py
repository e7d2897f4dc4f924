"""Tiles: allocations with their layouts, addresses and valid regions, and the views of a tile."""

import pytest

from language import source
from language.view_kernel import TB, accepts, prints, rejects
from refusals.tile_view import BOXED, BOXED_TILE, OPEN, OPEN_TILE, SEVERAL, TILE
from tables import table

# --- how they are written ---------------------------------------------------------------------------------------------


@table(
    "line",
    "%t = pto.alloc_tile : TB",
    "%t = pto.alloc_tile addr = %a : TB",
    f"%t = pto.alloc_tile valid_row = %m valid_col = %n : {OPEN}",
    "%t = pto.alloc_tile valid_row = %m : !pto.tile_buf<vec, 16x64xf32, valid=?x64>",
    "%t = pto.alloc_tile addr = %a512 valid_col = %c64 : !pto.tile_buf<vec, 16x64xf32, valid=16x?>",
    "%t = pto.alloc_tile {pto.multi_buffer = 2 : i32} : TB",
    f"%t = pto.alloc_multi_tile : {SEVERAL}",
    "%t = pto.declare_tile -> TB",
)
def test_allocations(line: str):
    prints(line, line)


@table(
    "line",
    "%u = pto.tassign %t, %a : TB -> TB",
    "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> !pto.tile_buf<vec, 8x32xf32>",
    "%u = pto.subview %t[%c8, %c32] sizes [8, 32] valid [%m, %n] : TB -> !pto.tile_buf<vec, 8x32xf32, valid=?x?>",
    "%u = pto.treshape %t : TB -> !pto.tile_buf<vec, 64x16xf32, valid=1x1>",
    "%u = pto.treshape %t : TB -> !pto.tile_buf<vec, 16x128xf16, blayout=col_major>",
    "%u = pto.bitcast %t : TB -> !pto.tile_buf<vec, 16x64xi32>",
    "%r = pto.tile_valid_rows %t : TB -> index",
    "%r = pto.tile_valid_cols %t : TB -> index",
    "%r, %s = pto.get_validshape %t : TB",
    "%q = pto.tile_buf_addr %t : TB -> !pto.ptr<f32, ub>",
)
def test_views(line: str):
    prints(TILE + line, line)


@table(
    "written, line",
    (
        "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB",
        "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> !pto.tile_buf<vec, 8x32xf32>",
    ),
    (
        "%u = pto.subview %t[%i, %j] sizes [8, 32] valid [%m, %c3] : TB",
        "%u = pto.subview %t[%i, %j] sizes [8, 32] valid [%m, %c3] : TB -> !pto.tile_buf<vec, 8x32xf32, valid=?x3>",
    ),
    (
        "%u = pto.subset %t[%i, %j] sizes [8, 32] : TB -> !pto.tile_buf<vec, 8x32xf32>",
        "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> !pto.tile_buf<vec, 8x32xf32>",
    ),
    (
        "%q = pto.tile_buf_addr %t : TB -> memref<16x64xf32, #pto.address_space<vec>>",
        "%q = pto.tile_buf_addr %t : TB -> !pto.ptr<f32, ub>",
    ),
    (
        '%u = "pto.subview"(%t, %i, %j) {sizes = [8, 32], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}'
        " : (TB, index, index) -> !pto.tile_buf<vec, 8x32xf32>",
        "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> !pto.tile_buf<vec, 8x32xf32>",
    ),
    ("%u = pto.treshape %t : TB -> TB {name = 1 : i32}", "%u = pto.treshape %t {name = 1 : i32} : TB -> TB"),
)
def test_other_spellings(written: str, line: str):
    prints(TILE + written, line)


def test_valid_shapes_are_set_and_several_tiles_chosen_from():
    prints(OPEN_TILE + f"pto.set_validshape %t, %m, %c64 : {OPEN}", f"pto.set_validshape %t, %m, %c64 : {OPEN}")
    line = f"%u = pto.multi_tile_get %s[%i] : {SEVERAL} -> TB"
    prints(f"%s = pto.alloc_multi_tile : {SEVERAL}\n{line}", line)
    accepts(f"%s = pto.alloc_multi_tile : {SEVERAL}\n%u = pto.multi_tile_get %s[%c1] : {SEVERAL} -> TB")


def test_tiles_are_carried_selected_and_yielded():
    two = "%t = pto.alloc_tile : TB\n%u = pto.alloc_tile : TB\n%k = arith.constant 1 : i1\n"
    accepts(two + "%r = scf.for %l = %c0 to %c8 step %c1 iter_args(%b = %t) -> (TB) { scf.yield %b : TB }")
    accepts(two + "%r = scf.if %k -> (TB) { scf.yield %t : TB } else { scf.yield %u : TB }")
    accepts(two + "%r = arith.select %k, %t, %u : TB")
    accepts(two + "pto.vecscope {\n%q = pto.tile_buf_addr %t : TB -> !pto.ptr<f32, ub>\n}")


# --- valid regions ----------------------------------------------------------------------------------------------------


@table(
    "source_of",
    "pto.declare_tile ->",
    "pto.treshape %t : TB ->",
    "pto.bitcast %s : !pto.tile_buf<vec, 16x64xi32, valid=?x?> ->",
)
def test_tiles_whose_valid_region_may_be_set(source_of: str):
    other = "%s = pto.declare_tile -> !pto.tile_buf<vec, 16x64xi32, valid=?x?>\n"
    accepts(f"{TILE}{other}%u = {source_of} {OPEN}\npto.set_validshape %u, %c0, %c64 : {OPEN}")


def test_the_valid_region_of_an_argument_is_not_set():
    text = f"func.func private @f(%t: {OPEN}, %m: index) {{\npto.set_validshape ~%t, %m, %m : {OPEN}\nreturn\n}}"
    source.rejects(text, "expects a tile of alloc_tile, declare_tile, bitcast or treshape, not an argument")


# --- the rules of views -----------------------------------------------------------------------------------------------


def test_whole_boxes_are_cut():
    accepts(BOXED_TILE + f"%u = pto.subview %t[%c16, %c32] sizes [16, 32] : {BOXED}")


@pytest.mark.parametrize("offset, end", [("%c15", 23), ("%c16", 24)])
def test_a_subview_stays_in_its_tile(offset: str, end: int):
    message = f"rows {end - 8}:{end} are not all in the source, which has 16"
    rejects(TILE + f"%u = pto.subview %t[{offset}, %j] sizes [~8, 32] : TB", message, "out-of-bounds")
    accepts(TILE + "%u = pto.subview %t[%c8, %j] sizes [8, 32] : TB")


def test_a_subview_needs_a_tile_that_is_allocated():
    text = (
        f"func.func private @f(%t: {TB}, %i: index) {{\n%u = pto.subview ~%t[%i, %i] sizes [8, 32] : {TB}\nreturn\n}}"
    )
    source.rejects(text, "expects a tile that is allocated in the function, not an argument of @f")


def test_boxes_stay_boxes():
    """A row of boxes may become a rectangle of them."""
    row = "!pto.tile_buf<mat, 1x64xf16, blayout=col_major, slayout=row_major>"
    square = "!pto.tile_buf<mat, 16x4xf16, blayout=col_major, slayout=row_major>"
    accepts(f"%t = pto.alloc_tile : {row}\n%u = pto.treshape %t : {row} -> {square}")
