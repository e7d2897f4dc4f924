"""What is refused of instructions on registers, beside what element types and masks they take."""

from language.vector_kernel import rejects
from refusals.rule import rows

REGISTERS_THAT_ARE_NOT = rows(
    rejects,
    ("%d = pto.vabs ^%b32_in, %b32 : M<b32>, M<b32> -> V<f32>", "input must be a vector register, not !pto.mask<b32>"),
    ("%d = pto.vabs %v_f32, ^%w_f32 : V<f32>, V<f32> -> V<f32>", "mask must be a mask, not !pto.vreg<64xf32>"),
    (
        '%m = pto.vcmp %v_i16, ^%w_ui16, %b16, "eq" : V<i16>, V<ui16>, M<b16> -> M<b16>',
        "rhs has type !pto.vreg<128xui16>, but lhs has type !pto.vreg<128xi16>",
    ),
    (
        "%d = pto.vcvt ^%v_i64, %b32 : V<i64>, M<b32> -> V<i16>",
        "pto.vcvt does not convert i64 to i16; from i64 it converts to f32, si32",
    ),
    (
        "%d = pto.vcvt ^%v_ui64, %b32 : V<ui64>, M<b32> -> V<f32>",
        "pto.vcvt does not convert ui64 to f32; it converts nothing from ui64",
    ),
    ('%d = pto.vcvt ^%s_f32, %b32 {part = "EVEN"} : f32, M<b32> -> V<f16>', "input must be a vector register, not f32"),
    (
        '%d = pto.vcvt %v_f32, %b32 {part = "EVEN"} : V<f32>, M<b32> -> ^f16',
        "result must be a vector register, not f16",
    ),
    ("%d = pto.vbitcast ^%s_f32 : f32 -> V<f32>", "input must be a vector register, not f32"),
    ("%d = pto.vbitcast %v_f32 : V<f32> -> ^i32", "result must be a vector register, not i32"),
    ("%d = pto.vcadd %v_f32, %b32 : V<f32>, M<b32> -> ^f32", "result must be a vector register, not f32"),
    ("%a = pto.init_align : ^i32", "result must be !pto.align, not i32"),
)

TYPES_THAT_ARE_NOT = rows(
    rejects,
    (
        "%d = pto.vbitcast %v_f32 : V<f32> -> !pto.vreg<^64xf16>",
        "!pto.vreg<64xf16> is 128 bytes; a vector register is exactly 256 bytes",
    ),
    kind="syntax",
)

RULES = [*REGISTERS_THAT_ARE_NOT, *TYPES_THAT_ARE_NOT]
