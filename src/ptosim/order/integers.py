"""Scalar arithmetic on closed forms, where the result has a closed form too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.scalar import Arithmetic
from ptosim.order.number import Linear, Maybe, Number, Periodic, between, bounds, divided, either, larger, smaller
from ptosim.order.number import remainder as modulo

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}
_Operation = Callable[[Number, Number], Number | None]


class ClosedForms(Arithmetic):
    """Numbers that are taken not to wrap. The functions given know products and quotients of symbols."""

    def __init__(self, product: _Operation, quotient: _Operation) -> None:
        self.bits, self._product, self._quotient = 64, product, quotient

    def muli(self, a: Number, b: Number) -> Number | None:
        return self._product(a, b)

    def divsi(self, a: Number, b: Number) -> Number | None:
        return self._quotient(a, b)

    def ceildivsi(self, a: Number, b: Number) -> Number | None:
        return quotient(a + (b - 1), b)

    divui = floordivsi = divsi
    ceildivui = ceildivsi

    def remsi(self, a: Number, b: Number) -> Number | None:
        """The remainder of numbers that are not negative. The count of a loop from there on is taken to be none."""
        return modulo(a, b) if isinstance(b, int) and b > 0 and natural(a) else None

    def remui(self, a: Number, b: Number) -> Number | None:
        """A power of two divides what a negative number wraps to."""
        if not isinstance(b, int) or b <= 0:
            return None
        return modulo(a, b) if natural(a) or b & (b - 1) == 0 else between(0, b - 1)

    def shli(self, a: Number, amount: Number) -> Number | None:
        return a * (1 << amount) if isinstance(amount, int) and 0 <= amount < 64 else None

    def shrui(self, a: Number, amount: Number) -> Number | None:
        return quotient(a, 1 << amount) if isinstance(amount, int) and 0 <= amount < 64 else None

    shrsi = shrui

    def andi(self, a: Number, b: Number) -> Number | None:
        return a & b if isinstance(a, int) or isinstance(b, int) else None

    def ori(self, a: Number, b: Number) -> Number | None:
        return a | b if isinstance(a, int) and isinstance(b, int) else None

    def xori(self, a: Number, b: Number) -> Number | None:
        found: Any = a ^ b
        return None if isinstance(found, Linear) else found

    def minsi(self, a: Number, b: Number) -> Number:
        return smaller(a, b)

    def maxsi(self, a: Number, b: Number) -> Number:
        return larger(a, b)

    def minui(self, a: Number, b: Number) -> Number | None:
        return smaller(a, b) if natural(a, b) else None

    def maxui(self, a: Number, b: Number) -> Number | None:
        return larger(a, b) if natural(a, b) else None

    def cmpi(self, predicate: str, a: Number, b: Number) -> Number | None:
        compare = COMPARISONS.get(predicate)
        found: Any = compare(a, b) if compare is not None else None
        return None if found is None or isinstance(found, Maybe) else int(found) if isinstance(found, bool) else found

    def select(self, condition: Number, chosen: Number, otherwise: Number) -> Number:
        if isinstance(condition, Periodic):
            return otherwise + condition * (chosen - otherwise)
        return either(chosen, otherwise)

    def resized(self, a: Number, bits: int, signed: bool) -> Number | None:
        """A number that fits stays what it is."""
        low, high = bounds(a)
        fits = low is not None and high is not None and low >= -(1 << bits - 1) and high < 1 << bits - 1
        return a if fits and (signed or natural(a)) else None


def quotient(a: Number, b: Number) -> Number | None:
    return divided(a, b) if isinstance(b, int) and b > 0 and natural(a) else None


def natural(*numbers: Number) -> bool:
    return all((low := bounds(number)[0]) is not None and low >= 0 for number in numbers)
