"""What holds for each tile operation of the vector pipe: its example, its element types, and the rules of its family.

Element types and rules are those of the instruction set's tables for each target, written down here once more.
"""

import pytest

from language.vector_kernel import example
from language.vector_tile_kernel import accepts, holds, kernel
from ptosim.language.catalogue import operations, room_of
from ptosim.language.tile.tile_operation import TileOperation
from refusals.rule import Rule, rules

OPERATIONS = [op for op in operations() if room_of(op).startswith("tile_vector") and issubclass(op, TileOperation)]


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_the_example_loads_and_prints_stably(op: type[TileOperation]):
    for target in op.targets:
        assert op.name in accepts(kernel(example(op)), target)


# --- families ---------------------------------------------------------------------------------------------------------

FAMILIES = rules("""
~pto.«taddrelu|tadd» ins(%a, %b : <16x64xf32>, <16x64xf32>) outs(%d : <16x64xf32>)
  ⇒ [wrong-target] pto.taddrelu does not exist on a5
~pto.«trandom|tci» ins(%a«, %b, %c, %e, %f, %g|» : i32«, i32, i32, i32, i32, i32|») outs(%d : <4x64xi32>)
  ⇒ [wrong-target a2a3] pto.trandom does not exist on a2a3
pto.trems ins(%a, %x : <16x64xui32>, ~«i16|i32») outs(%d : <16x64xui32>)
  ⇒ pto.trems expects scalar to have the element type of src, ui32, not i16
pto.tands ins(%a, %x : <16x64xi32>, i32) outs(~%«a|d» : <16x64xi32>)
  ⇒ pto.tands expects src and dst to use different storage
pto.txors ins(%a, %x, %t : <16x64xi16>, i16, ~<16x64x«i8|i16»>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txors expects tmp to have the element type of dst, i16, not i8
pto.txors ins(%a, %x, %t : <16x64xi16>, i16, ~<16x64xi16«, valid=8x64|»>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txors expects tmp to have the valid shape of dst, 16x64, not 8x64
pto.txors ins(%a, %x, ~%«a|t» : <16x64xi16>, i16, <16x64xi16>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txors expects src and tmp to use different storage
pto.txor ins(%a, %b, ~%«d|t» : <16x64xi16>, <16x64xi16>, <16x64xi16>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txor expects dst and tmp to use different storage
%c = arith.constant «-3|3» : i16
pto.tshrs ins(%a, ~%c : <16x64xi32>, i16) outs(%d : <16x64xi32>)
  ⇒ pto.tshrs expects a count that is not negative, not -3
pto.taxpy ins(%a, %x : <16x64xf16>, f16) outs(%d : ~<16x64x«bf16|f32»>)
  ⇒ pto.taxpy expects dst to have the element type of src, f16, or f32 for f16, not bf16
pto.tdivs ins(%x, %a : <16x64xf32>, ~«<16x64xf32>|f32») outs(%d : <16x64xf32>)
  ⇒ pto.tdivs expects a tile and a scalar, not two tiles
""")

WORKING_TILES = rules("""
pto.trsqrt ins(~%a«|, %t» : <16x64xf32>«|, <1x8xf32>») outs(%d : <16x64xf32>) {precisionType = #pto<rsqrt_precision
    high_precision>}
  ⇒ pto.trsqrt with precisionType high_precision requires tmp
pto.trsqrt ins(%a, %t : <16x64xf32>, ~<1x«4|8»xf32>) outs(%d : <16x64xf32>)
  ⇒ pto.trsqrt expects tmp to have at least 32 bytes, not 16 bytes
pto.trem ins(%a, %b, %t : <16x64xf32>, <16x64xf32>, ~<«1|2»x64xf32>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.trem expects tmp to have at least 2 valid rows, not 1
pto.trems ins(%a, %x, %t : <16x64xf32>, f32, ~<1x64xf32, valid=«0|1»x64>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.trems expects tmp to have at least 1 valid row, not 0
pto.tprelu ins(%a, %b, %t : <16x64xf32>, <16x64xf32>, ~<«16|17»x32xui8>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tprelu expects tmp to have at least 17 rows, not 16
pto.tprelu ins(%a, %b, %t : <16x64xf32>, <16x64xf32>, ~<17x32xui8, valid=17x«7|8»>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tprelu expects tmp to have at least 8 valid columns, not 7
pto.tprelu ins(%a, %b, %t : <16x64xf32>, <16x64xf32>, ~<17x64x«i16|i8»>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tprelu expects tmp to have elements of i8 on a2a3, not i16
pto.trowargmax ins(%a, %t : <4x256xf32>, ~<4x«8|16»xf32>) outs(%d : <8x1xi32, valid=4x1, blayout=col_major>)
  ⇒ [a2a3] pto.trowargmax expects tmp to have at least 16 columns, not 8
pto.tcolargmin ins(%a, %t : <4x64xf32>, ~<4x«8|16»xf32>) outs(%d : <1x64xi32>)
  ⇒ [a2a3] pto.tcolargmin expects tmp to have at least 16 columns, not 8
pto.tci ins(%x, %t : i32, ~<1x«184|192»xi32>) outs(%d : <1x64xi32>)
  ⇒ [a2a3] pto.tci expects tmp to have at least 768 bytes, not 736 bytes
pto.tci ins(%x, %t : i16, ~<1x«440|448»xi32>) outs(%d : <1x64xi16>)
  ⇒ [a2a3] pto.tci expects tmp to have at least 1792 bytes, not 1760 bytes
pto.tci ins(%x, %t : i32, ~<1x512x«i16|f32»>) outs(%d : <1x64xi32>)
  ⇒ [a2a3] pto.tci expects tmp to have elements of 4 bytes, not i16
pto.tpow ins(%a, %b«, ~%t|» : <16x64xi32>, <16x64xi32>«, <16x64xi32>|») outs(%d : <16x64xi32>)
  ⇒ pto.tpow takes no tmp for integers
pto.tpow ins(%a, %b : ~<16x64x«i32|bf16»>, <16x64x«i32|bf16»>) outs(%d : <16x64x«i32|bf16»>) {precisionType =
    #pto<pow_precision high_precision>}
  ⇒ pto.tpow expects src0 to have elements of f16, bf16, f32 for precisionType high_precision, not i32
pto.tpows ins(%a, %x : <16x64xf32>, f32) outs(%d : <16x64xf32>) {precisionType = ~#pto<pow_precision
    «high_precision|default»>}
  ⇒ [a2a3] pto.tpows has precisionType high_precision only on a5
pto.tcolsum ins(%a, ~%t «|{isBinary = true} »: <16x64xf32>, <8x64xf32>) outs(%d : <1x64xf32>)
  ⇒ pto.tcolsum expects the attribute isBinary with tmp
pto.tcolsum ins(%a, %t {isBinary = true} : <16x64xf32>, ~<«7|8»x64xf32>) outs(%d : <1x64xf32>)
  ⇒ pto.tcolsum expects tmp to have at least 512 elements, not 448
pto.tcolsum ins(%a, %t {isBinary = true} : <16x64xf32>, ~<«16x32|8x64»xf32>) outs(%d : <1x64xf32>)
  ⇒ pto.tcolsum expects tmp to have at least 64 columns, not 32
""")


@pytest.mark.parametrize("rule", FAMILIES, ids=lambda rule: rule.message)
def test_families(rule: Rule):
    holds(rule)


@pytest.mark.parametrize("rule", WORKING_TILES, ids=lambda rule: rule.message)
def test_working_tiles(rule: Rule):
    holds(rule)
