"""Loops, branches, functions and calls: how they are written, and their rules."""

from language.source import accepts, errors, prints, read, rejects, running
from ptosim.language.structure.control import For, If, While, Yield
from ptosim.language.structure.function import Call, Function
from tables import table

# --- scf.for ----------------------------------------------------------------------------------------------------------


@table(
    "loop",
    "scf.for %j = %i to %i step %i { }",
    "scf.for %j = %i to %i step %i { scf.yield }",
    "scf.for %j = %n to %n step %n : i32 { }",
    "%r = scf.for %j = %i to %i step %i iter_args(%x = %n) -> i32 { scf.yield %x : i32 }",
    "%r = scf.for %j = %i to %i step %i iter_args(%x = %n) -> (i32) { scf.yield %x : i32 }",
    "%_:1 = scf.for %j = %i to %i step %i iter_args(%x = %n) -> (i32) { scf.yield %x : i32 }",
    "%r:2 = scf.for %j = %i to %i step %i iter_args(%x = %n, %p = %ub) -> (i32, !pto.ptr<f32, ub>)"
    " { scf.yield %x, %p : i32, !pto.ptr<f32, ub> }\n%q = arith.addi %r#0, %r#0 : i32",
    "%a, %z = scf.for %j = %i to %i step %i iter_args(%x = %n, %y = %f) -> (i32, f32) { scf.yield %x, %y : i32, f32 }",
    "%r = scf.for %j = %m to %m step %m iter_args(%x = %n) -> (i32) : i64 { scf.yield %x : i32 }",
    "scf.for %j = %i to %i step %i { } {llvm.loop.aivector_scope}",
    "scf.for %j = %i to %i step %i { } {some.note = 3 : i32}",
    "scf.for %j = %i to %i step %i { scf.for %q = %j to %i step %i { } }",
    '"scf.for"(%i, %i, %i) ({ ^bb0(%j: index): }) : (index, index, index) -> ()',
    '"scf.for"(%i, %i, %i) ({ ^bb0(%j: index): "scf.yield"() : () -> () }) {a} : (index, index, index) -> ()',
    '%r = "scf.for"(%i, %i, %i, %n) ({ ^bb0(%j: index, %x: i32): "scf.yield"(%x) : (i32) -> () })'
    " : (index, index, index, i32) -> i32",
    "scf.for %j = %i to %i step %i { } loc(#place)",
)
def test_loops(loop: str):
    accepts(loop)


def test_a_loop_is_what_the_engines_expect():
    module = read("%r = scf.for %j = %i to %i step %i iter_args(%x = %n) -> i32 { scf.yield %x : i32 }").parsed.module
    (loop,) = (op for op in module.walk() if isinstance(op, For))
    assert [value.type for value in loop.iter_args] == [result.type for result in loop.res]
    assert len(loop.body.block.args) == 2
    assert isinstance(loop.body.block.last_op, Yield)


def test_an_omitted_yield_is_there_for_the_engines():
    module = read("scf.for %j = %i to %i step %i { }\nscf.if %c { }").parsed.module
    for op in module.walk():
        if isinstance(op, For):
            assert isinstance(op.body.block.last_op, Yield)
        if isinstance(op, If):
            assert isinstance(op.true_region.block.last_op, Yield)
            assert isinstance(op.false_region.block.last_op, Yield)


# --- scf.if -----------------------------------------------------------------------------------------------------------


@table(
    "branch",
    "scf.if %c { }",
    "scf.if %c { } else { }",
    "scf.if %c { %q = arith.addi %n, %n : i32 } else { %q = arith.addi %n, %n : i32 }",
    "%r = scf.if %c -> i1 { scf.yield %c : i1 } else { scf.yield %c : i1 }",
    "%r = scf.if %c -> (i1) { scf.yield %c : i1 } else { scf.yield %c : i1 }",
    "%a, %z = scf.if %c -> (i1, index) { scf.yield %c, %i : i1, index } else { scf.yield %c, %i : i1, index }",
    '"scf.if"(%c) ({ "scf.yield"() : () -> () }, { }) : (i1) -> ()',
    "scf.if %c { } {note}",
)
def test_branches(branch: str):
    accepts(branch)


# --- scf.execute_region -----------------------------------------------------------------------------------------------


@table(
    "region",
    "scf.execute_region { }",
    "scf.execute_region {\nscf.yield\n}",
    "%r = scf.execute_region -> i32 { scf.yield %n : i32 }",
    "%r:2 = scf.execute_region -> (i32, f32) { scf.yield %n, %f : i32, f32 }",
    "scf.execute_region no_inline { scf.execute_region { } }",
    '"scf.execute_region"() ({ scf.yield }) : () -> ()',
)
def test_regions_give_way_to_their_operations(region: str):
    accepts(region)
    assert "execute_region" not in running(region)


def test_the_open_type_of_what_a_region_gives():
    text = running("%r = scf.execute_region -> !pto.ptr { scf.yield %p : !pto.ptr }".join(
        ("%p = pto.castptr %m : i64 -> !pto.ptr\n", "\n%x = pto.load_scalar %r[%i] : !pto.ptr<f32, ub> -> f32")
    ))  # fmt: skip
    assert "pto.castptr %m : i64 -> !pto.ptr<f32, ub>" in text


# --- scf.while --------------------------------------------------------------------------------------------------------


