"""What can be known of a value before a program runs: a number in closed form, or a pointer with one as its offset."""

from __future__ import annotations

from dataclasses import dataclass

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


def is_unsettled(found: Known) -> bool:
    number = found.offset if isinstance(found, Pointer) else found
    return isinstance(number, Linear) and not all(each.is_single for each in number.terms)


def is_too_wide(found: Known) -> bool:
    match found.offset if isinstance(found, Pointer) else found:
        case Periodic(values=values):
            return any(map(is_too_wide, values))
        case Linear(constant, terms) as number:
            parts = (constant, *terms.values(), *(bound for bound in bounds(number) if bound is not None))
            return max(map(abs, parts)) > WIDEST
        case number:
            return abs(number) > WIDEST


def keys_of(state: list[Known]) -> list[tuple[object, ...]]:
    return [
        (each.space, each.origin, key_of(each.offset)) if isinstance(each, Pointer) else key_of(each) for each in state
    ]


def is_repeated(keys: list[tuple[object, ...]], period: int) -> bool:
    return all(keys[i] == keys[i % period] for i in range(len(keys)))


def in_turn(turns: list[Known], loop: int) -> Known | None:
    """Values that are taken in turn; pointers of one origin."""
    first = turns[0]
    if isinstance(first, Pointer):
        pointers = [turn for turn in turns if isinstance(turn, Pointer)]
        if any((turn.space, turn.origin) != (first.space, first.origin) for turn in pointers):
            return None
        numbers = [turn.offset for turn in pointers]
    else:
        numbers = [turn for turn in turns if not isinstance(turn, Pointer)]
    plain = [number for number in numbers if not isinstance(number, Periodic)]
    if len(plain) != len(turns):
        return None
    offset = periodic(loop, (), tuple(plain))
    return Pointer(first.space, first.origin, offset) if isinstance(first, Pointer) else offset


def trips(first: Number, end: Number, step: Number) -> int | None:
    """The most iterations a loop makes."""
    distance = bounds(end - first)[1]
    return None if distance is None or not isinstance(step, int) or step < 1 else -(-max(distance, 0) // step)
