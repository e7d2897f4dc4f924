"""FIFOs between cube and vector: how their operations are written, and what they ask of each other."""

import pytest

from language.move_kernel import accepts, module, only, rejects, twins
from language.vector_kernel import example, read
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.catalogue import operations
from ptosim.language.operation import PTOOperation
from ptosim.language.tile import tile_fifo, tile_pipe
from ptosim.language.tile.fifo_end import C2V
from ptosim.language.tile.tile_fifo import Pop, Push
from refusals.tile_fifo import FREE, GLOBAL, INIT, ONE, QUANT, SLOTS, cube, vector
from tables import table

FRONT = [operation for operation in operations() if operation.__module__ == tile_fifo.__name__]
HANDLED = [operation for operation in operations() if operation.__module__ == tile_pipe.__name__]

SIDES = {CoreKind.AIC: "cube", CoreKind.AIV: "vector"}
ACC = "ACC<16x64xf32>"


PUSH = "pto.tpush_to_aiv(%c : ACC<16x64xf32>) {split = 0}"
POP = "%t = pto.tpop_from_aic {split = 0} -> ND<16x64xf32>"
BOTH = f"{POP}\n{FREE}"


# --- how they are written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", HANDLED, ids=lambda operation: operation.name)
def test_the_examples_with_handles_load(operation: type[PTOOperation]) -> None:
    assert operation.name in accepts(example(operation))


CONTEXT = {
    "pto.tpop_from_aic": "\npto.tfree_from_aic {split = 0}",
    "pto.tpop_from_aiv": "\npto.tfree_from_aiv {split = 0}",
    "pto.tfree_from_aic": "%t = pto.tpop_from_aic {split = 0} -> ND<16x64xf32>\n",
    "pto.tfree_from_aiv": "%t = pto.tpop_from_aiv {split = 0} -> MAT<16x64xf16>\n",
}


@pytest.mark.parametrize("operation", FRONT, ids=lambda operation: operation.name)
def test_the_examples_load(operation: type[PTOOperation]) -> None:
    text, name = example(operation), operation.name
    more = CONTEXT.get(name, "")
    body = text + more if more.startswith("\n") else more + text
    side = cube if operation.cores == (CoreKind.AIC,) else vector
    if "set_quant" in name:
        body = cube(body, QUANT.format("deqf16_scalar" if name.endswith("scalar") else "deqf16_vec"))
    elif "talloc" in name:
        operands = "(gm_slot_tensor = %g : TV<8x1024xf32>, c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32)"
        body = side(body, operands=operands)
    elif "initialize" not in name:
        body = side(body)
    assert name in accepts(body, kind=SIDES[operation.cores[0]])


def test_operands_and_attributes_stand_in_any_order() -> None:
    first = accepts(cube(PUSH), kind="cube")
    operands = "(v2c_consumer_buf = %b : i32, c2v_consumer_buf = %a : i32)"
    other = accepts(cube(PUSH, "slot_size = 4096 : i32, dir_mask = 3 : i8", operands), kind="cube")
    operands = "(c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32)"
    line = f"pto.aic_initialize_pipe {{dir_mask = 3, slot_size = 4096}} {operands}"
    assert line in first
    assert line in other


@table(
    "body, expected",
    (
        "%t = pto.tpop_from_aic(%r, %k) {split = 0} -> ND<16x64xf32, valid=?x?>",
        "pto.tpop_from_aic(%r, %k) {split = 0} -> ",
    ),
    ("%t = pto.tpop_from_aic {id = 0, split = 0} -> ND<16x64xf32>", "pto.tpop_from_aic {id = 0, split = 0} -> "),
    (
        "%t = pto.tpop_from_aic {split = 1} aiv_subblockid(%i) -> ND<8x64xf32>",
        "pto.tpop_from_aic {split = 1} aiv_subblockid(%i) -> ",
    ),
)
def test_pops(body: str, expected: str) -> None:
    split = "1" if "split = 1" in body else "0"
    assert expected in accepts(vector(f"{body}\npto.tfree_from_aic {{split = {split}}}"), kind="vector")


def test_an_entry_may_be_named_when_it_is_freed() -> None:
    accepts(vector(f"{POP}\npto.tfree_from_aic(%t : ND<16x64xf32>) {{split = 0}}"), kind="vector")


def test_epilogues() -> None:
    epilogue = "#pto.acc_push_epilogue<layout = nz2nz, quant = f32_f16, relu = normal_relu>"
    attributes = f"dir_mask = 1, slot_size = 4096, nosplit = true, acc_push_epilogue = {epilogue}"
    assert epilogue in accepts(cube(PUSH, attributes), kind="cube")
    text = cube(PUSH, attributes.replace("normal_relu", "~leaky"))
    rejects(text, "unknown relu 'leaky'; known: no_relu, normal_relu", kind="cube", sort="syntax")
    text = cube(PUSH, attributes.replace("relu =", "~sign ="))
    message = "'sign' of an acc_push_epilogue is unknown; known: layout, quant, relu"
    rejects(text, message, kind="cube", sort="syntax")


# --- pipes ------------------------------------------------------------------------------------------------------------


@table(
    "body, target, pipe",
    (vector(BOTH), "a5", Pipe.V),
    (vector(BOTH, operands=GLOBAL), "a5", Pipe.V),
    (vector(BOTH, "dir_mask = 1, slot_size = 4096", SLOTS), "a5", Pipe.MTE2),
    (vector(BOTH, operands=GLOBAL), "a2a3", Pipe.MTE2),
    (cube("%t = pto.tpop_from_aiv {split = 0} -> MAT<16x64xf16>\npto.tfree_from_aiv {split = 0}"), "a5", Pipe.MTE1),
)
def test_a_pop_waits_on_the_pipe_that_reads(body: str, target: str, pipe: Pipe) -> None:
    loaded = read(module(body, "cube" if "aic_init" in body else "vector"), target)
    found = [op for op in loaded.parsed.module.walk() if isinstance(op, tile_fifo.EntryOperation)]
    assert [op.pipe(target) for op in found] == [pipe, pipe]


