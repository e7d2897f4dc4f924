"""Attention, softmax(Q x K^T / 8) x V, for one head of 64 columns in f16: the cube core and the vector cores joined by
FIFOs, and a tileop on vector registers between them. The same kernel as text: examples/tiles/flash_attention.pto.

A cluster owns 64 rows of Q; K and V come by in tiles of 128 rows. The cube core is one tile ahead: while the vector
cores work on the scores of one tile, it multiplies Q by the next.
"""

import numpy as np

from ptosim import pto, scalar
from ptosim.testing import check

ROWS, KEYS, WIDTH = 64, 128, 64
HALF = ROWS // 2
"""The rows of one of two vector cores."""

Half = pto.gm_ptr[pto.f16]
LAYOUTS = {"mat": ("ColMajor", "RowMajor"), "left": ("ColMajor", "RowMajor"), "right": ("RowMajor", "ColMajor")}


def fractal(rows: int, columns: int, memory: str, dtype: object = pto.f16, turned: bool = False) -> pto.Tile:
    """A tile of the cube core; one of K, which is read in columns, is turned in L1."""
    blayout, slayout = ("RowMajor", "ColMajor") if turned else LAYOUTS.get(memory, ("ColMajor", "RowMajor"))
    size = 1024 if memory == "acc" else 512
    return pto.alloc_tile(
        shape=[rows, columns], dtype=dtype, memory_space=memory, blayout=blayout, slayout=slayout, fractal_size=size
    )


@pto.func(returns=pto.index)
def tiles_seen(keys: pto.i64, causal: pto.i64):
    """How many tiles of K and V serve this cluster: causal rows need none behind their last one."""
    every = scalar.index_cast(keys) // KEYS
    seen = ((scalar.index_cast(pto.get_block_idx()) + 1) * ROWS + KEYS - 1) // KEYS
    return scalar.select(causal != 0, scalar.min(every, seen), every)


@pto.tileop
def renewed(old: pto.Tile, largest: pto.Tile, added: pto.Tile, factor: pto.Tile, total: pto.Tile):
    """factor = exp(old - largest), total = total * factor + added, old = largest: one number for each row."""
    rows = pto.make_mask(pto.f32, "VL32")
    now = pto.vlds(largest[0, 0:])
    change = pto.vexp(pto.vsub(pto.vlds(old[0, 0:]), now, rows), rows)
    pto.vsts(change, factor[0, 0:], rows)
    kept = pto.vmul(pto.vlds(total[0, 0:]), change, rows)
    pto.vsts(pto.vadd(kept, pto.vlds(added[0, 0:]), rows), total[0, 0:], rows)
    pto.vsts(now, old[0, 0:], rows)


