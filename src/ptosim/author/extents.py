"""Sums and products of sizes and offsets: numbers stay numbers as long as they are known."""

from __future__ import annotations

from typing import Any

from ptosim.author.coerce import index, literal
from ptosim.author.operators import binary
from ptosim.author.values import wrap


def plus(a: Any, b: Any) -> Any:
    """a + b."""
    x, y = literal(a), literal(b)
    if x is not None and y is not None:
        return x + y
    if x == 0:
        return b
    return a if y == 0 else binary("+", _index(a), _index(b))


def times(a: Any, b: Any) -> Any:
    """a * b."""
    x, y = literal(a), literal(b)
    if x is not None and y is not None:
        return x * y
    if 0 in (x, y) and (x == 0 or y == 0):
        return 0
    if x == 1:
        return b
    return a if y == 1 else binary("*", _index(a), _index(b))


def _index(value: Any) -> Any:
    return value if literal(value) is not None else wrap(index(value, "a size or offset"))