def test_a_push_runs_on_the_pipe_that_moves() -> None:
    (push,) = (op for op in read(module(cube(PUSH), "cube"), "a5").parsed.module.walk() if isinstance(op, Push))
    assert push.pipe("a5") is Pipe.FIX
    body = vector("pto.tpush_to_aic(%t : NZ<16x64xf16>) {split = 0}")
    (push,) = (op for op in read(module(body, "vector"), "a5").parsed.module.walk() if isinstance(op, Push))
    assert push.pipe("a5") is Pipe.MTE3


# --- one operation ----------------------------------------------------------------------------------------------------


def test_an_end_is_in_code_of_its_core() -> None:
    accepts(INIT.format("dir_mask = 1, slot_size = 64", ONE), kind="cube")
    text = "~" + INIT.format("dir_mask = 1, slot_size = 64", ONE)
    rejects(text, "pto.aic_initialize_pipe is for the cube core, but this is code of the vector core", kind="vector")
    rejects(text, "pto.aic_initialize_pipe must be inside a cube kernel function or section")
    section = f"pto.section.cube {{\n{text[1:]}\n}}"
    accepts(section)


def test_a2a3_passes_through_global_memory() -> None:
    accepts(INIT.format("dir_mask = 1, slot_size = 64", GLOBAL), "a2a3", "cube")
    message = "a FIFO of a2a3 passes through global memory: pto.aic_initialize_pipe needs gm_slot_buffer"
    rejects("~" + INIT.format("dir_mask = 1, slot_size = 64", ONE), message, "a2a3", "cube")


def test_modes_of_an_epilogue_on_a2a3() -> None:
    for mode in ("deqf16_vec", "req8_scalar", "qf322bf16_pre_scalar"):
        accepts(cube("", QUANT.format(mode), GLOBAL), "a2a3", "cube")
    for mode in ("qs322bf16_pre_scalar", "qf322hif8_pre_scalar", "qf322fp8_pre_scalar"):
        accepts(cube("", QUANT.format(mode), GLOBAL), "a5", "cube")
        text = cube("", QUANT.format(mode).replace("#pto", "~#pto"), GLOBAL)
        rejects(text, f"quant = {mode} does not exist on a2a3", "a2a3", "cube", "wrong-target")


def test_handles() -> None:
    text = "pto.tpush(%t, %p : ND<16x64xf32>, ~«i32|!pto.pipe») {split = 0}"
    twins(text, "pto.tpush expects handle to be !pto.pipe, not i32")
    twins(
        "pto.tpush(%t, %p : ~«PV|TV»<16x64xf32>, !pto.pipe) {split = 0}",
        "pto.tpush expects entry to be a tile or a tensor view, not !pto.partition_tensor_view<16x64xf32>",
    )
    text = "%p = pto.initialize_l2l_pipe {dir_mask = ~«0|3», slot_size = 64} (%a : i32) -> !pto.pipe"
    text = "%p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64} (%a : i32) -> ~«i32|!pto.pipe»"
    twins(text, "pto.initialize_l2l_pipe gives !pto.pipe, not i32")
    text = "%p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = ~«0|64»} (%a : i32) -> !pto.pipe"
    text = "%p = ~pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64} («|%a : i32») -> !pto.pipe"
    twins(text, "pto.initialize_l2l_pipe needs the buffer where entries arrive")
    assert only("pto.tpop(%v, %p : TV<16x64xf16>, !pto.pipe) {split = 0}").pipe("a5") is Pipe.MTE2
    assert only("pto.tpush(%t, %p : ACC<16x64xf32>, !pto.pipe) {split = 0}").pipe("a5") is Pipe.FIX
    assert only("pto.tpop(%t, %p : MAT<16x64xf16>, !pto.pipe) {split = 0}").pipe("a5") is Pipe.MTE1
    free = "pto.tfree(%p : !pto.pipe) {split = 0}"
    assert only(free, kind="vector").pipe("a5") is Pipe.V
    assert only(free, kind="cube").pipe("a5") is Pipe.MTE1
    assert only(free, kind="cube").pipe("a2a3") is Pipe.MTE2


def test_an_entry_of_a_pop_is_its_result() -> None:
    loaded = read(module(vector(BOTH), "vector"), "a5")
    (pop,) = (op for op in loaded.parsed.module.walk() if isinstance(op, Pop))
    assert pop.direction == C2V


@table(
    "line, message",
    (
        "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64} (c2v_consumer_buf = %a : ~i64)",
        "c2v_consumer_buf has type i32, but the type list says i64",
    ),
    (
        "%p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64} (%a : ~i64) -> !pto.pipe",
        "buffers[0] has type i32, but the type list says i64",
    ),
)
def test_an_operand_has_the_type_that_is_written(line: str, message: str) -> None:
    kind = "attributes {pto.kernel_kind = #pto.kernel_kind<cube>} "
    text = f"module {{\nfunc.func @kernel(%a: i32) {kind}{{\n{line}\nreturn\n}}\n}}\n"
    rejects(text, message)
    accepts(text.replace("~i64", "i32"))


def test_a_sub_block_may_be_written_with_its_type() -> None:
    body = "%t = pto.tpop_from_aic {split = 1} aiv_subblockid(%i : i64) -> ND<8x64xf32>\npto.tfree_from_aic {split = 1}"
    assert "aiv_subblockid(%i) -> " in accepts(vector(body), kind="vector")
