"""What is refused of moves and windows of tiles."""

from language.move_kernel import rejects, twins
from refusals.rule import rows

MOV = "pto.tmov ins(%s : {}) outs(%d : {})"
EXTRACT = "pto.textract ins(%s, %r, %c : {}, index, index) outs(%d : {})"
INSERT = "pto.tinsert ins(%s, %r, %c : {}, index, index) outs(%d : {})"
SCALES = "!pto.tile_buf<vec, 16x4x{}, slayout={}, fractal={}>"

AXIS0 = " {grpAxis = #pto<mx_group_axis axis0>}"


def exponents(source: str, dest: str = SCALES.format("ui8", "row_major", 32), tail: str = "") -> str:
    """A move of scale exponents."""
    return f"pto.tmov ins(%s : {source}, %tmp : ND<1x96xui8>) outs(%d : {dest}){tail}"


MODE = " {{accToVecMode = ~#pto.acc_to_vec_mode<{}>}}"
DUAL = " {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>}"
WINDOW = """%r = arith.constant {} : index
%c = arith.constant {} : index
"""

PATHS_THAT_A_MACHINE_HAS_NOT = rows(twins)(f"""
{MOV.format("NZ<16x64xf16>", "~«MAT|NZ»<16x64xf16>")}
  ⇒ [a2a3] pto.tmov cannot move from vec to mat on a2a3; it moves acc to mat, acc to vec, mat to bias, mat to left, mat
    to right, mat to scaling, vec to vec
{EXTRACT.format("ACC<32x64xf32>", "~«NZ|MAT»<16x64xf16>")}
  ⇒ [a2a3] pto.textract cannot move from acc to vec on a2a3; it moves acc to mat, mat to left, mat to right, vec to vec
{INSERT.format("«LEFT|NZ»<16x64xf16>", "~MAT<64x64xf16>")}
  ⇒ [a5] pto.tinsert cannot move from left to mat on a5; it moves acc to mat, acc to vec, vec to mat, vec to vec
""")

WHAT_A_MOVE_MAY_NOT_BE = rows(twins)(f"""
{MOV.format("!pto.tile_buf<mat, 1x32x«i8|i32»>", "~BIAS<1x32xi32>")}
  ⇒ pto.tmov expects dst in bias to come from bf16 to f32, f16 to f32, f32 to f32, i32 to i32, not i8 to i32
{MOV.format("!pto.tile_buf<mat, «2|1»x32xf32>", "~BIAS<«2|1»x32xf32>")}
  ⇒ pto.tmov expects dst in bias to have one row, not 2
{MOV.format("ND<16x64xf16>", "~!pto.tile_buf<mat, 16x64xf16«|, blayout=col_major, slayout=row_major»>")}
  ⇒ pto.tmov expects dst to be laid out as NZ (col_major, row_major boxes) for a tile of vec, not ND
{MOV.format("~!pto.tile_buf<acc, 16x64xf32«|, blayout=col_major, slayout=row_major»>", "ND<16x64xf32>")}
  ⇒ pto.tmov expects src to be laid out as NZ (col_major, row_major boxes), not ND
{MOV.format("ACC<16x64xi32>", "~ND<16x64x«f32|i32»>")}
  ⇒ pto.tmov expects dst of i32 in acc without a quantisation parameter to have elements of i32 on a5, not f32
{MOV.format("~ACC<16x64x«f16|f32»>", "ND<16x64xf32>")} ⇒ pto.tmov expects src in acc to hold f32 or i32, not f16
{MOV.format("~ACC<16x64x«u|»i32>", "ND<16x64xi32>")} ⇒ pto.tmov expects src in acc to hold f32 or i32, not ui32
{MOV.format("ND<16x64xf32>", "ND<16x64xf32>")} {{«accToVecMode = ~#pto.acc_to_vec_mode<single_mode_vec1>|»}}
  ⇒ accToVecMode is for moves from acc to vec, not from vec to vec
{MOV.format("ACC<16x64xf32>", "ND<16x64xf32>")} {{«grpAxis = ~#pto<mx_group_axis axis0>|»}}
  ⇒ grpAxis is for the move of scale exponents, which has a second tile in vec
{MOV.format("ACC<16x64xf32>, %q : i64", "ND<16x64xf32>")}{MODE.format("«dual_mode_split_m|single_mode_vec0»")}
  ⇒ accToVecMode dual_mode_split_m cannot quantise
{MOV.format("ACC<16x64xf32>", "~ND<16x64xf«16|32»>")}{DUAL}
  ⇒ pto.tmov expects dst of accToVecMode dual_mode_split_m to have elements of 4 bytes, not f16
{MOV.format("ACC<16x64xf32>", "~«DN|ND»<16x64xf32>")}{DUAL}
  ⇒ pto.tmov expects dst of accToVecMode dual_mode_split_m to be laid out as ND or NZ, not DN
{MOV.format("~ACC<16x64xf32, valid=«15|14»x64>", "ND<16x64xf32>")}{DUAL}
  ⇒ pto.tmov expects src of accToVecMode dual_mode_split_m to have a multiple of 2 valid rows, not 15
{MOV.format("~ACC<16x64xf32, valid=16x«48|32»>", "ND<16x64xf32>")} {{accToVecMode =
    #pto.acc_to_vec_mode<dual_mode_split_n>}}
  ⇒ pto.tmov expects src of accToVecMode dual_mode_split_n to have a multiple of 32 valid columns, not 48
""")

