"""Facts about a value before a program runs: a number in closed form, or a pointer with one as its offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ptosim.effects.names import Space
from ptosim.order.number import Linear, Number, Periodic, bounds, key_of, periodic

WIDEST = 1 << 64
"""A number that no register holds is not what the program computes: that has wrapped."""


@dataclass(frozen=True)
class Pointer:
    """A place: in an argument of the kernel, or (without an origin) an address of an on-chip memory."""

    space: Space
    origin: str
    offset: Number


Known = Number | Pointer


def number_of(known: Known) -> Number:
    """A number, or the offset of a pointer."""
    return known.offset if isinstance(known, Pointer) else known


def with_number(known: Known, number: Number) -> Known:
    """Another number, or the same pointer with another offset."""
    return replace(known, offset=number) if isinstance(known, Pointer) else number


def origin_of(known: Known) -> tuple[object, ...]:
    """The base of a pointer; None of a number."""
    return (known.space, known.origin) if isinstance(known, Pointer) else ()


def is_unsettled(found: Known) -> bool:
    number = number_of(found)
    return isinstance(number, Linear) and not all(each.is_single for each in number.terms)


def is_too_wide(found: Known) -> bool:
    match number_of(found):
        case Periodic(values=values):
            return any(map(is_too_wide, values))
        case Linear(constant, terms) as number:
            parts = (constant, *terms.values(), *(bound for bound in bounds(number) if bound is not None))
            return max(map(abs, parts)) > WIDEST
        case number:
            return abs(number) > WIDEST


def known_key(known: Known) -> tuple[object, ...]:
    """The key that tells numbers and pointers apart."""
    return (*origin_of(known), *key_of(number_of(known)))


def is_repeated(keys: list[tuple[object, ...]], period: int) -> bool:
    return all(keys[i] == keys[i % period] for i in range(len(keys)))


def in_turn(turns: Sequence[Known], loop: int) -> Known | None:
    """Values that are taken in turn; pointers of one origin."""
    plain = [number for turn in turns if not isinstance(number := number_of(turn), Periodic)]
    if len(plain) != len(turns) or len(set(map(origin_of, turns))) > 1:
        return None
    return with_number(turns[0], periodic(loop, (), tuple(plain)))


def trips(first: Number, end: Number, step: Number) -> int | None:
    """The most iterations a loop makes."""
    distance = bounds(end - first)[1]
    return None if distance is None or not isinstance(step, int) or step < 1 else -(-max(distance, 0) // step)
