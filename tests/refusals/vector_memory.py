"""The rules of vector loads and stores, gathers and streams, one by one: a kernel that breaks each, and its twin."""

from refusals.rule import Rule, rules

_P = "!pto.ptr<f32, ub>"
_A = "!pto.align"
_UPDATED = "pto.{} requires updated base result to match base type !pto.ptr<f32, ub>, not !pto.ptr<i32, ub>"
_OTHER = "!pto.ptr<«i32|f32», ub>"


def mask(granularity: str, element: str, lanes: int, expected: str) -> str:
    """The message about a mask of another granularity."""
    vector = f"!pto.vreg<{lanes}x{element}>"
    return (
        f"mask type !pto.mask<{granularity}> does not match value vector type {vector}; expected !pto.mask<{expected}>"
    )


TYPES = rules(f"""
%x = pto.vlds %p_f32_ub[%s_index] : {_P} -> !pto.vreg<~«32|64»xf32>
  ⇒ [syntax] !pto.vreg<32xf32> is 128 bytes; a vector register is exactly 256 bytes
%x = pto.vlds %p_f32_ub[%s_index] : {_P} -> !pto.vreg<~«0|64»xf32>
  ⇒ [syntax] !pto.vreg<0xf32> is 0 bytes; a vector register is exactly 256 bytes
%x = pto.vlds %p_f32_ub[%s_index] : {_P} -> !pto.vreg<~32x«f64|i64»> ⇒ [syntax] a vector register cannot hold f64
%x = pto.pset_b32 "PAT_ALL" : !pto.mask<~«b64|b32»> ⇒ [syntax] unknown mask granularity 'b64'; known: b8, b16, b32
%x = pto.castptr %s_i64 : i64 -> !pto.ptr<~«index|f32», ub> ⇒ [syntax] a pointer cannot have element type index
%x = pto.castptr %s_i64 : i64 -> !pto.ptr<f32, ~«ubuf|ub»>
  ⇒ [syntax] unknown memory space 'ubuf'; known: gm, l1, mat, l0a, left, l0b, right, l0c, acc, ub, vec, bt, bias, fb,
    scaling
%x = pto.vlds %p_f32_ub[%s_index] : {_P} -> ~!pto.«vrag|vreg»<64xf32>
  ⇒ [syntax] unknown type '!pto.vrag'; did you mean '!pto.vreg'?
""")

LOADS = rules(f"""
%x = pto.vlds %p_f32_ub[%s_index] : {_P} -> ~«f32|V<f32>» ⇒ result must be a vector register, not f32
%x = pto.vlds %p_f32_ub «~|[%s_index] »: {_P} -> V<f32> ⇒ [syntax] Expected '[' before offset
%x = pto.vsldb %p_f32_ub, ~%s_«i16|i32», %b32 : {_P}, «i16|i32», M<b32> -> V<f32> ⇒ control must be i32, not i16
%x = pto.vsldb %p_f32_ub, %s_i16, %s_i16, %b32 : {_P}, i16, i16, M<b32> -> ~«f32|V<f32>»
  ⇒ result must be a vector register, not f32
%x, %n = pto.vsldb %p_f32_ub, %s_i16, %s_i16, %b32 : {_P}, i16, i16, M<b32> -> V<f32>, ~{_OTHER}
  ⇒ {_UPDATED.format("vsldb")}
""")

STRIDED = rules(f"""
%x = pto.vsld %p_f32_ub[%s_index], "STRIDE_S8_B32" : {_P} -> ~«f32|V<f32>» ⇒ result must be a vector register, not f32
pto.vsst ~%«s|v»_f32, %p_f32_ub[%s_index], "STRIDE_S8_B32" ⇒ value must be a vector register, not f32
""")
STORES = rules(f"""
pto.vsstb ~%«s|v»_f32, %p_f32_ub, %s_i16, %s_i16, %b32 ⇒ value must be a vector register, not f32
pto.vstsx2 ~%«s|v»_f32, %w_f32, %p_f32_ub[%s_index], "INTLV_B32", %b32 ⇒ low must be a vector register, not f32
pto.vsts ~%«s|v»_f32, %p_f32_ub[%s_index] ⇒ value must be a vector register, not f32
pto.vsstb %v_f32, %p_f32_ub, %s_i32, «%s_i32, %s_i32, ~|»%b32
  ⇒ [syntax] pto.vsstb takes 5 operands (value, dest, block_stride, repeat_stride, mask), not 6
%n = pto.vsstb %v_f32, %p_f32_ub, %s_i16, %s_i16, %b32 : V<f32>, {_P}, i16, i16, M<b32> -> ~{_OTHER}
  ⇒ {_UPDATED.format("vsstb")}
""")


