"""What the scalar unit computes from integers that are known in closed form, where that has a closed form too."""

from __future__ import annotations

from typing import Any

from ptosim.order.number import Linear, Number, between, bounds, divided
from ptosim.order.number import remainder as modulo


def quotient(a: Number, b: Number) -> Number | None:
    return divided(a, b) if isinstance(b, int) and b > 0 and natural(a) else None


def ceiling(a: Number, b: Number) -> Number | None:
    return quotient(a + (b - 1), b)


def remainder(a: Number, b: Number) -> Number | None:
    """Of numbers that are not negative. What a loop counts from there on is taken to be none."""
    return modulo(a, b) if isinstance(b, int) and b > 0 and natural(a) else None


def unsigned_remainder(a: Number, b: Number) -> Number | None:
    """A power of two divides what a negative number wraps to."""
    if not isinstance(b, int) or b <= 0:
        return None
    return modulo(a, b) if natural(a) or b & (b - 1) == 0 else between(0, b - 1)


def shifted(a: Number, b: Number) -> Number | None:
    return a * (1 << b) if isinstance(b, int) and 0 <= b < 64 else None


def halved(a: Number, b: Number) -> Number | None:
    return quotient(a, 1 << b) if isinstance(b, int) and 0 <= b < 64 else None


def masked(a: Number, b: Number) -> Number | None:
    return a & b if isinstance(a, int) or isinstance(b, int) else None


def xor(a: Number, b: Number) -> Number | None:
    found: Any = a ^ b
    return None if isinstance(found, Linear) else found


def natural(*numbers: Number) -> bool:
    return all((low := bounds(number)[0]) is not None and low >= 0 for number in numbers)
