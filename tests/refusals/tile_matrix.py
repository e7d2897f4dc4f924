"""What is refused of products of tiles."""

from language.move_kernel import rejects, twins
from refusals.rule import rows

PRODUCT = "pto.tmatmul ins(%a, %b : {}, {}) outs(%c : {})"
L, R, A = "LEFT<16x64xf16>", "RIGHT<64x32xf16>", "ACC<16x32xf32>"
ML, MR = "LEFT<16x64xf8E4M3FN>", "RIGHT<64x32xf8E4M3FN>"
SA, SB = "SA<16x2x!pto.f8E8M0>", "SB<2x32x!pto.f8E8M0>"
SCALED = "pto.tmatmul.mx ins(%a, %as, %b, %bs : {}, {}, {}, {}) outs(%c : ACC<16x32xf32>)"
PLAIN = "bf16 x bf16 -> f32, f16 x f16 -> f32, f32 x f32 -> f32, i8 x i8 -> i32"
ROW, ROW_SCALES, ROW_RESULT = "LEFT<1x64xf8E4M3FN>", "SA<1x2x!pto.f8E8M0>", "ACC<16x32xf32, valid=1x32>"

WHAT_A_PRODUCT_MAY_NOT_BE = rows(twins)(f"""
{PRODUCT.format(L, R, "~ACC<16x32x«f16|f32»>")} ⇒ [a2a3] pto.tmatmul has no f16 x f16 -> f16 on a2a3; known: {PLAIN}
{PRODUCT.format("LEFT<16x64x«u|»i8>", "RIGHT<64x32xi8>", "~ACC<16x32xi32>")}
  ⇒ [a2a3] pto.tmatmul has no ui8 x i8 -> i32 on a2a3; known: {PLAIN}
{PRODUCT.format("LEFT<16x64x«f8E5M2|f16»>", "RIGHT<64x32x«f8E5M2|f16»>", "~ACC<16x32xf32>")}
  ⇒ [a2a3] pto.tmatmul has no f8E5M2 x f8E5M2 -> f32 on a2a3; known: {PLAIN}
{PRODUCT.format(L, "~RIGHT<«48|64»x32xf16>", A)} ⇒ [a5] K is 64 in lhs (16x64), but 48 in rhs (48x32)
{PRODUCT.format("LEFT<16x64xf16, valid=16x60>", "~RIGHT<64x32xf16, valid=6«4|0»x32>", A)}
  ⇒ [a5] K is 60 in lhs (16x64), but 64 in rhs (64x32)
{PRODUCT.format(L, R, "~ACC<16x«48|32»xf32>")} ⇒ [a5] N is 32 in rhs (64x32), but 48 in dst (16x48)
{PRODUCT.format("~LEFT<16x«4096|4080»xf16>", "RIGHT<«4096|4080»x16xf16>", "ACC<16x16xf32>")}
  ⇒ [a5] pto.tmatmul expects lhs to have K in 0..4095, not 4096
{PRODUCT.format(L, R, "~!pto.tile_buf<acc, 16x32xf32, slayout=row_major«|, blayout=col_major»>")}
  ⇒ [a5] pto.tmatmul expects dst to be laid out as NZ (col_major, row_major boxes) on a5, not ZZ
""")

WHAT_A_SCALED_PRODUCT_MAY_NOT_BE = rows(twins)(
    (
        SCALED.format(
            "~LEFT<16x«96|64»xf8E4M3FN>",
            "SA<16x«3|2»x!pto.f8E8M0>",
            "RIGHT<«96|64»x32xf8E4M3FN>",
            "SB<«3|2»x32x!pto.f8E8M0>",
        ),
        "pto.tmatmul.mx expects lhs to have a multiple of 64 columns, K, not 96",
    ),
)

EVERY_FORM_HAS_ITS_RULES = rows(twins)(f"""
pto.tgemv.bias ins(%a, %b, %bias : LEFT<1x64xf16>, {R}, ~BIAS<«16|1»x32xf32>) outs(%c : {ROW_RESULT})
  ⇒ pto.tgemv.bias expects bias to have one row, not 16
pto.tgemv.mx ins(%a, %as, %b, %bs : {ROW}, ~SA<«16|1»x2x!pto.f8E8M0>, {MR}, {SB}) outs(%c : {ROW_RESULT})
  ⇒ pto.tgemv.mx expects lhs_scale to be 1x2, one scale for 32 values of lhs, not 16x2
""")

SCALED_PRODUCTS_ARE_FOR_A5 = rows(rejects, sort="wrong-target", target="a2a3")("""
~pto.tmatmul.mx ins(%a, %as, %b, %bs : LEFT<16x64xf8E4M3FN>, SA<16x2x!pto.f8E8M0>, RIGHT<64x32xf8E4M3FN>,
    SB<2x32x!pto.f8E8M0>) outs(%c : ACC<16x32xf32>)
  ⇒ pto.tmatmul.mx does not exist on a2a3
""")

RULES = [
    *SCALED_PRODUCTS_ARE_FOR_A5,
    *WHAT_A_PRODUCT_MAY_NOT_BE,
    *WHAT_A_SCALED_PRODUCT_MAY_NOT_BE,
    *EVERY_FORM_HAS_ITS_RULES,
]
