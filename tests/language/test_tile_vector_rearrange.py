"""The forms and rules of tile operations that compare, select, convert, gather, sort, quantise, count and print."""

import pytest

from language.vector_kernel import read
from language.vector_tile_kernel import accepts, diagnostics, holds, kernel, prints
from ptosim.effects.names import Pipe
from ptosim.language.tile.tile_operation import TileOperation
from refusals.rule import Rule, rules
from tables import table

T = "<16x64xf32>"
WORDS = "<16x64xi32>"

SELECTIONS = rules("""
pto.tcmps ins(%a, %x : <4x64xf32>, f32) outs(%m : <4x«64|16»xui8>)
pto.tsel ins(~%m, %b, %c : <4x«64|16»xui8>, <4x64xf32>, <4x64xf32>) outs(%d : <4x64xf32>)
  ⇒ [lint warning] pto.tsel reads a row of mask every 512 bits, but pto.tcmps writes one every 64
pto.tcmps ins(%a, %x : <4x64xf16, valid=4x50>, f16) outs(%m : <4x«64|16»xui8>)
pto.tsels ins(~%m, %b, %y : <4x«64|16»xui8>, <4x64xf32>, f32) outs(%d : <4x64xf32>)
  ⇒ [lint warning] pto.tsels reads a row of mask every 512 bits, but pto.tcmps writes one every 128
pto.tcmps ins(%a, %x : <4x64xf32>, f32) outs(%m : <4x64xui8>)
pto.tcmp ins(%a, %b : <4x64xf32>, <4x64xf32>) outs(«%n|%m» : <4x64xui8>)
pto.tsel ins(~%m, %b, %c : <4x64xui8>, <4x64xf32>, <4x64xf32>) outs(%d : <4x64xf32>)
  ⇒ [lint warning] pto.tsel reads a row of mask every 512 bits, but pto.tcmps writes one every 64
""")

CONVERSIONS = rules("""
pto.tcvt ins(%a {satmode = ~#pto<saturation_mode OFF>} : <16x64xi32>) outs(%d : <16x64x«ui16|si16»>)
  ⇒ [lint warning] pto.tcvt clamps from i32 to ui16, whatever satmode says
pto.tcvt ins(%a {satmode = ~#pto<saturation_mode OFF>} : <16x64xi16>) outs(%d : <16x64x«ui8|ui32»>)
  ⇒ [lint warning] pto.tcvt clamps from i16 to ui8, whatever satmode says
pto.tcvt ins(%a : <16x64xf32>) outs(%d : ~<16x«32|64»xf16>)
  ⇒ pto.tcvt expects dst to have the shape of src, 16x64, not 16x32
pto.tcvt ins(%a : <16x64xf32, valid=?x32>) outs(%d : ~<16x64xf16, valid=8x«64|32»>)
  ⇒ pto.tcvt expects dst to have the valid shape of src, ?x32, not 8x64
pto.tcvt ins(%a : <16x32x«f16|bf16»>) outs(%d : ~<16x16x!pto.f4E1M2x2>) ⇒ pto.tcvt does not convert f16 to f4E1M2x2
pto.tcvt ins(%a : <16x32x«bf16|f16»>) outs(%d : ~<16x32x!pto.hif8>) ⇒ pto.tcvt does not convert bf16 to hif8
pto.tcvt ins(%a : <16x32xf8E5M2>) outs(%d : ~<16x32x«f16|f32»>) ⇒ pto.tcvt does not convert f8E5M2 to f16
pto.tcvt ins(%a : <16x32xf32>) outs(%d : ~<16x32x«f8E4M3FN|f16»>) ⇒ [a2a3] pto.tcvt converts f32 to f8E4M3FN only on a5
""")

