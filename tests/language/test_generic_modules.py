"""Whole modules in the generic form, and places that other tools leave in a text."""

from language.source import accepts, read, running
from ptosim.language.load import text

GENERIC = """"builtin.module"() ({
  "func.func"() <{function_type = (!pto.ptr<i32, gm>, i32) -> (), sym_name = "f"}> ({
  ^bb0(%p: !pto.ptr<i32, gm>, %a: i32):
    %c = "arith.constant"() <{value = 0 : index}> : () -> index
    %d = "arith.constant"() {value = 1 : index} : () -> index
    %l = "arith.constant"() <{value = dense<[1, 2]> : vector<2xi16>}> : () -> vector<2xi16>
    "scf.for"(%c, %d, %d) ({
    ^bb0(%i: index):
      "pto.store_scalar"(%a, %p, %i) : (i32, !pto.ptr<i32, gm>, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.call"(%a) <{callee = @g}> : (i32) -> ()
    "func.return"() : () -> ()
  }) {pto.entry} : () -> ()
  "func.func"() <{function_type = (i32) -> (), sym_name = "g", sym_visibility = "private"}> ({
  }) : () -> ()
}) {pto.target_arch = "a5"} : () -> ()
"""

CANONICAL = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%p: !pto.ptr<i32, gm>, %a: i32) attributes {pto.entry} {
    %c = arith.constant 0 : index
    %d = arith.constant 1 : index
    %l = arith.constant dense<[1, 2]> : vector<2xi16>
    scf.for %i = %c to %d step %d {
      pto.store_scalar %a, %p[%i] : !pto.ptr<i32, gm>, i32
    }
    func.call @g(%a) : (i32) -> ()
    func.return
  }
  func.func private @g(i32)
}
"""


def test_a_module_in_the_generic_form():
    assert text(read(GENERIC)) == CANONICAL
    assert text(read(CANONICAL)) == CANONICAL
    accepts(CANONICAL)


def test_bare_vector_code_in_the_generic_form_gets_a_scope():
    instruction = '%all = "pto.pset_b32"() {pattern = "PAT_ALL"} : () -> !pto.mask<b32>'
    assert 'pto.vecscope {\n      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n    }' in running(instruction)


def test_places_of_other_tools_are_printed_only_where_asked_for():
    places = """#loc = loc("a.py":1:2)
#loc1 = loc("x"(#loc))
module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: i32 loc("a"), %p: !pto.ptr<i32, gm> loc(#loc)) attributes {pto.entry} {
    %c = arith.constant 0 : index loc(#loc1)
    %d = arith.constant 1 : index loc(unknown)
    scf.for %i = %c to %d step %d {
      pto.store_scalar %a, %p[%i] : !pto.ptr<i32, gm>, i32 loc(callsite("f" at "g.py":3:4))
    } loc(fused["a.py":1:1, #loc])
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""
    assert "loc" not in accepts(places)


def test_tiles_in_the_generic_form():
    tile = "!pto.tile_buf<vec, 16x64xf32>"
    lines = (
        f'%t = "pto.alloc_tile"() : () -> {tile} loc("x")\n'
        f'"pto.tadd"(%t, %t, %t) : ({tile}, {tile}, {tile}) -> ()\n'
        f'"pto.tmov"(%t, %t) : ({tile}, {tile}) -> () loc(unknown)'
    )
    found = accepts(lines)
    assert f"pto.tadd ins(%t, %t : {tile}, {tile}) outs(%t : {tile})" in found
    assert f"pto.tmov ins(%t : {tile}) outs(%t : {tile})" in found
