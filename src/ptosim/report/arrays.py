"""Element types as arrays hold them: the NumPy type of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from ptosim.effects.element import Element

FLOAT_ARRAYS: Mapping[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""The floats that NumPy knows, by the element type."""


def dtype_of(element: Element) -> np.dtype[Any]:
    """The NumPy type of an array whose elements are of this type; raw bytes for formats that NumPy does not know."""
    if element.name in FLOAT_ARRAYS:
        return FLOAT_ARRAYS[element.name]
    return np.dtype(f"{'i' if element.kind == 'signed' else 'u'}{element.bytes}")
