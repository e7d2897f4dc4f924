"""The forms and rules of tile operations that compare, select, convert, gather, sort, quantise, count and print."""

import pytest

from language.vector_kernel import read
from language.vector_tile_kernel import accepts, diagnostics, holds, kernel, prints
from ptosim.effects.names import Pipe
from ptosim.language.tile.tile_operation import TileOperation
from refusals.rule import Rule

T = "<16x64xf32>"
WORDS = "<16x64xi32>"

SELECTIONS = [
    Rule(
        "pto.tcmp ins(%a, %b : <16x64xf32>, ~<16x64x«i32|f32»>) outs(%d : <16x64xi8>)",
        "pto.tcmp expects src1 to have the element type of src0, f32, not i32",
    ),
    Rule(
        "pto.tcmp ins(%a, %b : <16x64xf32>, <16x64xf32>) outs(%d : ~<16x64x«i16|ui8»>)",
        "pto.tcmp expects dst to have elements of i8 on a5, not i16",
    ),
    Rule(
        "pto.tcmp ins(%a, %b : <16x64xf32>, ~<«32|16»x64xf32, valid=16x64>) outs(%d : <16x64xi8>)",
        "pto.tcmp expects src1 to have the shape of src0, 16x64, not 32x64",
    ),
    Rule(
        "pto.tcmp ins(%a, %b : <16x64xf32>, ~<16x64xf32«, valid=8x64|»>) outs(%d : <16x64xi8>)",
        "pto.tcmp expects src1 to have the valid shape of src0, 16x64, not 8x64",
    ),
    Rule(
        "pto.tcmps ins(%a, %x : <16x64xf32>, f32) outs(%d : ~<16x64xi8, valid=«8|16»x32>)",
        "pto.tcmps expects dst to have the valid rows of src, 16, not 8",
    ),
    Rule(
        "pto.tcmps ins(%a, %x : <16x64xf32>, f32) outs(%d : ~<16x64x«i32|i8»>)",
        "pto.tcmps expects dst to have elements of i8 on a5, not i32",
    ),
    Rule(
        "pto.tsel ins(%m, %a, %b : ~<16x64x«f32|i16»>, <16x64xf32>, <16x64xf32>) outs(%d : <16x64xf32>)",
        "pto.tsel expects mask to have elements of i8, i16, i32 on a5, not f32",
    ),
    Rule(
        "pto.tsel ins(%m, %a, %b : <16x64xi8>, <16x64xf32>, ~<16x64x«i32|f32»>) outs(%d : <16x64xf32>)",
        "pto.tsel expects src1 to have the element type of src0, f32, not i32",
    ),
    Rule(
        "pto.tsel ins(%m, %a, %b : <16x64xi8>, ~<16x64xf32«, blayout=col_major|»>, <16x64xf32>) outs(%d : <16x64xf32>)",
        "pto.tsel expects src0 with blayout row_major, not col_major",
    ),
    Rule(
        "pto.tsels ins(%m, %a, %x : ~<32x64xi8«, blayout=col_major|»>, <16x64xf32>, f32) outs(%d : <16x64xf32>)",
        "pto.tsels expects mask with blayout row_major, not col_major",
    ),
    Rule(
        "pto.tsels ins(%m, %a, %x : <16x64xi8>, <16x64xf32>, ~«index|f32») outs(%d : <16x64xf32>)",
        "pto.tsels expects scalar to be a signless integer or a float, not index",
    ),
    Rule(
        "pto.tcmps ins(%a, %x : <4x64xf32>, f32) outs(%m : <4x«64|16»xui8>)\n"
        "pto.tsel ins(~%m, %b, %c : <4x«64|16»xui8>, <4x64xf32>, <4x64xf32>) outs(%d : <4x64xf32>)",
        "pto.tsel reads a row of mask every 512 bits, but pto.tcmps writes one every 64",
        kind="lint",
        severity="warning",
    ),
    Rule(
        "pto.tcmps ins(%a, %x : <4x64xf16, valid=4x50>, f16) outs(%m : <4x«64|16»xui8>)\n"
        "pto.tsels ins(~%m, %b, %y : <4x«64|16»xui8>, <4x64xf32>, f32) outs(%d : <4x64xf32>)",
        "pto.tsels reads a row of mask every 512 bits, but pto.tcmps writes one every 128",
        kind="lint",
        severity="warning",
    ),
    Rule(
        "pto.tcmps ins(%a, %x : <4x64xf32>, f32) outs(%m : <4x64xui8>)\n"
        "pto.tcmp ins(%a, %b : <4x64xf32>, <4x64xf32>) outs(«%n|%m» : <4x64xui8>)\n"
        "pto.tsel ins(~%m, %b, %c : <4x64xui8>, <4x64xf32>, <4x64xf32>) outs(%d : <4x64xf32>)",
        "pto.tsel reads a row of mask every 512 bits, but pto.tcmps writes one every 64",
        kind="lint",
        severity="warning",
    ),
]

