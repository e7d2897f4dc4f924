"""What is refused of the two ends of a FIFO."""

from language.move_kernel import twins
from language.test_tile_fifo import BOTH, FREE, PUSH, QUANT, SLOTS, cube, vector
from refusals.rule import rows

ONE = "(c2v_consumer_buf = %a : i32)"

RULES_OF_THE_CUBE = rows(twins, kind="cube")(
    f"""
{cube("pto.tpush_to_aiv(%c : ACC<16x64xf32>) {id = ~«1|0», split = 0}")}
  ⇒ pto.tpush_to_aiv needs pto.aic_initialize_pipe with id 1 in this function
{cube("pto.tpush_to_aiv(%c : ACC<16x64xf32>) {id = ~0, split = 0}", "dir_mask = «2|1», slot_size = 4096")}
  ⇒ the FIFO with id 0 has dir_mask 2: nothing goes from cube to vector
""",
    (
        cube(f"{PUSH}\npto.tpush_to_aiv(%c : ACC<16x64xf32>) {{split = ~«1|0»}}"),
        "split is 1, but the FIFO with id 0 has other entries with split 0",
    ),
    f"""
{cube("pto.tpush_to_aiv(%c : ACC<16x64xf32>) {split = ~«2|0»}", "dir_mask = 3, slot_size = 4096, nosplit = true")}
  ⇒ split is 2, but the FIFO with id 0 has nosplit = true
{cube("pto.tpush_to_aiv(%c : ~ACC<16x64xf32, valid=«15|14»x64>) {split = 1}")}
  ⇒ split 1 needs an even number of rows, not 15
{cube("pto.tpush_to_aiv(%c : ~ACC<16x64xf32, valid=16x«62|32»>) {split = 2}")}
  ⇒ split 2 needs a multiple of 32 columns, not 62
{cube("pto.tpush_to_aiv(%c : ~ACC<16x64xf32, valid=«16|15»x64>) {split = 3}", "dir_mask = 1, slot_size = 4096", SLOTS)}
  ⇒ split 3 needs an odd number of rows, not 16
{cube("pto.tpush_to_aiv(%c : ACC<16x64xf32, valid=«15|16»x64>) {split = ~«3|1»}")}
  ⇒ split 3 is for entries to the vector cores with gm_slot_tensor and c2v_consumer_buf
{cube("pto.tpush_to_aiv(%c : ~ACC<16x64xf32>) {split = 0}", "dir_mask = 3, slot_size = 4«000|096»")}
  ⇒ an entry of 4096 bytes does not fit in slots of slot_size 4000
{cube("~pto.tpush_to_aiv(%v : «TV|ACC»<16x64xf32>) {split = 0}")}
  ⇒ a tensor view as an entry needs gm_slot_tensor of the FIFO with id 0
""",
    (
        cube("«~pto.set_quant_scalar(%s : f32) {id = 0}|»\n" + PUSH),
        "the FIFO with id 0 has no acc_push_epilogue: pto.set_quant_scalar has no effect",
    ),
    (
        cube(
            "«|pto.set_quant_scalar(%s : f32) {id = 0}»\n~pto.tpush_to_aiv(%c : ACC<16x64xi32>) {split = 0}",
            QUANT.format("deqf16_scalar"),
            ONE,
        ),
        "quant = deqf16_scalar needs pto.set_quant_scalar before the push, in the same block",
    ),
    (
        cube(
            "«~pto.set_quant_vector(%s : FP<1x64xf32>) {id = 0}|»\npto.set_quant_scalar(%k : f32) {id = 0}\n"
            "pto.tpush_to_aiv(%c : ACC<16x64xi32>) {split = 0}",
            QUANT.format("deqf16_scalar"),
            ONE,
        ),
        "the FIFO with id 0 has quant = deqf16_scalar: pto.set_quant_vector has no effect",
    ),
    (
        cube(
            "pto.set_quant_scalar(%s : f32) {id = 0}\npto.tpush_to_aiv(%c : ~ACC<16x64x«f|i»32>) {split = 0}",
            QUANT.format("deqf16_scalar"),
            ONE,
        ),
        "quant = deqf16_scalar takes i32, not f32",
    ),
)

