"""Rotary embedding of f16 rows, on logical vectors."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 24) -> Launch:
    x = np.random.default_rng(7).normal(size=(rows, 64)).astype(np.float16)
    angle = np.arange(rows)[:, None] / 10000 ** (np.arange(32) / 32)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    a, b = x[:, ::2].astype(np.float32), x[:, 1::2].astype(np.float32)
    y = np.stack([a * cos - b * sin, b * cos + a * sin], axis=2).reshape(rows, 64).astype(np.float16)
    return Launch((x, cos, sin, np.zeros_like(x), rows), {3: y})


if __name__ == "__main__":
    show(__file__, launch())
