"""The rules of tile operations that fill, reduce, broadcast and join parts, each with a kernel that breaks it."""

import pytest

from language.vector_tile_kernel import holds
from refusals.rule import Rule, rules

FILLS = rules("""
pto.texpands ins(%x : ~«f16|f32») outs(%d : <16x64xf32>)
  ⇒ pto.texpands expects scalar to have the element type of dst, f32, not f16
pto.texpands ins(%x : f32) outs(%d : ~<«acc|mat», 16x64xf32>) ⇒ pto.texpands expects dst in vec or mat, not acc
pto.texpands ins(%x : f32) outs(%d : ~<16x64xf32«, blayout=col_major|»>)
  ⇒ [a2a3] pto.texpands expects dst with blayout row_major, not col_major
pto.tci ins(%x : ~«i32|ui32») outs(%d : <1x64xui32>)
  ⇒ pto.tci expects scalar to be exactly the element type of dst, ui32, not i32
pto.tci ins(%x : i32) outs(%d : ~<8x«1|8»xi32>) ⇒ pto.tci expects dst with more than one column, not 1
pto.ttri ins(%x {upperOrLower = ~«2|1» : i32} : i32) outs(%d : <16x64xf32>)
  ⇒ pto.ttri expects upperOrLower 0 or 1, not 2
pto.ttri ins(%x : ~«f32|ui16») outs(%d : <16x64xf32>) ⇒ pto.ttri expects scalar to be an integer, not f32
pto.trandom ins(%a, %b, %c, %e, %f, %g {rounds = ~«8|7» : i32} : i32, i32, i32, i32, i32, i32) outs(%d : <4x64xi32>)
  ⇒ pto.trandom expects 7 or 10 rounds, not 8
pto.trandom ins(%a, %b, %c, %e, %f, %g : i32, ~«i64|ui32», i32, i32, i32, i32) outs(%d : <4x64xi32>)
  ⇒ pto.trandom expects key1 to be i32, not i64
""")

REDUCTIONS = rules("""
pto.trowsum ins(%a : ~<16x64xf32«, blayout=col_major|»>) outs(%d : <16x1xf32, blayout=col_major>)
  ⇒ pto.trowsum expects src with blayout row_major, not col_major
pto.trowsum ins(%a : <16x64xf32>) outs(%d : ~<16x«2|1»xf32, valid=16x1, blayout=col_major>)
  ⇒ pto.trowsum expects dst with blayout col_major to have one column, not 2
pto.trowmax ins(%a : <16x64xf32>) outs(%d : ~<16x8xf32, valid=16x«2|1»>)
  ⇒ pto.trowmax expects dst with 1 valid column, not 2
pto.trowmin ins(%a : <16x64xf32>) outs(%d : ~<16x8xf32, valid=«8|16»x1>)
  ⇒ pto.trowmin expects dst to have the valid rows of src, 16, not 8
pto.trowprod ins(%a : <16x64xf32>) outs(%d : ~<16x1x«f16|f32», blayout=col_major>)
  ⇒ pto.trowprod expects dst to have the element type of src, f32, not f16
pto.trowsum ins(%a : ~<16x64xf32, valid=16x«0|?»>) outs(%d : <16x1xf32, blayout=col_major>)
  ⇒ pto.trowsum expects src with a valid shape without zeros, not 16x0
pto.trowsum ins(%a : ~<16x64xf32, valid=0x0>) outs(%d : <16x1xf32, valid=«0x1|0x0», blayout=col_major>)
  ⇒ pto.trowsum expects src with a valid shape without zeros, not 0x0
pto.trowargmax ins(%a : ~<16x64xf32, valid=«0|?»x64>) outs(%d : <16x1xi32, valid=«0|?»x1, blayout=col_major>)
  ⇒ pto.trowargmax expects src with a valid shape without zeros, not 0x64
pto.trowargmin ins(%a : <16x64xf32>) outs(%d : ~<16x1x«f32|ui32», blayout=col_major>)
  ⇒ pto.trowargmin expects dst to have elements of i32 on a5, not f32
pto.trowsum ins(%a : <16x64xf32>) outs(%d : ~<16x16xf32, valid=16x1«, blayout=col_major, slayout=row_major|»>)
  ⇒ pto.trowsum expects dst with slayout none_box, not row_major
pto.tcolmax ins(%a : <16x64xf32>) outs(%d : ~<1x64xf32«, valid=1x32|»>)
  ⇒ pto.tcolmax expects dst to have the valid columns of src, 64, not 32
pto.tcolmin ins(%a : <16x64xf32>) outs(%d : ~<1x64x«i32|f32»>)
  ⇒ pto.tcolmin expects dst to have the element type of src, f32, not i32
pto.tcolprod ins(%a : ~<16x64xf32«, blayout=col_major|»>) outs(%d : <1x64xf32>)
  ⇒ pto.tcolprod expects src with blayout row_major, not col_major
pto.tcolargmax ins(%a : <16x64xf32>) outs(%d : ~<«2|1»x64xi32>) ⇒ pto.tcolargmax expects dst with 1 valid row, not 2
pto.tcolargmin ins(%a : <16x64xf32>) outs(%d : ~<1x64x«i16|i32»>)
  ⇒ pto.tcolargmin expects dst to have elements of i32 on a5, not i16
""")

