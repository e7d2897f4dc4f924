"""What is refused of what a simulation prints."""

from language.vector_kernel import rejects
from refusals.rule import rows

PRINT = "pto.sim.print_tile %p_f32_gm shape (%s_index, %s_index) valid (%s_index, %s_index) strides"

PRINT_TILE_IS_REJECTED = rows(
    rejects,
    (f"{PRINT} (%s_index, ^%s_i32)", "column_stride must be index, not i32"),
    (
        f"{PRINT} (%s_index, %s_index) {{box = ^array<i64: 16, 16>}}",
        "a box needs two strides from box to box, and they a box",
    ),
    (
        f"{PRINT} (%s_index, %s_index, %s_index, %s_index) {{box = ^array<i64: 16>}}",
        "a box is two positive integers: its rows and columns",
    ),
    (
        f"{PRINT} (%s_index, %s_index, %s_index, %s_index) {{box = ^array<i64: 16, 0>}}",
        "a box is two positive integers: its rows and columns",
    ),
    (PRINT.replace("%p_f32_gm", "^%s_i32") + " (%s_index, %s_index)", "base must be a pointer, not i32"),
    scope=False,
)

MESSAGES_THAT_ARE_NOT = rows(
    rejects,
    ('^pto.sim.require %s_i1 {kind = "invalid"}', "message must be a text"),
    scope=False,
)

RULES = [*PRINT_TILE_IS_REJECTED, *MESSAGES_THAT_ARE_NOT]
