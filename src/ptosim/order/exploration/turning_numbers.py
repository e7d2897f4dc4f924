"""Integers of the scalar unit in an exploration: known, or known by their remainder and their least value."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class TurningNumber:
    """Any number that leaves `rest` modulo `period` and is at least `low`; None: there is no least value."""

    rest: int
    period: int
    low: int | None


Turning = int | TurningNumber
ANY = TurningNumber(0, 1, None)
NATURAL = TurningNumber(0, 1, 0)


def turning(rest: int, period: int, low: int | None) -> TurningNumber:
    return TurningNumber(rest % period, period, low)


def is_natural(number: Turning) -> bool:
    return number >= 0 if isinstance(number, int) else number.low is not None and number.low >= 0


def _low(number: Turning) -> int | None:
    return number if isinstance(number, int) else number.low


def add(a: Turning, b: Turning) -> Turning:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    low = None if _low(a) is None or _low(b) is None else (_low(a) or 0) + (_low(b) or 0)
    return turning(_rest(a) + _rest(b), _period(a, b), low)


def negated(a: Turning) -> Turning:
    return -a if isinstance(a, int) else turning(-a.rest, a.period, None)


def multiply(a: Turning, b: Turning) -> Turning:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    number, factor = (a, b) if isinstance(b, int) else (b, a)
    if not isinstance(factor, int) or not isinstance(number, TurningNumber):
        return NATURAL if is_natural(a) and is_natural(b) else ANY
    if factor == 0:
        return 0
    low = number.low * factor if number.low is not None and factor > 0 else None
    return turning(number.rest * factor, number.period * abs(factor), low)


def remainder(a: Turning, by: Turning) -> Turning | None:
    """The remainder of a natural number; None if more than one is possible."""
    if by == 1:
        return 0
    if not isinstance(by, int) or by < 1 or not is_natural(a):
        return NATURAL if is_natural(a) and is_natural(by) else ANY
    if isinstance(a, int):
        return a % by
    return a.rest % by if a.period % by == 0 else None


def divided(a: Turning, by: Turning) -> Turning:
    """A natural number divided, rounded down."""
    if not is_natural(a) or not isinstance(by, int) or by < 1:
        return NATURAL if is_natural(a) and is_natural(by) else ANY
    if isinstance(a, int):
        return a // by
    low = (a.low or 0) // by
    return turning(a.rest // by, a.period // by, low) if a.period % by == 0 else TurningNumber(0, 1, low)


def lesser(a: Turning, b: Turning) -> Turning:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    lows = _low(a), _low(b)
    return ANY if lows[0] is None or lows[1] is None else TurningNumber(0, 1, min(lows[0], lows[1]))


def greater(a: Turning, b: Turning) -> Turning:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return TurningNumber(0, 1, max((low for low in (_low(a), _low(b)) if low is not None), default=None))


def compared(predicate: str, a: Turning, b: Turning) -> bool | None:
    """None where it may be either."""
    if predicate[0] == "u" and not (is_natural(a) and is_natural(b)):
        return None
    order = predicate.removeprefix("u").removeprefix("s")
    if order in ("eq", "ne"):
        same = _is_same(a, b)
        return None if same is None else same is (order == "eq")
    if order in ("gt", "ge"):
        return compared({"gt": "slt", "ge": "sle"}[order], b, a)
    if isinstance(a, int) and isinstance(b, int):
        return a < b if order == "lt" else a <= b
    low = _low(a)
    if isinstance(b, int) and low is not None and (low >= b if order == "lt" else low > b):
        return False
    low = _low(b)
    return True if isinstance(a, int) and low is not None and (a < low if order == "lt" else a <= low) else None


def _is_same(a: Turning, b: Turning) -> bool | None:
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if (_rest(a) - _rest(b)) % _period(a, b):
        return False
    number, other = (a, b) if isinstance(b, int) else (b, a)
    low = _low(number)
    return False if isinstance(other, int) and low is not None and other < low else None


def _rest(number: Turning) -> int:
    return number if isinstance(number, int) else number.rest


def _period(a: Turning, b: Turning) -> int:
    return gcd(*(each.period for each in (a, b) if isinstance(each, TurningNumber)))
