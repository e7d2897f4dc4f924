"""Numbers that a kernel computes, as far as they are known before it runs: closed forms of loop iterations.

An int is known. A `Linear` is a sum of symbols with integer factors: iterations of loops, and values that only the run
knows, each with the least and the most it can be. A `Periodic` takes its values in turn, one for each iteration of a
loop. All of them are quantities of effects/geometry.py, so that the extents of the effects records evaluate on them;
what has no closed form becomes a symbol of its own, within bounds. Arithmetic is taken not to wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from math import gcd, lcm
from typing import Any

LONGEST_PERIOD = 16

Bound = int | None
"""A least or greatest value; None where there is none."""

_numbers = count()


@dataclass(frozen=True, eq=False)
class Symbol:
    """A number that differs from run to run or from iteration to iteration."""

    loops: tuple[int, ...] = ()
    """The loops around its definition, outermost first: in one iteration of all of them it has one value."""
    low: Bound = None
    high: Bound = None
    is_iteration: bool = False
    """Whether it counts the iterations of the innermost of its loops, from 0."""
    is_single: bool = True
    """Whether it has one value per iteration; otherwise every use is another one."""
    factors: tuple[Symbol, ...] = ()
    """The factors of a product."""
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def loop(self) -> int | None:
        """The loop whose iterations it counts."""
        return self.loops[-1] if self.is_iteration else None


class Maybe:
    """A condition that is not known; of a comparison, what was compared: whether the first is less than the second."""

    def __init__(self, *compared: Number) -> None:
        self.compared = compared

    def __and__(self, other: Any) -> Any:
        return other if other is False else self if other is True else MAYBE

    def __or__(self, other: Any) -> Any:
        return other if other is True else self if other is False else MAYBE

    def __xor__(self, other: Any) -> Maybe:
        return MAYBE

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __bool__(self) -> bool:
        raise TypeError("not known")

    def __mul__(self, other: Any) -> Difference:
        return Difference(self, other)

    __rmul__ = __mul__


MAYBE = Maybe()


class SymbolicNumber:
    """The operators that linear and periodic numbers share."""

    __hash__ = None  # pyright: ignore[reportAssignmentType] - equality is a condition, not a truth

    def __add__(self, other: Any) -> Any:
        return other + self if isinstance(other, Difference) else _both(_add, self, other)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __mul__(self, other: Any) -> Any:
        return (
            other * self if isinstance(other, Maybe) else _both(_multiply, self, int(other) if other is True else other)
        )

    __rmul__ = __mul__

    def __and__(self, other: Any) -> Any:
        return _both(_mask, self, other)

    __rand__ = __and__

    def __xor__(self, other: Any) -> Any:
        return _both(_exactly(lambda a, b: a ^ b), self, other)

    __rxor__ = __xor__

    def __or__(self, other: Any) -> Any:
        return _both(_exactly(lambda a, b: a | b), self, other)

    __ror__ = __or__

    def __rshift__(self, other: Any) -> Any:
        return _both(_shift, self, other)

    def __lt__(self, other: Any) -> Any:
        found = _condition(self, other, _is_negative)
        return Maybe(self, other) if found is MAYBE else found  # pyright: ignore[reportArgumentType]

    def __le__(self, other: Any) -> Any:
        return self < other + 1

    def __gt__(self, other: Any) -> Any:
        return self * -1 < other * -1

    def __ge__(self, other: Any) -> Any:
        return self * -1 < other * -1 + 1

    def __eq__(self, other: Any) -> Any:
        return _condition(self, other, _is_zero)

    def __ne__(self, other: Any) -> Any:
        return (self == other) ^ True


@dataclass(frozen=True, eq=False)
class Linear(SymbolicNumber):
    """A constant and symbols with their factors, none of them 0."""

    constant: int
    terms: Mapping[Symbol, int]

    def __add__(self, other: Any) -> Any:
        return Linear(self.constant + other, self.terms) if type(other) is int else super().__add__(other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if type(other) is not int or not other:
            return super().__mul__(other)
        return Linear(self.constant * other, {each: factor * other for each, factor in self.terms.items()})

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Periodic(SymbolicNumber):
    """Values in turn: in iteration i of a loop the one of number (i + start) modulo the period."""

    loop: int
    start: tuple[object, ...]
    """The start of the count: empty for 0, else the key of the unknown number."""
    values: tuple[int | Linear, ...]

    @property
    def is_by_turns(self) -> bool:
        """Whether the iteration alone says which: no array counts them (arrays.py), and they count from 0."""
        return not self.start and self.loop >= 0


@dataclass(frozen=True, eq=False)
class Difference(SymbolicNumber):
    """A number that is added or not: what a choice between two numbers is made of."""

    condition: Maybe
    number: Number

    def __add__(self, other: Any) -> Any:
        chosen, compared = other + self.number, [key_of(each) for each in self.condition.compared]
        if [key_of(other), key_of(chosen)] == compared:
            return larger(other, chosen)
        if [key_of(chosen), key_of(other)] == compared:
            return smaller(other, chosen)
        return either(other, chosen)

    __radd__ = __add__

    @property
    def spread(self) -> Number:
        return either(0, self.number)


Plain = int | Linear
Number = Plain | Periodic


def linear(constant: int, terms: Mapping[Symbol, int]) -> int | Linear:
    kept = {symbol: factor for symbol, factor in terms.items() if factor}
    return Linear(constant, kept) if kept else constant


def symbol(symbol_: Symbol) -> Linear:
    return Linear(0, {symbol_: 1})


def between(low: Bound, high: Bound) -> Plain:
    """Some number within bounds, another one at each use."""
    return low if low is not None and low == high else symbol(Symbol((), low, high, is_single=False))


def periodic(loop: int, start: tuple[object, ...], values: tuple[int | Linear, ...]) -> Number:
    """Values in turn, in their shortest form."""
    keys = [key_of(value) for value in values]
    for period in range(1, len(values)):
        if len(values) % period == 0 and all(keys[i] == keys[i % period] for i in range(len(values))):
            values = values[:period]
            break
    return values[0] if len(values) == 1 else Periodic(loop, start, values)


def key_of(number: Number) -> tuple[object, ...]:
    """The key of a number."""
    match number:
        case int():
            return (number,)
        case Linear():
            return (number.constant, *sorted((each.number, factor) for each, factor in number.terms.items()))
        case Periodic():
            return (number.loop, number.start, *map(key_of, number.values))


# --- bounds -----------------------------------------------------------------------------------------------------------


def bounds(number: Number) -> tuple[Bound, Bound]:
    """The least and the greatest value."""
    match number:
        case int():
            return int(number), int(number)
        case Linear():
            return extreme(number.constant, number.terms, -1), extreme(number.constant, number.terms, 1)
        case Periodic():
            return _hull(number.values)


def _hull(numbers: Sequence[Number]) -> tuple[Bound, Bound]:
    """The least and the greatest value of any of some numbers."""
    lows, highs = zip(*map(bounds, numbers), strict=True)
    return None if None in lows else min(lows), None if None in highs else max(highs)


def extreme(constant: int, terms: Mapping[Symbol, int], sign: int) -> Bound:
    """The least (sign -1) or the greatest value of a sum."""
    total = constant
    for each, factor in terms.items():
        bound = each.high if factor * sign > 0 else each.low
        if bound is None:
            return None
        total += factor * bound
    return total


def _decided(yes: bool, no: bool) -> Any:
    return True if yes else False if no else MAYBE


def _is_negative(low: Bound, high: Bound) -> Any:
    return _decided(high is not None and high < 0, low is not None and low >= 0)


def _is_zero(low: Bound, high: Bound) -> Any:
    return _decided(low == 0 and high == 0, (low is not None and low > 0) or (high is not None and high < 0))


def _condition(a: Any, b: Any, decide: Callable[[Bound, Bound], Any]) -> Any:
    """A condition on a difference; one that differs from iteration to iteration is a number, 0 or 1."""
    difference = a - b
    if isinstance(difference, Periodic):
        decided = [decide(*bounds(value)) for value in difference.values]
        if any(isinstance(each, Maybe) for each in decided):
            return MAYBE
        return periodic(difference.loop, difference.start, tuple(int(each) for each in decided))
    return decide(*bounds(difference))


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _both(function: Callable[[Plain, Plain], Number], a: Any, b: Any) -> Any:
    """A function of two numbers, value by value where one is periodic."""
    a, b = (each.spread if isinstance(each, Difference) else each for each in (a, b))
    if not isinstance(a, Periodic) and not isinstance(b, Periodic):
        return function(a, b)
    if isinstance(a, Periodic) and isinstance(b, Periodic) and (a.loop, a.start) != (b.loop, b.start):
        return _both(function, a, between(*bounds(b)))
    table = a if isinstance(a, Periodic) else b
    assert isinstance(table, Periodic)
    length = lcm(*(len(each.values) for each in (a, b) if isinstance(each, Periodic)))
    results = [function(_at(a, turn), _at(b, turn)) for turn in range(length)] if length <= LONGEST_PERIOD else []
    plain = [result for result in results if not isinstance(result, Periodic)]
    if not plain or len(plain) < length:
        return function(_spread(a), _spread(b))
    return periodic(table.loop, table.start, tuple(plain))


def _exactly(function: Callable[[int, int], int]) -> Callable[[Plain, Plain], Number]:
    """A function of integers; of other numbers nothing is known."""
    return lambda a, b: function(a, b) if isinstance(a, int) and isinstance(b, int) else between(None, None)


def _spread(number: Number) -> Plain:
    """A number of any turn."""
    return between(*bounds(number)) if isinstance(number, Periodic) else number


def _at(number: Number, turn: int) -> Plain:
    return number.values[turn % len(number.values)] if isinstance(number, Periodic) else number


def _add(a: Plain, b: Plain) -> Number:
    terms = dict(_terms(a))
    for each, factor in _terms(b):
        terms[each] = terms.get(each, 0) + factor
    return linear(_constant(a) + _constant(b), terms)


def _terms(number: Plain) -> Iterator[tuple[Symbol, int]]:
    return iter(number.terms.items() if isinstance(number, Linear) else ())


def _constant(number: Plain) -> int:
    return number.constant if isinstance(number, Linear) else int(number)


def _multiply(a: Plain, b: Plain) -> Number:
    if isinstance(a, Linear) and isinstance(b, Linear):
        return between(*_times_bounds(bounds(a), bounds(b)))
    factor, number = (a, b) if isinstance(b, Linear) else (b, a)
    scaled = {each: value * _constant(factor) for each, value in _terms(number)}
    return linear(_constant(number) * _constant(factor), scaled)


def _times_bounds(a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    """The least and the greatest product."""
    corners = [_times(x, y) for x in a for y in b]
    known = [corner for corner in corners if corner is not None]
    if len(known) == len(corners):
        return min(known), max(known)
    positive = all(low is not None and low >= 0 for low, _ in (a, b))
    return 0 if positive else None, None


def _times(x: Bound, y: Bound) -> Bound:
    return 0 if x == 0 or y == 0 else None if x is None or y is None else x * y


def _mask(a: Plain, b: Plain) -> Number:
    """Bits of a number: its multiple of a power of two, or its remainder."""
    mask, number = (a, b) if isinstance(b, Linear) else (b, a)
    if isinstance(mask, Linear) or isinstance(number, int):
        return int(a) & int(b) if isinstance(a, int) and isinstance(b, int) else between(0, None)
    if mask < 0 and -mask & (-mask - 1) == 0:
        return divided(number, -mask) * -mask
    if mask >= 0 and mask & (mask + 1) == 0:
        return remainder(number, mask + 1)
    return between(0, mask) if mask >= 0 else between(None, None)


def _shift(a: Plain, b: Plain) -> Number:
    return (
        divided(a, 1 << b)
        if isinstance(b, int)
        else between(*((0, None) if (bounds(a)[0] or 0) >= 0 else (None, None)))
    )


def divided(number: Number, by: int) -> Number:
    """Division by a positive number, rounded down."""
    if isinstance(number, Periodic):
        return _both(lambda a, _: divided(a, by), number, 0)
    if isinstance(number, int):
        return number // by
    if all(factor % by == 0 for factor in number.terms.values()):
        return linear(number.constant // by, {each: factor // by for each, factor in number.terms.items()})
    low, high = bounds(number)
    return between(None if low is None else low // by, None if high is None else high // by)


def remainder(number: Number, by: int) -> Number:
    """The remainder of a division by a positive number, never negative."""
    if isinstance(number, Periodic):
        return _both(lambda a, _: remainder(a, by), number, 0)
    if isinstance(number, int):
        return number % by
    low, high = bounds(number)
    if low is not None and high is not None and low // by == high // by:
        return number - low // by * by
    rest = {each: factor % by for each, factor in number.terms.items() if factor % by}
    if not rest:
        return number.constant % by
    counters = [each for each in rest if each.is_iteration]
    inner = max(counters, key=lambda each: len(each.loops), default=None)
    if inner is None or not all(each.is_single for each in rest) or inner.loop is None:
        return between(0, by - 1)
    factor = rest.pop(inner)
    period = by // gcd(by, factor)
    others = tuple(sorted((each.number, value) for each, value in rest.items()))
    if period > LONGEST_PERIOD or (others and factor != 1) or any(inner.loop in each.loops for each in rest):
        return between(0, by - 1)
    start = (by, *others) if others else ()
    return periodic(inner.loop, start, tuple((factor * turn + number.constant) % by for turn in range(period)))


def multiplied(symbols: tuple[Symbol, ...]) -> Symbol:
    """The product of symbols that have one value in each iteration."""
    loops = max((each.loops for each in symbols), key=len)
    low, high = reduce(_times_bounds, ((each.low, each.high) for each in symbols))
    return Symbol(loops, low, high, factors=symbols)


def smaller(a: Number, b: Number) -> Number:
    """The lesser of two numbers: one of them, where that is known, else something within bounds."""
    less = a < b
    if less is True or less is False:
        return a if less else b
    highs = [high for _, high in (bounds(a), bounds(b)) if high is not None]
    return between(_hull((a, b))[0], min(highs, default=None))


def either(a: Number, b: Number) -> Number:
    """One of two numbers."""
    return between(*_hull((a, b)))


def larger(a: Number, b: Number) -> Number:
    return -smaller(-a, -b)
