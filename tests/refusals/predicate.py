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
    *(
        Rule(
            f'%x = pto.{name}_{suffix} "PAT_ALL" : ~M<«{other}|{suffix}»>',
            f"result of pto.{name}_{suffix} must be !pto.mask<{suffix}>, not !pto.mask<{other}>",
        )
        for name in ("pset", "pge")
        for suffix, other in (("b8", "b16"), ("b16", "b32"), ("b32", "b8"))
    ),
    f"""
%x = pto.pset_b32 ~"«PAT_VL12|PAT_VL8»" : M<b32> ⇒ [syntax] unknown pattern 'PAT_VL12'; known: {_PATTERNS}
%x = pto.pge_b16 ~"«ALL|PAT_ALL»" : M<b16> ⇒ [syntax] unknown pattern 'ALL'; known: {_PATTERNS}
%x = pto.pge_b16 ~«|"PAT_ALL" »: M<b16> ⇒ [syntax] expected pattern: one of {_PATTERNS}
%x, %y = pto.plt_b32 ~%s_«i64|i32» : «i64|i32» -> M<b32>, «i64|i32» ⇒ count must be a 32-bit integer, not i64
%n = arith.constant «-1|1» : i32
%x, %y = pto.plt_b8 ~%n : i32 -> M<b8>, i32
  ⇒ [lint warning] count is -1, which is read without sign: every lane is active
%x, %y = pto.plt_b16 %s_i32 : i32 -> M<b16>, ~«i64|i32» ⇒ the second result must have the type of count, i32, not i64
%x, %y = pto.plt_b8 %s_i32 : i32 -> ~M<«b32|b8»>, i32 ⇒ result of pto.plt_b8 must be !pto.mask<b8>, not !pto.mask<b32>
%x«|, %y» = pto.plt_b8 %s_i32 : i32 -> M<b8>~«|, i32» ⇒ [syntax] pto.plt_b8 has 2 results, but the type list names 1
%x = pto.pltm_b32 ~%s_«i32|i16», %s_i32 : «i32|i16», i32 -> M<b32> ⇒ loop must be i16, not i32
%x = pto.pltm_b32 %s_i16, ~%s_«i64|i32» : i16, «i64|i32» -> M<b32> ⇒ bound must be i32, not i64
%x = pto.pltm_b16 %s_i16, %s_i32 : i16, i32 -> ~M<«b32|b16»>
  ⇒ result of pto.pltm_b16 must be !pto.mask<b16>, not !pto.mask<b32>
""",
)

