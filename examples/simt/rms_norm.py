"""An RMS norm: weights in registers of workitems from row to row, copies into two buffers beside the arithmetic."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 5) -> Launch:
    random = np.random.default_rng(6)
    x, w = random.normal(size=(rows, 256)).astype(np.float32), random.normal(size=256).astype(np.float32)
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True)) * w
    return Launch((x, w, np.zeros_like(x), rows), {2: expected}, rtol=1e-5)


if __name__ == "__main__":
    show(__file__, launch())