GATHERS = rules("""
pto.tgather ins(%a, {maskPattern = ~#pto.mask_pattern<P0101>} : <16x64xf32>«|, "row"») outs(%d : <16x32xf32>)
  ⇒ pto.tgather with maskPattern requires an axis, "row" or "col"
pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : <16x64xf32>, "row") outs(%d : ~<16x«16|32»xf32>)
  ⇒ pto.tgather expects dst to have 1/2 of the 64 valid columns of src, not 16
pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P1000>} : <16x64xf32>, "col") outs(%d : ~<«8|4»x64xf32>)
  ⇒ pto.tgather expects dst to have 1/4 of the 16 valid rows of src, not 8
pto.tgather ins(%a, ~%i«|, %t» : <16x64xf32>, <16x64xi32>«|, <16x64xi32>») outs(%d : <16x64xf32>)
  ⇒ [a2a3] pto.tgather requires tmp on a2a3
pto.tgather ins(%a, %x, %t : <16x64xf32>, f32, <16x64xi32>) outs(%d, %c : ~<16x64x«f32|i32»>, <16x8xi32>)
  ⇒ pto.tgather expects dst to have elements of i32 on a5, not f32
pto.tgather ins(%a, %x, %t : <16x64xf32>, f32, <16x64xi32>) outs(%d, %c : <16x64xi32>, ~<16x8x«f32|i32»>)
  ⇒ pto.tgather expects cdst to have elements of i32 on a5, not f32
pto.tgather ins(%a, %x, %t : <16x64xf32>, f32, <16x64xi32>) outs(%d, %c : <16x64xi32>, <16x8xi32>) {cmpMode = ~#pto<cmp
    «lt|gt»>}
  ⇒ pto.tgather compares with eq or gt, not lt
pto.tgather ins(%a, %i : <16x64xf32>, <16x64xi32>) outs(«~|»%d«, %c|» : <16x64xf32>«, <16x8xi32>|»)
  ⇒ pto.tgather has cdst only, and always, in the form that compares
pto.tscatter ins(%a, {maskPattern = #pto.mask_pattern<P1010>} : <16x32xf32>, "row") outs(%d : ~<16x«32|64»xf32>)
  ⇒ pto.tscatter expects dst to have 2 times of the 32 valid columns of src, not 32
pto.tscatter ins(%a, {maskPattern = ~#pto.mask_pattern<P1010>} : <16x32xf32>«|, "row"») outs(%d : <16x64xf32>)
  ⇒ pto.tscatter with maskPattern requires an axis, "row" or "col"
pto.tscatter ins(%a, «~%i, |»{maskPattern = #pto.mask_pattern<P1111>} : <16x64xf32>«, <16x64xi32>|», "row") outs(%d :
    <16x64xf32>)
  ⇒ pto.tscatter takes idx or maskPattern, not both
pto.tscatter ins(~%a«|, %i» : <16x64xf32>«|, <16x64xi32>») outs(%d : <16x64xf32>)
  ⇒ pto.tscatter requires idx or maskPattern
""")

_COUNTS = "%c = arith.constant dense<0> : vector<4xi16>"
SORTS = rules(f"""
%n = arith.constant «96|128» : i32
pto.tmrgsort ins(%a, ~%n : <1x256xf32>, i32) outs(%d : <1x256xf32>)
  ⇒ pto.tmrgsort expects a blockLen that is a positive multiple of 64, not 96
{_COUNTS}
pto.tmrgsort ins(%a, %n : <1x256xf32>, i32) outs(%d«, ~%c|» : <1x256xf32>«, vector<4xi16>|»)
  ⇒ pto.tmrgsort of blocks has no executed
{_COUNTS}
pto.tmrgsort ins(%a, %b, %t : <1x64xf32>, <1x64xf32>, <1x128xf32>) outs(«~|»%d«|, %c» : <1x128xf32>«|, vector<4xi16>»)
  ⇒ pto.tmrgsort of lists expects executed, of type vector<4xi16>, after dst
{_COUNTS.replace("4xi16", "«8|4»xi16")}
pto.tmrgsort ins(%a, %b, %t : <1x64xf32>, <1x64xf32>, <1x128xf32>) outs(%d, %c : <1x128xf32>, ~vector<«8|4»xi16>)
  ⇒ pto.tmrgsort expects executed to be vector<4xi16>, not vector<8xi16>
{_COUNTS}
pto.tmrgsort ins(%a, %b, %e, %t : <1x64xf32>, <1x64xf32>, <1x64xf32, valid=1x32>, ~<1x«128|160»xf32>) outs(%d, %c :
    <1x128xf32>, vector<4xi16>)
  ⇒ pto.tmrgsort expects tmp to have at least the 160 valid columns of its sources, not 128
{_COUNTS}
pto.tmrgsort ins(%a, %b, %t : <1x64xf32>, ~<1x64x«f16|f32»>, <1x128xf32>) outs(%d, %c : <1x128xf32>, vector<4xi16>)
  ⇒ pto.tmrgsort expects src1 to have the element type of src0, f32, not f16
""")


