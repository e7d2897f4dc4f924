"""Functions, the generic form, and spellings of older pages."""

import numpy as np

from golden.numbers import data, equal
from golden.program import outcome

I64 = "!pto.ptr<i64, gm>"


def test_functions() -> None:
    """Helpers with several results, called before they are written, in both spellings; a declaration nobody calls."""
    text = f"""module @outer attributes {{"pto.target_arch" = "a5"}} {{
  func.func private @external(i64) -> i64
  func.func @kernel(%y: {I64} {{llvm.noalias}}, %n: i64) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s, %d = func.call @both(%n, %n) : (i64, i64) -> (i64, i64)
    %t = call @twice(%s) : (i64) -> i64
    func.call @put(%y, %c0, %t) : ({I64}, index, i64) -> ()
    call @put(%y, %c1, %d) : ({I64}, index, i64) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    func.return
  }}
  func.func @both(%a: i64, %b: i64) -> (i64, i64) {{
    %s = arith.addi %a, %b : i64
    %d = arith.subi %a, %b : i64
    return %s, %d : i64, i64
  }}
  func.func @twice(%a: i64) -> i64 {{
    %s, %d = call @both(%a, %a) : (i64, i64) -> (i64, i64)
    return %s : i64
  }}
  func.func @put(%p: {I64}, %i: index, %v: i64) {{
    pto.store_scalar %v, %p[%i] : {I64}, i64
    return
  }}
}}
"""
    assert outcome(text, np.zeros(2, "i8"), 5)[0].tolist() == [20, 0]


def test_generic_form_locations_and_comments() -> None:
    text = """// a comment first
#map = affine_map<(d0) -> (d0)>
module attributes {pto.target_arch = "a5", some.note = [1, "two", unit]} {
  func.func @kernel(%y: !pto.ptr<i64>) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index loc("here")
    %c1 = arith.constant 1 : index
    %c4 = "arith.constant"() {value = 4 : index} : () -> index   // trailing
    %init = arith.constant 10 : i64
    %s = "scf.for"(%c0, %c4, %c1, %init) ({
    ^bb0(%i: index, %acc: i64):
      %w = arith.index_cast %i : index to i64
      %n = arith.addi %acc, %w overflow<nsw, nuw> : i64 loc("x.mlir":3:4)
      "scf.yield"(%n) : (i64) -> ()
    }) : (index, index, index, i64) -> i64
    %t = arith.constant true
    "scf.if"(%t) ({
      "pto.store_scalar"(%s, %y, %c0) : (i64, !pto.ptr<i64, gm>, index) -> ()
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    pto.barrier #pto.pipe<PIPE_ALL> {note = 1 : i32}
    return
  } loc("end")
} loc(unknown)
"""
    text = text.replace("#map = affine_map<(d0) -> (d0)>\n", "")
    assert outcome(text, np.zeros(1, "i8"))[0][0] == 16


def test_bare_pointers_of_the_older_pages() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%x: !pto.ptr, %y: !pto.ptr) attributes {pto.aicore} {
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c256_i64 = arith.constant 256 : i64
    %false = arith.constant false
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr
    pto.copy_gm_to_ubuf %x, %ub, %c0_i64, %c1_i64, %c256_i64, %c0_i64, %c0_i64, %false, %c0_i64, %c256_i64, %c256_i64
      : !pto.ptr, !pto.ptr, i64 x5, i1, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    scf.for %dummy = %c0 to %c1 step %c1 {
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<G>
      %v = pto.vlds %ub[%c0] : !pto.ptr -> !pto.vreg<64xf32>
      %abs = pto.vabs %v, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %abs, %ub[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr, !pto.mask<b32>
    } {llvm.loop.aivector_scope}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.copy_ubuf_to_gm %ub, %y, %c0_i64, %c1_i64, %c256_i64, %c0_i64, %c256_i64, %c256_i64 : !pto.ptr, !pto.ptr, i64 x6
    pto.barrier #pto.pipe
    return
  }
}
""".replace("    %c0_i64 =", "    %c1 = arith.constant 1 : index\n    %c0_i64 =", 1)
    a = data("f32", 64)
    equal(outcome(text, a, np.zeros(64, "f4"))[1], np.abs(a))