CONVERSIONS = [
    Rule(
        "pto.tcvt ins(%a {satmode = ~#pto<saturation_mode «OFF|ON»>} : <16x64xf32>) outs(%d : <16x64xbf16>)",
        "pto.tcvt clamps from f32 to bf16, whatever satmode says",
        kind="lint",
        severity="warning",
    ),
    Rule(
        "pto.tcvt ins(%a {satmode = ~#pto<saturation_mode OFF>} : <16x64xi32>) outs(%d : <16x64x«ui16|si16»>)",
        "pto.tcvt clamps from i32 to ui16, whatever satmode says",
        kind="lint",
        severity="warning",
    ),
    Rule(
        "pto.tcvt ins(%a {satmode = ~#pto<saturation_mode OFF>} : <16x64xi16>) outs(%d : <16x64x«ui8|ui32»>)",
        "pto.tcvt clamps from i16 to ui8, whatever satmode says",
        kind="lint",
        severity="warning",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x64xf32>) outs(%d : ~<16x«32|64»xf16>)",
        "pto.tcvt expects dst to have the shape of src, 16x64, not 16x32",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x64xf32, valid=?x32>) outs(%d : ~<16x64xf16, valid=8x«64|32»>)",
        "pto.tcvt expects dst to have the valid shape of src, ?x32, not 8x64",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x64xbf16>) outs(%d : ~<16x«64|32»x!pto.f4E2M1x2>)",
        "pto.tcvt expects dst to have the shape of src, 16x64, not 16x128",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x32x«f16|bf16»>) outs(%d : ~<16x16x!pto.f4E1M2x2>)",
        "pto.tcvt does not convert f16 to f4E1M2x2",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x32x«bf16|f16»>) outs(%d : ~<16x32x!pto.hif8>)",
        "pto.tcvt does not convert bf16 to hif8",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x32xf8E5M2>) outs(%d : ~<16x32x«f16|f32»>)",
        "pto.tcvt does not convert f8E5M2 to f16",
    ),
    Rule(
        "pto.tcvt ins(%a : <16x32xf32>) outs(%d : ~<16x32x«f8E4M3FN|f16»>)",
        "pto.tcvt converts f32 to f8E4M3FN only on a5",
        target="a2a3",
    ),
]

