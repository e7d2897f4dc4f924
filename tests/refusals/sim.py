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


REQUIRE_IS_REJECTED = rows(rejects, scope=False)("""
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


SIGNAL = """module {{
func.func @kernel(%p: !pto.ptr<i32, gm>, %q: !pto.ptr<f32, gm>, %v: i32, %w: i64, %s: index) {{
{}
return
}}
}}
"""

SIGNALS_GROUPS_AND_TRANSFERS = rows(lambda line, message: rejects_module(SIGNAL.format(line), message))("""
pto.sim.wait_words %p, %v {cmp = "ge", shape = ^array<i64: 2>} : !pto.ptr<i32, gm>, i32 ⇒ 1 sizes, but 0 strides
pto.sim.wait_words %p, %v, %s {cmp = "ge", shape = ^array<i64: 0>} : !pto.ptr<i32, gm>, i32 ⇒ sizes are positive
pto.sim.wait_words %p, %v, ^%w {cmp = "ge", shape = array<i64: 2>} : !pto.ptr<i32, gm>, i32
  ⇒ strides are of type index, not i64
pto.sim.group %p, %p, ^%v {root = 0 : i32, bytes = 4 : i64} ⇒ members are pointers to gm, not i32
pto.sim.group %p, %p {root = ^1 : i32, bytes = 4 : i64} ⇒ root must be one of the 1 members
^pto.sim.apart %p, %p, %s, %s {bytes = 4 : i64} ⇒ sizes, strides of dst and strides of src are equally many
pto.sim.apart %p, %p, ^%v, %s, %s {bytes = 4 : i64} ⇒ sizes and strides are of type index, not i32
pto.sim.apart %p, %p, %s, %s, %s {bytes = ^0 : i64} ⇒ an element has at least one byte
""")

RULES = [
    *SIGNALS_GROUPS_AND_TRANSFERS,
    *REQUIRE_IS_REJECTED,
    *THE_ELEMENTS_ARE_AS_WIDE_AS_THOSE_OF_THE_TABLE,
    *INDICES_HAVE_FOUR_BYTES,
    *PRINT_TILE_IS_REJECTED,
    *MESSAGES_THAT_ARE_NOT,
]
