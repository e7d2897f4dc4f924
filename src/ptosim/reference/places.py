"""Addresses of equally spaced pieces, for copies that touch many."""

from __future__ import annotations

import numpy as np

from ptosim.reference.core import Starts


def places(base: int, *steps: tuple[int, int]) -> Starts:
    """Every base + i * stride + j * stride ..., by (count, stride) from the outermost index to the innermost."""
    starts = np.array([base], np.int64)
    for count, stride in steps:
        starts = (starts[:, np.newaxis] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
    return starts
