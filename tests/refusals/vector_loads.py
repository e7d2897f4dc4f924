"""What is refused of loads and stores of registers: offsets, words and strides."""

from language.vector_kernel import rejects
from refusals.rule import rows

AN_OFFSET_IS_AN_INDEX = rows(rejects)("""
%v = pto.vlds %p_f32_ub[^%s_i32] : !pto.ptr<f32, ub> -> V<f32> ⇒ offset must be index, not i32
pto.vstsx2 %v_f32, %w_f32, %p_f32_ub[^%s_i32], "INTLV_B32", %b32 : V<f32>, V<f32>, !pto.ptr<f32, ub>, i32, M<b32>
  ⇒ offset must be index, not i32
""")

VSTSX2_REJECTS_OTHER_DISTS = rows(rejects, kind="syntax")("""
pto.vstsx2 %v_f32, %w_f32, %p_f32_ub[%s_index], ^"DINTLV_B32", %b32 : V<f32>, V<f32>, !pto.ptr<f32, ub>, index, M<b32>
  ⇒ unknown dist 'DINTLV_B32'; known: INTLV_B8, INTLV_B16, INTLV_B32
""")

VSTSX2_STORES_REGISTERS_OF_ONE_TYPE_UNDER_THEIR_MASK = rows(rejects)("""
pto.vstsx2 %v_f32, ^%w_i32, %p_f32_ub[%s_index], "INTLV_B32", %b32 : V<f32>, V<i32>, !pto.ptr<f32, ub>, index, M<b32>
  ⇒ high has type !pto.vreg<64xi32>, but low has type !pto.vreg<64xf32>
pto.vstsx2 %v_f32, %w_f32, %p_f32_ub[%s_index], "INTLV_B32", ^%b16 : V<f32>, V<f32>, !pto.ptr<f32, ub>, index, M<b16>
  ⇒ mask type !pto.mask<b16> does not match value vector type ...
""")

FIXED_STRIDES_ARE_FOUR = rows(rejects, kind="syntax")("""
%v = pto.vsld %p_f32_ub[%s_index], ^"STRIDE_S5_B8" : !pto.ptr<f32, ub> -> V<f32>
  ⇒ unknown stride 'STRIDE_S5_B8'; known: STRIDE_S3_B16, STRIDE_S4_B64, STRIDE_S8_B32, STRIDE_S2_B64
pto.vsst %v_f32, %p_f32_ub[%s_index], ^"STRIDE_S5_B8" : V<f32>, !pto.ptr<f32, ub>
  ⇒ unknown stride 'STRIDE_S5_B8'; known: STRIDE_S3_B16, STRIDE_S4_B64, STRIDE_S8_B32, STRIDE_S2_B64
""")

BLOCK_STRIDES_ARE_I16_AND_THE_CONTROL_WORD_IS_I32 = rows(rejects)("""
pto.vsstb %v_f32, %p_f32_ub, %s_i16, ^%s_i64, %b32 : V<f32>, !pto.ptr<f32, ub>, i16, i64, M<b32>
  ⇒ repeat_stride must be i16, not i64
pto.vsstb %v_f32, %p_f32_ub, ^%s_i64, %b32 : V<f32>, !pto.ptr<f32, ub>, i64, M<b32> ⇒ control must be i32, not i64
""")

THE_MASK_OF_BLOCK_STRIDES_HAS_THE_WIDTH_OF_THE_ELEMENTS = rows(rejects)("""
pto.vsstb %v_f32, %p_f32_ub, %s_i32, ^%b16 : V<f32>, !pto.ptr<f32, ub>, i32, M<b16>
  ⇒ mask type !pto.mask<b16> does not match value vector type !pto.vreg<64xf32>; expected !pto.mask<b32>
""")

BLOCK_STRIDES_WITH_TOO_MANY_OPERANDS = rows(rejects, kind="syntax")("""
%v = pto.vsldb %p_f32_ub, %s_i16, %s_i16, %b32, ^%b32 : !pto.ptr<f32, ub>, i16, i16, M<b32>, M<b32> -> V<f32>
  ⇒ pto.vsldb takes 4 operands (source, block_stride, repeat_stride, mask), not 5
""")

THE_GENERIC_FORM_COUNTS_ITS_OPERANDS = rows(rejects, kind="syntax")("""
%r = ^"pto.vsldb"(%p_f32_ub, %b32) : (!pto.ptr<f32, ub>, M<b32>) -> V<f32>
  ⇒ pto.vsldb takes 3 operands (source, control, mask), not 2
""")

RULES = [
    *AN_OFFSET_IS_AN_INDEX,
    *VSTSX2_REJECTS_OTHER_DISTS,
    *VSTSX2_STORES_REGISTERS_OF_ONE_TYPE_UNDER_THEIR_MASK,
    *FIXED_STRIDES_ARE_FOUR,
    *BLOCK_STRIDES_ARE_I16_AND_THE_CONTROL_WORD_IS_I32,
    *THE_MASK_OF_BLOCK_STRIDES_HAS_THE_WIDTH_OF_THE_ELEMENTS,
    *BLOCK_STRIDES_WITH_TOO_MANY_OPERANDS,
    *THE_GENERIC_FORM_COUNTS_ITS_OPERANDS,
]