GATHERS = [
    Rule(
        'pto.tgather ins(%a, {maskPattern = ~#pto.mask_pattern<P0101>} : <16x64xf32>«|, "row"») outs(%d : <16x32xf32>)',
        'pto.tgather with maskPattern requires an axis, "row" or "col"',
    ),
    Rule(
        'pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : <16x64xf32>, "row")'
        " outs(%d : ~<16x«16|32»xf32>)",
        "pto.tgather expects dst to have 1/2 of the 64 valid columns of src, not 16",
    ),
    Rule(
        'pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P1000>} : <16x64xf32>, "col") outs(%d : ~<«8|4»x64xf32>)',
        "pto.tgather expects dst to have 1/4 of the 16 valid rows of src, not 8",
    ),
    Rule(
        'pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P1111>} : <16x64xf32>, "row")'
        " outs(%d : ~<16x64x«i32|f32»>)",
        "pto.tgather expects dst to have the element type of src, f32, not i32",
    ),
    Rule(
        "pto.tgather ins(%a, %i : <16x64xf32>, ~<16x64x«f32|i16»>) outs(%d : <16x64xf32>)",
        "pto.tgather expects idx to have elements of i16, i32 on a5, not f32",
    ),
    Rule(
        "pto.tgather ins(%a, %i, %t : <16x64xf32>, ~<16x64x«i16|ui32»>, <16x64xi32>) outs(%d : <16x64xf32>)",
        "pto.tgather expects idx to have elements of i32 on a2a3, not i16",
        target="a2a3",
    ),
    Rule(
        "pto.tgather ins(%a, ~%i«|, %t» : <16x64xf32>, <16x64xi32>«|, <16x64xi32>») outs(%d : <16x64xf32>)",
        "pto.tgather requires tmp on a2a3",
        target="a2a3",
    ),
    Rule(
        "pto.tgather ins(%a, %i : <16x64xf32>, <16x64xi32>) outs(%d : ~<16x64xf32, valid=16x«32|?»>)",
        "pto.tgather expects dst with every column valid, not 32 of 64",
    ),
    Rule(
        "pto.tgather ins(%a, %i : <16x64xf32>, ~<16x64xi32, valid=16x«32|64»>) outs(%d : <16x64xf32>)",
        "pto.tgather expects idx with every column valid, not 32 of 64",
    ),
    Rule(
        "pto.tgather ins(%a, %x, %t : <16x64xf32>, f32, <16x64xi32>) outs(%d, %c : ~<16x64x«f32|i32»>, <16x8xi32>)",
        "pto.tgather expects dst to have elements of i32 on a5, not f32",
    ),
    Rule(
        "pto.tgather ins(%a, %x, %t : <16x64xf32>, f32, <16x64xi32>) outs(%d, %c : <16x64xi32>, ~<16x8x«f32|i32»>)",
        "pto.tgather expects cdst to have elements of i32 on a5, not f32",
    ),
    Rule(
        "pto.tgather ins(%a, %x, %t : <16x64xf32>, f32, <16x64xi32>) outs(%d, %c : <16x64xi32>, <16x8xi32>)"
        " {cmpMode = ~#pto<cmp «lt|gt»>}",
        "pto.tgather compares with eq or gt, not lt",
    ),
    Rule(
        "pto.tgather ins(%a, %i : <16x64xf32>, <16x64xi32>) outs(«~|»%d«, %c|» : <16x64xf32>«, <16x8xi32>|»)",
        "pto.tgather has cdst only, and always, in the form that compares",
    ),
    Rule(
        'pto.tscatter ins(%a, {maskPattern = #pto.mask_pattern<P1010>} : <16x32xf32>, "row")'
        " outs(%d : ~<16x«32|64»xf32>)",
        "pto.tscatter expects dst to have 2 times of the 32 valid columns of src, not 32",
    ),
    Rule(
        'pto.tscatter ins(%a, {maskPattern = ~#pto.mask_pattern<P1010>} : <16x32xf32>«|, "row"»)'
        " outs(%d : <16x64xf32>)",
        'pto.tscatter with maskPattern requires an axis, "row" or "col"',
    ),
    Rule(
        "pto.tscatter ins(%a, %i : <16x64xf32>, ~<16x64x«f32|i32»>) outs(%d : <16x64xf32>)",
        "pto.tscatter expects idx to have elements of i16, i32 on a5, not f32",
    ),
    Rule(
        'pto.tscatter ins(%a, «~%i, |»{maskPattern = #pto.mask_pattern<P1111>} : <16x64xf32>«, <16x64xi32>|», "row")'
        " outs(%d : <16x64xf32>)",
        "pto.tscatter takes idx or maskPattern, not both",
    ),
    Rule(
        "pto.tscatter ins(~%a«|, %i» : <16x64xf32>«|, <16x64xi32>») outs(%d : <16x64xf32>)",
        "pto.tscatter requires idx or maskPattern",
    ),
    Rule(
        "pto.tgatherb ins(%a, %i : <16x64xf32>, ~<16x16x«i16|ui32»>) outs(%d : <16x64xf32>)",
        "pto.tgatherb expects idx to have elements of i32 on a5, not i16",
    ),
]