@table(
    "loop",
    "scf.while : () -> () { scf.condition(%c) } do { scf.yield }",
    "%r = scf.while (%x = %n) : (i32) -> i32 { scf.condition(%c) %x : i32 } do { ^bb0(%y: i32): scf.yield %y : i32 }",
    "%r:2 = scf.while (%x = %n, %y = %i) : (i32, index) -> (index, i32) { scf.condition(%c) %y, %x : index, i32 }"
    " do { ^bb0(%a: index, %z: i32): scf.yield %z, %a : i32, index }",
    "%r = scf.while (%x = %n) : (i32) -> (f32) { scf.condition(%c) %f : f32 } do { ^bb0(%y: f32): scf.yield %n : i32 }",
)
def test_while(loop: str):
    text = accepts(loop)
    assert any(isinstance(op, While) for op in read(text).parsed.module.walk())


@table(
    "name",
    "scf.forall",
    "scf.parallel",
    "scf.index_switch",
    "cf.switch",
    "affine.for",
    "memref.load",
    "llvm.mlir.global",
)
def test_what_is_not_part_of_the_surface(name: str):
    (found,) = errors(f"{name} {{ }}")
    assert found.kind == "unsupported"
    assert found.message.startswith(f"'{name}' is not part of the language")


# --- functions --------------------------------------------------------------------------------------------------------


@table(
    "text",
    "module { func.func @f() { return } }",
    "builtin.module { func.func @f() { func.return } }",
    'module @name attributes {pto.target_arch = "a5"} { func.func @f() { return } }',
    'module attributes {"pto.target_arch" = "a5", other = [1 : i32, #x.y<z, 2>]} { func.func @f() { return } }',
    "func.func @f() { return }",
    "func.func @f(%a: i32,\n  %b: !pto.ptr<f32>) attributes {pto.aicore, hacc.entry} { return }",
    "func.func @f(%a: i32 {note = 1 : i32}) { return }",
    "func.func @f(%a: i32) -> i32 { return %a : i32 }",
    "func.func @f(%a: i32) -> (i32, i32) { return %a, %a : i32, i32 }",
    "func.func private @g(i32) -> i32\nfunc.func @f(%a: i32) { %r = call @g(%a) : (i32) -> i32\nreturn }",
    "func.func @f(%a: i32) { func.call @g(%a) : (i32) -> ()\nreturn }\nfunc.func private @g(%x: i32)",
    "func.func @f(%a: i32) { %r:2 = func.call @g(%a) : (i32) -> (i32, i32)\nreturn }\n"
    "func.func private @g(%x: i32) -> (i32, i32) { return %x, %x : i32, i32 }",
    'func.func @f(%a: i32 loc(unknown)) { return loc(#a) } loc(#a)\n#a = loc("x.mlir":1:2)',
    "func.func @f(%a: memref<?xf32, #pto.address_space<gm>>) { return }",
    '"func.func"() <{sym_name = "f", function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> ()',
)
def test_functions(text: str):
    accepts(text)


def test_the_older_mark_of_an_entry_is_printed_as_the_one_of_today():
    text = accepts("func.func @f() attributes {pto.aicore, hacc.entry} { return }")
    assert "attributes {pto.kernel, hacc.entry}" in text


def test_the_generic_form_of_a_condition_begins_with_it():
    text = accepts(
        '%r = scf.while (%a = %n) : (i32) -> i32 { "scf.condition"(%c, %a) : (i1, i32) -> () } do {\n'
        "^bb0(%x: i32):\nscf.yield %x : i32 }"
    )
    assert "scf.condition(%c) %a : i32" in text


def test_unknown_attributes_are_kept():
    printed = accepts(
        "module attributes {a.b = #x.y<z, 2>} { func.func @f() attributes {pto.kernel, k = 2 : i8} { return } }"
    )
    assert "attributes {a.b = #x.y<z, 2>}" in printed
    assert "attributes {pto.kernel, k = 2 : i8}" in printed


def test_a_memref_in_a_pto_space_is_a_pointer():
    prints(
        "func.func @f(%a: memref<?xf32, #pto.address_space<ub>>) { return }", "func.func @f(%a: !pto.ptr<f32, ub>) {"
    )


@table(
    "type_",
    "tensor<4xf32>",
    "memref<4xf32>",
    "memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, #pto.address_space<gm>>",
    "memref<4xindex, #pto.address_space<gm>>",
    "vector<2x4xf32>",
    "() -> ()",
)
def test_types_that_no_value_has(type_: str):
    message = "a function cannot take or give {}; write a pointer as !pto.ptr<T, space>"
    rejects(f"func.func @f(%a: i32, %b: ~{type_}) {{ return }}", message.format(type_))
    rejects(f"func.func private @g(i32) -> (i32, ~{type_})\nfunc.func @f() {{ return }}", message.format(type_))


def test_calls_find_their_function_in_the_modules_around():
    text = """
module attributes {pto.target_arch = "a5"} {
  func.func private @outer()
  module attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func private @inner()
    func.func @k() attributes {pto.kernel} {
      call @inner() : () -> ()
      call @outer() : () -> ()
      return
    }
  }
}
"""
    module = read(text).parsed.module
    calls = [op for op in module.walk() if isinstance(op, Call)]
    found = [call.function for call in calls]
    assert [function.symbol for function in found if isinstance(function, Function)] == ["inner", "outer"]
