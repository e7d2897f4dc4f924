"""What is refused of instructions on registers, beside what element types and masks they take."""

from language.vector_kernel import rejects, warns
from refusals.rule import rows

REGISTERS_THAT_ARE_NOT = rows(rejects)("""
%d = pto.vabs ^%b32_in, %b32 : M<b32>, M<b32> -> V<f32> ⇒ input must be a vector register, not !pto.mask<b32>
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
%d = pto.vbitcast %v_f32 : V<f32> -> ^i32 ⇒ result must be a vector register, not i32
%d = pto.vcadd %v_f32, %b32 : V<f32>, M<b32> -> ^f32 ⇒ result must be a vector register, not f32
%a = pto.init_align : ^i32 ⇒ result must be !pto.align, not i32
""")

TYPES_THAT_ARE_NOT = rows(rejects, kind="syntax")("""
%d = pto.vbitcast %v_f32 : V<f32> -> !pto.vreg<^64xf16>
  ⇒ !pto.vreg<64xf16> is 128 bytes; a vector register is exactly 256 bytes
""")

VBR_NEEDS_A_COMPATIBLE_SCALAR = rows(rejects)("""
%d = pto.vbr ^%s_i32 : i32 -> V<f32> ⇒ input has type i32, but the elements of result need f32
%d = pto.vbr ^%s_si8 : si8 -> V<ui8> ⇒ input has type si8, but the elements of result need ui8 or i8
%d = pto.vbr ^%v_f32 : V<f32> -> V<f32> ⇒ input has type !pto.vreg<64xf32>, but the elements of result need f32
""")

VBR_HAS_NO_64_BIT_FORM = rows(rejects)("""
%d = pto.vbr %s_i64 : i64 -> ^V<i64>
  ⇒ pto.vbr does not take elements of type i64; it takes i8, i16, i32, si8, si16, si32, ui8, ui16, ui32, f16, bf16, f32
""")

VDUP_REJECTS = [
    *rows(rejects)("""
%d = pto.vdup %s_f32, %b32 {position = ^"LOWEST"} : f32, M<b32> -> V<f32>
  ⇒ position chooses a lane of a register, but the input is a scalar
%d = pto.vdup ^%v_i32, %b32 : V<i32>, M<b32> -> V<f32>
  ⇒ input has type !pto.vreg<64xi32>, but result has type !pto.vreg<64xf32>
%d = pto.vdup ^%s_i32, %b32 : i32, M<b32> -> V<f32> ⇒ input has type i32, but the elements of result need f32
%d = pto.vdup %s_f32, ^%b8 : f32, M<b8> -> V<f32>
  ⇒ mask type !pto.mask<b8> does not match value vector type !pto.vreg<64xf32>; expected !pto.mask<b32>
%d = pto.vdup %s_i64, %b32 : i64, M<b32> -> ^V<i64>
  ⇒ pto.vdup does not take elements of type i64; it takes i8, i16, i32, si8, si16, si32, ui8, ui16, ui32, f16, bf16, f32
"""),
    *rows(rejects, kind="syntax")("""
%d = pto.vdup %v_f32, %b32 {position = ^"MIDDLE"} : V<f32>, M<b32> -> V<f32>
  ⇒ unknown position 'MIDDLE'; known: LOWEST, HIGHEST
"""),
]

SEED_AND_RESULT_MATCH_THE_WIDTH = rows(rejects)("""
%m = pto.vcmp %v_f32, %w_f32, ^%b16, "lt" : V<f32>, V<f32>, M<b16> -> M<b32>
  ⇒ mask type !pto.mask<b16> does not match value vector type !pto.vreg<64xf32>; expected !pto.mask<b32>
%m = pto.vcmp %v_f32, %w_f32, %b32, "lt" : V<f32>, V<f32>, M<b32> -> ^M<b8>
  ⇒ mask type !pto.mask<b8> does not match value vector type !pto.vreg<64xf32>; expected !pto.mask<b32>
%m = pto.vcmps %v_f16, %s_f16, ^%b32, "eq" : V<f16>, f16, M<b32> -> M<b16>
  ⇒ mask type !pto.mask<b32> does not match value vector type !pto.vreg<128xf16>; expected !pto.mask<b16>
%m = pto.vcmps %v_f16, %s_f16, %b16, "eq" : V<f16>, f16, M<b16> -> ^M<b32>
  ⇒ mask type !pto.mask<b32> does not match value vector type !pto.vreg<128xf16>; expected !pto.mask<b16>
""")

