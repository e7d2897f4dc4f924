"""What is refused of loads and stores of tiles."""

from language.move_kernel import rejects, twins
from refusals.rule import rows

LOAD = "pto.tload ins(%w : {}) outs(%t : {})"
STORE = "pto.tstore ins(%t : {}) outs(%w : {})"
PHASE = " {stPhase = ~#pto<st_phase «final|unspecified»>}"

WHAT_A_LOAD_MAY_NOT_BE = rows(twins)(f"""
{LOAD.format("~PV<«0|16»x64xf32>", "ND<16x64xf32>")} ⇒ [a5] pto.tload expects src to have positive extents, not 0x64
{LOAD.format("PV<16x64xi64>", "~ND<16x64xi64, pad=«2|1»>")}
  ⇒ [a5] pto.tload expects dst of 8-byte elements with pad 0 (null) or 1 (zero) on a5, not 2
{LOAD.format("«ND|PV»<16x64xf32>", "ND<16x64xf32>").replace("%w : «", "%w : ~«")}
  ⇒ [a5] src must be a view, not !pto.tile_buf<vec, 16x64xf32>
""")

WHAT_A_STORE_MAY_NOT_BE = rows(twins)(f"""
{STORE.format("ND<16x64xf32>", "~PV<16x6«0|4»xf32>")}
  ⇒ [a5] pto.tstore expects dst static element count (960) to match src valid_shape 16x64 (1024)
{STORE.format("ACC<16x64xi32>", "~PV<16x64x«f16|i32»>")}
  ⇒ [a5] pto.tstore expects dst of i32 in acc without a quantisation parameter to have elements of i32 on a5, not f16
{STORE.format("ACC<16x64xf32>, %q : i64", "~PV<16x64x«f16|i8»>")}
  ⇒ [a2a3] pto.tstore expects dst of f32 in acc with a quantisation parameter to have elements of i8 on a2a3, not f16
{STORE.format("ACC<16x64xf32>, %q : ~«i32|i64»", "PV<16x64xf16>")}
  ⇒ [a5] pto.tstore expects pre_quant to be i64, a parameter word, not i32
{STORE.format("ACC<16x64xf32> fp %f : ~«ND|FP»<1x64xi64>", "PV<16x64xi8>")}
  ⇒ [a5] pto.tstore expects fp in scaling, not vec
{STORE.format("ACC<16x64xf32> fp %f : FP<1x64xi64>«, ~%q : i64|»", "PV<16x64xi8>")}
  ⇒ [a5] either fp or a scalar quantises, not both
{STORE.format("«ND<16x64xf16>, ~%q : i64|ND<16x64xf16>»", "PV<16x64xf16>")}
  ⇒ [a5] only a move out of acc is quantised; src is in vec
{STORE.format("ACC<16x64xf32> fp %f : FP<1x64xi64>", "PV<16x64xi8>")}{PHASE} ⇒ [a5] a store with fp has no stPhase
{STORE.format("ND<16x64xf32>", "PV<16x64xf32>")} {{reluPreMode = ~#pto<relu_pre_mode «normal|no»_relu>}}
  ⇒ [a5] reluPreMode is for moves out of acc; src is in vec
{STORE.format("ACC<16x64xf32>", "PV<16x64xf32>")} {{reluPreMode = ~#pto<relu_pre_mode «vector|normal»_relu>}}
  ⇒ [a5] reluPreMode vector_relu needs a parameter that no operand gives; known: no_relu, normal_relu
{STORE.format("ND<16x64xui8>", "~PV<16x64x«u|»i8>").replace("ND<16x64xui8>", "ND<16x64x«u|»i8>")} {{atomicType =
    #pto<atomic_type atomic_add>}}
  ⇒ [a5] pto.tstore expects dst of atomic_add to have elements of f32, f16, bf16, i32, i16, i8, not ui8
{STORE.format("~ACC<16x«4096|2048»xf32>", "PV<16x«4096|2048»xf32>")}
  ⇒ [a2a3] pto.tstore expects src in acc to have at most 4095 columns on a2a3, not 4096
""")

TILES_ARE_NO_RESULTS = rows(rejects, sort="unsupported")("""
%r = pto.tload ins(%w : PV<16x64xf32>) outs(%t : ND<16x64xf32>) ~-> tensor<16x64xf32>
  ⇒ pto.tload writes to its outs(...); results are not simulated
""")

RULES = [*TILES_ARE_NO_RESULTS, *WHAT_A_LOAD_MAY_NOT_BE, *WHAT_A_STORE_MAY_NOT_BE]
