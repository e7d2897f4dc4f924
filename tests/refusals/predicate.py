"""The rules of predicate registers, one by one: a kernel that breaks each, and its twin."""

from language.vector_kernel import rejects
from refusals.rule import Rule, rows, rules

_PATTERNS = (
    "PAT_ALL, PAT_VL1, PAT_VL2, PAT_VL3, PAT_VL4, PAT_VL8, PAT_VL16, PAT_VL32, PAT_VL64, PAT_VL128, PAT_M3, PAT_M4, "
    "PAT_H, PAT_Q, PAT_ALLF"
)
_P = "!pto.ptr<ui8, ub>"
_A = "!pto.align"
_INIT = f"%a = pto.init_align : {_A}\n"
_CONSTANT = "%c1 = arith.constant 1 : index\n"
_FLUSH = "\npto.vstas %b, %n, %s_i32"


def pstu(granularity: str, element: str, updated: str | None = None) -> str:
    pointer = f"!pto.ptr<{element}, ub>"
    types = f"{_A}, M<{granularity}>, {pointer} -> {_A}, {updated or pointer}"
    return f"{_INIT}%b, %n = pto.pstu %a, %{granularity}, %p_{element}_ub : {types}{_FLUSH}"


GENERATION = rules(
    f"""
%x = pto.pge_b16 ~«|"PAT_ALL" »: M<b16> ⇒ [syntax] expected pattern: one of {_PATTERNS}
%x«|, %y» = pto.plt_b8 %s_i32 : i32 -> M<b8>~«|, i32» ⇒ [syntax] pto.plt_b8 has 2 results, but the type list names 1
""",
)

ALGEBRA = rules(
    """
%x = pto.pand ~%«v_f32|b32», %b32, %b32 : «V<f32>|M<b32>», M<b32>, M<b32> -> M<b32>
  ⇒ lhs must be a mask, not !pto.vreg<64xf32>
%x = ~pto.ppack %b16, "LOWER" : M<b16> -> M<«b32|b16»>
  ⇒ pto.ppack keeps the granularity or changes it from b32 to b16, b16 to b8, not b16 to b32
""",
)

MEMORY = rules(
    f"""
pto.psts %b8, %p_ui8_ub[%s_index]«~|, "PK"» ⇒ [syntax] Expected ',' before dist
pto.psts ~%«v_f32|b32», %p_ui8_ub[%s_index], "NORM" ⇒ value must be a mask, not !pto.vreg<64xf32>
%x = pto.pldi %p_ui8_ub[~%«s_index|c1»], "NORM" : {_P}, index -> M<b8> ⇒ the offset of pto.pldi must be a constant
pto.psti %b8, %p_ui8_ub[~%«s_index|c1»], "PK" ⇒ the offset of pto.psti must be a constant
%n = pto.psti %b8, %p_ui8_ub[%c1], "NORM" : M<b8>, {_P}, index -> ~!pto.ptr<«i8|ui8», ub>
  ⇒ pto.psti requires updated base result to match base type {_P}, not !pto.ptr<i8, ub>
""",
    Rule(
        pstu("b32", "ui32")
        .replace(_INIT, f"«%a = pto.vldas %p_ui32_ub : !pto.ptr<ui32, ub> -> {_A}\n|{_INIT}»")
        .replace("pto.pstu %a", "pto.pstu ~%a"),
        "align must be produced by pto.init_align or a prior store-state operation",
    ),
)


PSTU_GOES_ON_FROM_A_STORE_STREAM = rows(rejects)("""
%a1, %n = pto.pstu ^%b32, %b32, %p_ui32_ub : M<b32>, M<b32>, !pto.ptr<ui32, ub> -> !pto.align, !pto.ptr<ui32, ub>
  ⇒ align must be !pto.align, not !pto.mask<b32>
""")

RULES = [
    *(rule._replace(text=_CONSTANT + rule.text, scope=True) for rule in (*GENERATION, *ALGEBRA, *MEMORY)),
    *PSTU_GOES_ON_FROM_A_STORE_STREAM,
]