EXPANDS = rules("""
pto.trowexpand ins(%a : ~<16x8xf32«, valid=8x8|»>) outs(%d : <16x64xf32>)
  ⇒ pto.trowexpand expects src to have the valid rows of dst, 16, not 8
pto.trowexpand ins(%a : ~<16x8xf32, valid=16x«0|1»>) outs(%d : <16x64xf32>)
  ⇒ pto.trowexpand expects src with a valid shape without zeros, not 16x0
pto.trowexpand ins(%a : <16x8xf32, valid=16x1>) outs(%d : ~<16x64xf32, valid=«16x0|0x0»>)
  ⇒ pto.trowexpand expects dst with a valid shape without zeros, not 16x0
pto.tcolexpand ins(%a : ~<1x64xf32«, valid=1x32|»>) outs(%d : <16x64xf32>)
  ⇒ pto.tcolexpand expects src to have the valid columns of dst, 64, not 32
pto.tcolexpand ins(%a : <1x64xf32>) outs(%d : ~<16x64xf32«, blayout=col_major|»>)
  ⇒ pto.tcolexpand expects dst with blayout row_major, not col_major
pto.trowexpanddiv ins(~%a, %b«|, %t» : <16x64xf32>, <16x1xf32, blayout=col_major>«|, <1x8xf32>») outs(%d : <16x64xf32>)
    {precisionType = #pto<div_precision high_precision>}
  ⇒ pto.trowexpanddiv with precisionType high_precision requires tmp
pto.trowexpandadd ins(%a, %b, ~%t : <16x64xf32>, <16x«8|1»xf32«|, blayout=col_major»>, <1x128xf32>) outs(%d :
    <16x64xf32>)
  ⇒ [a2a3] pto.trowexpandadd takes tmp only with a column (blayout col_major) on a2a3
pto.trowexpandmul ins(%a, %b, %t : <16x64xf32>, <16x1xf32, blayout=col_major>, ~<1x«120|128»xf32>) outs(%d :
    <16x64xf32>)
  ⇒ [a2a3] pto.trowexpandmul expects tmp to have at least 512 bytes, not 480 bytes
pto.trowexpandmul ins(%a, %b, %t : <16x64xf32, valid=?x64>, <16x1xf32, valid=?x1, blayout=col_major>,
    ~<1x«2040|2048»xf32>) outs(%d : <16x64xf32, valid=?x64>)
  ⇒ [a2a3] pto.trowexpandmul expects tmp to have at least 8192 bytes, not 8160 bytes
pto.trowexpandmin ins(%a, %b : ~<16x64xf32, valid=0x0>, <16x1xf32, valid=0x0, blayout=col_major>) outs(%d : <16x64xf32,
    valid=0x«64|0»>)
  ⇒ pto.trowexpandmin expects src0 with a valid shape without zeros, not 0x0
pto.trowexpandadd ins(%a, %b : <16x64xf32>, ~<16x8xf32, valid=16x«4|8»>) outs(%d : <16x64xf32>)
  ⇒ pto.trowexpandadd expects src0 with the valid shape of dst, 16x64, and the other with as many rows and 1 valid
    column (blayout col_major) or 8, not 16x64 and 16x4
pto.trowexpandadd ins(%«b, %a|a, %b» : «<16x8xf32>, ~|<16x64xf32>, »«<16x64xf32>|<16x8xf32>») outs(%d : <16x64xf32>)
  ⇒ pto.trowexpandadd expects src0 with the valid shape of dst, 16x64, and the other with as many rows and 1 valid
    column (blayout col_major) or 8, not 16x8 and 16x64
pto.trowexpandmax ins(%b, %a : <16x8xf32>, ~<16x64xf32«, valid=8x64|»>) outs(%d : <16x64xf32>)
  ⇒ pto.trowexpandmax expects one source with the valid shape of dst, 16x64, and the other with as many rows and 1
    valid column (blayout col_major) or 8, not 16x8 and 8x64
pto.trowexpandmul ins(%a, %b : <16x64xf32>, ~<16x8xf32, valid=16x«4|8»>) outs(%d : <16x64xf32>)
  ⇒ [lint warning] pto.trowexpandmul expects one source with the valid shape of dst, 16x64, and the other with as many
    rows and 1 valid column (blayout col_major) or 8, not 16x64 and 16x4
pto.trowexpandsub ins(%a, %b : <16x64xf32>, ~<16x1x«f16|f32», blayout=col_major>) outs(%d : <16x64xf32>)
  ⇒ pto.trowexpandsub expects src1 to have the element type of src0, f32, not f16
pto.tcolexpandadd ins(%a, %b : ~<«32|16»x64xf32, valid=16x64>, <1x64xf32>) outs(%d : <16x64xf32>)
  ⇒ pto.tcolexpandadd expects src0 to have the shape of dst, 16x64, not 32x64
pto.tcolexpandmul ins(%a, %b : <16x64xf32>, ~<1x64xf32«, valid=1x32|»>) outs(%d : <16x64xf32>)
  ⇒ pto.tcolexpandmul expects src1 to have the valid columns of dst, 64, not 32
pto.tcolexpandsub ins(%a, %b : ~<16x64xf32«, valid=8x64|»>, <1x64xf32>) outs(%d : <16x64xf32>)
  ⇒ pto.tcolexpandsub expects src0 to have the valid shape of dst, 16x64, not 8x64
""")

