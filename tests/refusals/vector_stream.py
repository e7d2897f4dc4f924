"""What is refused of unaligned streams."""

from language.vector_kernel import rejects
from refusals.rule import rows

AN_INCREMENT_GOES_WITH_AN_UPDATED_BASE = rows(rejects)("""
%a0 = pto.vldas %p_f32_ub : !pto.ptr<f32, ub> -> !pto.align
%v, %a1 = pto.vldus %p_f32_ub, %a0, ^%s_index : !pto.ptr<f32, ub>, !pto.align, index -> V<f32>, !pto.align
  ⇒ an increment needs a third result, the advanced pointer
%a0 = pto.vldas %p_f32_ub : !pto.ptr<f32, ub> -> !pto.align
%v, %a1, %n = pto.vldus %p_f32_ub, %a0, ^%s_i32 : !pto.ptr<f32, ub>, !pto.align, i32 -> V<f32>, !pto.align,
    !pto.ptr<f32, ub>
  ⇒ increment must be index, not i32
%a0 = pto.vldas %p_f32_ub : !pto.ptr<f32, ub> -> !pto.align
%v, %a1, %n = pto.vldus %p_f32_ub, %a0 : !pto.ptr<f32, ub>, !pto.align -> V<f32>, !pto.align, ^!pto.ptr<i32, ub>
  ⇒ pto.vldus requires updated base result to match source type !pto.ptr<f32, ub>, not !pto.ptr<i32, ub>
""")

VSTUS_COUNTS_ITS_OPERANDS = rows(rejects, kind="syntax")("""
%a0 = pto.init_align : !pto.align
%a1 = pto.vstus %a0, %s_i32, ^%v_f32 : !pto.align, i32, V<f32> -> !pto.align
  ⇒ pto.vstus takes 4 operands (align, offset, value, dest), not 3
""")

THE_TWO_FORMS_OF_VSTU_DO_NOT_MIX = rows(rejects)("""
%a0 = pto.init_align : !pto.align
%a1, %n = pto.vstu %a0, %s_index, %v_f32, %p_f32_ub, "POST_UPDATE" : !pto.align, index, V<f32>, !pto.ptr<f32, ub> ->
    !pto.align, ^!pto.ptr<f32, ub>
  ⇒ the second result of this form is the next offset, an index, not !pto.ptr<f32, ub>
%a0 = pto.init_align : !pto.align
%a1, %n = pto.vstu %a0, %p_f32_ub, %v_f32, %p_f32_ub, %s_index, ^"POST_UPDATE" : !pto.align, !pto.ptr<f32, ub>, V<f32>,
    !pto.ptr<f32, ub>, index -> !pto.align, !pto.ptr<f32, ub>
  ⇒ this form says by its last operand, not by a word, whether the base advances
%a0 = pto.init_align : !pto.align
%a1, %n = ^pto.vstu %a0, %s_index, %v_f32, %p_f32_ub : !pto.align, index, V<f32>, !pto.ptr<f32, ub> -> !pto.align, index
  ⇒ expected mode: one of POST_UPDATE, NO_POST_UPDATE
""")

A_STREAM_BEGINS_AT_ITS_ROOT = rows(rejects)("""
%a0 = pto.vldas %p_f32_ub : !pto.ptr<f32, ub> -> !pto.align
%a1 = pto.vstus ^%a0, %s_i32, %v_f32, %p_f32_ub : !pto.align, i32, V<f32>, !pto.ptr<f32, ub> -> !pto.align
  ⇒ align must be produced by pto.init_align or a prior store-state operation
%a0 = pto.vldas %p_f32_ub : !pto.ptr<f32, ub> -> !pto.align
pto.vstas ^%a0, %p_f32_ub, %s_i32 : !pto.align, !pto.ptr<f32, ub>, i32
  ⇒ align must be produced by pto.init_align or a prior store-state operation
%a0 = pto.init_align : !pto.align
%v, %a1 = pto.vldus %p_f32_ub, ^%a0 : !pto.ptr<f32, ub>, !pto.align -> V<f32>, !pto.align
  ⇒ align must be produced by pto.vldas or a prior load-state operation
%a0 = pto.init_align : !pto.align
%a1 = pto.vstus %a0, %s_i32, %v_f32, %p_f32_ub : !pto.align, i32, V<f32>, !pto.ptr<f32, ub> -> !pto.align
%v, %a2 = pto.vldus %p_f32_ub, ^%a1 : !pto.ptr<f32, ub>, !pto.align -> V<f32>, !pto.align
  ⇒ align must be produced by pto.vldas or a prior load-state operation
""")

A_STREAM_THAT_A_LOOP_TOOK_IS_GONE = rows(rejects)("""
%a0 = pto.init_align : !pto.align
%r = scf.for %i = %s_index to %s_index step %s_index iter_args(%ain = %a0) -> (!pto.align) {
%a1 = pto.vstus %ain, %s_i32, %v_f32, %p_f32_ub : !pto.align, i32, V<f32>, !pto.ptr<f32, ub> -> !pto.align
scf.yield %a1 : !pto.align
}
pto.vstas %r, %p_f32_ub, %s_i32 : !pto.align, !pto.ptr<f32, ub>, i32
pto.vstas ^%a0, %p_f32_ub, %s_i32 : !pto.align, !pto.ptr<f32, ub>, i32
  ⇒ align is consumed more than once; each align value has one consumer
""")

RULES = [
    *AN_INCREMENT_GOES_WITH_AN_UPDATED_BASE,
    *VSTUS_COUNTS_ITS_OPERANDS,
    *THE_TWO_FORMS_OF_VSTU_DO_NOT_MIX,
    *A_STREAM_BEGINS_AT_ITS_ROOT,
    *A_STREAM_THAT_A_LOOP_TOOK_IS_GONE,
]
