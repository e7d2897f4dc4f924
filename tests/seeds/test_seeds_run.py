"""Every example of the seed pages runs, and gives what the page says it computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from tables import table

HERE = Path(__file__).parent
CHANCE = np.random.default_rng(7)
TILE = CHANCE.standard_normal((32, 32)).astype("f4")


def run(name: str, *arguments: Any) -> None:
    ptosim.load(HERE / f"{name}.pto").kernel()(*arguments, engine="reference")


def halves(*shape: int) -> np.ndarray:
    return CHANCE.integers(-2048, 2048, shape).astype("f2")


@table("name", "load_store_kernel_2d", "sync_example_1_flags", "sync_example_2_buffers", "scope_vecscope")
def test_absolute_value_of_a_tile(name: str):
    out = np.zeros_like(TILE)
    run(name, TILE, out)
    assert np.array_equal(out, np.abs(TILE))


@pytest.mark.parametrize("tiles", [1, 2, 5])
@pytest.mark.parametrize("name", ["sync_example_3a_ping_pong_flags", "sync_example_3b_ping_pong_buffers"])
def test_absolute_value_of_many_tiles(name: str, tiles: int):
    x = CHANCE.standard_normal(tiles * 1024).astype("f4")
    out = np.zeros_like(x)
    run(name, x, out, tiles)
    assert np.array_equal(out, np.abs(x))


@pytest.mark.parametrize("count", [1, 64, 100, 1024])
def test_absolute_value_with_a_rest(count: int):
    x = CHANCE.standard_normal(count).astype("f4")
    out = np.zeros_like(x)
    run("scope_strict_vecscope", x, out, count)
    assert np.array_equal(out, np.abs(x))


def test_the_barrier_lets_the_second_store_win():
    partials = CHANCE.standard_normal((2, 64)).astype("f4")
    result = np.zeros(64, "f4")
    run("sync_pipe_barrier", partials, result)
    assert np.array_equal(result, partials[1])


def test_the_fence_lets_the_load_see_the_store():
    x = CHANCE.standard_normal(64).astype("f4")
    out = np.zeros_like(x)
    run("sync_mem_bar", x, out)
    assert np.array_equal(out, x)


@pytest.mark.parametrize("name", ["sync_cluster_a5", "sync_cluster_a2a3"])
def test_the_cores_of_a_cluster_signal_each_other(name: str):
    done = np.full(3, -1, "i4")
    run(name, done)
    assert done.tolist() == [0, 1, 7]


# --- copies -----------------------------------------------------------------------------------------------------------


def test_a_tile_goes_in_and_out():
    out = np.zeros_like(TILE)
    run("dma_example_1_and_4_tile", TILE, out)
    assert np.array_equal(out, TILE)


def test_a_tile_out_of_a_matrix():
    matrix, tile = halves(1024, 512), np.zeros((64, 128), "f2")
    run("dma_example_2_tile_of_a_matrix", matrix, tile)
    assert np.array_equal(tile, matrix[:64, :128])


def test_rows_are_padded():
    rows, padded = halves(64, 100), np.ones((64, 128), "f2")
    run("dma_example_3_padding", rows, padded)
    assert np.array_equal(padded[:, :100], rows)
    assert not padded[:, 100:].any()


def test_a_tile_into_a_matrix():
    tile, matrix = halves(64, 128), np.full((1024, 512), 3, "f2")
    run("dma_example_5_tile_into_a_matrix", tile, matrix)
    assert np.array_equal(matrix[:64, :128], tile)
    assert (matrix[64:] == 3).all() and (matrix[:, 128:] == 3).all()


def test_a_batch_of_tiles():
    batch = halves(4, 8, 128)
    out = np.zeros_like(batch)
    run("dma_example_6_batch", batch, out)
    assert np.array_equal(out, batch)


def test_a_copy_within_ub():
    x = CHANCE.standard_normal(64).astype("f4")
    out = np.zeros_like(x)
    run("dma_copy_within_ub", x, out)
    assert np.array_equal(out, x)


# --- the forms of loads and stores ------------------------------------------------------------------------------------


def test_the_loads():
    x = CHANCE.standard_normal(512).astype("f4")
    out = np.zeros((11, 64), "f4")
    run("load_store_forms_loads", x, out)
    pairs, blocks = x.reshape(-1, 2), x.reshape(-1, 8)
    expected = [
        x[64:128],  # NORM
        np.full(64, x[1]),  # BRC_B32
        x[1:65],  # the unaligned stream, one element off
        x[65:129],
        pairs[:64, 0],  # DINTLV_B32
        pairs[:64, 1],
        pairs[::2][:32].ravel(),  # every second unit of 64 bits
        blocks[2:18:2].ravel(),  # block stride 2 from block 2 on
        x[:64],  # gathered by 0, 1, 2, ...
        blocks[:8].ravel(),  # gathered by the byte offsets 0, 32, 64, ...
        x[:64],
    ]
    assert np.array_equal(out, np.stack(expected))


def test_the_stores():
    source = np.zeros(64 + 1024, "f4")
    source[:64] = value = np.arange(1, 65)
    out = np.zeros((10, 1024), "f4")
    run("load_store_forms_stores", source, out)
    expected = np.zeros_like(out)
    expected[0, 64:128] = value  # NORM_B32 at element 64
    expected[1, :128:2], expected[1, 1:128:2] = value, 2 * value  # INTLV_B32
    expected[2, : 64 * 8 : 8] = value  # every eighth unit of 32 bits
    expected[3].reshape(-1, 8)[:16:2] = value.reshape(8, 8)  # block stride 2
    expected[4, :32] = value[:32]  # 32 active lanes
    expected[5, 1:65] = value  # streams that begin one element off
    expected[6, 1:65] = value
    expected[7, :3] = value[:3]  # three elements of the register
    expected[8, :3] = value[:3]
    expected[9, :16] = np.tile(value[:8], 2)  # eight squeezed lanes, twice
    assert np.array_equal(out, expected)
