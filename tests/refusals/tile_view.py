"""What is refused of views of tiles."""

from language.view_kernel import TB, rejects, twins
from refusals.rule import rows

TILE = "%t = pto.alloc_tile : TB\n"
OPEN = "!pto.tile_buf<vec, 16x64xf32, valid=?x?>"
OPEN_TILE = f"%t = pto.alloc_tile valid_row = %m valid_col = %n : {OPEN}\n"
BOXED = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
BOXED_TILE = f"%t = pto.alloc_tile : {BOXED}\n"
SEVERAL = "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>"
SUB = "!pto.tile_buf<vec, 8x32xf32>"

SETTING_THE_VALID_REGION = rows(twins)(f"""
%t = pto.alloc_tile «|valid_row = %m valid_col = %n »: «TB|{OPEN}»
pto.set_validshape %t, %m, %n : ~«TB|{OPEN}»
  ⇒ expects a tile with valid=?x?, not TB
{OPEN_TILE}%u = pto.subview %t[%i, %j] sizes [16, 64] valid [%m, %n] : {OPEN} -> {OPEN}
pto.set_validshape ~%«u|t», %m, %n : {OPEN}
  ⇒ expects a tile of alloc_tile, declare_tile, bitcast or treshape, not a subview
""")

SUBVIEWS = rows(lambda text, message: twins(TILE + text, message))(f"""
%u = pto.subview %t[%i, %j] sizes [8, «16|32»] : TB -> ~{SUB} ⇒ expects a result of the sizes 8x16, not 8x32
%u = pto.subview %t[%i, %j] sizes [~8«|, 32»] : TB -> {SUB} ⇒ expects two sizes, rows and columns, but got 1
%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> ~!pto.tile_buf<vec, 8x32x«i32|f32»>
  ⇒ expects the element type, location and layout of TB, not of !pto.tile_buf<vec, 8x32xi32>
%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> ~!pto.tile_buf<«mat|vec», 8x32xf32>
  ⇒ expects the element type, location and layout of TB, not of !pto.tile_buf<mat, 8x32xf32>
%u = pto.subview %t[%i, %j] sizes [8, 32] : TB -> ~!pto.tile_buf<vec, 8x32xf32«, pad=1|»>
  ⇒ expects the element type, location and layout of TB, not of !pto.tile_buf<vec, 8x32xf32, pad=1>
%five = arith.constant 5 : index
%all = arith.constant 32 : index
%u = pto.subview %t[%i, %j] sizes [8, 32] valid [%five, %all] : TB -> ~!pto.tile_buf<vec, 8x32xf32, valid=«3|5»x32>
  ⇒ valid_row is 5, but the result type says v_row is 3
%u = pto.subview %t[%i, %j] sizes [8, 32] valid [~%«c17|c8», %n] : TB ⇒ valid_row is 17; it must be 0..8
%u = pto.subview %t[%i, %j] sizes [8, 32] valid [%m, ~%«cm1|c0»] : TB ⇒ valid_col is -1; it must be 0..32
""")

SUBVIEWS_OF_BOXES = rows(lambda text, message: twins(BOXED_TILE + text, message))(f"""
%u = pto.subview %t[%i, %j] sizes [~16, «8|16»] : {BOXED}
  ⇒ size of the cols is 8; it must be a multiple of the 16 of a box
%u = pto.subview %t[~%«c8|c16», %j] sizes [16, 16] : {BOXED} ⇒ row is 8; it must be a multiple of the 16 of a box
%u = pto.subview %t[%i, ~%«c8|c16»] sizes [16, 16] : {BOXED} ⇒ col is 8; it must be a multiple of the 16 of a box
""")

OTHER_VIEWS = rows(lambda text, message: twins(TILE + text, message))("""
%u = pto.bitcast %t : TB -> ~!pto.tile_buf<vec, 16x«32|64»xi32>
  ⇒ expects the location, shape, valid region and layout of TB, not of !pto.tile_buf<vec, 16x32xi32>
%u = pto.bitcast %t : TB -> ~!pto.tile_buf<vec, 16x64xi32«, valid=1x64|»>
  ⇒ expects the location, shape, valid region and layout of TB, not of !pto.tile_buf<vec, 16x64xi32, valid=1x64>
%u = pto.tassign %t, %a : TB -> ~!pto.tile_buf<vec, 16x64x«i32|f32»>
  ⇒ expects the type of the source, TB, not !pto.tile_buf<vec, 16x64xi32>
%q = pto.tile_buf_addr ~%«v|t» : «TV|TB» -> !pto.ptr<f32, ub> ⇒ source must be !pto.tile_buf, not TV
%u = pto.treshape %t : ~«TV|TB» -> TB ⇒ source has type TB, but the type list says TV
""")

CHOOSING_A_SLOT = rows(lambda text, message: twins(f"%s = pto.alloc_multi_tile : {SEVERAL}\n{text}", message))(f"""
%u = pto.multi_tile_get %s[~%«c2|c1»] : {SEVERAL} -> TB ⇒ slot 2 of %s, which has slots 0 and 1
%u = pto.multi_tile_get %s[~%«cm1|c0»] : {SEVERAL} -> TB ⇒ slot -1 of %s, which has slots 0 and 1
%u = pto.multi_tile_get %s[%i] : {SEVERAL} -> ~«{SUB}|TB» ⇒ expects TB, a tile of the source, not {SUB}
""")

SLOTS_BY_ATTRIBUTE = rows(
    lambda attribute, type_, place, message: twins(f"%t = pto.alloc_tile {{{attribute}}} : {place}{type_}", message)
)(
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
)

WHAT_THE_NEWEST_PARSER_REFUSES = rows(rejects, kind="syntax")("""
%u = pto.subview ~%v, offsets = [%i, %j], sizes = [%c1, %c1] : TV -> TV
  ⇒ pto.subview cuts tiles; a part of a tensor view is a pto.partition_view
%t = pto.alloc_tile valid_row = %m ~addr = %a : TB
  ⇒ expected ':' and the result type, after addr, valid_row and valid_col in this order
%t = ~pto.bind_tile : TB ⇒ unknown operation 'pto.bind_tile': it was retired; pto.alloc_tile with addr places a tile
""")

RULES = [
    *WHAT_THE_NEWEST_PARSER_REFUSES,
    *SETTING_THE_VALID_REGION,
    *SUBVIEWS,
    *SUBVIEWS_OF_BOXES,
    *OTHER_VIEWS,
    *CHOOSING_A_SLOT,
    *SLOTS_BY_ATTRIBUTE,
]
