"""What the operations of one FIFO ask of each other: ids, directions, splits, sizes, epilogues, peers."""

import pytest

from language.move_kernel import accepts, rejects, twins
from language.test_tile_fifo import BOTH, FREE, POP, QUANT, cube, vector
from refusals.fifo_rules import ONE
from tables import table


def test_an_id_is_initialised_once() -> None:
    again = "pto.aic_initialize_pipe {{id = {}, dir_mask = 1, slot_size = 4096}} (c2v_consumer_buf = %a : i32)"
    accepts(cube(again.format(1)), kind="cube")
    rejects(cube(again.format("~0")), "a FIFO with id 0 is already initialised in this function", kind="cube")


def test_there_are_sixteen_semaphores() -> None:
    operands = "(c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32)"
    pipe = f"pto.aic_initialize_pipe {{{{id = {{}}, dir_mask = 3, slot_size = 64}}}} {operands}"
    accepts("\n".join(pipe.format(number) for number in range(4)), kind="cube")
    text = "\n".join(("~" if number == 4 else "") + pipe.format(number) for number in range(5))
    message = "the FIFOs of this function take 20 semaphores; there are 16, two for each direction"
    rejects(text, message, kind="cube", sort="id-range")


SLOTS_OF_BOTH = """module {{
func.func @k_aic() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %a = pto.import_reserved_buffer {{name = "s", peer_func = @k_aiv}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 4096, slot_num = 4}} (c2v_consumer_buf = %a : i32)
  return
}}
func.func @k_aiv() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %a = pto.reserve_buffer {{name = "s", size = 65536, location = #pto.address_space<{}>, auto = true}} -> i32
  pto.aiv_initialize_pipe {{{}}} (c2v_consumer_buf = {}%a : i32, v2c_consumer_buf = %a : i32)
  return
}}
}}
"""


@table(
    "attributes, message",
    ("dir_mask = 1, slot_size = 4096, slot_num = ~«8|4»", "slot_num of the FIFO with id 0 is 8 here and 4"),
    (
        "dir_mask = 1, slot_size = ~«8192|4096», slot_num = 4",
        "slot_size of the FIFO with id 0 is 8192 here and 4096",
    ),
    ("dir_mask = ~«2|1», slot_size = 4096, slot_num = 4", "dir_mask of the FIFO with id 0 is 2 here and 1"),
)
def test_both_ends_have_the_same_slots(attributes: str, message: str) -> None:
    place = "mat" if "2|" in attributes.split(",")[0] else "vec"
    text = SLOTS_OF_BOTH.format(place, attributes, "")
    if place == "vec":
        twins(text, f"{message} at its other end")
    else:
        rejects(text.replace("«2|1»", "2"), f"{message} at its other end")


def test_the_number_of_slots_may_be_left_out_at_one_end() -> None:
    text = SLOTS_OF_BOTH.format("vec", "dir_mask = 1, slot_size = 4096", "")
    message = "slot_num of the FIFO with id 0 is 8 here and 4 at its other end"
    rejects(text.replace("pto.aiv_initialize", "~pto.aiv_initialize"), message)
    accepts(text.replace(", slot_num = 4", ""))


ENTRIES_OF_BOTH = """module {{
func.func @k_aic() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %a = pto.import_reserved_buffer {{name = "s", peer_func = @k_aiv}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 4096}} (c2v_consumer_buf = %a : i32)
  %c = pto.alloc_tile : ACC<16x64xf32>
  pto.tpush_to_aiv(%c : ACC<16x64xf32>) {{split = {}}}
  return
}}
func.func @k_aiv() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %a = pto.reserve_buffer {{name = "s", size = 32768, location = #pto.address_space<vec>, auto = true}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 4096}} (c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {{split = {}}} -> {}
  pto.tfree_from_aic {{split = {}}}
  return
}}
}}
"""