@pto.jit(target="a5", mode="explicit", insert_sync=True)
def flash_attention(q: Half, k: Half, v: Half, out: Half, keys: pto.i64, scale: pto.f32, causal: pto.i64):
    s_slots = pto.reserve_buffer("scores", size=2 * ROWS * KEYS * 4, location="vec")
    p_slots = pto.reserve_buffer("powers", size=2 * ROWS * KEYS * 2, location="mat")
    o_slots = pto.reserve_buffer("products", size=2 * ROWS * WIDTH * 4, location="vec")
    scores = pto.pipe.c2v(id=0, slot_size=ROWS * KEYS * 4, consumer_buf=s_slots, slot_num=2)
    powers = pto.pipe.v2c(id=1, slot_size=ROWS * KEYS * 2, consumer_buf=p_slots, slot_num=2)
    products = pto.pipe.c2v(id=2, slot_size=ROWS * WIDTH * 4, consumer_buf=o_slots, slot_num=2)
    first = scalar.index_cast(pto.get_block_idx()) * ROWS
    rows = scalar.index_cast(pto.get_block_num()) * ROWS
    tiles = tiles_seen(keys, causal)

    with pto.section("cube"):
        scores.init_cube()
        powers.init_cube()
        products.init_cube()
        q_view = pto.make_tensor_view(q, shape=[rows, WIDTH], strides=[WIDTH, 1])
        k_view = pto.make_tensor_view(k, shape=[WIDTH, keys], strides=[1, WIDTH], layout="DN")
        v_view = pto.make_tensor_view(v, shape=[keys, WIDTH], strides=[WIDTH, 1])
        q_rows, q_left = fractal(ROWS, WIDTH, "mat"), fractal(ROWS, WIDTH, "left")
        k_rows, k_right = fractal(WIDTH, KEYS, "mat", turned=True), fractal(WIDTH, KEYS, "right")
        v_rows, v_right = fractal(KEYS, WIDTH, "mat"), fractal(KEYS, WIDTH, "right")
        p_left = fractal(ROWS, KEYS, "left")
        s, o = fractal(ROWS, KEYS, "acc", pto.f32), fractal(ROWS, WIDTH, "acc", pto.f32)
        pto.tile.load(q_view, q_rows, offsets=[first, 0])
        pto.tile.mov(q_rows, q_left)
        for i in range(tiles + 1):
            if i < tiles:
                pto.tile.load(k_view, k_rows, offsets=[0, i * KEYS])
                pto.tile.mov(k_rows, k_right)
                pto.tile.matmul(q_left, k_right, s)
                scores.push(s, split=1)
            if i != 0:
                pto.tile.load(v_view, v_rows, offsets=[(i - 1) * KEYS, 0])
                pto.tile.mov(v_rows, v_right)
                p = powers.pop(split=1, result_type=pto.tile_type([ROWS, KEYS], pto.f16, **P_IN_L1))
                pto.tile.mov(p, p_left)
                powers.free(split=1)
                pto.tile.matmul(p_left, v_right, o)
                products.push(o, split=1)

    with pto.section("vector"):
        scores.init_simd()
        powers.init_simd()
        products.init_simd()
        first += scalar.index_cast(pto.get_subblock_idx()) * HALF
        scaled, below, power = (pto.alloc_tile(shape=[HALF, KEYS], dtype=pto.f32) for _ in range(3))
        small = pto.alloc_tile(shape=[HALF, KEYS], dtype=pto.f16)
        boxes = pto.alloc_tile(shape=[HALF, KEYS], dtype=pto.f16, blayout="ColMajor", slayout="RowMajor")
        gathered = pto.alloc_tile(shape=[HALF, WIDTH], dtype=pto.f32)
        columns = [pto.alloc_tile(shape=[HALF, 1], dtype=pto.f32, blayout="ColMajor") for _ in range(5)]
        largest, factor, total, added, _ = columns
        lines = [pto.tile.reshape(each, shape=[1, HALF], blayout="RowMajor") for each in columns]
        largest_line, factor_line, total_line, added_line, old_line = lines
        pto.tile.expands(-1.0e30, old_line)
        pto.tile.expands(0.0, total_line)
        pto.tile.expands(0.0, factor_line)
        pto.tile.expands(0.0, gathered)
        for i in range(tiles + 1):
            if i < tiles:
                s = scores.pop(split=1, result_type=pto.tile_type([HALF, KEYS], pto.f32))
                pto.tile.muls(s, scale, scaled)
                scores.free(split=1)
                if causal != 0 and (i + 1) * KEYS > first:  # 0 up to the diagonal, -1e30 behind it
                    pto.tile.tri(scalar.index_cast(pto.i32, first - i * KEYS), below)
                    pto.tile.adds(below, -1.0, below)
                    pto.tile.muls(below, 1.0e30, below)
                    pto.tile.add(scaled, below, scaled)
                pto.tile.rowmax(scaled, largest)
                pto.tile.max(largest_line, old_line, largest_line)
                pto.tile.rowexpandexpdif(scaled, largest, power)
                pto.tile.cvt(power, small)
                pto.tile.mov(small, boxes)
                powers.push(boxes, split=1)
                pto.tile.rowsum(power, added)
                renewed(old_line, largest_line, added_line, factor_line, total_line)
            if i != 0:
                o = products.pop(split=1, result_type=pto.tile_type([HALF, WIDTH], pto.f32))
                pto.tile.add(gathered, o, gathered)
                products.free(split=1)
                if i < tiles:
                    pto.tile.rowexpandmul(gathered, factor, gathered)
        done = pto.alloc_tile(shape=[HALF, WIDTH], dtype=pto.f16)
        pto.tile.rowexpanddiv(gathered, total, gathered)
        pto.tile.cvt(gathered, done)
        out_view = pto.make_tensor_view(out, shape=[rows, WIDTH], strides=[WIDTH, 1])
        pto.tile.store(done, out_view, offsets=[first, 0])


P_IN_L1 = {"memory_space": "mat", "blayout": "ColMajor", "slayout": "RowMajor"}


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """In double, on the numbers that the arrays hold."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    weights = q @ k.T / np.sqrt(WIDTH)
    if causal:
        weights[np.triu_indices_from(weights, 1)] = -np.inf
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    data = np.random.default_rng(0)
    q, k, v = (data.normal(size=(count, WIDTH)).astype(np.float16) for count in (128, 256, 256))
    for causal in (False, True):
        wanted = attention(q, k, v, causal)
        arguments = q, k, v, np.zeros((128, WIDTH), np.float16), 256, 1 / np.sqrt(WIDTH), int(causal)
        check(flash_attention, *arguments, grid=2, expect={"out": wanted}, atol=1e-3)
    print("checked on both engines, clean")
