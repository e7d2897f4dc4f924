"""What is refused of pointers and scalar accesses."""

from language.source import rejects
from language.vector_kernel import rejects as rejects_vector
from language.vector_kernel import rejects_module
from refusals.rule import rows

CASTS_THAT_ARE_NOT = rows(lambda cast, message: rejects(f"%p = pto.castptr {cast}", message))("""
~%ub : !pto.ptr<f32, ub> -> !pto.ptr<f32, gm>
  ⇒ ptr-to-ptr cast must stay within the same PTO memory space, but !pto.ptr<f32, ub> becomes !pto.ptr<f32, gm>
~%m : i64 -> i64 ⇒ pto.castptr needs a pointer on one side; i64 becomes i64
""")

TYPES_THAT_DO_NOT_EXIST = rows(
    lambda type_, message: rejects(f"%p = pto.castptr %m : i64 -> {type_}", message, kind="syntax")
)("""
!pto.ptr<~index, ub> ⇒ a pointer cannot have element type index
!pto.ptr<~i1, ub> ⇒ a pointer cannot have element type i1
!pto.ptr<f32, ~l2>
  ⇒ unknown memory space 'l2'; known: gm, l1, mat, l0a, left, l0b, right, l0c, acc, ub, vec, bt, bias, fb, scaling
!pto.vreg<~64xindex> ⇒ a vector register cannot hold index
~!pto.tiles<f32> ⇒ unknown type '!pto.tiles'; did you mean '!pto.tile'?
~!pto.vregs<64xf32> ⇒ unknown type '!pto.vregs'; did you mean '!pto.vreg'?
""")

ACCESSES_THAT_ARE_NOT = rows(rejects)("""
%x = pto.load_scalar ~%m[%i] : i64 -> f32 ⇒ pointer must be a pointer, not i64
""")

LISTS_THAT_ARE_NOT = rows(rejects)("""
%x = pto.load_scalar %ub[%i] : ~!pto.ptr<f32, gm> -> f32
  ⇒ pointer has type !pto.ptr<f32, ub>, but the type list says !pto.ptr<f32, gm>
pto.store_scalar %f, %ub[%i] : !pto.ptr<f32, ub>, ~f16 ⇒ value has type f32, but the type list says f16
""")

ACCESSES_PAST_THE_CACHE_BELONG_IN_AN_ENTRY = rows(rejects)("""
func.func private @h(%p: !pto.ptr<i32, gm>, %i: index) { %x = ~pto.ld_dev %p[%i] : !pto.ptr<i32, gm> -> i32
return }
func.func @f(%p: !pto.ptr<i32, gm>, %i: index) { call @h(%p, %i) : (!pto.ptr<i32, gm>, index) -> ()
return }
  ⇒ pto.ld_dev belongs in a kernel entry, not in the helper @h
""")

AN_ARRAY_IS_NOT_RETURNED = rows(rejects_module)(
    (
        "module {\n  func.func private @f() -> !pto.local_array<2x3xi32> {\n"
        "    %a = pto.declare_local_array -> !pto.local_array<2x3xi32>\n"
        "    ^return %a : !pto.local_array<2x3xi32>\n  }\n}",
        "func.return cannot take !pto.local_array<2x3xi32>: an array stays in the function that declares it, and "
        "in those that are called with it",
    )
)

THE_STACK_IS_LIMITED = rows(rejects_vector, kind="limit", scope=False)("""
%a = pto.declare_local_array -> !pto.local_array<8192xi32>
%b = ^pto.declare_struct -> !pto.struct<i8>
  ⇒ arrays and structs take 32769 bytes; the stack of the scalar unit has 32768
""")

RULES = [
    *ACCESSES_PAST_THE_CACHE_BELONG_IN_AN_ENTRY,
    *AN_ARRAY_IS_NOT_RETURNED,
    *THE_STACK_IS_LIMITED,
    *CASTS_THAT_ARE_NOT,
    *TYPES_THAT_DO_NOT_EXIST,
    *ACCESSES_THAT_ARE_NOT,
    *LISTS_THAT_ARE_NOT,
]
