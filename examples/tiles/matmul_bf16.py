"""Matrix product in bf16 through double-buffered tiles."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 256, depth: int = 192, columns: int = 256, grid: int = 2) -> Launch:
    generator = np.random.default_rng(10)
    rows, columns = max(rows // 128, 1) * 128, columns // 128 * 128
    a, b = (generator.normal(size=shape).astype(ml_dtypes.bfloat16) for shape in ((rows, depth), (depth, columns)))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    arguments = (a, b, np.zeros((rows, columns), ml_dtypes.bfloat16), rows, depth, columns)
    return Launch(arguments, {2: expected}, grid, rtol=2.0**-8, atol=1e-6)


if __name__ == "__main__":
    show(__file__, launch())