@pytest.mark.parametrize(("push", "pop", "tile"), [(1, 0, "16x64"), (0, 1, "8x64"), (2, 1, "8x64"), (1, 2, "16x32")])
def test_an_entry_is_popped_as_it_is_shared(push: int, pop: int, tile: str) -> None:
    message = f"split is {pop}, but the FIFO with id 0 has split {push} at its other end"
    rejects(ENTRIES_OF_BOTH.format(push, f"~{pop}", f"ND<{tile}xf32>", pop), message)
    accepts(ENTRIES_OF_BOTH.format(pop, pop, f"ND<{tile}xf32>", pop))


@table(
    "type_, remark",
    ("NZ<16x64xf32>", "an entry laid out as ND is taken as NZ; nothing converts it"),
    ("DN<16x64xf32>", "an entry laid out as ND is taken as DN; nothing converts it"),
    ("ND<16x64xf16>", "an entry of f32 is taken as f16; nothing converts it"),
)
def test_entries_that_are_taken_for_something_else_are_remarked(type_: str, remark: str) -> None:
    """A fixpipe writes rows, and floats stay floats. One column lies as one row does."""
    accepts(ENTRIES_OF_BOTH.format(0, 0, type_, 0), warned=(remark,))
    for same in ("ND<16x64xf32>", "ND<64x16xf32>", "DN<64x1xf32>"):
        accepts(ENTRIES_OF_BOTH.format(0, 0, same, 0))


def test_entries_in_branches_and_loops() -> None:
    body = f"""scf.for %i = %c0 to %n step %c1 {{
{POP}
pto.tadd ins(%t, %t : ND<16x64xf32>, ND<16x64xf32>) outs(%d : ND<16x64xf32>)
{FREE}
}}"""
    constants = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    accepts(vector(constants + body), kind="vector")


def test_an_epilogue_is_for_tiles() -> None:
    slots = "(gm_slot_tensor = %slots : TV<8x1024xf32>, c2v_consumer_buf = %buf : i32)"
    attributes = QUANT.format("no_convert")
    text = cube("pto.tpush_to_aiv(%v : ~«TV|ACC»<16x64xf32>) {split = 0}", attributes, slots)
    twins(text, "acc_push_epilogue is for entries that are tiles", kind="cube")
    popped = "%v = pto.tpop_from_aic {split = 0} -> TV<16x64xf32>\npto.tfree_from_aic {split = 0}"
    accepts(vector(popped, attributes, slots), kind="vector")


def test_a_buffer_with_room_for_fewer_slots_is_only_remarked() -> None:
    """Used kernels reserve 65536 bytes for slots of 16384 and leave the number of slots open."""
    text = """%a = pto.reserve_buffer {name = "s", size = 65536, location = #pto.address_space<vec>, auto = true} -> i32
pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 16384} (c2v_consumer_buf = %a : i32)
"""
    remark = "c2v_consumer_buf has 65536 bytes; 8 slots of 16384 bytes need 131072; a run uses 4"
    accepts(text + BOTH, kind="vector", warned=(remark,))


@pytest.mark.parametrize(("size", "warned"), [(65536, ()), (49152, ("4 slots of 16384 bytes need 65536",))])
def test_a_fifo_of_both_directions_has_four_slots_for_each(size: int, warned: tuple[str, ...]) -> None:
    place = f'name = "s", size = {size}, location = #pto.address_space<vec>, auto = true'
    text = f"""%u = pto.reserve_buffer {{{place}}} -> i32
pto.aiv_initialize_pipe {{dir_mask = 3, slot_size = 16384}} (c2v_consumer_buf = %u : i32, v2c_consumer_buf = %b : i32)
"""
    said = tuple(f"c2v_consumer_buf has {size} bytes; {words}; a run uses 3" for words in warned)
    accepts(text, kind="vector", warned=said)


def test_slots_that_have_no_halves_are_remarked() -> None:
    text = cube("", "dir_mask = 1, slot_size = 4096, slot_num = 5", ONE)
    accepts(text, kind="cube", warned=("5 slots cannot be given back in two halves, so each is given back alone",))
    accepts(cube("", "dir_mask = 1, slot_size = 4096, slot_num = 3", ONE), kind="cube")
