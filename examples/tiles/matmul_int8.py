"""Matrix product in int8, scaled column by column on the way out, through double-buffered tiles."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 256, depth: int = 192, columns: int = 256, grid: int = 2) -> Launch:
    generator = np.random.default_rng(11)
    rows, columns = max(rows // 128, 1) * 128, columns // 128 * 128
    a, weights = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((rows, depth), (columns, depth)))
    scale = (generator.integers(1, 1024, columns) / 2.0**18).astype(np.float32)  # ten bits: the machine keeps them all
    scaled = (a.astype(np.int64) @ weights.T.astype(np.int64)) * scale.astype(np.float64)
    expected = scaled.astype(np.float32).astype(np.float16)  # the product by the scale is an f32
    arguments = (a, weights, scale, np.zeros((rows, columns), np.float16), rows, depth, columns)
    return Launch(arguments, {3: expected}, grid)


if __name__ == "__main__":
    show(__file__, launch())