_COUNTS = "%c = arith.constant dense<0> : vector<4xi16>"
SORTS = [
    Rule(
        "pto.tsort32 ins(%a, %i : <1x64xf32>, ~<1x64x«i16|ui32»>) outs(%d : <1x128xf32>)",
        "pto.tsort32 expects idx to have elements of i32 on a5, not i16",
    ),
    Rule(
        "pto.tsort32 ins(%a, %i : <1x64xf32>, <1x64xi32>) outs(%d : ~<1x128x«i32|f32»>)",
        "pto.tsort32 expects dst to have the element type of src, f32, not i32",
    ),
    Rule(
        "pto.tmrgsort ins(%a, %n : ~<«2|1»x256xf32>, i32) outs(%d : <1x256xf32>)",
        "pto.tmrgsort expects src0 with 1 valid row, not 2",
    ),
    Rule(
        "%n = arith.constant «96|128» : i32\npto.tmrgsort ins(%a, ~%n : <1x256xf32>, i32) outs(%d : <1x256xf32>)",
        "pto.tmrgsort expects a blockLen that is a positive multiple of 64, not 96",
    ),
    Rule(
        "%n = arith.constant «0|64» : i64\npto.tmrgsort ins(%a, ~%n : <1x256xf32>, i64) outs(%d : <1x256xf32>)",
        "pto.tmrgsort expects a blockLen that is a positive multiple of 64, not 0",
    ),
    Rule(
        "pto.tmrgsort ins(%a, %n : <1x256xf32>, ~«f32|ui32») outs(%d : <1x256xf32>)",
        "pto.tmrgsort expects blockLen to be an integer, not f32",
    ),
    Rule(
        f"{_COUNTS}\npto.tmrgsort ins(%a, %n : <1x256xf32>, i32) outs(%d«, ~%c|» : <1x256xf32>«, vector<4xi16>|»)",
        "pto.tmrgsort of blocks has no executed",
    ),
    Rule(
        f"{_COUNTS}\npto.tmrgsort ins(%a, %b, %t : <1x64xf32>, <1x64xf32>, <1x128xf32>)"
        " outs(«~|»%d«|, %c» : <1x128xf32>«|, vector<4xi16>»)",
        "pto.tmrgsort of lists expects executed, of type vector<4xi16>, after dst",
    ),
    Rule(
        f"{_COUNTS.replace('4xi16', '«8|4»xi16')}\npto.tmrgsort ins(%a, %b, %t : <1x64xf32>, <1x64xf32>, <1x128xf32>)"
        " outs(%d, %c : <1x128xf32>, ~vector<«8|4»xi16>)",
        "pto.tmrgsort expects executed to be vector<4xi16>, not vector<8xi16>",
    ),
    Rule(
        f"{_COUNTS}\npto.tmrgsort ins(%a, %b, %e, %t : <1x64xf32>, <1x64xf32>, <1x64xf32, valid=1x32>,"
        " ~<1x«128|160»xf32>) outs(%d, %c : <1x128xf32>, vector<4xi16>)",
        "pto.tmrgsort expects tmp to have at least the 160 valid columns of its sources, not 128",
    ),
    Rule(
        f"{_COUNTS}\npto.tmrgsort ins(%a, %b, %t : <1x64xf32>, ~<1x64x«f16|f32»>, <1x128xf32>)"
        " outs(%d, %c : <1x128xf32>, vector<4xi16>)",
        "pto.tmrgsort expects src1 to have the element type of src0, f32, not f16",
    ),
]

