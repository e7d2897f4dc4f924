"""What is refused of products."""

from language.scalar_kernel import rejects
from refusals.rule import rows

MISPLACED_CLAUSES = rows(rejects, kind="syntax")("""
pto.mad %p_f32_l0a, %p_f32_l0b, %p_f32_l0c, %s_i64, %s_i64, %s_i64 ^nz2nd
  ⇒ unknown clause 'nz2nd'; known, in this order: unit_flag, disable_gemv, sat, nosat, tf32_mode, n_dir
pto.mad %p_f32_l0a, %p_f32_l0b, %p_f32_l0c, %s_i64, %s_i64, %s_i64 unit_flag(^check_and_clear)
  ⇒ unknown unit_flag 'check_and_clear'; known: check_only, check_and_set
pto.mad %p_f32_l0a, %p_f32_l0b, %p_f32_l0c, %s_i64, %s_i64, %s_i64 tf32_mode(^even)
  ⇒ unknown tf32_mode 'even'; known: round_even, round_away
""")

CLAUSES_ARE_NOT_SEPARATED_BY_COMMAS = rows(rejects, kind="syntax")("""
pto.mad %p_f16_l0a, %p_f16_l0b, %p_f32_l0c, %s_i64, %s_i64, %s_i64 disable_gemv^, sat
  ⇒ expected ':' and the types of the operands
pto.mad %p_f16_l0a, %p_f16_l0b, %p_f32_l0c, %s_i64, %s_i64, %s_i64^, %s_i64 ⇒ expected ':' and the types of the operands
""")

RULES = [
    *MISPLACED_CLAUSES,
    *CLAUSES_ARE_NOT_SEPARATED_BY_COMMAS,
]
