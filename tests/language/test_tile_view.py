"""Tiles: allocations with their layouts, addresses and valid regions, and the views of a tile."""

import pytest

from language import source
from language.view_kernel import TB, accepts, prints, rejects, twins, warns

TILE = "%t = pto.alloc_tile : TB\n"
OPEN = "!pto.tile_buf<vec, 16x64xf32, valid=?x?>"
OPEN_TILE = f"%t = pto.alloc_tile valid_row = %m valid_col = %n : {OPEN}\n"
BOXED = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
BOXED_TILE = f"%t = pto.alloc_tile : {BOXED}\n"
SEVERAL = "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>"


# --- how they are written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "%t = pto.alloc_tile : TB",
        "%t = pto.alloc_tile addr = %a : TB",
        f"%t = pto.alloc_tile valid_row = %m valid_col = %n : {OPEN}",
        "%t = pto.alloc_tile valid_row = %m : !pto.tile_buf<vec, 16x64xf32, valid=?x64>",
        "%t = pto.alloc_tile addr = %a512 valid_col = %c64 : !pto.tile_buf<vec, 16x64xf32, valid=16x?>",
        "%t = pto.alloc_tile {pto.multi_buffer = 2 : i32} : TB",
        f"%t = pto.alloc_multi_tile : {SEVERAL}",
        "%t = pto.declare_tile -> TB",
    ],
)
def test_allocations(line: str):
    prints(line, line)


@pytest.mark.parametrize(
    "line",
    [
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
    ],
)
def test_views(line: str):
    prints(TILE + line, line)


@pytest.mark.parametrize(
    "written, line",
    [
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
    ],
)
def test_other_spellings(written: str, line: str):
    prints(TILE + written, line)


def test_valid_shapes_are_set_and_several_tiles_chosen_from():
    prints(OPEN_TILE + f"pto.set_validshape %t, %m, %c64 : {OPEN}", f"pto.set_validshape %t, %m, %c64 : {OPEN}")
    line = f"%u = pto.multi_tile_get %s[%i] : {SEVERAL} -> TB"
    prints(f"%s = pto.alloc_multi_tile : {SEVERAL}\n{line}", line)
    accepts(f"%s = pto.alloc_multi_tile : {SEVERAL}\n%u = pto.multi_tile_get %s[%c1] : {SEVERAL} -> TB")


def test_what_the_newest_parser_refuses():
    message = "pto.subview cuts tiles; a part of a tensor view is a pto.partition_view"
    text = "%u = pto.subview ~%v, offsets = [%i, %j], sizes = [%c1, %c1] : TV -> TV"
    rejects(text, message, kind="syntax")
    order = "expected ':' and the result type, after addr, valid_row and valid_col in this order"
    rejects("%t = pto.alloc_tile valid_row = %m ~addr = %a : TB", order, "syntax")
    why = "it was retired; pto.alloc_tile with addr places a tile"
    rejects("%t = ~pto.bind_tile : TB", f"unknown operation 'pto.bind_tile': {why}", "syntax")


def test_tiles_are_carried_selected_and_yielded():
    two = "%t = pto.alloc_tile : TB\n%u = pto.alloc_tile : TB\n%k = arith.constant 1 : i1\n"
    accepts(two + "%r = scf.for %l = %c0 to %c8 step %c1 iter_args(%b = %t) -> (TB) { scf.yield %b : TB }")
    accepts(two + "%r = scf.if %k -> (TB) { scf.yield %t : TB } else { scf.yield %u : TB }")
    accepts(two + "%r = arith.select %k, %t, %u : TB")
    accepts(two + "pto.vecscope {\n%q = pto.tile_buf_addr %t : TB -> !pto.ptr<f32, ub>\n}")


# --- valid regions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, message",
    [
        (
            f"%t = pto.alloc_tile «|valid_row = %m »valid_col = %n : ~{OPEN}",
            "valid_row operand is required because result type v_row is ?",
        ),
        (
            f"%t = pto.alloc_tile valid_row = %n «|valid_col = %n »: ~{OPEN}",
            "valid_col operand is required because result type v_col is ?",
        ),
        (
            "%t = pto.alloc_tile valid_row = ~%n : !pto.tile_buf<vec, 16x64xf32«|, valid=?x64»>",
            "valid_row operand is given, but result type v_row is 16, not ?",
        ),
        (
            f"%t = pto.alloc_tile valid_row = ~%«cm1|c0» valid_col = %n : {OPEN}",
            "valid_row is -1; it must not be negative",
        ),
        (f"%t = pto.alloc_tile valid_row = ~%«w|m» valid_col = %n : {OPEN}", "valid_row must be index, not i32"),
        (
            "%t = pto.alloc_multi_tile : ~!pto.multi_tile_buf<vec, 16x64xf32, valid=«?|8»x64, count=2>",
            "valid_row operand is required because result type v_row is ?",
        ),
    ],
)
def test_open_extents_are_given(text: str, message: str):
    twins(text, message)