WHAT_A_MOVE_OF_EXPONENTS_MAY_NOT_BE = rows(twins)(
    f"""
{exponents("~ND<16x4x«i8|ui8»>", SCALES.format("«i8|ui8»", "row_major", 32)).replace("96xui8", "96x«i8|ui8»")}
  ⇒ pto.tmov expects src to have elements of ui8, hif8, f8E8M0, not i8
{exponents("ND<16x4xui8>", "~" + SCALES.format("«i8|ui8»", "row_major", 32))}
  ⇒ pto.tmov expects dst to have the element type of src, ui8, not i8
{exponents("ND<16x4xui8>").replace("ND<1x96xui8>", "~ND<1x96x«!pto.hif8|ui8»>")}
  ⇒ pto.tmov expects tmp to have the element type of src, ui8, not hif8
{exponents("ND<16x4xui8>", "~" + SCALES.format("ui8", "«col_major|row_major»", 32))}
  ⇒ pto.tmov expects dst to be laid out as ZZ (row_major, row_major boxes), not ZN
{exponents("~«DN|ND»<16x4xui8>")} ⇒ pto.tmov expects src to be laid out as ND (row_major, none_box), not DN
{exponents("~ND<16x4xui8«, valid=?x4|»>")} ⇒ pto.tmov expects src with a static valid shape, not ?x4
{exponents("ND<«32|16»x4xui8>", "~" + SCALES.format("ui8", "row_major", 512))}
  ⇒ pto.tmov expects dst to have as many exponents as src, 128, not 64
{exponents("~ND<16x«8|4»xui8, valid=16x4>")} ⇒ pto.tmov expects src packed, with every column valid, not 4 of 8 columns
{exponents("ND<16x«5|4»xui8>", "~!pto.tile_buf<vec, 16x«5|4»xui8, slayout=row_major, fractal=32>")}
  ⇒ pto.tmov expects dst with an even number of valid columns, not 5
{exponents("~ND<«15|16»x4xui8>", "!pto.tile_buf<vec, 16x4xui8, valid=«15|16»x4, slayout=row_major>")}
  ⇒ pto.tmov expects src to have room for 64 exponents, not 60
{exponents("ND<16x4xui8, valid=15x4>", "~!pto.tile_buf<vec, «15|16»x4xui8, valid=15x4, slayout=row_major>")}
  ⇒ pto.tmov expects dst to have room for 64 exponents, not 60
""",
    (
        exponents("ND<16x36xui8>", "!pto.tile_buf<vec, 16x36xui8, slayout=row_major>").replace(
            "ND<1x96xui8>", "~ND<1x«96|128»xui8>"
        ),
        "pto.tmov expects tmp to have room for 100 exponents, not 96",
    ),
    f"""
{exponents("~ND<«3|4»x16xui8>", "!pto.tile_buf<vec, 1x«48|64»xui8, slayout=row_major>", AXIS0)}
  ⇒ pto.tmov expects src of axis0 with an even number of valid rows, not 3
{exponents("~ND<4x«24|16»xui8>", "!pto.tile_buf<vec, 1x«96|64»xui8, slayout=row_major>", AXIS0)}
  ⇒ pto.tmov expects src of axis0 with a multiple of 16 valid columns, not 24
{exponents("ND<1x96xui8>", "!pto.tile_buf<vec, 48x2xui8, slayout=row_major>").replace("%tmp", "~%«s|tmp»")}
  ⇒ pto.tmov expects src and tmp to use different storage
""",
)

