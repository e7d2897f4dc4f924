"""What compiling a kernel already tells about an integer: between which numbers it lies, and how many of its lowest
bits are 0.

Addresses inside loops of known bounds are thus known to be aligned and inside their memory: nothing has to be checked,
and how much of a memory a kernel may write is known before it runs (core.py). Nothing here depends on the place in the
program: a range holds for every value that an instruction may ever give, of wrapping integers as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache


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


def combined(name: str, a: IntegerRange, b: IntegerRange, bits: int) -> IntegerRange:
    """The result of an instruction of two operands, by LLVM's name."""
    rule = _RULES.get(name)
    found = None if rule is None else rule(a, b)
    return everything(bits) if found is None else _wrapped(found, bits)


def converted(name: str, given: IntegerRange, bits: int, wider: int) -> IntegerRange:
    """By sext, zext or trunc from one width to another."""
    if name == "zext" and given.low < 0:
        return IntegerRange(0, (1 << bits) - 1, given.zeros)
    return _wrapped(given, wider)


def _wrapped(found: IntegerRange, bits: int) -> IntegerRange:
    """What is left of a range in so many bits: an integer that does not fit wraps, which keeps its low bits."""
    whole = everything(bits)
    return found if found.within(whole.low, whole.high) else replace(whole, zeros=min(found.zeros, bits))


def indices(lower: IntegerRange, upper: IntegerRange, step: IntegerRange) -> IntegerRange:
    """Those of a loop that is entered, by a positive step."""
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

Rule = Callable[[IntegerRange, IntegerRange], "IntegerRange | None"]


def _add(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    return IntegerRange(a.low + b.low, a.high + b.high, min(a.zeros, b.zeros))


def _subtract(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    return IntegerRange(a.low - b.high, a.high - b.low, min(a.zeros, b.zeros))


def _multiply(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return IntegerRange(min(ends), max(ends), a.zeros + b.zeros)


def _and(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    highest = [side.high for side in (a, b) if side.low >= 0]
    return IntegerRange(0, min(highest), max(a.zeros, b.zeros)) if highest else None


def _shift_left(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    return _multiply(a, only(1 << b.low, 64)) if 0 <= b.low == b.high < 64 else None


def _shift_right(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    if not 0 <= b.low == b.high < 64:
        return None
    return IntegerRange(a.low >> b.low, a.high >> b.low, max(0, a.zeros - b.low))


def _of_natural(rule: Rule) -> Rule:
    """For operands that are not negative, where signed and unsigned are the same."""
    return lambda a, b: rule(a, b) if a.low >= 0 and b.low >= 0 else None


def _divide(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    return IntegerRange(a.low // b.high, a.high // b.low) if b.low > 0 else None


def _remainder(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    return IntegerRange(0, min(a.high, b.high - 1), min(a.zeros, b.zeros)) if b.low > 0 else None


def _unsigned_remainder(a: IntegerRange, b: IntegerRange) -> IntegerRange | None:
    """Whatever the dividend: a negative one is a large number."""
    if b.low <= 0:
        return None
    return IntegerRange(0, min(a.high, b.high - 1) if a.low >= 0 else b.high - 1, min(a.zeros, b.zeros))


def _least(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    return IntegerRange(min(a.low, b.low), min(a.high, b.high), min(a.zeros, b.zeros))


def _greatest(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    return IntegerRange(max(a.low, b.low), max(a.high, b.high), min(a.zeros, b.zeros))


_RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "and": _and,
    "shl": _shift_left,
    "ashr": _shift_right,
    "lshr": _of_natural(_shift_right),
    "udiv": _of_natural(_divide),
    "sdiv": _of_natural(_divide),
    "urem": _unsigned_remainder,
    "srem": _of_natural(_remainder),
    "llvm.smin": _least,
    "llvm.smax": _greatest,
    "llvm.umin": _of_natural(_least),
    "llvm.umax": _of_natural(_greatest),
}
