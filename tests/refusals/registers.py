"""What is refused of instructions on registers, beside what element types and masks they take."""

from language.vector_kernel import rejects
from refusals.rule import rows

REGISTERS_THAT_ARE_NOT = rows(rejects)("""
%d = pto.vabs %v_f32, ^%w_f32 : V<f32>, V<f32> -> V<f32> ⇒ mask must be a mask, not !pto.vreg<64xf32>
%m = pto.vcmp %v_i16, ^%w_ui16, %b16, "eq" : V<i16>, V<ui16>, M<b16> -> M<b16>
  ⇒ rhs has type !pto.vreg<128xui16>, but lhs has type !pto.vreg<128xi16>
%d = pto.vcvt ^%v_i64, %b32 : V<i64>, M<b32> -> V<i16>
  ⇒ pto.vcvt does not convert i64 to i16; from i64 it converts to f32, si32
%d = pto.vcvt ^%v_ui64, %b32 : V<ui64>, M<b32> -> V<f32>
  ⇒ pto.vcvt does not convert ui64 to f32; it converts nothing from ui64
%d = pto.vcvt ^%s_f32, %b32 {part = "EVEN"} : f32, M<b32> -> V<f16> ⇒ input must be a vector register, not f32
%d = pto.vcvt %v_f32, %b32 {part = "EVEN"} : V<f32>, M<b32> -> ^f16 ⇒ result must be a vector register, not f16
%d = pto.vbitcast ^%s_f32 : f32 -> V<f32> ⇒ input must be a vector register, not f32
%d = pto.vcadd %v_f32, %b32 : V<f32>, M<b32> -> ^f32 ⇒ result must be a vector register, not f32
""")

TYPES_THAT_ARE_NOT = rows(rejects, kind="syntax")("""
%d = pto.vbitcast %v_f32 : V<f32> -> !pto.vreg<^64xf16>
  ⇒ !pto.vreg<64xf16> is 128 bytes; a vector register is exactly 256 bytes
""")


RND_AND_ROUND_MODE_EXCLUDE_EACH_OTHER = rows(rejects, kind="syntax")("""
%d = pto.vcvt %v_si32, %b32 {rnd = "R", round_mode = ^"R"} : V<si32>, M<b32> -> V<f32>
  ⇒ round_mode is an older name of rnd; give one of them
""")


WHAT_REPEATS_OF_VMRGSORT4_NEED = rows(rejects, scope=False)("""
%count = arith.constant 1125917086973957 : i64
%config = arith.constant 3842 : i64
pto.vmrgsort4 %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, ^%count, %config : !pto.ptr<f32, ub>,
    !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
  ⇒ more than one repeat needs four lists of one length
""")

RULES = [
    *RND_AND_ROUND_MODE_EXCLUDE_EACH_OTHER,
    *WHAT_REPEATS_OF_VMRGSORT4_NEED,
    *REGISTERS_THAT_ARE_NOT,
    *TYPES_THAT_ARE_NOT,
]
