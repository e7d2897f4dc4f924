"""Row-wise softmax: tiles are loaded and stored, a tileop computes on vector registers."""

import numpy as np

from ptosim import pto
from ptosim.testing import check

Matrix = pto.gm_ptr[pto.f32]


@pto.tileop
def normalised_powers(x: pto.Tile, out: pto.Tile, rows: pto.i32, columns: pto.i32):
    every = pto.make_mask(pto.f32, "ALL")
    for row in range(rows):
        largest = pto.vdup(float("-inf"), every)
        for column in range(0, columns, 64):
            largest = pto.vmax(largest, pto.vlds(x[row, column:]), every)
        largest = pto.vdup(pto.vcmax(largest, every), every)
        total = pto.vdup(0.0, every)
        for column in range(0, columns, 64):
            power = pto.vexp(pto.vsub(pto.vlds(x[row, column:]), largest, every), every)
            total = pto.vadd(total, power, every)
            pto.vsts(power, out[row, column:], every)
        pto.mem_bar("VV_ALL")
        total = pto.vdup(pto.vcadd(total, every), every)
        for column in range(0, columns, 64):
            pto.vsts(pto.vdiv(pto.vlds(out[row, column:]), total, every), out[row, column:], every)


@pto.jit(target="a5", kernel_kind="vector")
def softmax(x: Matrix, y: Matrix, rows: pto.i32):
    source = pto.make_tensor_view(x, shape=[rows, 128], strides=[128, 1])
    target = pto.make_tensor_view(y, shape=[rows, 128], strides=[128, 1])
    for row in range(0, rows, 16):
        scores = pto.alloc_tile(shape=[16, 128], dtype=pto.f32)
        powers = pto.alloc_tile(shape=[16, 128], dtype=pto.f32)
        pto.tile.load(source, scores, offsets=[row, 0])
        normalised_powers(scores, powers, 16, 128)
        pto.tile.store(powers, target, offsets=[row, 0])


def expected(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    x = np.random.default_rng(2).normal(size=(48, 128)).astype(np.float32)
    check(softmax, x, np.zeros_like(x), 48, expect=expected(x), rtol=1e-5, atol=1e-7)
    print("checked on both engines, clean")
