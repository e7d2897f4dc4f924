"""Ranges of integers known at compilation: their least and greatest number, and how many of the lowest bits are 0.

Addresses inside loops of known bounds are thus known to be aligned and inside their memory: nothing has to be checked,
and how much of a memory a kernel may write is known before it runs (core.py). Nothing here depends on the place in the
program: a range holds for every value that an instruction may ever give, of wrapping integers as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from ptosim.effects.scalar import Arithmetic


@dataclass(frozen=True, slots=True)
class IntegerRange:
    """From `low` to `high`, both included, as signed numbers; multiples of 2^`zeros`."""

    low: int
    high: int
    zeros: int = 0

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high

    def or_(self, other: IntegerRange) -> IntegerRange:
        """One of two."""
        return IntegerRange(min(self.low, other.low), max(self.high, other.high), min(self.zeros, other.zeros))


@cache
def everything(bits: int) -> IntegerRange:
    """Any integer of this width."""
    return IntegerRange(-1 << (bits - 1), (1 << (bits - 1)) - 1)


def only(number: int, bits: int) -> IntegerRange:
    return IntegerRange(number, number, min(bits, (number & -number).bit_length() - 1) if number else bits)


@cache
def _ranges(bits: int) -> IntegerRanges:
    return IntegerRanges(bits)


def combined(name: str, a: IntegerRange, b: IntegerRange, bits: int) -> IntegerRange:
    """The result of an instruction of two operands, by LLVM's name."""
    ranges = _ranges(bits)
    if name in _SHIFTS:
        found = ranges.shifted(_SHIFTS[name], a, b)
    else:
        found = getattr(ranges, _NAMES[name])(a, b) if name in _NAMES else None
    return everything(bits) if found is None else _wrapped(found, bits)


def converted(name: str, given: IntegerRange, bits: int, wider: int) -> IntegerRange:
    """By sext, zext or trunc from one width to another."""
    if name == "zext" and given.low < 0:
        return IntegerRange(0, (1 << bits) - 1, given.zeros)
    return _wrapped(given, wider)


def _wrapped(found: IntegerRange, bits: int) -> IntegerRange:
    """A range wrapped to so many bits: an integer that does not fit keeps its low bits."""
    whole = everything(bits)
    return found if found.within(whole.low, whole.high) else replace(whole, zeros=min(found.zeros, bits))


def indices(lower: IntegerRange, upper: IntegerRange, step: IntegerRange) -> IntegerRange:
    """The indices of a loop that is entered, by a positive step."""
    zeros = min(lower.zeros, step.zeros)
    last = (upper.high - 1) >> zeros << zeros
    return IntegerRange(lower.low, max(lower.low, last), zeros)


def decided(predicate: str, a: IntegerRange, b: IntegerRange) -> bool | None:
    """A comparison whose outcome is known."""
    if predicate[0] == "u":
        if a.low < 0 or b.low < 0:
            return None
        predicate = f"s{predicate[1:]}"
    match predicate:
        case "slt":
            return True if a.high < b.low else False if a.low >= b.high else None
        case "sle":
            return True if a.high <= b.low else False if a.low > b.high else None
        case "sgt" | "sge":
            return decided({"sgt": "slt", "sge": "sle"}[predicate], b, a)
        case "eq" | "ne":
            return None if a.low <= b.high and b.low <= a.high else predicate == "ne"
        case _:
            return None


# --- the rules --------------------------------------------------------------------------------------------------------

_Known = IntegerRange | None


class IntegerRanges(Arithmetic):
    """Results of integers with known ranges; a range may be wider than the type, and wraps then."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def addi(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        return IntegerRange(a.low + b.low, a.high + b.high, min(a.zeros, b.zeros))

    def subi(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        return IntegerRange(a.low - b.high, a.high - b.low, min(a.zeros, b.zeros))

    def muli(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return IntegerRange(min(ends), max(ends), a.zeros + b.zeros)

    def andi(self, a: IntegerRange, b: IntegerRange) -> _Known:
        highest = [side.high for side in (a, b) if side.low >= 0]
        return IntegerRange(0, min(highest), max(a.zeros, b.zeros)) if highest else None

    def ori(self, a: IntegerRange, b: IntegerRange) -> None:
        return None

    def xori(self, a: IntegerRange, b: IntegerRange) -> None:
        return None

    def shifted(self, instruction: str, a: IntegerRange, amount: IntegerRange) -> _Known:
        by = amount.low
        if not 0 <= by == amount.high < 64 or (instruction == "shrui" and a.low < 0):
            return None
        if instruction == "shli":
            return self.muli(a, only(1 << by, 64))
        return IntegerRange(a.low >> by, a.high >> by, max(0, a.zeros - by))

    def divui(self, a: IntegerRange, b: IntegerRange) -> _Known:
        return IntegerRange(a.low // b.high, a.high // b.low) if a.low >= 0 and b.low > 0 else None

    def remsi(self, a: IntegerRange, b: IntegerRange) -> _Known:
        return self.remui(a, b) if a.low >= 0 else None

    def remui(self, a: IntegerRange, b: IntegerRange) -> _Known:
        """Whatever the dividend: a negative one is a large number."""
        if b.low <= 0:
            return None
        return IntegerRange(0, min(a.high, b.high - 1) if a.low >= 0 else b.high - 1, min(a.zeros, b.zeros))

    def minsi(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        return IntegerRange(min(a.low, b.low), min(a.high, b.high), min(a.zeros, b.zeros))

    def maxsi(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        return IntegerRange(max(a.low, b.low), max(a.high, b.high), min(a.zeros, b.zeros))

    def minui(self, a: IntegerRange, b: IntegerRange) -> _Known:
        return self.minsi(a, b) if a.low >= 0 and b.low >= 0 else None

    def maxui(self, a: IntegerRange, b: IntegerRange) -> _Known:
        return self.maxsi(a, b) if a.low >= 0 and b.low >= 0 else None

    divsi = divui


_NAMES = {
    **{name: f"{name}i" for name in ("add", "sub", "mul", "and", "or", "xor")},
    **{name: f"{name[1:]}{name[0]}i" for name in ("udiv", "sdiv", "urem", "srem")},
    **{f"llvm.{sign}{name}": f"{name}{sign}i" for sign in "su" for name in ("min", "max")},
}
"""The instructions of LLVM by their names in arith."""
_SHIFTS = {"shl": "shli", "ashr": "shrsi", "lshr": "shrui"}