ALGEBRA = rules(
    *(
        Rule(
            f"%x = pto.{name} %b32, ~%«b16|b32», %b32 : M<b32>, M<«b16|b32»>, M<b32> -> M<b32>",
            "rhs has type !pto.mask<b16>, but lhs has type !pto.mask<b32>",
        )
        for name in ("pand", "por", "pxor", "psel")
    ),
    """
%x = pto.pnot %b32, ~%«b8|b32» : M<b32>, M<«b8|b32»> -> M<b32>
  ⇒ mask has type !pto.mask<b8>, but input has type !pto.mask<b32>
%x = pto.pnot %b32, %b32_in : M<b32>, M<b32> -> ~M<«b16|b32»>
  ⇒ result has type !pto.mask<b16>, but input has type !pto.mask<b32>
%x = pto.psel %b16, %b16_in, ~%«b32|b16» : M<b16>, M<b16>, M<«b32|b16»> -> M<b16>
  ⇒ select has type !pto.mask<b32>, but lhs has type !pto.mask<b16>
%x = pto.pand ~%«v_f32|b32», %b32, %b32 : «V<f32>|M<b32>», M<b32>, M<b32> -> M<b32>
  ⇒ lhs must be a mask, not !pto.vreg<64xf32>
%x, %y = pto.pintlv_b16 %b16, ~%«b32|b16» : M<b16>, M<«b32|b16»> -> M<b16>, M<b16>
  ⇒ rhs of pto.pintlv_b16 must be !pto.mask<b16>, not !pto.mask<b32>
%x, %y = pto.pdintlv_b8 %b8, %b8 : M<b8>, M<b8> -> M<b8>, ~M<«b16|b8»>
  ⇒ high of pto.pdintlv_b8 must be !pto.mask<b8>, not !pto.mask<b16>
%x = ~pto.ppack %b32, "LOWER" : M<b32> -> M<«b8|b16»>
  ⇒ pto.ppack keeps the granularity or changes it from b32 to b16, b16 to b8, not b32 to b8
%x = ~pto.ppack %b16, "LOWER" : M<b16> -> M<«b32|b16»>
  ⇒ pto.ppack keeps the granularity or changes it from b32 to b16, b16 to b8, not b16 to b32
%x = ~pto.punpack %b8, "HIGHER" : M<b8> -> M<«b32|b16»>
  ⇒ pto.punpack keeps the granularity or changes it from b16 to b32, b8 to b16, not b8 to b32
%x = pto.punpack %b8, ~"«UPPER|HIGHER»" : M<b8> -> M<b16> ⇒ [syntax] unknown part 'UPPER'; known: LOWER, HIGHER
""",
    *(
        Rule(
            f"%x = pto.{name} %b32, %b32, ~%«b8|b32» : M<b32>, M<b32>, M<«b8|b32»> -> M<b32>",
            "mask has type !pto.mask<b8>, but lhs has type !pto.mask<b32>",
        )
        for name in ("pand", "por", "pxor")
    ),
    """
%x = pto.pand %b16, %b16, %b16 : M<b16>, M<b16>, M<b16> -> ~M<«b32|b16»>
  ⇒ result has type !pto.mask<b32>, but lhs has type !pto.mask<b16>
%x, %y = pto.pdintlv_b32 ~%«b16|b32», %b32 : M<«b16|b32»>, M<b32> -> M<b32>, M<b32>
  ⇒ lhs of pto.pdintlv_b32 must be !pto.mask<b32>, not !pto.mask<b16>
%x = pto.pbitcast ~%«v_i32|b32» : «V<i32>|M<b32>» -> M<b16> ⇒ input must be a mask, not ...
%x = pto.ppack %b32, "LOWER" : M<b32> -> ~«i32|M<b16>» ⇒ result must be a mask, not i32
%x = pto.pnot ~%«v_i32|b32», %b32 : «V<i32>|M<b32>», M<b32> -> M<b32> ⇒ input must be a mask, not ...
%x = pto.pbitcast %b8 : M<b8> -> ~«i32|M<b32>» ⇒ result must be a mask, not i32
""",
)

