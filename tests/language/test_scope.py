"""Vector scopes, sections, nested modules: how they are written, what may stand where, and which kernels result."""

import pytest

from language.source import accepts, errors, read, rejects, running
from ptosim.effects.names import CoreKind
from tables import table

MASK = '%q = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>'
BARRIER = "pto.barrier #pto.pipe<PIPE_V>"


# --- the three forms of a scope ---------------------------------------------------------------------------------------


@table(
    "scope",
    "pto.vecscope { }",
    f"pto.vecscope {{ {MASK} }}",
    f"pto.vecscope {{ ^bb0: {MASK} }}",
    f"scf.for %j = %i to %i step %i {{ {MASK} }} {{llvm.loop.aivector_scope}}",
    f"pto.strict_vecscope() {{ {MASK} }} : () -> ()",
    f"pto.strict_vecscope() {{ ^bb0: {MASK} }} : () -> ()",
    "pto.strict_vecscope() { } : () -> ()",
    "pto.strict_vecscope(%ub, %n) { ^bb0(%p: !pto.ptr<f32, ub>, %x: i32): %y = arith.addi %x, %x : i32 }"
    " : (!pto.ptr<f32, ub>, i32) -> ()",
    "pto.vecscope { scf.for %j = %i to %i step %i { " + MASK + " } }",
    "pto.vecscope { %x = pto.load_scalar %ub[%i] : !pto.ptr<f32, ub> -> f32 }",
    'pto.vecscope { pto.mem_bar "VST_VLD" }',
)
def test_scopes(scope: str):
    accepts(scope)


def test_the_seed_example_of_a_strict_scope():
    accepts(
        """
pto.strict_vecscope(%ub, %ub, %i, %n) {
^bb0(%in: !pto.ptr<f32, ub>, %out: !pto.ptr<f32, ub>, %iv: index, %rem: i32):
  %mask, %next_remaining = pto.plt_b32 %rem : i32 -> !pto.mask<b32>, i32
  %x = pto.vlds %in[%iv] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
  %abs = pto.vabs %x, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
  pto.vsts %abs, %out[%iv], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
} : (!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, index, i32) -> ()"""
    )


def test_a_strict_scope_does_not_capture():
    message = "a strict vector scope sees only what is passed to it"
    rejects("pto.strict_vecscope() { %y = arith.negf ~%f : f32 } : () -> ()", message)
    rejects("pto.strict_vecscope(%c) { ^bb0(%x: i1): scf.if %x { %y = arith.negf ~%f : f32 } } : (i1) -> ()", message)
    accepts("pto.strict_vecscope(%f) { ^bb0(%x: f32): %y = arith.negf %x : f32 } : (f32) -> ()")
    accepts(
        "pto.strict_vecscope() { %k1 = arith.constant 1 : i1\nscf.if %k1 { %y = arith.ori %k1, %k1 : i1 } } : () -> ()"
    )


def test_the_attributes_of_a_region_stand_before_or_after_it():
    for name in ("pto.vecscope", "pto.section.vector", "pto.section.cube"):
        before = accepts(f"{name} attributes {{note}} {{ }}")
        assert before == accepts(f"{name} {{ }} {{note}}")
        assert f"{name} attributes {{note}} {{" in before


# --- placement --------------------------------------------------------------------------------------------------------


