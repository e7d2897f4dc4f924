"""SwiGLU in bf16, computed in f32."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 37, grid: int = 2) -> Launch:
    generator = np.random.default_rng(6)
    gate, up = (generator.normal(size=(rows, 256)).astype(ml_dtypes.bfloat16) for _ in range(2))
    exact = gate.astype(np.float64)
    expected = exact / (1 + np.exp(-exact)) * up.astype(np.float64)
    return Launch((gate, up, np.zeros_like(gate), rows), {2: expected}, grid, rtol=2**-8, atol=1e-6)


if __name__ == "__main__":
    show(__file__, launch())