MEMORY = rules(
    f"""
%x = pto.plds %p_ui8_ub[%s_index], ~"«PK|US»" : {_P}, index -> M<b8> ⇒ [syntax] unknown dist 'PK'; known: NORM, US, DS
pto.psts %b8, %p_ui8_ub[%s_index], ~"«DS|PK»" ⇒ [syntax] unknown dist 'DS'; known: NORM, PK
pto.psts %b8, %p_ui8_ub[%s_index]«~|, "PK"» ⇒ [syntax] Expected ',' before dist
%x = pto.plds %p_ui8_ub[~%s_«i32|index»], "NORM" : {_P}, «i32|index» -> M<b8> ⇒ offset must be index, not i32
pto.psts %b8, %p_ui8_ub[~%s_«i64|index»], "NORM" ⇒ offset must be index, not i64
%x = pto.plds ~%p_ui8_«gm|ub»[%s_index], "NORM" : !pto.ptr<ui8, «gm|ub»>, index -> M<b8>
  ⇒ source must point to ub, not gm
pto.psti %b8, ~%p_ui8_«gm|ub»[%c1], "NORM" ⇒ dest must point to ub, not gm
pto.psts ~%«v_f32|b32», %p_ui8_ub[%s_index], "NORM" ⇒ value must be a mask, not !pto.vreg<64xf32>
%x = pto.plds %p_ui8_ub[%s_index], "NORM" : {_P}, index -> ~«i32|M<b8>» ⇒ result must be a mask, not i32
%x = pto.pldi %p_ui8_ub[~%«s_index|c1»], "NORM" : {_P}, index -> M<b8> ⇒ the offset of pto.pldi must be a constant
pto.psti %b8, %p_ui8_ub[~%«s_index|c1»], "PK" ⇒ the offset of pto.psti must be a constant
%x, %n = pto.plds %p_ui8_ub[%s_index], "NORM" : {_P}, index -> M<b8>, ~!pto.ptr<«i8|ui8», ub>
  ⇒ pto.plds requires updated base result to match base type {_P}, not !pto.ptr<i8, ub>
%n = pto.psti %b8, %p_ui8_ub[%c1], "NORM" : M<b8>, {_P}, index -> ~!pto.ptr<«i8|ui8», ub>
  ⇒ pto.psti requires updated base result to match base type {_P}, not !pto.ptr<i8, ub>
{pstu("b32", "«si32|ui32»").replace("%p", "~%p")} ⇒ dest of a !pto.mask<b32> must point to ui32 or i32, not si32
{pstu("b16", "«ui32|i16»").replace("%p", "~%p")} ⇒ dest of a !pto.mask<b16> must point to ui16 or i16, not ui32
{_INIT}%b, %n = pto.pstu %a, ~%«s_i32|b32», %p_ui32_ub : {_A}, «i32|M<b32>», !pto.ptr<ui32, ub> -> {_A}, !pto.ptr<ui32,
    ub>{_FLUSH}
  ⇒ value must be a mask, not i32
{pstu("«b8|b16»", "ui16").replace("%«", "~%«")} ⇒ pto.pstu takes masks of b16 and b32 lanes, not b8
{pstu("b32", "ui32", "~!pto.ptr<«i32|ui32», ub>")}
  ⇒ pto.pstu requires updated base result to match base type !pto.ptr<ui32, ub>, not !pto.ptr<i32, ub>
""",
    Rule(
        pstu("b32", "ui32")
        .replace(_INIT, f"«%a = pto.vldas %p_ui32_ub : !pto.ptr<ui32, ub> -> {_A}\n|{_INIT}»")
        .replace("pto.pstu %a", "pto.pstu ~%a"),
        "align must be produced by pto.init_align or a prior store-state operation",
    ),
)


THE_OFFSET_OF_A_MASK_IS_AN_INDEX = rows(rejects)("""
%c = arith.constant 8 : index
pto.psts %b16, %p_ui8_ub[^%s_i32], "NORM" : M<b16>, !pto.ptr<ui8, ub>, i32
  ⇒ offset must be index, not i32
""")

PSTU_REJECTS_OTHER_TYPES = rows(rejects)("""
%a0 = pto.init_align : !pto.align
%a1, %n = pto.pstu %a0, %b32, ^%p_ui32_gm : !pto.align, M<b32>, !pto.ptr<ui32, gm> -> !pto.align, !pto.ptr<ui32, gm>
  ⇒ dest must point to ub, not gm
%a0 = pto.init_align : !pto.align
%a1, %n = pto.pstu %a0, %b32, %p_ui32_ub : !pto.align, M<b32>, !pto.ptr<ui32, ub> -> ^i32, !pto.ptr<ui32, ub>
  ⇒ align_out must be !pto.align, not i32
""")

PSTU_GOES_ON_FROM_A_STORE_STREAM = rows(rejects)("""
%a1, %n = pto.pstu ^%b32, %b32, %p_ui32_ub : M<b32>, M<b32>, !pto.ptr<ui32, ub> -> !pto.align, !pto.ptr<ui32, ub>
  ⇒ align must be !pto.align, not !pto.mask<b32>
""")

RULES = [
    *(rule._replace(text=_CONSTANT + rule.text, scope=True) for rule in (*GENERATION, *ALGEBRA, *MEMORY)),
    *THE_OFFSET_OF_A_MASK_IS_AN_INDEX,
    *PSTU_REJECTS_OTHER_TYPES,
    *PSTU_GOES_ON_FROM_A_STORE_STREAM,
]