@table(
    "instruction",
    'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]',
    'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]',
    'pto.get_buf "PIPE_V", 0, 0',
    'pto.rls_buf "PIPE_V", 0, 0',
    'pto.pipe_barrier "PIPE_V"',
    BARRIER,
    "pto.sync.set <PIPE_MTE3>, 0",
    "pto.sync.wait <PIPE_MTE3>, 0",
    "pto.set_intra_block <PIPE_MTE3>, 0",
    "pto.wait_intra_core <PIPE_MTE3>, 0",
    'pto.dsb "ALL"',
    "pto.set_loop_size_outtoub %m, %m : i64, i64",
    "pto.set_atomic_none",
)
@table(
    "scope, name",
    ("pto.vecscope {{ ~{} }}", "pto.vecscope"),
    ("pto.vecscope {{ scf.if %c {{ ~{} }} }}", "pto.vecscope"),
    ("scf.for %j = %i to %i step %i {{ ~{} }} {{llvm.loop.aivector_scope}}", "scf.for"),
)
def test_what_must_be_outside(instruction: str, scope: str, name: str):
    operation = instruction.partition("[")[0].partition(" ")[0]
    rejects(scope.format(instruction), f"{operation} must be outside '{name}'")
    accepts(instruction)


def test_a_marked_loop_is_said_to_be_a_scope():
    """Other loops may hold such an instruction, so the mark is what is wrong."""
    kernel = "scf.for %j = %i to %i step %i {{ pto.set_atomic_none }}{}"
    (found,) = errors(kernel.format(" {llvm.loop.aivector_scope}"))
    assert found.hint == "this loop is a vector scope: it is marked with llvm.loop.aivector_scope"
    accepts(kernel.format(""))


@table(
    "instruction",
    MASK,
    "%q = pto.vlds %ub[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>",
    "%q = pto.vabs %v, %k : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>",
    "%q = pto.init_align : !pto.align",
    'pto.sprclr "AR"',
)
def test_what_must_be_inside_gets_a_scope(instruction: str):
    """The tests of inference are in test_infer_scopes.py."""
    assert f"    pto.vecscope {{\n      {instruction}\n    }}" in running(instruction)
    assert running(f"pto.vecscope {{ {instruction} }}") == running(instruction)
    accepts(instruction)


def test_loops_that_only_pass_registers_on_are_exempt():
    accepts(
        "func.func @f(%v: !pto.vreg<64xf32>, %i: index) {\n"
        "%r = scf.for %j = %i to %i step %i iter_args(%x = %v) -> (!pto.vreg<64xf32>)"
        " { scf.yield %x : !pto.vreg<64xf32> }\n"
        "return\n}"
    )


# --- helpers ----------------------------------------------------------------------------------------------------------

HELPER = "func.func private @h(%k: !pto.mask<b32>) {{ {} return }}\n"
NOT = "%q = pto.pnot %k, %k : !pto.mask<b32>, !pto.mask<b32> -> !pto.mask<b32>\n"


def caller(call: str) -> str:
    return f"func.func @f(%k: !pto.mask<b32>) attributes {{pto.kernel}} {{\n{call}\nreturn\n}}"


def test_a_helper_may_rely_on_the_scope_of_its_caller():
    accepts(HELPER.format(NOT) + caller("pto.vecscope { call @h(%k) : (!pto.mask<b32>) -> () }"))
    text = running(HELPER.format(NOT) + caller("pto.vecscope { call @h(%k) : (!pto.mask<b32>) -> () }"))
    assert text.count("pto.vecscope") == 1  # that of the caller


def test_a_helper_with_its_own_scope_is_called_outside():
    scope = f"pto.vecscope {{ {NOT} }}\n"
    accepts(HELPER.format(scope) + caller("call @h(%k) : (!pto.mask<b32>) -> ()"))
    rejects(
        HELPER.format(scope) + caller("pto.vecscope { call ~@h(%k) : (!pto.mask<b32>) -> () }"),
        "@h contains pto.vecscope, which must be outside a vector scope",
    )
    rejects(
        HELPER.format(BARRIER + "\n") + caller("pto.vecscope { call ~@h(%k) : (!pto.mask<b32>) -> () }"),
        "@h contains pto.barrier, which must be outside a vector scope",
    )


def test_helpers_of_helpers():
    inner = "func.func private @g(%k: !pto.mask<b32>) { " + NOT + " return }\n"
    middle = HELPER.format("call @g(%k) : (!pto.mask<b32>) -> ()\n")
    accepts(inner + middle + caller("pto.vecscope { call @h(%k) : (!pto.mask<b32>) -> () }"))
    accepts(inner + middle + caller("call @h(%k) : (!pto.mask<b32>) -> ()"))


