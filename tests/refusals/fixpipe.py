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
pto.mte_l0c_gm %p_f32_l0c, %p_f32_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_quant(%s_f32, mode = ^f32_f8)
  ⇒ unknown quant_mode 'f32_f8'; known: no_convert, f32_f16, f32_bf16, qf322hif8_pre_vec, qf322hif8_pre_hybrid_vec,
    deqs32_int_vec, req8_vec, deqf16_vec, qf322fp8_pre_vec, qf322f32_pre_vec, qf162b8_pre_vec, qf162s4_pre_vec,
    req4_vec, qf322b8_pre_vec, qf322s4_pre_vec, deqs16_vec, qf162s16_pre_vec, qf322f16_pre_vec, qf322bf16_pre_vec,
    qs322bf16_pre_vec, qf322hif8_pre_scalar, qf322hif8_pre_hybrid_scalar, deqs32_int_scalar, req8_scalar,
    deqf16_scalar, qf322fp8_pre_scalar, qf322f32_pre_scalar, qf162b8_pre_scalar, qf162s4_pre_scalar, req4_scalar,
    qf322b8_pre_scalar, qf322s4_pre_scalar, deqs16_scalar, qf162s16_pre_scalar, qf322f16_pre_scalar,
    qf322bf16_pre_scalar, qs322bf16_pre_scalar
""")

MESSAGES_NAME_THE_DESTINATION = rows(rejects)("""
pto.mte_l0c_gm %p_f32_l0c, %p_f16_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_quant(%s_f32, mode =
    ^f32_bf16)
  ⇒ f32_bf16 gives bf16, but the destination is f16
pto.mte_l0c_gm %p_i32_l0c, %p_f16_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_quant(%p_f32_fb, mode =
    ^req8_vec)
  ⇒ req8_vec gives an 8-bit integer, but the destination is f16
""")

CLIP_BELONGS_TO_RELU = rows(rejects, kind="syntax")("""
pto.mte_l0c_l1 %p_f32_l0c, %p_f16_l1, %s_i64, %s_i64, %s_i64, %s_i64, ^clip(%s_f16)
  ⇒ unknown clause 'clip'; known, in this order: unit_flag, pre_quant, pre_relu, nz2nd, nz2dn, nz2nz, loop3, sat, nosat
pto.mte_l0c_gm %p_f32_l0c, %p_f16_gm, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, %s_i64, pre_relu(mode = no_relu, ^limit =
    %s_f16)
  ⇒ Expected 'clip' in pre_relu
""")

RULES = [*PRE_QUANT_NEEDS_A_PAYLOAD_AND_A_MODE, *MESSAGES_NAME_THE_DESTINATION, *CLIP_BELONGS_TO_RELU, *ATOMIC_WORDS]
