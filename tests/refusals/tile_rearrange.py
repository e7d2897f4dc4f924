"""What is refused of rearranging tiles."""

from language.move_kernel import twins
from refusals.rule import rows

TRANS = "pto.ttrans ins(%a : {}) outs(%d : {})"
PAD = "pto.tfillpad ins(%a : {}) outs(%d : {})"
CONCAT = "pto.tconcat ins(%a, %b : {}, {}) outs(%d : {})"
CONCATIDX = "pto.tconcatidx ins(%a, %b, %i, %j : ND<16x32xf32>, ND<16x32xf32>, {}, {}) outs(%d : ND<16x64xf32>)"

WHAT_REARRANGING_MAY_NOT_BE = rows(twins)(f"""
{TRANS.format("ND<16x32xf32>", "~ND<32x16x«i|f»32>")}
  ⇒ [a5] pto.ttrans expects dst to have the element type of src, f32, not i32
{TRANS.format("~«MAT|ND»<16x32xf32>", "ND<32x16xf32>")} ⇒ [a5] pto.ttrans expects src in vec, not mat
{TRANS.format("~ND<16x32x«i64|i32»>", "ND<32x16x«i64|i32»>")}
  ⇒ [a5] pto.ttrans expects src to have elements of 1, 2 or 4 bytes, not 8
{TRANS.format("~ND<32x32x«f8E4M3FN|i8»>", "ND<32x32x«f8E4M3FN|i8»>")}
  ⇒ [a5] src: dtype f8E4M3FN is not supported by pto.ttrans
{TRANS.format("~ND<32x32x«!pto.hif8|ui8»>", "ND<32x32x«!pto.hif8|ui8»>")}
  ⇒ [a2a3] src: dtype hif8 is not supported by pto.ttrans
{TRANS.format("ND<16x32xf16>", "~ND<32x«8|16»xf16>")}
  ⇒ [a5] pto.ttrans expects dst with rows of a multiple of 32 bytes on a5, not 16
{TRANS.format("~«DN|ND»<16x32xf32>", "ND<32x16xf32>")}
  ⇒ [a2a3] pto.ttrans expects src to be laid out as ND (row_major, none_box) on a2a3, not DN
{PAD.format("ND<16x64xf32>", "~ND<16x64xf32«|, pad=1»>")} ⇒ [a5] dst has no pad value: pad=0
{PAD.format("ND<16x64xf32>", "~ND<16x«32|64»xf32, pad=1>")}
  ⇒ [a5] pto.tfillpad expects dst to be at least 16x64 like src, not 16x32
{PAD.format("ND<16x64xf32>", "~ND<16x64xf«16|32», pad=1>")}
  ⇒ [a5] pto.tfillpad expects dst to have elements of 4 bytes like src, not of 2
{PAD.format("~ND<16x64xi«64|32»>", "ND<16x64xi«64|32», pad=1>")}
  ⇒ [a5] pto.tfillpad expects src to have elements of 1, 2 or 4 bytes, not 8
{PAD.format("ND<16x64xf32>", "~«MAT|ND»<16x64xf32, pad=1>")} ⇒ [a5] pto.tfillpad expects dst in vec, not mat
{PAD.format("MAT<16x64xf32, valid=15x64>", "~MAT<16x64xf32, valid=1«6|5»x64>")}
  ⇒ [a5] pto.tfillpad expects dst to have the valid shape of src, 15x64, not 16x64
{PAD.format("MAT<16x64xf32>", "~MAT<«32|16»x64xf32, valid=16x64>")}
  ⇒ [a5] pto.tfillpad expects dst to have the shape of src, 16x64, not 32x64
{PAD.format("MAT<16x64xf32>", "~MAT<16x64xf32«, pad=1|»>")} ⇒ [a5] pto.tfillpad expects dst with pad=0 like src, not 1
{PAD.format("ND<16x64xf32>", "ND<16x64xf32, pad=1>")} {{«mode|note» = ~"expand"}}
  ⇒ [a5] pto.tfillpad has no mode: the tiles say which part it fills
{PAD.format("ND<16x64xf32>", "ND<16x64xf32, pad=1>")} {{«padValue = ~#pto.pad_value<max>|»}}
  ⇒ [a5] padValue is for tiles in mat; in vec the type of dst has the pad
{CONCAT.format("ND<16x32xf32>", "ND<16x32xf32>", "~ND<16x«56|64»xf32>")}
  ⇒ [a5] pto.tconcat expects dst to have room for 32 + 32 valid columns, not for 56
{CONCAT.format("ND<16x32x«!pto.bf16x2|i32»>", "ND<16x32x«!pto.bf16x2|i32»>", "~ND<16x64x«!pto.bf16x2|i32»>")}
  ⇒ [a5] dst: dtype bf16x2 is not supported by pto.tconcat
{CONCAT.format("ND<16x32xf32>", "~ND<«8|16»x32xf32>", "ND<16x64xf32>")}
  ⇒ [a5] pto.tconcat expects src1 to have the 16 valid rows of dst, not 8
{CONCAT.format("ND<16x32xf32>", "~ND<16x32x«i|f»32>", "ND<16x64xf32>")}
  ⇒ [a5] pto.tconcat expects src1 to have the element type of dst, f32, not i32
{CONCAT.format("~«MAT|ND»<16x32xf32>", "ND<16x32xf32>", "ND<16x64xf32>")}
  ⇒ [a5] pto.tconcat expects src0 in vec, not mat
{CONCATIDX.format("~ND<16x8x«f32|i32»>", "ND<16x8x«f32|i32»>")}
  ⇒ [a5] pto.tconcatidx expects idx0 to have elements of i16, i32, i8, not f32
{CONCATIDX.format("ND<16x16xi16>", "~ND<16x16xi«32|16»>")}
  ⇒ [a5] pto.tconcatidx expects idx1 to have the element type of idx0, i16, not i32
pto.tget_scale_addr ins(%a : LEFT<16x64xf8E4M3FN>) outs(%s : ~SA<16x«4|2»x!pto.f8E8M0>)
  ⇒ [a5] pto.tget_scale_addr expects dst to be 16x2, one scale for 32 values of src, not 16x4
pto.tget_scale_addr ins(%a : ~«MAT|LEFT»<16x64xf8E4M3FN>) outs(%s : SA<16x2x!pto.f8E8M0>)
  ⇒ [a5] pto.tget_scale_addr expects src in left or right, not mat
""")

RULES = [*WHAT_REARRANGING_MAY_NOT_BE]