def test_an_unused_function_is_no_helper():
    text = running("func.func @h(%k: !pto.mask<b32>) {\n" + NOT + " return }")
    assert "pto.vecscope {\n      %q = pto.pnot" in text


# --- sections and kinds of core ---------------------------------------------------------------------------------------

VECTOR = f"pto.section.vector {{ pto.vecscope {{ {MASK} }} }}\n"
CUBE = "pto.section.cube { pto.barrier #pto.pipe<PIPE_M> }\n"


def test_sections():
    module = read(CUBE + VECTOR)
    (kernel,) = module.kernels
    assert kernel.kind == "mixed"
    assert list(kernel.entries) == [CoreKind.AIC, CoreKind.AIV]
    accepts(CUBE + VECTOR + VECTOR)
    accepts("scf.for %j = %i to %i step %i { " + CUBE + VECTOR + " }")


def test_sections_do_not_nest():
    _, found = errors("pto.vecscope { pto.section.vector { } }")
    assert found.message == "pto.section.vector must be outside 'pto.vecscope'"


def test_instructions_of_the_other_core():
    rejects(
        "pto.section.cube { ~scf.for %j = %i to %i step %i { } {llvm.loop.aivector_scope} }",
        "scf.for is for the vector core, but this is code of the cube core",
    )
    copy = "pto.mte_ub_gm %ub, %gm, %m nburst(%m, %m, %m) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
    rejects(
        "pto.section.cube { ~" + copy + " }", "pto.mte_ub_gm is for the vector core, but this is code of the cube core"
    )
    accepts("pto.section.vector { " + copy + " }")


def nested(vector: str, cube: str, outer: str = "") -> str:
    return f"""
module attributes {{pto.target_arch = "a5"{outer}}} {{
  module attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{ {vector} }}
  module attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{ {cube} }}
}}
"""


ENTRY = "func.func @k(%a: !pto.ptr<f32, gm>, %n: i32) attributes {pto.kernel} { return }"


def test_two_modules_are_one_kernel():
    module = read(nested(ENTRY, ENTRY))
    (kernel,) = module.kernels
    assert (kernel.name, kernel.kind) == ("k", "mixed")
    assert kernel.signature == (("a", "!pto.ptr<f32, gm>"), ("n", "i32"))
    assert kernel.entries[CoreKind.AIC] is not kernel.entries[CoreKind.AIV]
    accepts(nested(ENTRY, ENTRY))


def test_modules_of_different_kernels():
    module = read(nested(ENTRY, ENTRY.replace("@k", "@l")))
    assert [(kernel.name, kernel.kind) for kernel in module.kernels] == [("k", "vector"), ("l", "cube")]


def test_the_two_programs_of_a_kernel_agree():
    (found,) = errors(nested(ENTRY, ENTRY.replace("i32", "i64")))
    assert found.message == "@k has other parameters in another module: (!pto.ptr<f32, gm>, i32)"
    assert found.line == 4
    (found,) = errors(nested(ENTRY, ENTRY).replace("<cube>", "<vector>"))
    assert found.message == "@k is already defined for the vector core"
    assert found.line == 4


@pytest.mark.parametrize("written, target", [("a5", "a5"), ("a2", "a2a3"), ("a3", "a2a3"), ("a2a3", "a2a3")])
def test_targets(written: str, target: str):
    text = f'module attributes {{pto.target_arch = "{written}"}} {{ func.func @k() {{ return }} }}'
    assert read(text).target == target
    assert read(text, "a5").target == "a5"
    assert read("func.func @k() { return }").target == "a5"
    assert (
        read(f"module {{ {text.replace('{pto', '{pto.kernel_kind = #pto.kernel_kind<vector>, pto')} }}").target
        == target
    )
