"""What is refused of gathers and scatters of tiles."""

from language.move_kernel import twins
from refusals.rule import rows

GATHER = "pto.mgather ins(%mem, %idx : {}, {}) outs(%d : {}) {{coalesce = #pto<coalesce {}>}}"
SCATTER = "pto.mscatter ins(%s, %idx : {}, {}) outs(%mem : {})"
TABLE = "PV<128x64xf32>"

WHAT_AN_INDEX_MAY_NOT_BE = rows(twins)(
    f"""
{GATHER.format(TABLE, "~ND<1x«24|16»xi32>", "ND<16x64xf32>", "row")}
  ⇒ pto.mgather expects idx of coalesce row to have the valid shape 1x16 or, in a column, 16x1, not 1x24 (row_major)
{GATHER.format(TABLE, "~ND<16x«32|64»xi32>", "ND<16x64xf32>", "elem")}
  ⇒ pto.mgather expects idx of coalesce elem to have the valid shape of dst, 16x64, not 16x32
{GATHER.format("PV<128x64xf16>", "~«PV|ND»<1x16xi32>", "ND<16x64xf16>", "row")}
  ⇒ pto.mgather expects idx to be a tile for a dst in vec, not !pto.partition_tensor_view<1x16xi32>
{GATHER.format("PV<128x64xf16>", "PV<1x16xi32>", "~MAT<16x«8|64»xf16>", "row")}
  ⇒ pto.mgather expects dst in mat to have a multiple of 16 columns, not 8
{GATHER.format("PV<128x64xf16>", "PV<16x64xi32>", "MAT<16x64xf16>", "«elem|row»").replace("%d", "~%d")}
  ⇒ a gather of elements to mat needs a working view of 1024 elements
pto.mgather ins(%mem, %idx, %w : PV<128x64xf16>, PV<16x64xi32>, ~PV<16x«32|64»xf16>) outs(%d : MAT<16x64xf16>)
    {{coalesce = #pto<coalesce elem>}}
  ⇒ pto.mgather expects workspace to have the 1024 elements of dst, not 512
pto.mgather ins(%mem, %idx«, ~%w|» : PV<128x64xf16>, ND<1x16xi32>«, PV<16x64xf16>|») outs(%d : ND<16x64xf16>)
    {{coalesce = #pto<coalesce row>}}
  ⇒ a working view is for gathers of elements to mat
""",
    (
        GATHER.format(
            "PV<128x64xf16>",
            "PV<1x16xi32>",
            "~!pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major, fractal=«1024|512»>",
            "row",
        ),
        "pto.mgather expects dst in mat with fractal=512, not 1024",
    ),
    f"""
{GATHER.format(TABLE, "~ND<«2x8|1x16»xi32>", "ND<16x64xf32>", "row")}
  ⇒ pto.mgather expects idx of coalesce row to have the valid shape 1x16 or, in a column, 16x1, not 2x8 (row_major)
{SCATTER.format("ND<16x64xf32>", "~ND<1x«24|16»xi32>", TABLE)}
  ⇒ idx is 1x24: neither one index for each row nor one for each element
{SCATTER.format("~ND<16x64x«i16|i32»>", "ND<1x16xi32>", "PV<128x64x«i16|i32»>")} {{scatterAtomicOp =
    #pto<scatter_atomic_op add>}}
  ⇒ pto.mscatter expects src to have elements of f16, f32, i32 for scatterAtomicOp add, not i16
{SCATTER.format("~ND<16x64x«u|»i32>", "ND<1x16xi32>", "PV<128x64x«u|»i32>")} {{scatterAtomicOp = #pto<scatter_atomic_op
    max>}}
  ⇒ pto.mscatter expects src to have a sign for scatterAtomicOp max, not ui32
""",
)

A_TABLE_LIES_ROW_BY_ROW = rows(twins)(
    (
        "module {\nfunc.func @kernel(%p: !pto.ptr<f32>, %idx: ND<1x16xi32>, %d: ND<16x64xf32>) {\n"
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c64 = arith.constant 64 : index\n"
        "%c128 = arith.constant 128 : index\n"
        "%v = pto.make_tensor_view %p, shape = [%c128, %c64], strides = [«%c1, %c128|%c64, %c1»]\n"
        "    {layout = #pto.layout<«dn|nd»>} : TV<128x64xf32>\n"
        "%w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c128, %c64] : TV<128x64xf32> -> "
        "PV<128x64xf32>\n"
        "pto.mgather ins(%w, %idx : ~PV<128x64xf32>, ND<1x16xi32>) outs(%d : ND<16x64xf32>) {coalesce = "
        "#pto<coalesce row>}\nreturn\n}\n}",
        "pto.mgather expects mem to have layout nd, not dn",
    )
)

RULES = [*A_TABLE_LIES_ROW_BY_ROW, *WHAT_AN_INDEX_MAY_NOT_BE]
