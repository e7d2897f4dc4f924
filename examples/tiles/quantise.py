"""int8 quantisation by rows, and back."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 70, grid: int = 2) -> Launch:
    x = np.random.default_rng(8).normal(size=(rows, 256)).astype(np.float32)
    top = np.maximum(np.abs(x).max(axis=1, keepdims=True), np.float32(1e-30))
    bytes_ = np.clip(np.rint(x * (np.float32(127) / top)), -128, 127).astype(np.int8)
    back = bytes_.astype(np.float32) * (top / np.float32(127))
    return Launch((x, np.zeros_like(bytes_), np.zeros_like(x), rows), {1: bytes_, 2: back}, grid)


if __name__ == "__main__":
    show(__file__, launch())
