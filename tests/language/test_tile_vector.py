"""What holds for each tile operation of the vector pipe: its example, its element types, and the rules of its family.

Element types and rules are those of the instruction set's tables for each target, written down here once more.
"""

import pytest

from language.vector_kernel import example
from language.vector_tile_kernel import accepts, diagnostics, holds, kernel
from ptosim.language.catalogue import operation, operations, room_of
from ptosim.language.tile.tile_family import VectorTile
from ptosim.language.tile.tile_operation import TileOperation
from refusals.rule import Rule, rules

OPERATIONS = [op for op in operations() if room_of(op).startswith("tile_vector") and issubclass(op, TileOperation)]


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_the_example_loads_and_prints_stably(op: type[TileOperation]):
    for target in op.targets:
        assert op.name in accepts(kernel(example(op)), target)


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_tiles_of_the_example_lie_in_ub(op: type[TileOperation]):
    """Nothing on the vector pipe reaches another memory; texpands fills L1, too, and tprint looks everywhere."""
    if op.name in ("pto.texpands", "pto.tprint"):
        return
    for target in op.targets:
        said = diagnostics(kernel(example(op)).replace("tile_buf<vec,", "tile_buf<mat,"), target)
        assert any("in vec, not mat" in message for _, _, message, _ in said), said


# --- element types ----------------------------------------------------------------------------------------------------

WIDE = "i8 i16 i32 f16 bf16 f32"
ELEMENTS = {
    "tabs texp tlog tsqrt trecip trsqrt tlrelu tprelu trowexpandexpdif tcolexpandexpdif tsort32 tmrgsort": ("f16 f32",)
    * 2,
    "tadd tmin tneg tadds tsubs tmuls tmaxs tmins tcolsum tcolmax tcolmin": (WIDE, "i16 i32 f16 f32"),
    "tsub tmax tdivs": ("i8 i16 i32 f16 f32", "i16 i32 f16 f32"),
    "tmul tfmod tfmods trowsum trowmax trowmin trowprod trowargmax trowargmin": ("i16 i32 f16 f32",) * 2,
    "tdiv": ("i16 i32 f16 f32", "f16 f32"),
    "tand tor txor tshl tshr tshls tshrs": ("i8 i16 i32",) * 2,
    "tands tors txors": ("i8 i16 i32", "i8 i16"),
    "tnot": ("i8 i16 i32", "i16"),
    "trelu": ("i32 f16 f32",) * 2,
    "trem trems": ("i16 i32 f16 f32", "i32 f32"),
    "taxpy": ("f16 bf16 f32",) * 2,
    "texpands ttri trowexpand tcolexpand tpartadd tpartmul tpartmax tpartmin tpartargmax tpartargmin": (WIDE, WIDE),
    "taddc tsubc taddsc tsubsc tgather tscatter tgatherb": (WIDE, WIDE),
    "tcolprod": ("i16 i32 f16 bf16 f32", "i16 i32 f16 f32"),
    "trowexpandadd trowexpandsub trowexpandmul trowexpandmax trowexpandmin": ("i8 i16 i32 f16 f32", "i16 i32 f16 f32"),
    "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpandmax tcolexpandmin": ("i8 i16 i32 f16 f32", "i16 i32 f16 f32"),
    "trowexpanddiv tcolexpanddiv": ("i8 i16 i32 f16 f32", "f16 f32"),
    "tcmp tcmps": (WIDE, "i32 f16 f32"),
    "tsels": ("i8 i16 i32 f16 f32",) * 2,
    "tpow tpows": (WIDE, "i8 i16 i32 f32"),
    "tci": ("i16 i32",) * 2,
    "tcolargmax tcolargmin": (WIDE, "i16 i32 f16 f32"),
    "tsel": (WIDE, "i16 i32 f16 bf16 f32"),
    "taddrelu": (None, "i16 f16 f32"),
    "trandom": ("i32", None),
    "tquant": ("f32",) * 2,
    "tdequant": ("i8 i16",) * 2,
}
OF_THEIR_OWN = {"pto.tcvt", "pto.tquant.mx", "pto.thistogram", "pto.tprint"}
ROWS = [
    (f"pto.{name}", target, accepted)
    for names, sets in ELEMENTS.items()
    for name in names.split()
    for target, accepted in zip(("a5", "a2a3"), sets, strict=True)
]
ALL = "i8 ui8 si8 i16 ui16 i32 ui32 i64 f16 bf16 f32 f8E4M3FN f8E5M2 !pto.hif8 !pto.f4E2M1x2".split()


def test_every_operation_has_a_row():
    assert {name for name, _, _ in ROWS} | OF_THEIR_OWN == {op.name for op in OPERATIONS}