QUANTISED = [
    Rule(
        "pto.tquant ins(%a, %s : <32x64xf32>, <32x1xf32, blayout=col_major>) outs(%d : ~<32x64x«ui8|i8»>)"
        " {quant_type = #pto<quant_type INT8_SYM>}",
        "pto.tquant expects dst to have elements of i8 or si8 for INT8_SYM, not ui8",
    ),
    Rule(
        "pto.tquant ins(%a, ~%s«|, %o» : <32x64xf32>, <32x1xf32, blayout=col_major>«|, <32x1xf32, blayout=col_major>»)"
        " outs(%d : <32x64xui8>) {quant_type = #pto<quant_type INT8_ASYM>}",
        "pto.tquant requires an offset for INT8_ASYM",
    ),
    Rule(
        "pto.tquant ins(%a, %s«, ~%o|» : <32x64xf32>, <32x1xf32, blayout=col_major>«, <32x1xf32, blayout=col_major>|»)"
        " outs(%d : <32x64xi8>) {quant_type = #pto<quant_type INT8_SYM>}",
        "pto.tquant has no offset for INT8_SYM",
    ),
    Rule(
        "pto.tquant ins(%a, %s : <32x64xf32>, ~<32x1x«i32|f32», blayout=col_major>) outs(%d : <32x64xi8>)"
        " {quant_type = #pto<quant_type INT8_SYM>}",
        "pto.tquant expects fp to have elements of f32 on a5, not i32",
    ),
    Rule(
        "pto.tquant ins(%a, %s : <32x64xf32>, <32x1xf32, blayout=col_major>) outs(%d : <32x64xi8>)"
        " {quant_type = ~#pto<quant_type «MXFP8|INT8_SYM»>}",
        "pto.tquant expects INT8_SYM or INT8_ASYM, not MXFP8; see pto.tquant.mx",
    ),
    Rule(
        "pto.tquant ins(%a, %s : ~<32x64xf32«, valid=16x64|»>, <32x1xf32, valid=?x1, blayout=col_major>)"
        " outs(%d : <32x64xi8>) {quant_type = #pto<quant_type INT8_SYM>}",
        "pto.tquant expects src to have the valid shape of dst, 32x64, not 16x64",
    ),
    Rule(
        "pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, %s : ~<32x64x«f8E5M2|f8E4M3FN»>, <1x64xui8>, <1x64xf32>,"
        " <1x64xf32>) {quant_type = #pto<quant_type MXFP8>}",
        "pto.tquant.mx expects dst to have elements of f8E4M3FN for MXFP8, not f8E5M2",
    ),
    Rule(
        "pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, %s : <32x64xf8E4M3FN>, <1x64xui8>, <1x64xf32>,"
        " <1x64xf32>) {quant_type = ~#pto<quant_type «INT8_SYM|MXFP8»>}",
        "pto.tquant.mx expects MXFP8 or MXFP4_E2M1, not INT8_SYM; see pto.tquant",
    ),
    Rule(
        "pto.tquant.mx ins(%a : ~<32x64x«f32|bf16»>) outs(%d, %e, %m, %s : <32x32x!pto.f4E2M1x2>, <1x64xui8>,"
        " <1x64xbf16>, <1x64xbf16>) {quant_type = #pto<quant_type MXFP4_E2M1>}",
        "pto.tquant.mx expects src to have elements of f16, bf16 for MXFP4_E2M1, not f32",
    ),
    Rule(
        "pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, %s : <32x64xf8E4M3FN>, ~<1x64x«i16|!pto.f8E8M0»>,"
        " <1x64xf32>, <1x64xf32>) {quant_type = #pto<quant_type MXFP8>}",
        "pto.tquant.mx expects exp to have elements of 1 byte, not i16",
    ),
    Rule(
        "pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, ~%«m|s» : <32x64xf8E4M3FN>, <1x64xui8>, <1x64xf32>,"
        " <1x64xf32>) {quant_type = #pto<quant_type MXFP8>}",
        "pto.tquant.mx expects max and scaling to use different storage",
    ),
    Rule(
        "~pto.«tquant.mx|tquant» ins(%a«|, %f» : <32x64xf32>«|, <32x1xf32, blayout=col_major>»)"
        " outs(%d«, %e, %m, %s|» :"
        " <32x64x«f8E4M3FN|i8»>«, <1x64xui8>, <1x64xf32>, <1x64xf32>|») {quant_type = #pto<quant_type"
        " «MXFP8|INT8_SYM»>}",
        "pto.tquant.mx does not exist on a2a3",
        "wrong-target",
        "a2a3",
    ),
    Rule(
        "pto.tquant.mx ins(%a : <32x64xf32>) outs(%d, %e, %m, %s : <32x64xf8E4M3FN>, <1x64xui8>, <1x64xf32>,"
        " <1x64xf32>) {quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis «axis1|axis0»>,"
        " interleave = ~true}",
        "pto.tquant.mx has interleave only with grpAxis axis0",
    ),
    Rule(
        "pto.tdequant ins(%a, %s, %o : <32x64xi8>, <32x1xf32, blayout=col_major>, <32x1xf32, blayout=col_major>)"
        " outs(%d : ~<32x64x«f16|f32»>)",
        "pto.tdequant expects dst to have elements of f32 on a5, not f16",
    ),
]

