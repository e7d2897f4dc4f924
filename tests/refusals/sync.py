"""The rules of synchronisation, one by one: a kernel that breaks each, and its twin."""

from collections.abc import Iterator

from language.scalar_kernel import rejects
from refusals.rule import Rule, rows, rules

_EVENTS = ", ".join(f"EVENT_ID{number}" for number in range(8))
_PIPES = "PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX"
_SEMAPHORE_PIPES = "PIPE_FIX, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_V"


def on(kind: str, instruction: str) -> str:
    attribute = f"attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
    return f"module {attribute} {{\n  func.func @kernel() {{\n    {instruction}\n    return\n  }}\n}}\n"


FLAGS = rules(
    f"""
pto.set_flag["PIPE_V", "PIPE_MTE3", ~«0|"EVENT_ID0"»] ⇒ [syntax] expected event: one of {_EVENTS}
pto.set_flag ~«"PIPE_V"|["PIPE_V"», "PIPE_MTE3", "EVENT_ID0"«|]» ⇒ [syntax] Expected '[' before source
pto.record_event[<TLOAD>, ~<«TMOV|TVEC»>, <EVENT_ID0>]
  ⇒ [syntax] unknown destination 'TMOV'; known: {_PIPES}, TLOAD, ...
pto.wait_event[<TVEC>, ~<«TMOV_M2V|TLOAD»>, <EVENT_ID0>] ⇒ pto.wait_event joins PIPE_V with itself
""",
    Rule(
        on("vector", 'pto.set_flag[~"«PIPE_M|PIPE_MTE2»", "PIPE_S", "EVENT_ID0"]'),
        "the aiv core has no pipe M; it has S, MTE2, V, MTE3",
        "wrong-pipe",
    ),
    Rule(
        on("cube", 'pto.wait_flag["PIPE_MTE2", ~"«PIPE_V|PIPE_MTE1»", "EVENT_ID0"]'),
        "the aic core has no pipe V; it has S, MTE2, MTE1, M, FIX",
        "wrong-pipe",
    ),
)

BARRIERS = rules(
    Rule(
        on("cube", "pto.barrier ~#pto.pipe<«PIPE_V|PIPE_FIX»>"),
        "the aic core has no pipe V; it has S, MTE2, MTE1, M, FIX",
        "wrong-pipe",
    ),
    Rule(
        on("vector", "pto.barrier_sync[~<«TMATMUL|TLOAD»>]"),
        "the aiv core has no pipe M; it has S, MTE2, V, MTE3",
        "wrong-pipe",
    ),
    f"""
pto.barrier_sync[~<«TVECTOR|TLOAD»>] ⇒ [syntax] unknown pipe 'TVECTOR'; known: {_PIPES}, PIPE_ALL, TLOAD, ...
""",
)

BUFFERS = rules(
    """
~"pto.get_buf"() {pipe = "PIPE_V"«|, id_literal = 1 : i64»} : () -> () ⇒ pto.get_buf needs a buffer id
~"pto.get_buf"() {pipe = "PIPE_V", id_literal = «"one"|1 : i64»} : () -> () ⇒ id must be an integer, not "one"
""",
    Rule(
        on("cube", 'pto.get_buf ~"«PIPE_V|PIPE_MTE1»", 0'),
        "the aic core has no pipe V; it has S, MTE2, MTE1, M, FIX",
        "wrong-pipe",
    ),
    """
pto.get_buf %s_i64~«[%s_index]|», "PIPE_V" ⇒ [syntax] Expected ','
""",
)

SEMAPHORES = rules(
    f"""
pto.set_intra_block ~«%s_i64|<PIPE_V>», %s_i64
  ⇒ [lint warning] the first operand names no pipe and is ignored: the signal concerns all pipes of this core
~"pto.sync.set"() {{pipe = "PIPE_V"«|, id_literal = 1 : i64»}} : () -> () ⇒ pto.sync.set needs a semaphore id
pto.sync.set ~<«PIPE_M|PIPE_FIX»>, 0 ⇒ [wrong-pipe] pto.sync.set takes {_SEMAPHORE_PIPES}, not PIPE_M
pto.wait_intra_block ~<«PIPE_S|PIPE_V»>, 0 ⇒ [wrong-pipe] pto.wait_intra_block takes {_SEMAPHORE_PIPES}, not PIPE_S
pto.set_cross_block ~<«PIPE_ALL|PIPE_V»>, 0 ⇒ [wrong-pipe] pto.set_cross_block takes {_SEMAPHORE_PIPES}, not PIPE_ALL
pto.sync.set <PIPE_FIX>, ~«18446744073709551616|15» ⇒ [syntax] 18446744073709551616 does not fit into 64 bits
pto.sync.set <PIPE_FIX>, ~«-9223372036854775809|15» ⇒ [syntax] -9223372036854775809 does not fit into 64 bits
pto.set_intra_block <PIPE_V>~«|, 0» ⇒ [syntax] Expected ',' before the semaphore id
pto.sync.set <PIPE_V>, 0 {{ffts_mode = ~«3|2» : i32}} ⇒ ffts_mode of pto.sync.set must be 0, 1, 2, not 3 : i32
pto.wait_cross_block <PIPE_V>, 0 {{ffts_mode = ~«1|0» : i32}} ⇒ ffts_mode of pto.wait_cross_block must be 0, not 1 : i32
~pto.set_«cross_core|intra_block» <PIPE_V>, 0 ⇒ [wrong-target a5] pto.set_cross_core does not exist on a5
""",
    Rule(
        "~pto.«wait_intra_core|wait_flag_dev» <PIPE_V>, 0",
        "pto.wait_intra_core does not exist on a2a3",
        "wrong-target",
        "a3",
    ),
    """
pto.syncall(~%p_i32_«ub|gm») mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>
  ⇒ workspace must point to gm, not ub
pto.syncall(~%p_«f32|i32»_gm) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>
  ⇒ workspace must point to i32, not f32
""",
)

