"""The example of each operation's page loads without a warning, and what is printed of it loads and prints the same."""

from collections.abc import Callable

import pytest

from language import move_kernel, room_example, scalar_kernel
from language.vector_kernel import example, printed, read
from ptosim.language.catalogue import operations, room_of
from ptosim.language.operation import PTOOperation


def on_tiles(operation: type[PTOOperation]) -> str:
    return move_kernel.module(example(operation))


TILES = "comm comm_async tile_move tile_extract tile_rearrange tile_gather tile_sync tile_scalar tile_matrix"
MEMORY = "vector_memory vector_gather vector_stream"
OUTSIDE = "sync sync_semaphore sync_fence sync_token dma dma_registers dma_grouped"
MODULES: dict[str, Callable[[type[PTOOperation]], str]] = {
    **dict.fromkeys(TILES.split(), on_tiles),
    **dict.fromkeys(MEMORY.split(), room_example.example_module),
    **dict.fromkeys(OUTSIDE.split(), scalar_kernel.example_module),
}
"""The module around an example, by room. Rooms on registers and of the cube are in test_every_instruction.py."""
REMARKED = {"pto.set_store_atomic_cfg"}


@pytest.mark.parametrize("operation", [op for op in operations() if room_of(op) in MODULES], ids=lambda op: op.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]) -> None:
    target = "a5" if "a5" in operation.targets else operation.targets[0]
    loaded = read(MODULES[room_of(operation)](operation), target)
    if room_of(operation) not in MEMORY:
        assert bool(loaded.warnings) == (operation.name in REMARKED)
    once = printed(loaded)
    assert (operation.replaced_by or operation.name) in once
    assert printed(read(once, target)) == once


def test_older_names_stand_for_current_ones() -> None:
    older = {op.name: op.replaced_by for op in operations() if op.replaced_by and room_of(op) in TILES.split()}
    names = "build_async_session tput_async tget_async wait_async_event test_async_event"
    assert older == {
        **{f"pto.{name}": f"pto.comm.{name}" for name in names.split()},
        **dict.fromkeys(("pto.tfillpad_inplace", "pto.tfillpad_expand"), "pto.tfillpad"),
        "pto.tstore_fp": "pto.tstore",
        "pto.tmov.fp": "pto.tmov",
        "pto.tinsert_fp": "pto.tinsert",
        "pto.textract_fp": "pto.textract",
    }
