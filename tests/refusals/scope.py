"""What is refused of modules and of vector scopes."""

from language.source import rejects, warns
from refusals.rule import rows

MODULES_THAT_ARE_NOT = rows(rejects)("""
module { ~module { func.func @k() { return } } module attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { func.func
    @k() { return } } }
  ⇒ expected VPTO kernel submodule to carry 'pto.kernel_kind'
module attributes {pto.kernel_kind = ~#pto.kernel_kind<tensor>} { func.func @k() { return } }
  ⇒ unknown kernel kind 'tensor'; a kernel is vector or cube
module attributes {pto.target_arch = ~"a7"} { func.func @k() { return } } ⇒ unknown target 'a7'; known: a5, a2, a3, a2a3
module attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { func.func @k() { ~pto.vecscope { }
return } }
  ⇒ pto.vecscope is for the vector core, but this is code of the cube core
""")

SCOPES_THAT_ARE_NOT = rows(rejects)("""
func.func @f(~%q: !pto.mask<G>) { return }
  ⇒ the type cannot be worked out: its uses do not say enough; write !pto.mask<b8|b16|b32>
~pto.strict_vecscope(%f) { } : (f32) -> () ⇒ 1 values are passed, but the body receives 0
pto.strict_vecscope(~%f) { ^bb0(%x: i32): } : (f32) -> () ⇒ the body receives value 0 as i32, but f32 is passed
pto.strict_vecscope(%f) { ^bb0(%x: f32): } : (~i32) -> () ⇒ arguments[0] has type f32, but the type list says i32
~pto.vecscope { ^bb0(%x: i32): } ⇒ the body of pto.vecscope has no arguments; it sees the values around it
""")

TEXTS_THAT_ARE_NOT = rows(rejects, kind="syntax")("""
module {
func.func @f() {
return~

  ⇒ expected '}': the text ends inside a region
pto.strict_vecscope() { } : () -> (~i32) ⇒ Expected ')': a vector scope has no results
pto.section.vector { %x = arith.negf %f : f32 }
%y = arith.negf ~%x : f32
  ⇒ %x is not defined here: the region that defines it, in line 3, has ended
""")

POINTERS_THAT_STAY_OPEN = rows(rejects)("""
~%p = pto.castptr %m : i64 -> !pto.ptr
  ⇒ the type cannot be worked out: its uses do not say enough; write !pto.ptr<T, space>
~%p = pto.castptr %m : i64 -> !pto.ptr
%x = pto.load_scalar %p[%i] : !pto.ptr -> i32
  ⇒ the type cannot be worked out: its uses do not say enough; write !pto.ptr<T, space>
~%p = pto.castptr %m : i64 -> !pto.ptr
pto.vecscope { %x = pto.vlds %p[%i] : !pto.ptr -> !pto.vreg<64xf32>
%y = pto.vlds %p[%i] : !pto.ptr -> !pto.vreg<64xi32> }
  ⇒ the type cannot be worked out: it is used as f32 (line 4) and as i32 (line 5); write !pto.ptr<T, space>
~%p = pto.castptr %m : i64 -> !pto.ptr
pto.copy_gm_to_ubuf %p, %ub, %m, %m, %m, %m, %m, %c, %m, %m, %m
 : !pto.ptr, !pto.ptr, i64, i64, i64, i64, i64, i1, i64, i64, i64
pto.vecscope { %x = pto.vlds %p[%i] : !pto.ptr -> !pto.vreg<64xf32> }
  ⇒ the type cannot be worked out: it is used as gm (line 4) and as ub (line 6); write !pto.ptr<T, space>
""")

CODE_OF_ONE_KIND_BESIDE_SUCH_CALLS_NEEDS_ITS_SECTION = rows(rejects)("""
func.func private @c() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {

return
}
func.func private @v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {

return
}
func.func @f() {
call @c() : () -> ()
call @v() : () -> ()
~pto.vecscope { }
return
}
  ⇒ pto.vecscope stands outside the sections, so that every core runs it, but it is for the vector core
""")

A_GROUP_IS_NO_VALUE = rows(rejects, kind="unsupported")("""
%g = ~"pto.make_group"(%gm) : (!pto.ptr<f32, gm>) -> !pto.group<8>
  ⇒ 'pto.make_group' is a form of the manual that no assembler reads; write group(%g0, %g1, ...) in the collective
    itself, such as pto.comm.tbroadcast
""")

VALUES_DO_NOT_LEAVE_A_SCOPE = rows(rejects, kind="syntax")("""
pto.vecscope { %q = pto.pset_b32 "PAT_ALL" : !pto.mask<b32> }
pto.vecscope { %z = pto.pnot ~%q, %k : !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32> }
  ⇒ %q is not defined here: the region that defines it, in line 3, has ended
""")

BLOCK_QUERIES_IN_A_SCOPE_ARE_QUESTIONABLE = rows(warns)("""
pto.vecscope { %q = ~pto.get_block_idx } ⇒ pto.get_block_idx is not available to a vector function on hardware
""")

WHAT_STANDS_OUTSIDE_THE_SECTIONS = [
    *rows(rejects)("""
pto.section.cube { pto.barrier #pto.pipe<PIPE_M> }
~pto.vecscope { }
  ⇒ pto.vecscope stands outside the sections, so that every core runs it, but it is for the vector core
"""),
    *rows(warns)("""
pto.section.cube { pto.barrier #pto.pipe<PIPE_M> }
~pto.mte_ub_gm %ub, %gm, %m nburst(%m, %m, %m) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
  ⇒ pto.mte_ub_gm stands outside the sections: every vector core runs it, the others pass over it
"""),
]

RULES = [
    *POINTERS_THAT_STAY_OPEN,
    *CODE_OF_ONE_KIND_BESIDE_SUCH_CALLS_NEEDS_ITS_SECTION,
    *A_GROUP_IS_NO_VALUE,
    *VALUES_DO_NOT_LEAVE_A_SCOPE,
    *BLOCK_QUERIES_IN_A_SCOPE_ARE_QUESTIONABLE,
    *WHAT_STANDS_OUTSIDE_THE_SECTIONS,
    *MODULES_THAT_ARE_NOT,
    *SCOPES_THAT_ARE_NOT,
    *TEXTS_THAT_ARE_NOT,
]
