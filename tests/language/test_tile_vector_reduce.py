"""The rules of tile operations that fill, reduce, broadcast and join parts, each with a kernel that breaks it."""

import pytest

from language.vector_tile_kernel import holds
from refusals.rule import Rule, rules

FILLS = rules("""
pto.tci ins(%x : i32) outs(%d : ~<8x«1|8»xi32>) ⇒ pto.tci expects dst with more than one column, not 1
""")

REDUCTIONS = rules("""
pto.trowsum ins(%a : ~<16x64xf32, valid=16x«0|?»>) outs(%d : <16x1xf32, blayout=col_major>)
  ⇒ pto.trowsum expects src with a valid shape without zeros, not 16x0
pto.trowsum ins(%a : ~<16x64xf32, valid=0x0>) outs(%d : <16x1xf32, valid=«0x1|0x0», blayout=col_major>)
  ⇒ pto.trowsum expects src with a valid shape without zeros, not 0x0
pto.trowargmax ins(%a : ~<16x64xf32, valid=«0|?»x64>) outs(%d : <16x1xi32, valid=«0|?»x1, blayout=col_major>)
  ⇒ pto.trowargmax expects src with a valid shape without zeros, not 0x64
""")

EXPANDS = rules("""
pto.trowexpand ins(%a : ~<16x8xf32, valid=16x«0|1»>) outs(%d : <16x64xf32>)
  ⇒ pto.trowexpand expects src with a valid shape without zeros, not 16x0
pto.trowexpand ins(%a : <16x8xf32, valid=16x1>) outs(%d : ~<16x64xf32, valid=«16x0|0x0»>)
  ⇒ pto.trowexpand expects dst with a valid shape without zeros, not 16x0
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
""")

PARTS = rules("""
pto.tpartmul ins(%a, %b : ~<16x64xf32, valid=«4|16»x64>, <16x64xf32, valid=8x64>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tpartmul expects src0 or src1 to have the valid shape of dst, 16x64, not 4x64 and 8x64
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
