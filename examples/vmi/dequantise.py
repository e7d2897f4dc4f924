"""Dequantisation of 8-bit floats with a scale for each group, on logical vectors."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(length: int = 1024) -> Launch:
    source = np.random.default_rng(5)
    q = (8 * source.normal(size=length)).astype(ml_dtypes.float8_e4m3fn)
    scales = source.uniform(0.5, 2, length // 32).astype(np.float32)
    y = (q.astype(np.float32) * np.repeat(scales, 32)).astype(ml_dtypes.bfloat16)
    return Launch((q.view(np.uint8), scales, np.zeros(length, np.uint16), length), {2: y.view(np.uint16)})


if __name__ == "__main__":
    show(__file__, launch())
