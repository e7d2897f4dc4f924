"""What is refused of clauses of fixpipe stores."""

from language.scalar_kernel import rejects
from language.store_kernel import store
from refusals.rule import rows

ATOMIC_WORDS = rows(lambda clause, message: rejects(store("gm", clause), message, kind="syntax"))("""
atomic(^op = add) ⇒ Expected 'type' = atomic_type
atomic(type = f32^) ⇒ Expected ',' before the operation of atomic
atomic(type = ^i8, op = add) ⇒ unknown atomic_type 'i8'; known: f32, f16, bf16, s32, s16, s8
atomic(type = f32, op = ^mul) ⇒ unknown atomic_op 'mul'; known: add, max, min
atomic(type = f32, op = add), ^sat ⇒ clause 'sat' must come before 'atomic'
""")

PRE_QUANT_NEEDS_A_PAYLOAD_AND_A_MODE = rows(rejects, kind="syntax")("""
pto.mte_l0c_gm %p_f32_l0c, %p_f16_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_quant(^mode = f32_f16)
  ⇒ expected quant_payload: an SSA value such as %x
pto.mte_l0c_gm %p_f32_l0c, %p_f16_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_quant(%s_f32^)
  ⇒ Expected ',' before the mode of pre_quant
""")

CLIP_BELONGS_TO_RELU = rows(rejects, kind="syntax")("""
pto.mte_l0c_l1 %p_f32_l0c, %p_f16_l1, %s_i64, %s_i64, %s_i64, %s_i64, ^clip(%s_f16)
  ⇒ unknown clause 'clip'; known, in this order: unit_flag, pre_quant, pre_relu, nz2nd, nz2dn, nz2nz, loop3, sat, nosat
pto.mte_l0c_gm %p_f32_l0c, %p_f16_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_relu(mode = no_relu, ^limit =
    %s_f16)
  ⇒ Expected 'clip' in pre_relu
""")

RULES = [*PRE_QUANT_NEEDS_A_PAYLOAD_AND_A_MODE, *CLIP_BELONGS_TO_RELU, *ATOMIC_WORDS]
