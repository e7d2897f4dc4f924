"""What is refused of what a simulation prints."""

from language.vector_kernel import rejects, rejects_module
from refusals.rule import rows

PRINT = "pto.sim.print_tile %p_f32_gm shape (%s_index, %s_index) valid (%s_index, %s_index) strides"

PRINT_TILE_IS_REJECTED = rows(rejects, scope=False)(f"""
{PRINT} (%s_index, ^%s_i32) ⇒ column_stride must be index, not i32
{PRINT} (%s_index, %s_index) {{box = ^array<i64: 16, 16>}} ⇒ a box needs two strides from box to box, and they a box
{PRINT} (%s_index, %s_index, %s_index, %s_index) {{box = ^array<i64: 16>}}
  ⇒ a box is two positive integers: its rows and columns
{PRINT} (%s_index, %s_index, %s_index, %s_index) {{box = ^array<i64: 16, 0>}}
  ⇒ a box is two positive integers: its rows and columns
{PRINT.replace("%p_f32_gm", "^%s_i32")} (%s_index, %s_index) ⇒ base must be a pointer, not i32
""")

MESSAGES_THAT_ARE_NOT = rows(rejects, scope=False)("""
^pto.sim.require %s_i1 {kind = "invalid"} ⇒ message must be a text
""")

_SIZES = "%s_index of %s_index on %s_index"

INSTRUCTIONS_ARE_REJECTED = rows(rejects, target="a2a3")(f"""
pto.sim.instructions {_SIZES} {{instruction = ^"vfoo", width = 4}} ⇒ no instruction 'vfoo'
pto.sim.instructions {_SIZES} {{instruction = "vadd", width = ^3}}
  ⇒ width is the bytes of an element, 1, 2, 4 or 8, not 3
scf.for %i = %s_index to %s_index step %s_index {{ ^pto.sim.instructions {_SIZES} {{instruction = "vadd", width = 4}} }}
  ⇒ belongs directly in a vector scope
""")

REQUIRE_IS_REJECTED = rows(rejects, scope=False)("""
pto.sim.require ^%s_i32 {kind = "invalid", message = ""} ⇒ condition must be i1, not i32
pto.sim.require %s_i1 {kind = "invalid", message = ^5 : i32} ⇒ message must be a text
pto.sim.require %s_i1, ^%s_f32 {kind = "invalid", message = "{}"} ⇒ a message shows integers, not f32
pto.sim.require %s_i1, %s_i32, %s_i32, ^%s_i32 {kind = "invalid", message = "{}{}{}"} ⇒ a message shows at most 2 values
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^""} ⇒ the message must have one {} for each value: 1 of them
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^"{} {}"}
  ⇒ the message must have one {} for each value: 1 of them
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^"{0}"}
  ⇒ the message must have one {} for each value: 1 of them
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^"{x}"}
  ⇒ the message must have one {} for each value: 1 of them
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^"{"}
  ⇒ the message must have one {} for each value: 1 of them
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^"{:d}"}
  ⇒ the message must have one {} for each value: 1 of them
pto.sim.require %s_i1, %s_i32 {kind = "invalid", message = ^"{!r}"}
  ⇒ the message must have one {} for each value: 1 of them
""")

A_KIND_MUST_EXIST = rows(rejects, kind="syntax", scope=False)("""
pto.sim.require %s_i1 {kind = ^"strange", message = ""} ⇒ unknown kind 'strange'; known: race, ...
""")

THE_ELEMENTS_ARE_AS_WIDE_AS_THOSE_OF_THE_TABLE = rows(rejects_module)(
    (
        "module {\n"
        "func.func @kernel(%table: !pto.ptr<f32, gm>, %idx: !pto.ptr<i32, ub>, %ub: !pto.ptr<i8, ub>, %cap: "
        "index, %pitch: index, %rows: index, %c0: index, %c1: index, %c64: index) {\n"
        "pto.sim.gather %table[%cap, %pitch] by %idx[%c1, %c0] at ^%ub[%c64, %c0, %c1] shape (%rows, %c1, %c64) "
        '{beyond = "zero"}\n      : !pto.ptr<f32, gm>, !pto.ptr<i32, ub>, !pto.ptr<i8, ub>\nreturn\n}\n}',
        "base must have elements of 4 bytes, not 1",
    )
)

INDICES_HAVE_FOUR_BYTES = rows(rejects_module)(
    (
        "module {\n"
        "func.func @kernel(%table: !pto.ptr<f32, gm>, %idx: !pto.ptr<i16, ub>, %ub: !pto.ptr<f32, ub>, %cap: "
        "index, %pitch: index, %rows: index, %c0: index, %c1: index, %c64: index) {\n"
        "pto.sim.gather_mte2 %table[%cap, %pitch] by ^%idx[%c1, %c0] at %ub[%c64, %c0, %c1] shape (%rows, %c1, "
        '%c64) {beyond = "zero"}\n      : !pto.ptr<f32, gm>, !pto.ptr<i16, ub>, !pto.ptr<f32, ub>\nreturn\n}\n}',
        "indices must have elements of 4 bytes, not 2",
    )
)

