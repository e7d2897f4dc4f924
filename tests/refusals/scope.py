"""What is refused of modules."""

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

RULES = [*MODULES_THAT_ARE_NOT]
