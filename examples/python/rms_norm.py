"""x / sqrt(mean(x * x) + epsilon) of rows of 256: in tiles, by workitems, and on logical vectors."""

import numpy as np

from ptosim import pto, scalar
from ptosim.testing import check

Matrix = pto.gm_ptr[pto.f32]
EPSILON = 1e-5


@pto.jit(target="a5", kernel_kind="vector")
def in_tiles(x: Matrix, y: Matrix, rows: pto.i32):
    source = pto.make_tensor_view(x, shape=[rows, 256], strides=[256, 1])
    target = pto.make_tensor_view(y, shape=[rows, 256], strides=[256, 1])
    for row in range(0, rows, 16):
        values = pto.alloc_tile(shape=[16, 256], dtype=pto.f32)
        squares = pto.alloc_tile(shape=[16, 256], dtype=pto.f32)
        means = pto.alloc_tile(shape=[16, 1], dtype=pto.f32, blayout="ColMajor")
        pto.tile.load(source, values, offsets=[row, 0])
        pto.tile.mul(values, values, squares)
        pto.tile.rowsum(squares, means)
        flat = pto.tile.reshape(means, shape=[1, 16], blayout="RowMajor")
        pto.tile.muls(flat, 1 / 256, flat)
        pto.tile.adds(flat, EPSILON, flat)
        pto.tile.sqrt(flat, flat)
        pto.tile.rowexpanddiv(values, means, squares)
        pto.tile.store(squares, target, offsets=[row, 0])


@pto.simt(max_threads=32)
def normalise_row(x: Matrix, y: Matrix, row: pto.i32):
    lane = pto.get_laneid()
    total = pto.f32(0.0)
    for part in range(8):
        value = scalar.load(x, row * 256 + part * 32 + lane)
        total += value * value
    root = pto.sqrt(pto.simt_allreduce_sum(total, threads=32) * (1 / 256) + EPSILON)
    for part in range(8):
        at = row * 256 + part * 32 + lane
        scalar.store(scalar.load(x, at) / root, y, at)


@pto.jit(target="a5", mode="explicit", kernel_kind="vector")
def by_workitems(x: Matrix, y: Matrix, rows: pto.i32):
    for row in range(rows):
        normalise_row[32, 1, 1](x, y, scalar.index_cast(pto.i32, row))


@pto.jit(target="a5", mode="explicit", kernel_kind="vector")
def on_logical_vectors(x: Matrix, y: Matrix, rows: pto.i32):
    source, target = pto.castptr(0, pto.ptr(pto.f32)), pto.castptr(1024, pto.ptr(pto.f32))
    for row in range(rows):
        pto.mte_gm_ub(x + row * 256, source, 0, 1024, nburst=(1, 1024, 1024))
        pto.set_flag("MTE2", "V")
        pto.wait_flag("MTE2", "V")
        values = pto.vmi.vload(source, 0, size=256)
        every, one = pto.vmi.create_mask(256, size=256), pto.vmi.create_mask(1, size=1)
        mean = pto.vmi.vmuls(pto.vmi.vcadd(pto.vmi.vmul(values, values, every), every), 1 / 256, one)
        root = pto.vmi.vbrc(pto.vmi.vsqrt(pto.vmi.vadds(mean, EPSILON, one)), size=256)
        pto.vmi.vstore(pto.vmi.vdiv(values, root, every), target, 0, every)
        pto.set_flag("V", "MTE3")
        pto.wait_flag("V", "MTE3")
        pto.mte_ub_gm(target, y + row * 256, 1024, nburst=(1, 1024, 1024))
        pto.pipe_barrier("ALL")


KERNELS = (in_tiles, by_workitems, on_logical_vectors)


def expected(x: np.ndarray) -> np.ndarray:
    values = x.astype(np.float64)
    return values / np.sqrt((values * values).mean(axis=1, keepdims=True) + EPSILON)


if __name__ == "__main__":
    x = np.random.default_rng(3).normal(size=(32, 256)).astype(np.float32)
    for kernel in KERNELS:
        check(kernel, x, np.zeros_like(x), 32, expect=expected(x), rtol=1e-5)
        print(kernel.name, "checked on both engines, clean")
