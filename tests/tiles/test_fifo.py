"""FIFOs between cube and vector cores: what arrives, how many slots there are, and what misuse is reported."""

from __future__ import annotations

import numpy as np
import pytest

from fifo_programs import ACC, COLS, CUBE_TILES, ROWS, inputs, looped, module, multiply, part, run, store, vec, view

SPLITS = {0: (ROWS, COLS), 1: (ROWS // 2, COLS), 2: (ROWS, COLS // 2)}


def to_vector(slots: int, count: int, split: int = 0, unrolled: bool = False, planned: bool = True) -> str:
    rows, cols = SPLITS[split]
    place = "auto = true" if planned else "auto = false, base = 512"
    setup = f"{{dir_mask = 1, slot_size = 8192, slot_num = {slots}}} (c2v_consumer_buf = %buf : i32)"
    cube = f"""%buf = pto.import_reserved_buffer {{name = "s", peer_func = @k_aiv}} -> i32
pto.aic_initialize_pipe {setup}
{CUBE_TILES}
{looped(multiply(f"pto.tpush_to_aiv(%acc : {ACC}) {{split = {split}}}"), count, unrolled)}"""
    tile = vec(rows, cols)
    body = f"""%top@ = arith.muli %i , %c32 : index
%mine@ = arith.muli %sub, %c{16 if split == 1 else 0} : index
%down@ = arith.addi %top@, %mine@ : index
%across@ = arith.muli %sub, %c{32 if split == 2 else 0} : index
%t@ = pto.tpop_from_aic {{split = {split}}} -> {tile}
pto.tadds ins(%t@, %one : {tile}, f32) outs(%d : {tile})
pto.tfree_from_aic {{split = {split}}}
%po@ = pto.partition_view %o, offsets = [%down@, %across@], sizes = [%c{rows}, %c{cols}]
  : !pto.tensor_view<?x{COLS}xf32> -> !pto.partition_tensor_view<{rows}x{cols}xf32>
{store("d", tile, "po@", rows, cols, "f32")}"""
    vector = f"""%buf = pto.reserve_buffer {{name = "s", size = {slots * 8192},
  location = #pto.address_space<vec>, {place}}} -> i32
pto.aiv_initialize_pipe {setup}
%which = pto.get_subblock_idx
%sub = arith.index_cast %which : i64 to index
{view("o", "out_gm", "%c4096", COLS, "f32")}
%d = pto.alloc_tile : {tile}
{looped(body, count, unrolled)}"""
    return module(cube, vector)


@pytest.mark.parametrize("slots", [2, 3, 4, 8])
@pytest.mark.parametrize("split", [0, 1, 2])
def test_products_reach_the_vector_cores(slots: int, split: int) -> None:
    count = 2 * slots + 1
    a, b, product = inputs(count)
    out = np.zeros_like(product)
    run(to_vector(slots, count, split), a, b, out, count)
    assert np.array_equal(out, product + 1)