def groups(a: str, d: str, e: str, m: str, s: str, kind: str = "MXFP8", more: str = "", z: str = "") -> str:
    """A quantisation of groups; `z` is a tile for the exponents in the order of products."""
    names, types = (
        ("%d, %e, %m, %s, %z", f"{d}, {e}, {m}, {s}, {z}") if z else ("%d, %e, %m, %s", f"{d}, {e}, {m}, {s}")
    )
    return f"pto.tquant.mx ins(%a : {a}) outs({names} : {types}) {{quant_type = #pto<quant_type {kind}>{more}}}"


AXIS0, NV = ", grpAxis = #pto<mx_group_axis axis0>", ", quantScaleAlg = #pto<quant_scale_alg nv>"
F32, BYTES, EXPS, FLAT = "<32x64xf32>", "<32x64xi8>", "<1x64xui8>", "<1x128xf32, valid=1x64>"
F16, FP4, FLAT16 = "<32x64xf16>", "<32x32x!pto.f4E2M1x2>", "<1x128xf16, valid=1x64>"
BELOW = "<2x64xf16>"

MX_GROUPS = rules(
    f"""
{groups("~<32x64xf32, valid=«?|32»x64>", BYTES, EXPS, FLAT, FLAT)}
  ⇒ pto.tquant.mx expects src with a static valid shape, not ?x64
""",
    Rule(
        groups(
            "~<32x64xf32, valid=32x«48|32»>",
            "<32x64xi8, valid=32x«48|32»>",
            "<32x2xui8, valid=32x1>",
            *["<1x128xf32, valid=1x32>"] * 2,
        ),
        "pto.tquant.mx expects src with a multiple of 32 valid columns, the groups, not 48",
    ),
    Rule(
        groups(
            "~<64x64xf16, valid=«48|64»x64>", "<64x64xi8, valid=«48|64»x64>", BELOW, BELOW, BELOW, more=AXIS0
        ).replace(BELOW, "<2x64xi8>", 1),
        "pto.tquant.mx expects src with a multiple of 32 valid rows, the groups, not 48",
    ),
    f"""
{groups(F32, "~<32x«128|64»xi8, valid=32x64>", EXPS, FLAT, FLAT)}
  ⇒ pto.tquant.mx expects dst to have 64 columns, as src, not 128
{groups(F16, "~<32x«64|32»x!pto.f4E2M1x2, valid=32x32>", EXPS, FLAT16, FLAT16, "MXFP4_E2M1")}
  ⇒ pto.tquant.mx expects dst to have 32 columns, as src, not 64
{groups(F32, BYTES, EXPS, "~<32x«8|2»xf32, valid=32x2>", FLAT)}
  ⇒ pto.tquant.mx expects max to have the valid shape 32x2 in rows of 2, or 1x64 in one row, not 32x2 of 32x8
{groups(F32, BYTES, EXPS, FLAT, "~<1x«64|128»xf32, valid=1x64>")}
  ⇒ pto.tquant.mx expects scaling to have room for 128 elements, which are written, not 64
{groups(F16, BYTES, EXPS, FLAT16, "~<1x«64|128»xf16, valid=1x64>")}
  ⇒ pto.tquant.mx expects scaling to have room for 128 elements, which are written, not 64
{groups(F16, BYTES, EXPS, FLAT16, "~«<1x128xf16, valid=1x64>|<32x2xf16>»", more=NV)}
  ⇒ pto.tquant.mx expects scaling of 16-bit elements by nv to have a row for each row of src, not one row
{groups(F16, BYTES, "~«<32x2xui8>|<1x64xui8>»", FLAT16, FLAT16)}
  ⇒ pto.tquant.mx expects exp to have the valid shape 1x64 in one row, not 32x2 of 32x2
{groups("<32x128xf32, valid=32x64>", "<32x128xi8, valid=32x64>", "~<«1x64|32x2»xui8>", FLAT, FLAT)}
  ⇒ pto.tquant.mx expects exp to have the valid shape 32x2, not 1x64 of 1x64
{groups("<64x64xf16>", "<64x64xi8>", "~<«4|2»x64xui8>", BELOW, BELOW, more=AXIS0)}
  ⇒ pto.tquant.mx expects exp to have the valid shape 1x128 in one row or 2x64 in rows of 64, not 4x64 of 4x64
{groups("<64x64xf16>", "<64x64xi8>", "~<1x«64|128»xui8>", BELOW, BELOW, more=f"{AXIS0}, interleave = true")}
  ⇒ pto.tquant.mx expects exp of interleave to be 1x128 with the valid shape 1x128, not 1x64 with 1x64
""",
    Rule(
        groups(
            "<64x64x«f32|f16»>",
            "<64x64xi8>",
            "<1x128xui8>",
            *["<2x64x«f32|f16»>"] * 2,
            more=f"{AXIS0}, interleave = ~true",
        ),
        "pto.tquant.mx has interleave only with grpAxis axis0 and elements of 16 bits",
    ),
    Rule(
        groups(
            "~<64x«96|128»xf16>",
            "<64x«48|64»x!pto.f4E2M1x2>",
            "<2x«96|128»xui8>",
            *["<2x«96|128»xf16>"] * 2,
            "MXFP4_E2M1",
            AXIS0,
        ),
        "pto.tquant.mx expects src of f16 along axis0 with packed rows of a multiple of 32 bytes, not 48",
    ),
    Rule(
        groups(
            "~<33x«64|32»xf16, valid=33x32>",
            "<33x«64|32»xi8, valid=33x32>",
            "<1x33xui8>",
            *["<1x128xf16, valid=1x33>"] * 2,
        ),
        "pto.tquant.mx expects src of 16-bit elements without padding columns, or in whole registers of 128 (rows of"
        " 64), not 2112 elements",
    ),
    f"""
{groups(F32, BYTES, EXPS, FLAT, FLAT, z=EXPS, more="«|, storeMode = #pto<vec_store_mode nd>»").replace("%z", "~%z")}
  ⇒ pto.tquant.mx has exp_zz only with grpAxis axis1 and storeMode
{groups(F32, BYTES, EXPS, FLAT, FLAT, z="~<1x«96|64»xui8>", more=", storeMode = #pto<vec_store_mode nd>")}
  ⇒ pto.tquant.mx expects exp_zz to have 64 exponents, one for each group, not 96
{groups(F16, FP4, EXPS, FLAT16, FLAT16, "MXFP4_E2M1", ", quantScaleAlg = ~#pto<quant_scale_alg «nv|ocp»>")}
  ⇒ pto.tquant.mx has the nv formula only for MXFP8
""",
)

