"""What is refused of gathers and scatters."""

from language.vector_kernel import rejects
from refusals.rule import rows

VGATHER2_BC_REJECTS_OTHER_TYPES = rows(rejects)("""
%r = pto.vgather2_bc %p_f16_ub, ^%v_i16, %b16 : !pto.ptr<f16, ub>, V<i16>, M<b16> -> V<f16>
  ⇒ pto.vgather2_bc does not take elements of type i16; it takes i32, si32, ui32
%r = pto.vgather2_bc %p_f32_ub, %v_i32, ^%b16 : !pto.ptr<f32, ub>, V<i32>, M<b16> -> V<f32>
  ⇒ mask type !pto.mask<b16> does not match value vector type ...
""")

VSCATTER_REJECTS_OTHER_TYPES = rows(rejects)("""
pto.vscatter %w_i8, %p_i8_ub, ^%v_i32, %b32 : V<i8>, !pto.ptr<i8, ub>, V<i32>, M<b32>
  ⇒ offsets for elements of type i8 must be i16, si16, ui16, not i32
pto.vscatter %w_f32, %p_f32_ub, ^%v_i16, %b16 : V<f32>, !pto.ptr<f32, ub>, V<i16>, M<b16>
  ⇒ offsets for elements of type f32 must be i32, si32, ui32, not i16
""")

RULES = [
    *VGATHER2_BC_REJECTS_OTHER_TYPES,
    *VSCATTER_REJECTS_OTHER_TYPES,
]