PARTS = rules("""
pto.tpartadd ins(%a, %b : ~<16x64xf32>, <16x64xf32, valid=8x64>) outs(%d : <16x64xf32, valid=«8|16»x64>)
  ⇒ pto.tpartadd expects src0 with a valid shape within that of dst, 8x64, not 16x64
pto.tpartmul ins(%a, %b : ~<16x64xf32, valid=«4|16»x64>, <16x64xf32, valid=8x64>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tpartmul expects src0 or src1 to have the valid shape of dst, 16x64, not 4x64 and 8x64
pto.tpartmax ins(%a, %b : <16x64xf32>, ~<«32|16»x64xf32, valid=8x64>) outs(%d : <16x64xf32>)
  ⇒ pto.tpartmax expects src1 to have the shape of src0, 16x64, not 32x64
pto.tpartargmin ins(%a, %b, %i, %j : <16x64xf32>, <16x64xf32>, <16x64xi32>, ~<16x64x«i16|i32»>) outs(%d, %k :
    <16x64xf32>, <16x64xi32>)
  ⇒ pto.tpartargmin expects src1_idx to have the element type of src0_idx, i32, not i16
pto.tpartargmax ins(%a, %b, %i, %j : <16x64xf32>, <16x64xf32>, ~<16x64x«f32|i32»>, <16x64x«f32|i32»>) outs(%d, %k :
    <16x64xf32>, <16x64x«f32|i32»>)
  ⇒ pto.tpartargmax expects src0_idx to have elements of i32 on a5, not f32
""")


@pytest.mark.parametrize("rule", FILLS, ids=lambda rule: rule.message)
def test_fills(rule: Rule):
    holds(rule)


@pytest.mark.parametrize("rule", REDUCTIONS, ids=lambda rule: rule.message)
def test_reductions(rule: Rule):
    holds(rule)


@pytest.mark.parametrize("rule", EXPANDS, ids=lambda rule: rule.message)
def test_expands(rule: Rule):
    holds(rule)


@pytest.mark.parametrize("rule", PARTS, ids=lambda rule: rule.message)
def test_parts(rule: Rule):
    holds(rule)
