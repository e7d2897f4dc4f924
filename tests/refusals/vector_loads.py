"""What is refused of loads and stores of registers: offsets, words and strides."""

from language.vector_kernel import rejects
from refusals.rule import rows

BLOCK_STRIDES_ARE_I16_AND_THE_CONTROL_WORD_IS_I32 = rows(rejects)("""
pto.vsstb %v_f32, %p_f32_ub, ^%s_i64, %b32 : V<f32>, !pto.ptr<f32, ub>, i64, M<b32> ⇒ control must be i32, not i64
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
    *BLOCK_STRIDES_ARE_I16_AND_THE_CONTROL_WORD_IS_I32,
    *BLOCK_STRIDES_WITH_TOO_MANY_OPERANDS,
    *THE_GENERIC_FORM_COUNTS_ITS_OPERANDS,
]
