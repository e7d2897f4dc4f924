"""What is refused of the writing of tile operations."""

from language.vector_tile_kernel import rejects
from refusals.rule import rows

T = "<16x64xf32>"
WORDS = "<16x64xi32>"
ADD = f"pto.tadd ins(%a, %b : {T}, {T}) outs(%d : {T})"

WHAT_CANNOT_BE_READ = rows(lambda text, message: rejects(text, message, "syntax"))(f"""
pto.tadd ~(%a : {T}) ⇒ expected 'ins('
pto.tadd ins(%a, %b : {T}, {T})~

  ⇒ expected 'outs('
pto.tadd ins(%a : {T}~) outs(%d : {T}) ⇒ ins(...) of pto.tadd has src0, src1; 1 given
pto.tadd ins(%a, %b, ~%c : {T}, {T}, {T}) outs(%d : {T}) ⇒ ins(...) of pto.tadd has src0, src1; 3 given
pto.tadd ins(%a, %b : {T}, {T}) outs(%d, ~%e : {T}, {T}) ⇒ outs(...) of pto.tadd has dst; 2 given
pto.txor ins(%a : {WORDS}~) outs(%d : {WORDS}) ⇒ ins(...) of pto.txor has src0, src1, [tmp]; 1 given
{ADD}
pto.tadd ins(%a, %b : ~{T}) outs(%d : {T})
  ⇒ ins(...) has 2 values, but 1 type
pto.tadd ins(%a, %b : {T}, {T}, ~{T}) outs(%d : {T}) ⇒ ins(...) has 2 values, but 3 types
pto.tadd ins(%a ~%b : {T}, {T}) outs(%d : {T}) ⇒ expected ',' or ':' in ins(...)
{ADD}
pto.tadd ins(%a, %b : {T}, {T}~] outs(%d : {T})
  ⇒ Expected ')' at the end of ins(...)
{ADD}
pto.tadd ins(%a, %b : ~<loc=vec, dtype=f32>, {T}) outs(%d : {T})
  ⇒ expected '!pto.tile_buf' before '<': a tile type is written in full
pto.tadd ins(%a, %b ~no_tmp : {T}, {T}) outs(%d : {T}) ⇒ pto.tadd has no word 'no_tmp' in ins(...)
pto.tcmp ins(%a, %b {{cmpMode = ~#pto<round_mode RINT>}} : {T}, {T}) outs(%d : <16x64xui8>)
  ⇒ cmpMode must be #pto<cmp ...>, not of kind round_mode
pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : {T}, {T}) outs(%d : <16x64xui8>) {{cmpMode = ~#pto<cmp gt>}}
  ⇒ cmpMode is given twice
pto.tci ins(%n : i32) outs(%d : <1x64xi32>) {{descending = ~1 : i32}} ⇒ descending must be true or false, not 1 : i32
pto.ttri ins(%n {{upperOrLower = ~true}} : i32) outs(%d : <16x64xf32>) ⇒ upperOrLower must be an integer, not true
~pto.tquant ins(%a, %s : <32x64xf32>, <32x1xf32, blayout=col_major>) outs(%d : <32x64xi8>)
  ⇒ pto.tquant needs the attribute 'quant_type'
pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<P0101>}} : {T}, ~"rows") outs(%d : <16x32xf32>)
  ⇒ unknown axis 'rows'; known: row, col
pto.tgather ins(%a : {T}~) outs(%d : {T}) ⇒ ins(...) of pto.tgather has src, [idx], [tmp]; 1 given
""")

A_TILE_IS_A_TILE = rows(rejects)("""
pto.tprint ins(%a, %b : <16x64xf32>, ~<16x64xf32>) ⇒ tmp must be a view, not !pto.tile_buf<vec, 16x64xf32>
""")

TILE_OPERATIONS_STAND_OUTSIDE_OF_VECTOR_SCOPES = rows(rejects)("""
pto.vecscope {
~pto.tadd ins(%a, %b : <16x64xf32>, <16x64xf32>) outs(%d : <16x64xf32>)
}
  ⇒ pto.tadd must be outside 'pto.vecscope'
""")

RULES = [
    *A_TILE_IS_A_TILE,
    *TILE_OPERATIONS_STAND_OUTSIDE_OF_VECTOR_SCOPES,
    *WHAT_CANNOT_BE_READ,
]