A2A3_TABLES = rules("""
pto.tgather ins(%a, %x, %t : <16x64x«i32|f32»>, «i32|f32», <16x64xi32>) outs(%n, %c : <16x64xi32>, <16x8xi32>) {cmpMode
    = ~#pto<cmp gt>}
  ⇒ [a2a3] pto.tgather compares integers with eq only on a2a3, not gt
pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : ~<16x64x«i8|bf16»>, "row") outs(%d : <16x32x«i8|bf16»>)
  ⇒ [a2a3] pto.tgather expects src to have elements of i16, i32, f16, bf16, f32 on a2a3, not i8
pto.tsel ins(%m, %a, %b, %t : <32x32xi8>, <32x32xi16>, <32x32xi16>, ~<1x32x«i16|i32»>) outs(%d : <32x32xi16>)
  ⇒ [a2a3] pto.tsel expects tmp to have elements of 4 bytes, not i16
pto.thistogram ins(%a, %i : <32x64xui16>, <32x1xui8, blayout=col_major>) outs(%d : <32x256xui32>) {byte = 1 : i32,
    isMSB = ~«false|true»}
  ⇒ byte = 1 and isMSB = false contradict each other
pto.tquant ins(%a, %s : <32x64xf32>, ~<32x«8|1»xf32«|, blayout=col_major»>) outs(%d : <32x64xi8>) {quant_type =
    #pto<quant_type INT8_SYM>}
  ⇒ [a2a3] pto.tquant expects fp to be one column (blayout col_major) on a2a3, not ND of 8
pto.tquant ins(%a, %s : <32x64xf32>, <32x1xf32, blayout=col_major>) outs(%d, %t : <32x64xi8>, ~<32x64x«i32|f32»>)
    {quant_type = #pto<quant_type INT8_SYM>}
  ⇒ [a2a3] pto.tquant expects tmp to have the element type of src, f32, not i32
""")

