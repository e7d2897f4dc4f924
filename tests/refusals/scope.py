"""What is refused of modules and of vector scopes."""

from language.source import rejects
from refusals.rule import rows

MODULES_THAT_ARE_NOT = rows(
    rejects,
    (
        "module { ~module { func.func @k() { return } }"
        " module attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { func.func @k() { return } } }",
        "expected VPTO kernel submodule to carry 'pto.kernel_kind'",
    ),
    (
        "module attributes {pto.kernel_kind = ~#pto.kernel_kind<tensor>} { func.func @k() { return } }",
        "unknown kernel kind 'tensor'; a kernel is vector or cube",
    ),
    (
        'module attributes {pto.target_arch = ~"a7"} { func.func @k() { return } }',
        "unknown target 'a7'; known: a5, a2, a3, a2a3",
    ),
    (
        "module attributes {pto.kernel_kind = #pto.kernel_kind<cube>} { func.func @k() { ~pto.vecscope { }\nreturn } }",
        "pto.vecscope is for the vector core, but this is code of the cube core",
    ),
)

SCOPES_THAT_ARE_NOT = rows(
    rejects,
    (
        "func.func @f(~%q: !pto.mask<G>) { return }",
        "the type cannot be worked out: its uses do not say enough; write !pto.mask<b8|b16|b32>",
    ),
    ("~pto.strict_vecscope(%f) { } : (f32) -> ()", "1 values are passed, but the body receives 0"),
    (
        "pto.strict_vecscope(~%f) { ^bb0(%x: i32): } : (f32) -> ()",
        "the body receives value 0 as i32, but f32 is passed",
    ),
    (
        "pto.strict_vecscope(%f) { ^bb0(%x: f32): } : (~i32) -> ()",
        "arguments[0] has type f32, but the type list says i32",
    ),
    ("~pto.vecscope { ^bb0(%x: i32): }", "the body of pto.vecscope has no arguments; it sees the values around it"),
)

TEXTS_THAT_ARE_NOT = rows(
    rejects,
    ("module {\nfunc.func @f() {\nreturn~\n", "expected '}': the text ends inside a region"),
    ("pto.strict_vecscope() { } : () -> (~i32)", "Expected ')': a vector scope has no results"),
    (
        "pto.section.vector { %x = arith.negf %f : f32 }\n%y = arith.negf ~%x : f32",
        "%x is not defined here: the region that defines it, in line 3, has ended",
    ),
    kind="syntax",
)

RULES = [*MODULES_THAT_ARE_NOT, *SCOPES_THAT_ARE_NOT, *TEXTS_THAT_ARE_NOT]
