"""Arguments as raw bytes, for tests that count in bit patterns: integers are not taken for floats."""

from typing import Any

import numpy as np


def raw(argument: Any) -> Any:
    """The bytes of an array of integers, in the same memory; any other argument as it is."""
    if isinstance(argument, np.ndarray) and argument.dtype.kind in "iu":
        return argument.reshape(-1).view(np.uint8)
    return argument


def all_raw(arguments: Any) -> list[Any]:
    return [raw(argument) for argument in arguments]
