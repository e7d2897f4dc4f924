"""What is refused of the writing of tile types."""

from language.source import rejects, twins
from refusals.rule import rows

LONG = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, "
    "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
)


def function(type_: str) -> str:
    return f"func.func @f(%t: {type_}) {{ return }}"


KNOWN = "; known: "

UNREADABLE_TYPES = rows(lambda type_, message: twins(function(type_), message, kind="syntax"))(
    f"""
!pto.tile_buf<~«ub|vec», 16x64xf32> ⇒ unknown loc: ub{KNOWN}vec, mat, left, right, acc, bias, scaling
!pto.tile_buf<vec, ~16«|x16»xf32> ⇒ a tile has exactly two dimensions, rows and columns, not 1
!pto.tile_buf<vec, ~«2x|»16x16xf32> ⇒ a tile has exactly two dimensions, rows and columns, not 3
!pto.tile_buf<vec, ~«?|16»x16xf32> ⇒ rows and cols of a tile must be static; the valid region may vary
!pto.tile_buf<vec, ~«0|1»x16xf32> ⇒ rows/cols must be positive, not 0x16
!pto.tile_buf<vec, ~16x16x«f64|f32»> ⇒ a tile or view cannot have element type f64
!pto.tile_buf<vec, ~16x16x«i1|i8»> ⇒ a tile or view cannot have element type i1
!pto.tile_buf<vec, 16x64xf32, valid=~«20|16»x64> ⇒ valid_row (20) exceeds row (16)
!pto.tile_buf<vec, 16x64xf32, valid=~16x«65|64»> ⇒ valid_col (65) exceeds col (64)
!pto.tile_buf<vec, 16x64xf32, valid=~16«|x64»> ⇒ valid must have exactly two dims, not 1
!pto.tile_buf<vec, 16x64xf32, blayout=~«nd|col_major»> ⇒ unknown blayout: nd{KNOWN}row_major, col_major
!pto.tile_buf<vec, 16x64xf32, slayout=~«nz|row_major»> ⇒ unknown slayout: nz{KNOWN}none_box, row_major, col_major
!pto.tile_buf<vec, 16x64xf32, pad=~«4|3»> ⇒ unknown pad: 4{KNOWN}0 null, 1 zero, 2 max, 3 min
!pto.tile_buf<vec, 16x64xf32, compact=~«3|2»> ⇒ unknown compact: 3{KNOWN}0 null, 1 normal, 2 row_plus_one
!pto.tile_buf<vec, 16x64xf32, fractal=~«16|32»> ⇒ unsupported s_fractal_size: 16, must be one of {{32, 512, 1024}}
!pto.tile_buf<vec, 16x64xf32, pad=1, ~«pad|compact»=2> ⇒ duplicate key 'pad' in tile_buf compact syntax
!pto.tile_buf<vec, 16x64xf32, ~«count|pad»=2>
  ⇒ unknown key 'count' in tile_buf compact syntax{KNOWN}valid, blayout, slayout, fractal, pad, compact
{LONG.replace("v_row=16", "v_row=~«-2|-1»")} ⇒ v_row must be '?', -1, or non-negative, not -2
{LONG.replace("v_col=64", "v_col=~«65|64»")} ⇒ valid_col (65) exceeds col (64)
{LONG.replace("rows=16", "rows=~«0|16»")} ⇒ rows/cols must be positive, but rows is 0
{LONG.replace("dtype=f32", "dtype=~«index|i32»")} ⇒ a tile or view cannot have element type index
""",
    (
        LONG.replace("v_row=16, v_col=64, ", "«|v_row=16, v_col=64, »~").replace(
            "row_major, ", "row_major, «v_row=16, v_col=64, |»"
        ),
        "expected 'v_row': the long form of a tile type has, in this order, "
        "loc, dtype, rows, cols, v_row, v_col, blayout, slayout, fractal, pad, compact",
    ),
    f"""
~!pto.«tile_view|partition_tensor_view»<16x16xf32> ⇒ '!pto.tile_view' is an old name: write !pto.partition_tensor_view
~«|!pto.tile_buf»{LONG.removeprefix("!pto.tile_buf")}
  ⇒ expected '!pto.tile_buf' before '<': a tile type is written in full
!pto.tensor_view<~«|?x»f32> ⇒ !pto.tensor_view needs at least one dimension
!pto.multi_tile_buf<vec, 16x64xf32, count=~«1|2»> ⇒ count of a multi_tile_buf must be 2..16, not 1
!pto.multi_tile_buf<vec, 16x64xf32, count=~«17|16»> ⇒ count of a multi_tile_buf must be 2..16, not 17
!pto.multi_tile_buf<vec, 16x64xf32«|, count=2»~> ⇒ expected ', count=N' in a multi_tile_buf
!pto.multi_tile_buf<~«f32|vec, 16x64xf32», count=2> ⇒ unknown loc: f32{KNOWN}vec, mat, left, right, acc, bias, scaling
!pto.multi_tile_buf<~vec, 16x64x«!pto.hif8|f16», count=2> ⇒ a multi-buffer does not support element type !pto.hif8
!pto.multi_tile_buf<~!pto.tile_buf<vec, 16x64xf32, compact=«2|1»>, count=2>
  ⇒ a multi-buffer does not support compact=2 (row_plus_one)
!pto.local_array~<«0|1»xi32> ⇒ the dimensions of a local_array are static and positive
!pto.local_array~<«?|1»xi32> ⇒ the dimensions of a local_array are static and positive
!pto.local_array~<2x«!pto.hif8|f16»> ⇒ a local_array holds integers or floats, not !pto.hif8
!pto.eventid_array<~«0|1»> ⇒ an eventid_array has at least one id, not 0
""",
)

FIELDS_OF_A_STRUCT = rows(
    lambda fields, message: twins(f"%t = pto.declare_struct -> !pto.struct{fields}", message, kind="syntax")
)("""
<i32, ~«!pto.ptr<f32>|f32»> ⇒ a field of a struct is a scalar or a struct, not !pto.ptr<f32, gm>
<i32, ~«i128|i64»> ⇒ a field of a struct is a scalar or a struct, not i128
~<«|i32»> ⇒ a struct has at least one field
""")

A_STRUCT_IS_NEITHER_TAKEN_NOR_GIVEN = rows(rejects)("""
func.func private @f(%s: ~!pto.struct<i32>)
  ⇒ a function cannot take or give !pto.struct<i32>; write a pointer as !pto.ptr<T, space>
""")

RULES = [*A_STRUCT_IS_NEITHER_TAKEN_NOR_GIVEN, *UNREADABLE_TYPES, *FIELDS_OF_A_STRUCT]