RULES_OF_A_VECTOR_CORE = rows(twins, kind="vector")(
    (
        vector(
            BOTH.replace("pto.tpop", "~pto.tpop"),
            "dir_mask = 1, slot_size = 4096",
            "(gm_slot_tensor = %v : TV<?x64xf32>«|, c2v_consumer_buf = %a : i32»)",
        ),
        "a tile from the FIFO with id 0 needs its c2v_consumer_buf, where it arrives",
    ),
    (
        vector("%t = pto.tpop_from_aic {split = 1} -> ~ND<«16|8»x64xf32>\npto.tfree_from_aic {split = 1}"),
        "an entry of 8192 bytes does not fit in slots of slot_size 4096",
    ),
    (
        vector(
            "%t = pto.tpop_from_aic {split = 0} -> ~«NZ|ND»<16x64xf16>\n" + FREE, QUANT.format("deqf16_scalar"), ONE
        ),
        "layout = nz2nd of the epilogue gives ND tiles, not NZ",
    ),
    (
        vector(
            "%t = pto.tpop_from_aic {split = 0} -> ~ND<16x64x«i16|f16»>\n" + FREE,
            QUANT.format("deqf16_scalar"),
            ONE,
        ),
        "quant = deqf16_scalar of the epilogue does not give i16",
    ),
    (
        """%a = pto.reserve_buffer
    {name = "s", size = «2048|32768», location = #pto.address_space<vec>, auto = true} -> i32
pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096} (c2v_consumer_buf = ~%a : i32)
"""
        + BOTH,
        "c2v_consumer_buf has 2048 bytes; 8 slots of 4096 bytes need 32768",
    ),
)

HALVES_THAT_PASS_THROUGH_GLOBAL_MEMORY = rows(twins, kind="cube")("""
pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096} (gm_slot_tensor = %slots : TV<8x1024xf32>, c2v_consumer_buf =
    %buf : i32)
pto.tpush_to_aiv(%c : ~ACC<16x64xf32, valid=16x«63|62»>) {split = 2}
  ⇒ split 2 needs an even number of columns, not 63
""")

ENTRIES_WITH_AN_EPILOGUE_ARE_NOT_SPLIT = rows(twins, kind="cube")("""
pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096, acc_push_epilogue = #pto.acc_push_epilogue<quant = f32_f16>}
    (c2v_consumer_buf = %a : i32)
pto.tpush_to_aiv(%c : ACC<16x64xf32>) {split = ~«1|0»}
  ⇒ split is 1, but the FIFO with id 0 has an acc_push_epilogue
""")

WITH_AN_EPILOGUE = """module {{
func.func @k_aic() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %a = pto.import_reserved_buffer {{name = "s", peer_func = @k_aiv}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 4096, acc_push_epilogue = {mark}{words}}}
    (c2v_consumer_buf = %a : i32)
  %c = pto.alloc_tile : ACC<16x64x{acc}>
  %f = pto.alloc_tile : FP<1x64x{payload}>
  {set}
  pto.tpush_to_aiv(%c : {push}ACC<16x64x{acc}>) {{split = 0}}
  return
}}
func.func @k_aiv() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %a = pto.reserve_buffer {{name = "s", size = 32768, location = #pto.address_space<vec>, auto = true}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 4096, acc_push_epilogue = {words}}} (c2v_consumer_buf = %a : i32)
  {pop}
  return
}}
}}
"""


