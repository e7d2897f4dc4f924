"""relu(A x B + bias) in f16, accumulated in f32: 64 rows to a block."""

import numpy as np
from showing import Launch, show

COLUMNS = 64


def launch(rows: int = 100, depth: int = 150) -> Launch:
    random = np.random.default_rng(0)
    a = random.normal(size=(rows, depth)).astype(np.float16)
    b = random.normal(size=(depth, COLUMNS)).astype(np.float16)
    bias = random.normal(size=COLUMNS).astype(np.float32)
    total = a.astype(np.float64) @ b.astype(np.float64) + bias
    wanted = np.maximum(total, 0).astype(np.float16)
    arguments = a, b, bias, np.zeros((rows, COLUMNS), np.float16), rows, depth
    return Launch(arguments, {3: wanted}, grid=-(-rows // 64), rtol=2e-3, atol=1e-4)


if __name__ == "__main__":
    show(__file__, launch())