def gather(source: str, offsets: str, granularity: str, result: str) -> str:
    """vgather2 of elements by offsets into lanes; the type list follows from the words."""
    types = f"!pto.ptr<{source}, ub>, V<{offsets}>, M<{granularity}> -> V<{result}>"
    return f"%x = pto.vgather2 %p_{source}_ub, %v_{offsets}, %{granularity} : {types}"


GATHERS = rules(
    f"""
pto.vscatter ~%«s|v»_f32, %p_f32_ub, %v_i32, %b32 ⇒ value must be a vector register, not f32
pto.vscatter %v_f32, ~%«s_i64|p_f32_ub», %v_i32, %b32 ⇒ dest must be a pointer, not i64
{gather("f32", "«si32|i32»", "b32", "f32").replace("%v", "~%v")}
  ⇒ offsets for elements of type f32 must be i32, ui32, not si32
{gather("i32", "i32", "b32", "«ui32|i32»").replace("pto.v", "~pto.v")}
  ⇒ result must have lanes of i32 or si32 for elements of type i32, not ui32
""",
    *(
        Rule(
            f"%x = pto.{name} %p_f32_ub, %v_i32, %b32 : {_P}, V<i32>, M<b32> -> ~«f32|V<f32>»",
            "result must be a vector register, not f32",
        )
        for name in ("vgather2", "vgather2_bc", "vgatherb")
    ),
)

_INIT = f"%a = pto.init_align : {_A}\n"
_VLDAS = f"%a = pto.vldas %p_f32_ub : {_P} -> {_A}\n"
_VLDUS = f"%x{{0}}, %a{{0}} = pto.vldus %p_f32_ub, {{1}} : {_P}, {_A} -> V<f32>, {_A}\n"
_VSTUS = f"%a{{0}} = pto.vstus {{1}}, %s_i32, %v_f32, %p_f32_ub : {_A}, i32, V<f32>, {_P} -> {_A}\n"
_FLUSH = "pto.vstas {}, %p_f32_ub, %s_i32\n"
_ROOT = "align must be produced by pto.{} or a prior {}-state operation"
_ONCE = "align is consumed more than once; each align value has one consumer"
_THREADED = "align is defined outside a loop and must be threaded through scf.for iter_args"
_LOOP = "scf.for %i = %s_index to %s_index step %s_index"

