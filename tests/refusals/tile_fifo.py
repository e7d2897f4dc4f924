"""What is refused of operations on a FIFO."""

from language.move_kernel import rejects, twins
from refusals.rule import rows

SLOTS = "(gm_slot_tensor = %slots : TV<8x1024xf32>, c2v_consumer_buf = %buf : i32)"


def cube(body: str, attributes: str = "dir_mask = 3, slot_size = 4096", operands: str = "") -> str:
    """The cube's end of a FIFO."""
    operands = operands or "(c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32)"
    return f"pto.aic_initialize_pipe {{{attributes}}} {operands}\n{body}"


def vector(body: str, attributes: str = "dir_mask = 3, slot_size = 4096", operands: str = "") -> str:
    """The vector cores' end of a FIFO."""
    return cube(body, attributes, operands).replace("aic_initialize", "aiv_initialize")


FREE = "pto.tfree_from_aic {split = 0}"
GLOBAL = "(gm_slot_buffer = %g : !pto.ptr<f32, gm>, c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32)"
QUANT = "dir_mask = 1, slot_size = 4096, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<quant = {}>"
INIT = "pto.aic_initialize_pipe {{{}}} {}"
ONE = "(c2v_consumer_buf = %a : i32)"

WHAT_ONE_OPERATION_OF_THE_CUBE_MAY_NOT_BE = rows(lambda text, message, target: twins(text, message, target, "cube"))(
    f"""
{INIT.format("dir_mask = 1, slot_size = 64«, local_slot_num = ~2|»", ONE)} ⇒ [a5] local_slot_num exists on a2a3 only
{INIT.format("dir_mask = 1, slot_size = 64, local_slot_num = ~«9|8»", GLOBAL)}
  ⇒ [a2a3] local_slot_num is 9, more than the 8 slots
{INIT.format("dir_mask = ~«2|1», slot_size = 64", ONE)}
  ⇒ [a5] dir_mask 2 needs v2c_consumer_buf, where its entries arrive
""",
    (
        INIT.format(
            "dir_mask = 1, slot_size = 64",
            "(gm_slot_buffer = %g : ~!pto.ptr<f32, «ub|gm»>, c2v_consumer_buf = %a : i32)",
        ),
        "pto.aic_initialize_pipe expects gm_slot_buffer to be a pointer to gm, not !pto.ptr<f32, ub>",
        "a5",
    ),
    (
        INIT.format(
            "dir_mask = 1, slot_size = 64",
            "(gm_slot_buffer = %g : !pto.ptr<f32, gm>«, gm_slot_tensor = ~%v : TV<64xf32>|», "
            "c2v_consumer_buf = %a : i32)",
        ),
        "entries pass through gm_slot_buffer or gm_slot_tensor, not both",
        "a5",
    ),
    f"""
{INIT.format("dir_mask = 1, slot_size = 64", "(gm_slot_tensor = %v : ~«PV|TV»<64xf32>, c2v_consumer_buf = %a : i32)")}
  ⇒ [a5] pto.aic_initialize_pipe expects gm_slot_tensor to be a tensor view, not !pto.partition_tensor_view<64xf32>
""",
    (
        INIT.format(
            "dir_mask = «3|1», slot_size = 64, nosplit = true, "
            "acc_push_epilogue = ~#pto.acc_push_epilogue<relu = no_relu>",
            "(c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32)",
        ),
        "acc_push_epilogue is for dir_mask 1, cube to vector, not 3",
        "a5",
    ),
    (
        INIT.format(
            "dir_mask = 1, slot_size = 64, nosplit = ~«false|true», "
            "acc_push_epilogue = #pto.acc_push_epilogue<relu = no_relu>",
            ONE,
        ),
        "entries with an acc_push_epilogue are not split: nosplit must not be false",
        "a5",
    ),
    f"""
{cube("pto.tpush_to_aiv(%c : ~«i32|ACC<16x64xf32>») {split = 0}")}
  ⇒ [a5] pto.tpush_to_aiv expects entry to be a tile or a tensor view, not i32
""",
    (
        INIT.format(
            "dir_mask = 1, slot_size = 64, nosplit = true, acc_push_epilogue = ~«1|"
            "#pto.acc_push_epilogue<relu = no_relu>»",
            ONE,
        ),
        "acc_push_epilogue must be #pto.acc_push_epilogue<...>, not 1 : i64",
        "a5",
    ),
    (
        cube("%t = pto.tpop_from_aiv {split = 0} -> ~«NZ|MAT»<16x64xf16>\npto.tfree_from_aiv {split = 0}"),
        "pto.tpop_from_aiv expects result in mat, not vec",
        "a5",
    ),
    f"""
{cube("%v = pto.talloc_to_aiv {split = 0} -> ~«PV|TV»<16x64xf32>", "dir_mask = 1, slot_size = 4096", SLOTS)}
  ⇒ [a5] pto.talloc_to_aiv gives a tensor view of its slot, not !pto.partition_tensor_view<16x64xf32>
""",
)

WHAT_ONE_OPERATION_OF_A_VECTOR_CORE_MAY_NOT_BE = rows(twins, kind="vector")(
    (
        vector("%t = pto.tpop_from_aic(«~%r|%r, %k») {split = 0} -> ND<16x64xf32, valid=?x?>\n" + FREE),
        "a valid region has two extents: rows and columns",
    ),
    (
        vector("%t = pto.tpop_from_aic(~%r, %k) {split = 0} -> ND<16x64xf32, valid=«16x64|?x?»>\n" + FREE),
        "pto.tpop_from_aic takes a valid region only for a result with valid=?x?",
    ),
    f"""
{vector("pto.tpush_to_aic(%t : NZ<16x64xf16>) {split = 0} «aiv_subblockid(~%i)|»")}
  ⇒ aiv_subblockid is for an entry that is split
""",
)

A_NAME_IS_GIVEN_ONCE_AND_KNOWN = rows(rejects, kind="cube", sort="syntax")("""
pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64} (c2v_consumer_buf = %a : i32, ~c2v_consumer_buf = %b : i32)
  ⇒ c2v_consumer_buf is given twice
pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64} (~buffer = %a : i32)
  ⇒ unknown operand 'buffer'; known: gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf, v2c_consumer_buf
""")

RULES = [
    *A_NAME_IS_GIVEN_ONCE_AND_KNOWN,
    *WHAT_ONE_OPERATION_OF_THE_CUBE_MAY_NOT_BE,
    *WHAT_ONE_OPERATION_OF_A_VECTOR_CORE_MAY_NOT_BE,
]