VSELR_REJECTS = rows(rejects)("""
%d = pto.vselr %v_f32, ^%w_f32 : V<f32>, V<f32> -> V<f32>
  ⇒ pto.vselr does not take elements of type f32; it takes i8, i16, i32, i64, ...
%d = pto.vselr %v_f32, %w_i32 : V<f32>, V<i32> -> ^V<i32>
  ⇒ result has type !pto.vreg<64xi32>, but input has type !pto.vreg<64xf32>
%d = pto.vselr ^%v_i64, %w_ui64 : V<i64>, V<ui64> -> V<i64>
  ⇒ pto.vselr does not take elements of type i64; it takes i8, i16, i32, si8, si16, si32, ui8, ui16, ui32, f16, bf16,
    f32
%d = pto.vselr %v_f32, ^%s_i32 : V<f32>, i32 -> V<f32> ⇒ index must be a vector register, not i32
""")

RND_AND_ROUND_MODE_EXCLUDE_EACH_OTHER = rows(rejects, kind="syntax")("""
%d = pto.vcvt %v_si32, %b32 {rnd = "R", round_mode = ^"R"} : V<si32>, M<b32> -> V<f32>
  ⇒ round_mode is an older name of rnd; give one of them
""")

VMULA_REJECTS = [
    *rows(warns)("""
%d = pto.vmula ^%u_i64, %v_i64, %w_i64, %b32 : V<i64>, V<i64>, V<i64>, M<b32> -> V<i64>
  ⇒ i64 is not among the documented element types of pto.vmula: ...
"""),
    *rows(rejects)("""
%d = pto.vmula %u_f32, %v_f32, %w_f32, ^%b16 : V<f32>, V<f32>, V<f32>, M<b16> -> V<f32>
  ⇒ mask type !pto.mask<b16> does not match value vector type !pto.vreg<64xf32>; expected !pto.mask<b32>
%d = pto.vmula %u_f32, %v_f32, %w_f32, %b32 : V<f32>, V<f32>, V<f32>, M<b32> -> ^V<f16>
  ⇒ result has type !pto.vreg<128xf16>, but acc has type !pto.vreg<64xf32>
%d = pto.vmula ^%u_hif8, %v_hif8, %w_hif8, %b8 : V<hif8>, V<hif8>, V<hif8>, M<b8> -> V<hif8>
  ⇒ pto.vmula does not take elements of type hif8; ...
"""),
]

WHAT_REPEATS_OF_VMRGSORT4_NEED = rows(rejects, scope=False)("""
%count = arith.constant 1125917086973956 : i64
%config = arith.constant 770 : i64
pto.vmrgsort4 %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, %count, ^%config : !pto.ptr<f32, ub>,
    !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
  ⇒ more than one repeat needs all four lists (bits 11:8 of config)
%count = arith.constant 1125917086973956 : i64
%config = arith.constant 7938 : i64
pto.vmrgsort4 %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, %count, ^%config : !pto.ptr<f32, ub>,
    !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
  ⇒ more than one repeat cannot stop early (bit 12 of config)
%count = arith.constant 1125917086973957 : i64
%config = arith.constant 3842 : i64
pto.vmrgsort4 %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, %p_f32_ub, ^%count, %config : !pto.ptr<f32, ub>,
    !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64
  ⇒ more than one repeat needs four lists of one length
""")

RULES = [
    *VBR_NEEDS_A_COMPATIBLE_SCALAR,
    *VBR_HAS_NO_64_BIT_FORM,
    *VDUP_REJECTS,
    *SEED_AND_RESULT_MATCH_THE_WIDTH,
    *VSELR_REJECTS,
    *RND_AND_ROUND_MODE_EXCLUDE_EACH_OTHER,
    *VMULA_REJECTS,
    *WHAT_REPEATS_OF_VMRGSORT4_NEED,
    *REGISTERS_THAT_ARE_NOT,
    *TYPES_THAT_ARE_NOT,
]