QUANTISED = rules("""
pto.tquant ins(%a, %s«, ~%o|» : <32x64xf32>, <32x1xf32, blayout=col_major>«, <32x1xf32, blayout=col_major>|») outs(%d :
    <32x64xi8>) {quant_type = #pto<quant_type INT8_SYM>}
  ⇒ pto.tquant has no offset for INT8_SYM
pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, %s : ~<32x64x«f8E5M2|f8E4M3FN»>, <1x64xui8>, <1x64xf32>,
    <1x128xf32, valid=1x64>) {quant_type = #pto<quant_type MXFP8>}
  ⇒ pto.tquant.mx expects dst to have elements of i8 or ui8 or f8E4M3FN for MXFP8, not f8E5M2
pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, ~%«m|s» : <32x64xf8E4M3FN>, <1x64xui8>, <1x128xf32, valid=1x64>,
    <1x128xf32, valid=1x64>) {quant_type = #pto<quant_type MXFP8>}
  ⇒ pto.tquant.mx expects max and scaling to use different storage
~pto.«tquant.mx|tquant» ins(%a«|, %f» : <32x64xf32>«|, <32x1xf32, blayout=col_major>») outs(%d«, %e, %m, %s|» :
    <32x64x«f8E4M3FN|i8»>«, <1x64xui8>, <1x64xf32>, <1x128xf32, valid=1x64>|») {quant_type = #pto<quant_type
    «MXFP8|INT8_SYM»>}
  ⇒ [wrong-target a2a3] pto.tquant.mx does not exist on a2a3
""")

_HISTOGRAM = "<32x1xui8, blayout=col_major>"
HISTOGRAMS = rules(f"""
pto.thistogram ins(%a, %i : <32x64xui16>, {_HISTOGRAM}) outs(%d : ~<32x«128|256»xui32>)
  ⇒ pto.thistogram expects dst with 256 columns, not 128
pto.thistogram ins(%a, %i : <32x64xui16>, ~<32x«32|1»xui8, blayout=col_major>) outs(%d : <32x256xui32>)
  ⇒ pto.thistogram expects idx to be one column (blayout col_major), not DN of 32 columns
pto.thistogram ins(%a, %i : <32x64xui32>, ~<«1|2»x32xui8>) outs(%d : <32x256xui32>) {{byte = 1 : i32}}
  ⇒ pto.thistogram expects idx to have a row for each of 2 higher bytes, not 1
pto.tprint ins(%a, %w : <16x64xf32>, ~!pto.partition_tensor_view<16x64x«f16|f32»>)
  ⇒ pto.tprint expects tmp to have the element type of src, f32, not f16
pto.tprint ins(%v«, ~%w|» : !pto.partition_tensor_view<16x64xf32>«, !pto.partition_tensor_view<16x64xf32>|»)
  ⇒ pto.tprint takes tmp only for a tile
""")

RULES = [*SELECTIONS, *CONVERSIONS, *GATHERS, *SORTS, *MX_GROUPS, *A2A3_TABLES, *QUANTISED, *HISTOGRAMS]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.message)
def test_rules(rule: Rule):
    holds(rule)


# --- forms ------------------------------------------------------------------------------------------------------------