def with_epilogue(quant: str, acc: str, pop: str, mark: str = "", push: str = "", payload: str = "f32") -> str:
    """Both ends of a FIFO whose entries are converted on their way."""
    words = f"#pto.acc_push_epilogue<layout = nz2nd, quant = {quant}, relu = no_relu>"
    set_ = ""
    if quant.endswith("_vec"):
        set_ = f"pto.set_quant_vector(%f : {mark}FP<1x64x{payload}>) {{id = 0}}"
        mark = ""
    elif quant.endswith("_scalar"):
        set_ = "%x = arith.constant 1.0 : f32\n  pto.set_quant_scalar(%x : f32) {id = 0}"
    return WITH_AN_EPILOGUE.format(words=words, acc=acc, pop=pop, mark=mark, push=push, payload=payload, set=set_)


TAKEN = "%t{0} = pto.tpop_from_aic {{{{split = 0}}}} -> {{}}ND<16x64x{{}}>\n  pto.tfree_from_aic {{{{split = 0}}}}"
WHAT_AN_EPILOGUE_GIVES = rows(twins)(
    (
        with_epilogue("req8_scalar", "i32", TAKEN.format("").format("~", "«i16|ui8»")),
        "quant = req8_scalar of the epilogue does not give i16",
    ),
    (
        with_epilogue("f32_f16", "«i32|f32»", TAKEN.format("").format("", "f16"), push="~"),
        "quant = f32_f16 takes f32, not i32",
    ),
    (
        with_epilogue("no_convert", "«i32|f32»", TAKEN.format("").format("", "f32"), push="~"),
        "quant = no_convert does not make f32 of this, which is popped",
    ),
    (
        with_epilogue("deqf16_vec", "i32", TAKEN.format("").format("", "f16"), "~", payload="«i64|f32»"),
        "parameters of an acc_push_epilogue have elements of f16, bf16, f32 on a5, not i64",
    ),
    (
        with_epilogue("f32_f16", "f32", "«|" + TAKEN.format("").format("", "f16") + "»", "~"),
        "nothing is popped, so that the acc_push_epilogue has no type to give",
    ),
)

BOTH_ENDS_HAVE_THE_SAME_EPILOGUE = rows(twins)(
    (
        "module {\nfunc.func @k_aic() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {\n"
        '  %a = pto.import_reserved_buffer {name = "s", peer_func = @k_aiv} -> i32\n'
        "  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096, nosplit = true,\n"
        "    acc_push_epilogue = #pto.acc_push_epilogue<relu = no_relu>} (c2v_consumer_buf = %a : i32)\n"
        "  return\n}\nfunc.func @k_aiv() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        '  %a = pto.reserve_buffer {name = "s", size = 32768, location = #pto.address_space<vec>, auto = true} '
        "-> i32\n  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096, nosplit = true,\n"
        "    acc_push_epilogue = ~#pto.acc_push_epilogue<relu = «normal|no»_relu>} (c2v_consumer_buf = %a : i32)\n"
        "  return\n}\n}",
        "acc_push_epilogue of the FIFO with id 0 differs from that of its other end",
    )
)

ENTRIES_ARRIVE_IN_THE_MEMORY_OF_THEIR_CORE = rows(twins)("""
module {
func.func @k_aic() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "s", peer_func = @k_aiv} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4096, slot_num = 4} (c2v_consumer_buf = %a : i32)
  return
}
func.func @k_aiv() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "s", size = 65536, location = #pto.address_space<«mat|vec»>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 4096, slot_num = 4} (c2v_consumer_buf = ~%a : i32,
    v2c_consumer_buf = %a : i32)
  return
}
}
  ⇒ c2v_consumer_buf is reserved in l1; its entries arrive in ub
""")

RULES = [
    *WHAT_AN_EPILOGUE_GIVES,
    *HALVES_THAT_PASS_THROUGH_GLOBAL_MEMORY,
    *ENTRIES_WITH_AN_EPILOGUE_ARE_NOT_SPLIT,
    *BOTH_ENDS_HAVE_THE_SAME_EPILOGUE,
    *ENTRIES_ARRIVE_IN_THE_MEMORY_OF_THEIR_CORE,
    *RULES_OF_THE_CUBE,
    *RULES_OF_A_VECTOR_CORE,
]
