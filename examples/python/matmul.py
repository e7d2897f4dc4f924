"""C = A x B in f16 with f32 between, 64 x 64, the depth in steps of 64; unrolled while tracing."""

import numpy as np

from ptosim import pto
from ptosim.testing import check

LAYOUTS = {"mat": ("ColMajor", "RowMajor"), "left": ("ColMajor", "RowMajor"), "right": ("RowMajor", "ColMajor")}


def square(dtype: object, memory: str) -> pto.Tile:
    """A tile of 64 x 64 as the memory wants it."""
    blayout, slayout = LAYOUTS.get(memory, ("ColMajor", "RowMajor"))
    fractal = 1024 if memory == "acc" else 512
    return pto.alloc_tile(
        shape=[64, 64], dtype=dtype, memory_space=memory, blayout=blayout, slayout=slayout, fractal_size=fractal
    )


@pto.jit(target="a5", kernel_kind="cube")
def matmul(a: pto.gm_ptr[pto.f16], b: pto.gm_ptr[pto.f16], c: pto.gm_ptr[pto.f32], *, DEPTH: pto.const_expr = 192):
    left = pto.make_tensor_view(a, shape=[64, DEPTH], strides=[DEPTH, 1])
    right = pto.make_tensor_view(b, shape=[DEPTH, 64], strides=[64, 1])
    result = pto.make_tensor_view(c, shape=[64, 64], strides=[64, 1])
    sums = square(pto.f32, "acc")
    for depth in pto.static_range(0, DEPTH, 64):
        rows, columns = square(pto.f16, "mat"), square(pto.f16, "mat")
        lhs, rhs = square(pto.f16, "left"), square(pto.f16, "right")
        pto.tile.load(left, rows, offsets=[0, depth])
        pto.tile.load(right, columns, offsets=[depth, 0])
        pto.tile.mov(rows, lhs)
        pto.tile.mov(columns, rhs)
        if depth == 0:
            pto.tile.matmul(lhs, rhs, sums)
        else:
            pto.tile.matmul_acc(sums, lhs, rhs, sums)
    pto.tile.store(sums, result)


if __name__ == "__main__":
    data = np.random.default_rng(4)
    a, b = data.random((64, 192)).astype(np.float16), data.random((192, 64)).astype(np.float16)
    product = a.astype(np.float64) @ b.astype(np.float64)
    check(matmul, a, b, np.zeros((64, 64), np.float32), expect=product, rtol=1e-4)
    print("checked on both engines, clean")