WHAT_A_WINDOW_MAY_NOT_BE = rows(twins)(f"""
{WINDOW.format("«49|48»", 0)}{EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("%r", "~%r")}
  ⇒ [a5] row 49 + 16 rows of the window exceed the 64 rows of src
{WINDOW.format(0, "«16|0»")}{EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("%c", "~%c")}
  ⇒ [a5] col 16 + 64 columns of the window exceed the 64 columns of src
{WINDOW.format("«-16|0»", 0)}{EXTRACT.format("MAT<64x64xf16>", "LEFT<16x64xf16>").replace("%r", "~%r")}
  ⇒ [a5] row is -16; a window begins inside the tile
{EXTRACT.format("MAT<64x64xf16>", "~!pto.tile_buf<right, 64x16xf16«|, slayout=col_major»>")}
  ⇒ [a5] pto.textract expects dst to be laid out as ZN (row_major, col_major boxes) in right, not ND
{EXTRACT.format("MAT<64x64xf16>", "~!pto.tile_buf<left, 16x64xf16, slayout=«col_major|row_major»>")}
  ⇒ [a2a3] pto.textract expects dst to be laid out as ZZ (row_major, row_major boxes) in left of a2a3, not ZN
{EXTRACT.format("~«DN|ND»<64x64xf16>", "ND<16x64xf16>")}
  ⇒ [a5] pto.textract expects src to be laid out as ND (row_major, none_box) between tiles in vec, not DN
{EXTRACT.format("ACC<64x64xf32>", "~MAT<16x64x«f32|bf16»>")}
  ⇒ [a2a3] pto.textract expects dst of acc to have elements of f16 or bf16 on a2a3, not f32
{INSERT.format("ND<16x64xf16>", "ND<64x64xf16>")} {{«tinsertMode = ~#pto.tinsert_mode<split2>|»}}
  ⇒ [a5] tinsertMode is for moves from vec to mat, not from vec to vec
""")

A_MOVE_HAS_EACH_ROLE_ONCE = rows(rejects, sort="syntax")("""
pto.tmov ins(%s : ACC<16x64xf32>, %f : FP<1x64xi64>, %g : FP<1x64xi64>~) outs(%d : MAT<16x64xi8>)
  ⇒ ins(...) of pto.tmov has src, [fp], [tmp], [pre_quant]; 3 given
""")

RULES = [
    *A_MOVE_HAS_EACH_ROLE_ONCE,
    *PATHS_THAT_A_MACHINE_HAS_NOT,
    *WHAT_A_MOVE_MAY_NOT_BE,
    *WHAT_A_MOVE_OF_EXPONENTS_MAY_NOT_BE,
    *WHAT_A_WINDOW_MAY_NOT_BE,
]