def test_a_valid_extent_beyond_the_tile_is_clipped_by_the_run():
    text = f"%t = pto.alloc_tile valid_row = %m valid_col = ~%c65 : {OPEN}"
    warns(text, "valid_col is 65, but the tile has 64; a run uses 64", kind="invalid")


@pytest.mark.parametrize(
    "text, message",
    [
        (
            f"%t = pto.alloc_tile «|valid_row = %m valid_col = %n »: «TB|{OPEN}»\n"
            f"pto.set_validshape %t, %m, %n : ~«TB|{OPEN}»",
            "expects a tile with valid=?x?, not TB",
        ),
        (OPEN_TILE + f"pto.set_validshape %t, ~%«c17|c16», %n : {OPEN}", "valid_row is 17; it must be 0..16"),
        (OPEN_TILE + f"pto.set_validshape %t, %n, ~%«cm1|c0» : {OPEN}", "valid_col is -1; it must be 0..64"),
        (
            OPEN_TILE
            + f"%u = pto.subview %t[%i, %j] sizes [16, 64] valid [%m, %n] : {OPEN} -> {OPEN}\n"
            + f"pto.set_validshape ~%«u|t», %m, %n : {OPEN}",
            "expects a tile of alloc_tile, declare_tile, bitcast or treshape, not a subview",
        ),
    ],
)
def test_setting_the_valid_region(text: str, message: str):
    twins(text, message)


@pytest.mark.parametrize(
    "source_of",
    ["pto.declare_tile ->", "pto.treshape %t : TB ->", "pto.bitcast %s : !pto.tile_buf<vec, 16x64xi32, valid=?x?> ->"],
)
def test_tiles_whose_valid_region_may_be_set(source_of: str):
    other = "%s = pto.declare_tile -> !pto.tile_buf<vec, 16x64xi32, valid=?x?>\n"
    accepts(f"{TILE}{other}%u = {source_of} {OPEN}\npto.set_validshape %u, %c0, %c64 : {OPEN}")


def test_the_valid_region_of_an_argument_is_not_set():
    text = f"func.func private @f(%t: {OPEN}, %m: index) {{\npto.set_validshape ~%t, %m, %m : {OPEN}\nreturn\n}}"
    source.rejects(text, "expects a tile of alloc_tile, declare_tile, bitcast or treshape, not an argument")


# --- the rules of views -----------------------------------------------------------------------------------------------

SUB = "!pto.tile_buf<vec, 8x32xf32>"


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "%u = pto.subview %t[%i, %j] sizes [8, «16|32»] : TB -> ~" + SUB,
            "expects a result of the sizes 8x16, not 8x32",
        ),
        (
            "%u = pto.subview %t[%i, %j] sizes [~8«|, 32»] : TB -> " + SUB,
            "expects two sizes, rows and columns, but got 1",
        ),
        (
            "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> ~!pto.tile_buf<vec, 8x32x«i32|f32»>",
            "expects the element type, location and layout of TB, not of !pto.tile_buf<vec, 8x32xi32>",
        ),
        (
            "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> ~!pto.tile_buf<«mat|vec», 8x32xf32>",
            "expects the element type, location and layout of TB, not of !pto.tile_buf<mat, 8x32xf32>",
        ),
        (
            "%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> ~!pto.tile_buf<vec, 8x32xf32«, pad=1|»>",
            "expects the element type, location and layout of TB, not of !pto.tile_buf<vec, 8x32xf32, pad=1>",
        ),
        ("%u = pto.subview %t[~%«cm1|c0», %j] sizes [8, 32] : TB", "row is -1; it must not be negative"),
        ("%u = pto.subview %t[%i, ~%«cm1|c0»] sizes [8, 32] : TB", "col is -1; it must not be negative"),
        ("%u = pto.subview %t[~%«w|i», %j] sizes [8, 32] : TB", "row must be index, not i32"),
        ("%u = pto.subview %t[%i, %j] sizes [8, 32] valid [~%«c17|c8», %n] : TB", "valid_row is 17; it must be 0..8"),
        ("%u = pto.subview %t[%i, %j] sizes [8, 32] valid [%m, ~%«cm1|c0»] : TB", "valid_col is -1; it must be 0..32"),
    ],
)
def test_subviews(text: str, message: str):
    # The valid operands of the last two are constants, so the inferred type would not be readable otherwise.
    twins(TILE + text, message)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            f"%u = pto.subview %t[%i, %j] sizes [~«8|16», 16] : {BOXED}",
            "size of the rows is 8; it must be a multiple of the 16 of a box",
        ),
        (
            f"%u = pto.subview %t[%i, %j] sizes [~16, «8|16»] : {BOXED}",
            "size of the cols is 8; it must be a multiple of the 16 of a box",
        ),
        (
            f"%u = pto.subview %t[~%«c8|c16», %j] sizes [16, 16] : {BOXED}",
            "row is 8; it must be a multiple of the 16 of a box",
        ),
        (
            f"%u = pto.subview %t[%i, ~%«c8|c16»] sizes [16, 16] : {BOXED}",
            "col is 8; it must be a multiple of the 16 of a box",
        ),
    ],
)
def test_subviews_of_boxes(text: str, message: str):
    twins(BOXED_TILE + text, message)


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


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "%u = pto.treshape %t : TB -> ~!pto.tile_buf<«mat|vec», 16x64xf32>",
            "expects a result in vec, where the source is, not in mat",
        ),
        (
            "%u = pto.treshape %t : TB -> ~!pto.tile_buf<vec, 16x«32|64»xf32>",
            "expects a result of 4096 bytes, as many as the source, not 2048",
        ),
        (
            "%u = pto.treshape %t : TB -> ~!pto.tile_buf<vec, 16x64xf32«, slayout=row_major|»>",
            "expects a result without boxes, like the source, not with",
        ),
        (
            "%u = pto.bitcast %t : TB -> ~!pto.tile_buf<vec, 16x«32|64»xi32>",
            "expects the location, shape, valid region and layout of TB, not of !pto.tile_buf<vec, 16x32xi32>",
        ),
        (
            "%u = pto.bitcast %t : TB -> ~!pto.tile_buf<vec, 16x64xi32«, valid=1x64|»>",
            "expects the location, shape, valid region and layout of TB, "
            "not of !pto.tile_buf<vec, 16x64xi32, valid=1x64>",
        ),
        ("%u = pto.bitcast %t : TB -> ~!pto.tile_buf<vec, 16x64x«f32|i32»>", "expects another element type than f32"),
        (
            "%u = pto.bitcast %t : TB -> ~!pto.tile_buf<vec, 16x64x«i64|i32»>",
            "expects a result of at most 4096 bytes, those of the source, not 8192",
        ),
        (
            "%u = pto.tassign %t, %a : TB -> ~!pto.tile_buf<vec, 16x64x«i32|f32»>",
            "expects the type of the source, TB, not !pto.tile_buf<vec, 16x64xi32>",
        ),
        (
            "%q = pto.tile_buf_addr %t : TB -> ~!pto.ptr<«i32|f32», ub>",
            "expects !pto.ptr<f32, ub>, where the tile is, not !pto.ptr<i32, ub>",
        ),
        (
            "%q = pto.tile_buf_addr %t : TB -> ~!pto.ptr<f32, «gm|ub»>",
            "expects !pto.ptr<f32, ub>, where the tile is, not !pto.ptr<f32, gm>",
        ),
        ("%q = pto.tile_buf_addr ~%«v|t» : «TV|TB» -> !pto.ptr<f32, ub>", "source must be !pto.tile_buf, not TV"),
        ("%r = pto.tile_valid_rows %t : TB -> ~«i32|index»", "result must be !index, not i32"),
        ("%u = pto.treshape %t : ~«TV|TB» -> TB", "source has type TB, but the type list says TV"),
    ],
)
def test_other_views(text: str, message: str):
    twins(TILE + text, message)


