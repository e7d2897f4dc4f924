"""Matrix product in f16 through double-buffered tiles."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 256, depth: int = 192, columns: int = 256, grid: int = 2) -> Launch:
    generator = np.random.default_rng(9)
    rows, columns = max(rows // 128, 1) * 128, columns // 128 * 128
    a, b = (generator.normal(size=shape).astype(np.float16) for shape in ((rows, depth), (depth, columns)))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    arguments = (a, b, np.zeros((rows, columns), np.float32), rows, depth, columns)
    return Launch(arguments, {2: expected}, grid, rtol=1e-5, atol=1e-4)


if __name__ == "__main__":
    show(__file__, launch())