@table(
    "line",
    f"pto.tdivs ins(%x, %a : f32, {T}) outs(%d : {T})",
    f"pto.tdivs ins(%a, %x : {T}, f32) outs(%d : {T})",
    f"pto.tsels ins(%m, %a, %t, %x : <16x64xui8>, {T}, {T}, f32) outs(%d : {T})",
    f"pto.tsel ins(%m, %a, %b, %t : <16x64xi16>, {T}, {T}, {T}) outs(%d : {T})",
    f"pto.tcvt ins(%a, %t {{rmode = #pto<round_mode FLOOR>}} : {T}, {T}) outs(%d : <16x64xi16>)",
    f"pto.tcvt ins(%a : {T}) outs(%d : <16x64xf16>)",
    f'pto.tscatter ins(%a, {{maskPattern = #pto.mask_pattern<P0001>}} : <16x16xf32>, "row") outs(%d : {T})',
    f"pto.tcolsum ins(%a, %t {{isBinary = true}} : {T}, <8x64xf32>) outs(%d : <1x64xf32>)",
    "pto.ttri ins(%k {upperOrLower = 1 : i32} : i32) outs(%d : <16x64xf32>)",
    "pto.tci ins(%x, %t : i32, <1x512xi32>) outs(%d : <1x64xi32>) {descending = true}",
    f"pto.tprint ins(%a, %w : {T}, !pto.partition_tensor_view<16x64xf32>)",
    "pto.tquant ins(%a, %s : <32x64xf32>, <32x1xf32, blayout=col_major>) outs(%d, %t : <32x64xi8>, <32x64xf32>)"
    " {quant_type = #pto<quant_type INT8_SYM>}",
    "pto.tquant.mx ins(%a : <32x64xbf16>) outs(%d, %e, %m, %s, %z : <32x64xi8>, <1x64xui8>, <32x2xbf16>,"
    " <32x2xbf16>, <1x64xui8>) {quant_type = #pto<quant_type MXFP8>, quantScaleAlg ="
    " #pto<quant_scale_alg nv>, storeMode = #pto<vec_store_mode nz>, grpAxis = #pto<mx_group_axis axis1>,"
    " interleave = false}",
)
def test_forms_are_printed_as_they_are_written(line: str):
    prints(line, line)


@pytest.mark.parametrize("lists", [2, 3, 4])
@pytest.mark.parametrize("with_tmp", [True, False])
def test_lists_are_merged_with_and_without_a_working_tile(lists: int, with_tmp: bool):
    names = ", ".join(f"%l{number}" for number in range(lists)) + (", %t" if with_tmp else " no_tmp")
    types = ", ".join(["<1x64xf32>"] * lists + ["<1x256xf32>"] * with_tmp)
    line = f"pto.tmrgsort ins({names} {{exhausted = true}} : {types}) outs(%d, %c : <1x256xf32>, vector<4xi16>)"
    prints(f"{_COUNTS}\n{line}", line)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_where_a_scatter_runs(target: str):
    by_index = f"pto.tscatter ins(%a, %i : {T}, {WORDS}) outs(%d : {T})"
    by_pattern = f'pto.tscatter ins(%b, {{maskPattern = #pto.mask_pattern<P1111>}} : {T}, "row") outs(%d : {T})'
    module = read(kernel(f"{by_index}\n{by_pattern}"), target).parsed.module
    pipes = [op.pipe(target) for op in module.walk() if isinstance(op, TileOperation)]
    assert pipes == [Pipe.S if target == "a2a3" else Pipe.V, Pipe.V]


@table(
    "source, result",
    *(("f32", name) for name in ("f8E4M3FN", "f8E5M2", "!pto.hif8")),
    *((name, "f32") for name in ("f8E4M3FN", "f8E5M2", "!pto.hif8")),
    ("f16", "!pto.hif8"),
)
def test_conversions_of_low_precision(source: str, result: str):
    text = kernel(f"pto.tcvt ins(%a : <32x64x{source}>) outs(%d : <32x64x{result}>)")
    accepts(text)
    names = [name.removeprefix("!pto.") for name in (source, result)]
    message = f"pto.tcvt converts {names[0]} to {names[1]} only on a5"
    assert [said for _, _, said, _ in diagnostics(text, "a2a3")] == [message]


@pytest.mark.parametrize("narrow", ["f4E1M2x2", "f4E2M1x2"])
def test_fp4_has_two_values_in_a_byte(narrow: str):
    accepts(kernel(f"pto.tcvt ins(%a : <32x64xbf16>) outs(%d : <32x32x!pto.{narrow}>)"))
    accepts(kernel(f"pto.tcvt ins(%a : <32x32x!pto.{narrow}>) outs(%d : <32x64xbf16>)"))
