"""z = x + y over a matrix with 256 columns, in tiles of 32 rows; addresses and order are left to ptosim."""

import numpy as np

from ptosim import pto, scalar
from ptosim.testing import check

Matrix = pto.gm_ptr[pto.f32]


@pto.jit(target="a5", kernel_kind="vector")
def add(x: Matrix, y: Matrix, z: Matrix, rows: pto.i32, *, ROWS: pto.const_expr = 32):
    views = [pto.make_tensor_view(each, shape=[rows, 256], strides=[256, 1]) for each in (x, y, z)]
    step = pto.get_block_num() * ROWS
    for row in range(pto.get_block_idx() * ROWS, rows, step):
        count = scalar.min(rows - row, ROWS)
        a, b, total = (
            pto.alloc_tile(shape=[ROWS, 256], dtype=pto.f32, valid_shape=[count, 256]) for _ in pto.static_range(3)
        )
        pto.tile.load(views[0], a, offsets=[row, 0])
        pto.tile.load(views[1], b, offsets=[row, 0])
        pto.tile.add(a, b, total)
        pto.tile.store(total, views[2], offsets=[row, 0])


if __name__ == "__main__":
    data = np.random.default_rng(1)
    x, y = data.random((70, 256), np.float32), data.random((70, 256), np.float32)
    z = np.zeros_like(x)
    add[2](x, y, z, 70)
    print("equal to NumPy:", np.array_equal(z, x + y))
    check(add, x, y, np.zeros_like(x), 70, expect=x + y, grid=2)
    print("checked on both engines, clean")