STREAMS = rules(
    f"""
%x = pto.uvld %p_f32_ub[%s_index] : {_P} -> ~«f32|V<f32>» ⇒ result must be a vector register, not f32
{_INIT}%b = pto.vstur %a, ~%«s|v»_f32, %p_f32_ub, "POST_UPDATE" : {_A}, «f32|V<f32>», {_P} -> {_A}
pto.vstar %b, %p_f32_ub
  ⇒ value must be a vector register, not f32
{_INIT}%b, %o = ~pto.vstu %a, %s_index, %v_f32, %p_f32_ub«|, "POST_UPDATE"» : {_A}, index, V<f32>, {_P} -> {_A}, index
pto.vsta %b, %p_f32_ub[%o]
  ⇒ expected mode: one of POST_UPDATE, NO_POST_UPDATE
""",
    Rule(f"«{_INIT}|{_VLDAS}»" + _VLDUS.format(1, "~%a"), _ROOT.format("vldas", "load")),
    Rule(f"«{_VLDAS}|{_INIT}»" + _VSTUS.format(1, "~%a") + _FLUSH.format("%a1"), _ROOT.format("init_align", "store")),
    Rule(f"«{_VLDAS}|{_INIT}»" + _FLUSH.format("~%a"), _ROOT.format("init_align", "store")),
    Rule(_VLDAS + _VLDUS.format(1, "%a") + _VLDUS.format(2, "~%«a|a1»"), _ONCE),
    f"""
{_INIT}{_VSTUS.format(1, "%a")}{_FLUSH.format("%a1")}«{_FLUSH.format("~%a1")}|» ⇒ {_ONCE}
«{_VLDAS}|»{_LOOP} {{
«|{_VLDAS}»{_VLDUS.format(1, "~%a")}}}
  ⇒ {_THREADED}
{_INIT}«|%c = »{_LOOP}« {{
| iter_args(%b = %a) -> ({_A}) {{
»%a1 = pto.vstus ~%«a|b», %s_i32, %v_f32, %p_f32_ub : {_A}, i32, V<f32>, {_P} -> {_A}
«|scf.yield %a1 : {_A}»
}}
«|pto.vstas %c, %p_f32_ub, %s_i32»
  ⇒ {_THREADED}
{_INIT}«|%c = »scf.while «|(%b = %a) »: («|{_A}») -> «()|{_A}» {{ scf.condition(%s_i1)«| %b : {_A}» }} do {{
«|^bb0(%d: {_A}):»
%a1 = pto.vstus ~%«a|d», %s_i32, %v_f32, %p_f32_ub : {_A}, i32, V<f32>, {_P} -> {_A}
scf.yield«| %a1 : {_A}»
}}
«|pto.vstas %c, %p_f32_ub, %s_i32»
  ⇒ {_THREADED}
{_INIT}%b = pto.init_align : {_A}
«%c = ~arith.select %s_i1, %a, %b : {_A}|»
  ⇒ arith.select does not select values of type !pto.align
func.func private @g(«{_A}|{_P}»)
func.func @f(%p: {_P}) {{
pto.vecscope {{
%a = pto.init_align : {_A}
call @g(~%«a|p») : («{_A}|{_P}») -> ()
}}
return }}
  ⇒ a stream begins and ends in one function
{_INIT}«%b = pto.init_align : {_A}|»
%c = scf.if %s_i1 -> {_A} {{ scf.yield %a : {_A} }} else {{ scf.yield %«b|a» : {_A} }}
{_FLUSH.format("~%c")}
  ⇒ align belongs to different streams in the two branches of an scf.if
{_VLDAS}%x, %b, %n = pto.vldus %p_f32_ub, %a, %s_index : {_P}, {_A}, index -> V<f32>, {_A}, ~{_OTHER}
  ⇒ {_UPDATED.format("vldus").replace("base type", "source type")}
{_VLDAS}%x, %b«|, %n» = pto.vldus %p_f32_ub, %a, ~%s_index : {_P}, {_A}, index -> V<f32>, {_A}«|, {_P}»
  ⇒ an increment needs a third result, the advanced pointer
{_VLDAS}%x, %b, %n = pto.vldus %p_f32_ub, %a, ~%s_«i32|index» : {_P}, {_A}, «i32|index» -> V<f32>, {_A}, {_P}
  ⇒ increment must be index, not i32
""",
    *(
        Rule(
            _INIT
            + f"%c = arith.constant {count} : i32\n"
            + f"%b = pto.vstus %a, ~%c, %v_{element}, %p_{element}_ub : {_A}, i32, V<{element}>, "
            + f"!pto.ptr<{element}, ub> -> {_A}\n"
            + _FLUSH.format("%b"),
            f"offset is {wrong}; it must be 0..{most}",
        )
        for element, count, wrong, most in [
            ("f32", "«65|64»", 65, 64),
            ("f32", "«-1|0»", -1, 64),
            ("f16", "«129|128»", 129, 128),
        ]
    ),
    f"""
{_VLDAS}%x, %b = pto.vldus %p_f32_ub, %a : {_P}, {_A} -> ~«f32|V<f32>», {_A} ⇒ result must be a vector register, not f32
{_INIT}%b, %o = pto.vstu %a, %s_index, %v_f32, %p_f32_ub, "POST_UPDATE" : {_A}, index, V<f32>, {_P} -> {_A},
    ~«i32|index»
  ⇒ the second result of this form is the next offset, an index, not i32
«{_VLDAS}|{_INIT}»pto.vsta ~%a, %p_f32_ub[%s_index] ⇒ {_ROOT.format("init_align", "store")}
«{_VLDAS}|{_INIT}»pto.vstar ~%a, %p_f32_ub ⇒ {_ROOT.format("init_align", "store")}
{_INIT}%n = pto.vstas %a, %p_f32_ub, %s_i32 : {_A}, {_P}, i32 -> ~{_OTHER} ⇒ {_UPDATED.format("vstas")}
""",
)


UNSPECIFIED = "pto.{} is an unspecified operation: no public text says which elements its stride selects"


def unspecified(rule: Rule) -> Rule:
    """Strided instructions are warned of in any case."""
    return rule._replace(noted=(UNSPECIFIED.format("vsld" if "vsld" in rule.text else "vsst"),))


RULES = [
    rule._replace(scope=True)
    for rule in (*TYPES, *LOADS, *STORES, *GATHERS, *STREAMS, *(unspecified(rule) for rule in STRIDED))
]