@pytest.mark.parametrize(("name", "target", "accepted"), ROWS)
def test_element_types(name: str, target: str, accepted: str | None):
    op = operation(name)
    assert op is not None and issubclass(op, VectorTile)
    if accepted is None:
        assert target not in op.targets
        return
    words = accepted.split()
    assert op.accepted[target] == {*words, *(f"{sign}{word}" for word in words if word[0] == "i" for sign in "su")}


@pytest.mark.parametrize("element", ALL)
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_an_element_type_is_accepted_or_the_message_names_those_that_are(element: str, target: str):
    tile = f"<32x64x{element}>"
    said = diagnostics(kernel(f"pto.tadd ins(%a, %b : {tile}, {tile}) outs(%d : {tile})"), target)
    width = element.lstrip("su")
    names = {"a5": WIDE, "a2a3": "i16 i32 f16 f32"}[target].split()
    if width in names:
        assert said == []
    else:
        found = element.removeprefix("!pto.")
        message = f"pto.tadd expects src0 to have elements of {', '.join(names)} on {target}, not {found}"
        assert said == [("invalid", "error", message, (3, 23))]


# --- families ---------------------------------------------------------------------------------------------------------

FAMILIES = rules("""
pto.tabs ins(%a : <16x64xf32>) outs(%d : ~<16x64x«f16|f32»>)
  ⇒ pto.tabs expects dst to have the element type of src, f32, not f16
pto.tabs ins(%a : ~<16x64xf32«, valid=8x64|»>) outs(%d : <16x64xf32>)
  ⇒ pto.tabs expects src to have the valid shape of dst, 16x64, not 8x64
pto.tabs ins(%a : ~<16x64xf32«, blayout=col_major|»>) outs(%d : <16x64xf32>)
  ⇒ pto.tabs expects src with blayout row_major, not col_major
pto.tabs ins(%a : <16x64xf32>) outs(%d : ~<«mat, |»16x64xf32>) ⇒ pto.tabs expects dst in vec, not mat
pto.tneg ins(%a : ~<16x64xf32, valid=«8x32|8x64»>) outs(%d : <16x64xf32>)
  ⇒ pto.tneg expects src to have the valid columns of dst, 64, not 32
pto.tneg ins(%a : ~<16x64xf32«, valid=8x64|»>) outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tneg expects src to have the valid shape of dst, 16x64, not 8x64
pto.tadd ins(%a, %b : <16x64xf32>, ~<16x64x«f16|f32»>) outs(%d : <16x64xf32>)
  ⇒ pto.tadd expects src1 to have the element type of src0, f32, not f16
pto.tshl ins(%a, %b : <16x64xi32>, ~<16x64x«ui32|i32»>) outs(%d : <16x64xi32>)
  ⇒ pto.tshl expects src1 to have the element type of src0, i32, not ui32
pto.tshr ins(%a, %b : <16x64xi32>, ~<16x64x«i16|i32»>) outs(%d : <16x64xi32>)
  ⇒ pto.tshr expects src1 to have the element type of src0, i32, not i16
pto.tadd ins(%a, %b : <16x64xf32>, ~<16x64xf32, valid=16x«32|?»>) outs(%d : <16x64xf32>)
  ⇒ pto.tadd expects src1 to have the valid shape of dst, 16x64, not 16x32
pto.tadd ins(%a, %b : <16x64xf32>, ~<16x64xf32«, blayout=col_major|»>) outs(%d : <16x64xf32>)
  ⇒ pto.tadd expects src1 with blayout row_major, not col_major
~pto.«taddrelu|tadd» ins(%a, %b : <16x64xf32>, <16x64xf32>) outs(%d : <16x64xf32>)
  ⇒ [wrong-target] pto.taddrelu does not exist on a5
~pto.«trandom|tci» ins(%a«, %b, %c, %e, %f, %g|» : i32«, i32, i32, i32, i32, i32|») outs(%d : <4x64xi32>)
  ⇒ [wrong-target a2a3] pto.trandom does not exist on a2a3
pto.tadds ins(%a, %x : ~<16x64xf32«, valid=8x64|»>, f32) outs(%d : <16x64xf32>)
  ⇒ pto.tadds expects src to have the valid shape of dst, 16x64, not 8x64
pto.tadds ins(%a, %x : <16x64xi32>, ~«ui32|i32») outs(%d : <16x64xi32>)
  ⇒ pto.tadds expects scalar to be a signless integer or a float, not ui32
pto.tmaxs ins(%a, %x : ~<16x64x«bf16|f16»>, f32) outs(%d : <16x64x«bf16|f16»>)
  ⇒ [a2a3] pto.tmaxs expects src to have elements of i16, i32, f16, f32 on a2a3, not bf16
pto.tfmods ins(%a, %x : <16x64xf32>, ~«f16|f32») outs(%d : <16x64xf32>)
  ⇒ pto.tfmods expects scalar to have the element type of src, f32, not f16
pto.trems ins(%a, %x : <16x64xui32>, ~«i16|i32») outs(%d : <16x64xui32>)
  ⇒ pto.trems expects scalar to have the element type of src, ui32, not i16
pto.tpows ins(%a, %x : <16x64xf32>, ~«i32|f32») outs(%d : <16x64xf32>)
  ⇒ pto.tpows expects scalar to have the element type of src, f32, not i32
pto.tands ins(%a, %x : <16x64xi32>, i32) outs(~%«a|d» : <16x64xi32>)
  ⇒ pto.tands expects src and dst to use different storage
pto.tors ins(%a, %x : <16x64xi32>, ~«f32|i32») outs(%d : <16x64xi32>)
  ⇒ pto.tors expects scalar to be a signless integer, not f32
pto.tors ins(%a, %x : ~<16x64xi32«, blayout=col_major|»>, i32) outs(%d : <16x64xi32>)
  ⇒ pto.tors expects src with blayout row_major, not col_major
pto.txors ins(%a, %x, %t : <16x64xi16>, i16, ~<16x64x«i8|i16»>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txors expects tmp to have the element type of dst, i16, not i8
pto.txors ins(%a, %x, %t : <16x64xi16>, i16, ~<16x64xi16«, valid=8x64|»>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txors expects tmp to have the valid shape of dst, 16x64, not 8x64
pto.txors ins(%a, %x, ~%«a|t» : <16x64xi16>, i16, <16x64xi16>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txors expects src and tmp to use different storage
pto.txor ins(%a, %b, ~%«d|t» : <16x64xi16>, <16x64xi16>, <16x64xi16>) outs(%d : <16x64xi16>)
  ⇒ [a2a3] pto.txor expects dst and tmp to use different storage
%c = arith.constant «-1|1» : i16
pto.tshls ins(%a, ~%c : <16x64xi32>, i16) outs(%d : <16x64xi32>)
  ⇒ pto.tshls expects a count that is not negative, not -1
%c = arith.constant «-3|3» : i16
pto.tshrs ins(%a, ~%c : <16x64xi32>, i16) outs(%d : <16x64xi32>)
  ⇒ pto.tshrs expects a count that is not negative, not -3
pto.tlrelu ins(%a, %x : <16x64xf16>, ~«f16|f32») outs(%d : <16x64xf16>) ⇒ pto.tlrelu expects scalar to be f32, not f16
pto.taxpy ins(%a, %x : <16x64xf16>, f16) outs(%d : ~<16x64x«bf16|f32»>)
  ⇒ pto.taxpy expects dst to have the element type of src, f16, or f32 for f16, not bf16
pto.taxpy ins(%a, %x : <16x64xf32>, f32) outs(%d : ~<«32|16»x64xf32, valid=16x64>)
  ⇒ pto.taxpy expects dst to have the shape of src, 16x64, not 32x64
pto.taxpy ins(%a, %x : <16x64xf16>, ~«f32|f16») outs(%d : <16x64xf32>)
  ⇒ pto.taxpy expects scalar to have the element type of src, f16, not f32
pto.tdivs ins(%a, %x : f32, ~«f32|<16x64xf32>») outs(%d : <16x64xf32>)
  ⇒ pto.tdivs expects a tile and a scalar, not two scalars
pto.tdivs ins(%x, %a : <16x64xf32>, ~«<16x64xf32>|f32») outs(%d : <16x64xf32>)
  ⇒ pto.tdivs expects a tile and a scalar, not two tiles
pto.tdivs ins(%x, %a : f32, ~<16x64xf32«, valid=8x64|»>) outs(%d : <16x64xf32>)
  ⇒ pto.tdivs expects src1 to have the valid shape of dst, 16x64, not 8x64
pto.taddc ins(%a, %b, %c : <16x64xf32>, <16x64xf32>, ~<«32|16»x64xf32, valid=16x64>) outs(%d : <16x64xf32>)
  ⇒ pto.taddc expects src2 to have the shape of src0, 16x64, not 32x64
pto.tsubsc ins(%a, %x, %b : <16x64xf32>, ~«index|f32», <16x64xf32>) outs(%d : <16x64xf32>)
  ⇒ pto.tsubsc expects scalar to be a signless integer or a float, not index
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
pto.tpow ins(%a, %b : ~<16x64x«bf16|f16»>, <16x64x«bf16|f16»>) outs(%d : <16x64x«bf16|f16»>)
  ⇒ pto.tpow takes bf16 only with precisionType high_precision
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