def test_boxes_stay_boxes():
    """A row of boxes may become a rectangle of them."""
    row = "!pto.tile_buf<mat, 1x64xf16, blayout=col_major, slayout=row_major>"
    square = "!pto.tile_buf<mat, 16x4xf16, blayout=col_major, slayout=row_major>"
    accepts(f"%t = pto.alloc_tile : {row}\n%u = pto.treshape %t : {row} -> {square}")


@pytest.mark.parametrize(
    "text, message",
    [
        (f"%u = pto.multi_tile_get %s[~%«c2|c1»] : {SEVERAL} -> TB", "slot is 2; the source has slots 0..1"),
        (f"%u = pto.multi_tile_get %s[~%«cm1|c0»] : {SEVERAL} -> TB", "slot is -1; the source has slots 0..1"),
        (f"%u = pto.multi_tile_get %s[~%«w|i»] : {SEVERAL} -> TB", "slot must be index, not i32"),
        (f"%u = pto.multi_tile_get %s[%i] : {SEVERAL} -> ~«{SUB}|TB»", f"expects TB, a tile of the source, not {SUB}"),
    ],
)
def test_choosing_a_slot(text: str, message: str):
    twins(f"%s = pto.alloc_multi_tile : {SEVERAL}\n{text}", message)


@pytest.mark.parametrize(
    "attribute, type_, place, message",
    [
        ("pto.multi_buffer = ~«1|2» : i32", TB, "", "'pto.multi_buffer' must be an integer in 2..16"),
        ("pto.multi_buffer = ~«17|16» : i32", TB, "", "'pto.multi_buffer' must be an integer in 2..16"),
        ('pto.multi_buffer = ~«"two"|2 : i32»', TB, "", "'pto.multi_buffer' must be an integer in 2..16"),
        (
            "pto.multi_buffer = 2 : i32",
            "!pto.tile_buf<vec, 16x64xf32«, compact=2|»>",
            "~",
            "a multi-buffer does not support compact=2 (row_plus_one)",
        ),
        (
            "«pto.multi_buffer_addrs = ~array<i64: 0, 4096>|»",
            TB,
            "",
            "'pto.multi_buffer_addrs' is written by the planner, not by the author",
        ),
    ],
)
def test_slots_by_attribute(attribute: str, type_: str, place: str, message: str):
    twins(f"%t = pto.alloc_tile {{{attribute}}} : {place}{type_}", message)