CUBE = """module attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
func.func @kernel(%words: !pto.ptr<i64, l1>, %bytes: !pto.ptr<i8, l1>, %fb: !pto.ptr<f32, fb>, %c: !pto.ptr<f32, l0c>,
    %row: !pto.ptr<i32, bt>, %n: i64) {{
{}
return
}}
}}
"""
WORDS = "pto.sim.scale_words ^%{}, %fb, %n : !pto.ptr<{}, l1>, !pto.ptr<f32, fb>, i64"

THE_CUBE_CORE = rows(lambda line, message: rejects_module(CUBE.format(line), message))(f"""
{WORDS.format("words", "i64")} ⇒ scales are f16, bf16 or f32, not i64
{WORDS.format("bytes", "i8")} ⇒ scales are f16, bf16 or f32, not i8
pto.sim.start_acc %c, %n, %n, ^%row : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<i32, bt>
  ⇒ the bias is i32, but the accumulator is f32
""")

SIGNAL = """module {{
func.func @kernel(%p: !pto.ptr<i32, gm>, %q: !pto.ptr<f32, gm>, %v: i32, %w: i64, %s: index) {{
{}
return
}}
}}
"""

SIGNALS_GROUPS_AND_TRANSFERS = rows(lambda line, message: rejects_module(SIGNAL.format(line), message))("""
pto.sim.notify ^%q, %v {op = "set"} : !pto.ptr<f32, gm>, i32 ⇒ a signal is a word of i32, not f32
pto.sim.notify %p, ^%w {op = "set"} : !pto.ptr<i32, gm>, i64 ⇒ value must be i32, not i64
pto.sim.wait_words %p, %v {cmp = "ge", shape = ^array<i64: 2>} : !pto.ptr<i32, gm>, i32 ⇒ 1 sizes, but 0 strides
pto.sim.wait_words %p, %v, %s {cmp = "ge", shape = ^array<i64: 0>} : !pto.ptr<i32, gm>, i32 ⇒ sizes are positive
pto.sim.wait_words %p, %v, ^%w {cmp = "ge", shape = array<i64: 2>} : !pto.ptr<i32, gm>, i32
  ⇒ strides are of type index, not i64
%a = pto.sim.test_words %p, %v {cmp = "ge"} : !pto.ptr<i32, gm>, i32 -> ^i32 ⇒ pto.sim.test_words gives i1, not i32
pto.sim.group %p, %p, ^%v {root = 0 : i32, bytes = 4 : i64} ⇒ members are pointers to gm, not i32
pto.sim.group %p, %p {root = ^1 : i32, bytes = 4 : i64} ⇒ root must be one of the 1 members
%e = pto.sim.transfer %p, ^%q, %w {session = 0 : i64} : !pto.ptr<i32>, !pto.ptr<f32>, i64 -> i64
  ⇒ dst points to i32, but src to f32
%e = pto.sim.transfer %p, %p, ^%v {session = 0 : i64} : !pto.ptr<i32>, !pto.ptr<i32>, i32 -> i64
  ⇒ bytes must be i64, not i32
%e = pto.sim.transfer %p, %p, %w {session = ^-1 : i64} : !pto.ptr<i32>, !pto.ptr<i32>, i64 -> i64
  ⇒ sessions are numbered from 0
^pto.sim.apart %p, %p, %s, %s {bytes = 4 : i64} ⇒ sizes, strides of dst and strides of src are equally many
pto.sim.apart %p, %p, ^%v, %s, %s {bytes = 4 : i64} ⇒ sizes and strides are of type index, not i32
pto.sim.apart %p, %p, %s, %s, %s {bytes = ^0 : i64} ⇒ an element has at least one byte
pto.sim.wait_transfers ^%v {session = 0 : i64} ⇒ event must be i64, not i32
%a = pto.sim.register {field = "pad"} : ^f32 ⇒ a register holds an integer, not f32
""")

FIELDS_THAT_ARE_NOT = rows(rejects, scope=False, kind="syntax")("""
%a = pto.sim.register {field = ^"other"} : i64 ⇒ unknown field 'other'; known: outtoub_loop1_size, ...
""")

RULES = [
    *THE_CUBE_CORE,
    *SIGNALS_GROUPS_AND_TRANSFERS,
    *FIELDS_THAT_ARE_NOT,
    *REQUIRE_IS_REJECTED,
    *A_KIND_MUST_EXIST,
    *THE_ELEMENTS_ARE_AS_WIDE_AS_THOSE_OF_THE_TABLE,
    *INDICES_HAVE_FOUR_BYTES,
    *PRINT_TILE_IS_REJECTED,
    *MESSAGES_THAT_ARE_NOT,
]

LOOKUP_IS_REJECTED = rows(rejects, scope=False)("""
%n = pto.sim.lookup %s_index {values = ^7 : i64} : index -> index
  ⇒ values are a dense list of integers, such as dense<[0, 64]> : tensor<2xi64>
%n = pto.sim.lookup ^%s_i32 {values = dense<7> : tensor<1xi64>} : i32 -> index ⇒ index must be index, not i32
""")