FENCES = rules("""
pto.cmo.cacheinvalid all ~#pto.address_space<«ub|gm»> ⇒ memory must be gm, not ub
""")


A5 = 'module attributes {pto.target_arch = "«a3|a5»"} {\nfunc.func @f() {\n~pto.get_buf "PIPE_V", 0\nreturn\n}\n}'
TARGETS = rules(f"""
{A5} ⇒ [wrong-target warning] pto.get_buf exists on a5 only
""")

MEMORY_BARRIERS = rules("""
func.func @f() {
«~pto.mem_bar "VST_VLD"|pto.vecscope { pto.mem_bar "VST_VLD" }»
return
}
  ⇒ [lint warning] pto.mem_bar has no effect outside a vector scope
""")

OUTSIDE = (
    'set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
    'wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]',
    'set_flag_dyn["PIPE_MTE2", "PIPE_V", %i]',
    'wait_flag_dyn["PIPE_MTE2", "PIPE_V", %i]',
    "record_event[<TLOAD>, <TVEC>, <EVENT_ID0>]",
    "wait_event[<TLOAD>, <TVEC>, <EVENT_ID0>]",
    "barrier_sync[<TLOAD>]",
    'pipe_barrier "PIPE_V"',
    "barrier <PIPE_V>",
    'get_buf "PIPE_V", 0',
    'rls_buf "PIPE_V", 0',
    'get_buf_dyn "PIPE_V", %i',
    'rls_buf_dyn "PIPE_V", %i',
    "sync.set <PIPE_V>, 0",
    "sync.wait <PIPE_V>, 0",
    "set_intra_block <PIPE_V>, 0",
    "wait_intra_block <PIPE_V>, 0",
    "wait_intra_core <PIPE_V>, 0",
    "set_cross_block <PIPE_V>, 0",
    "wait_cross_block <PIPE_V>, 0",
    "syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv>",
    'dsb "ALL"',
    'dcci %p "ENTIRE_DATA_CACHE"',
    "cmo.cacheinvalid all <gm>",
    "fence.barrier_all <all>",
)


def outside(instruction: str) -> Iterator[Rule]:
    """It stands outside every kind of scope."""
    name = instruction.partition(" ")[0].partition("[")[0].partition("(")[0]
    pointer = "!pto.ptr<i32, gm>"
    values = f"%i: index, %p: {pointer}"
    strict = f"pto.strict_vecscope(%j, %q) {{ ^bb0({values}):"
    for scope, arguments, begin, end in (
        ("pto.vecscope", values, "pto.vecscope {", "}"),
        ("scf.for", values, "scf.for %j = %i to %i step %i {", "} {llvm.loop.aivector_scope}"),
        ("pto.strict_vecscope", f"%j: index, %q: {pointer}", strict, f"}} : (index, {pointer}) -> ()"),
    ):
        text = f"func.func @f(«{arguments}|{values}») {{\n«{begin}|»\n~pto.{instruction}\n«{end}|»\nreturn\n}}"
        yield Rule(text, f"pto.{name} must be outside '{scope}'")


A_SET_NEEDS_A_PIPE_OR_A_CORE = rows(rejects, kind="syntax", target="a2a3")("""
pto.set_cross_core %s_i64 ^: i64 ⇒ Expected ',' before the semaphore id
""")

THE_GENERIC_FORM_NEEDS_AN_ID = rows(rejects)("""
^"pto.get_buf"() {pipe = "PIPE_V"} : () -> () ⇒ pto.get_buf needs a buffer id
^"pto.sync.set"() {pipe = "PIPE_V"} : () -> () ⇒ pto.sync.set needs a semaphore id
^"pto.get_buf"() {pipe = "PIPE_V", id_literal = "one"} : () -> () ⇒ id must be an integer, not "one"
""")

RULES = [
    *A_SET_NEEDS_A_PIPE_OR_A_CORE,
    *THE_GENERIC_FORM_NEEDS_AN_ID,
    *(*FLAGS, *BARRIERS, *BUFFERS, *SEMAPHORES, *FENCES, *TARGETS, *MEMORY_BARRIERS),
    *(rule for instruction in OUTSIDE for rule in outside(instruction)),
]