_HISTOGRAM = "<32x1xui8, blayout=col_major>"
HISTOGRAMS = [
    Rule(
        f"pto.thistogram ins(%a, %i : ~<32x64x«i16|ui16»>, {_HISTOGRAM}) outs(%d : <32x256xui32>)",
        "pto.thistogram expects src to have elements of ui16 or ui32, not i16",
    ),
    Rule(
        "pto.thistogram ins(%a, %i : <32x64xui16>, ~<32x1x«i8|ui8», blayout=col_major>) outs(%d : <32x256xui32>)",
        "pto.thistogram expects idx to have elements of ui8, not i8",
    ),
    Rule(
        f"pto.thistogram ins(%a, %i : <32x64xui16>, {_HISTOGRAM}) outs(%d : ~<32x256x«i32|ui32»>)",
        "pto.thistogram expects dst to have elements of ui32, not i32",
    ),
    Rule(
        "pto.thistogram ins(%a, %i : <32x64xui16>, ~<32x1xui8, valid=«16|32»x1, blayout=col_major>)"
        " outs(%d : <32x256xui32>)",
        "pto.thistogram expects idx to have the valid rows of src, 32, not 16",
    ),
    Rule(
        f"pto.thistogram ins(%a, %i : <32x64xui16>, {_HISTOGRAM}) outs(%d : ~<32x«128|256»xui32>)",
        "pto.thistogram expects dst with 256 columns, not 128",
    ),
    Rule(
        f"pto.thistogram ins(%a, %i : <32x64xui16>, {_HISTOGRAM}) outs(%d : <32x256xui32>) {{byte = ~«2|0» : i32}}",
        "pto.thistogram expects byte 0..1 for elements of 2 bytes, not 2",
    ),
    Rule(
        "pto.thistogram ins(%a, %i : <32x64xui16>, ~<32x«32|1»xui8, blayout=col_major>) outs(%d : <32x256xui32>)",
        "pto.thistogram expects idx to be one column (blayout col_major), not DN of 32 columns",
    ),
    Rule(
        "pto.thistogram ins(%a, %i : <32x64xui32>, ~<«1|2»x32xui8>) outs(%d : <32x256xui32>) {byte = 1 : i32}",
        "pto.thistogram expects idx to have a row for each of 2 higher bytes, not 1",
    ),
    Rule(
        "pto.tprint ins(%a, %w : <16x64xf32>, ~!pto.partition_tensor_view<16x64x«f16|f32»>)",
        "pto.tprint expects tmp to have the element type of src, f32, not f16",
    ),
    Rule(
        "pto.tprint ins(%v«, ~%w|» : !pto.partition_tensor_view<16x64xf32>«, !pto.partition_tensor_view<16x64xf32>|»)",
        "pto.tprint takes tmp only for a tile",
    ),
    Rule("pto.tprint ins(%a : ~«f32|<mat, 16x64xf32>»)", "pto.tprint expects src to be a tile or a view, not f32"),
]

RULES = [*SELECTIONS, *CONVERSIONS, *GATHERS, *SORTS, *QUANTISED, *HISTOGRAMS]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.message)
def test_rules(rule: Rule):
    holds(rule)


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
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
        "pto.tquant.mx ins(%a : <32x64xbf16>) outs(%d, %e, %m, %s, %z : <32x32x!pto.f4E2M1x2>, <1x64x!pto.f8E8M0>,"
        " <1x64xbf16>, <1x64xbf16>, <1x64xui8>) {quant_type = #pto<quant_type MXFP4_E2M1>, quantScaleAlg ="
        " #pto<quant_scale_alg nv>, storeMode = #pto<vec_store_mode nz>, grpAxis = #pto<mx_group_axis axis0>,"
        " interleave = true}",
    ],
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


@pytest.mark.parametrize(
    ("source", "result"),
    [
        *(("f32", name) for name in ("f8E4M3FN", "f8E5M2", "!pto.hif8")),
        *((name, "f32") for name in ("f8E4M3FN", "f8E5M2", "!pto.hif8")),
        ("f16", "!pto.hif8"),
    ],
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
