"""What the values of a program are, as far as they are known before it runs: integers and pointers in closed form.

Integers are numbers of number.py, pointers an origin and an offset in bytes. Loops are named by numbers; whoever walks
the program enters each of them with `loop_of` before it asks for values inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.language.control import For, Yield
from ptosim.language.function import Function
from ptosim.language.operands import constant_of
from ptosim.language.operation import PTOOperation
from ptosim.language.pointer import AddPtr, CastPtr, IntToPtr, PtrToInt
from ptosim.language.predicate import PltB8, PltB16, PltB32
from ptosim.language.scope import StrictVecScope
from ptosim.language.tile_local import LocalArrayGet
from ptosim.language.types import MaskType, PtrType, element_name, element_of
from ptosim.order.arrays import RoundCounter, Table, arrays_of
from ptosim.order.number import (
    LONGEST_PERIOD,
    Linear,
    Maybe,
    Number,
    Periodic,
    Symbol,
    between,
    bounds,
    divided,
    either,
    key_of,
    larger,
    multiplied,
    periodic,
    remainder,
    smaller,
    symbol,
)

_MOST_TERMS = 16
"""A product of longer sums has no closed form."""

ANYWHERE = "?"
"""The origin of a pointer that may point into any argument."""


@dataclass(frozen=True)
class Pointer:
    """A place: in an argument of the kernel, or (without an origin) an address of an on-chip memory."""

    space: Space
    origin: str
    offset: Number


Known = Number | Pointer


class Values:
    """The values of one function."""

    def __init__(self, function: Function) -> None:
        self._known: dict[SSAValue, Known] = {}
        self._loops: dict[Block, tuple[int, ...]] = {}
        """The loops around a block, where it is the body of one."""
        self.arrays = arrays_of(function)
        self._products: dict[tuple[int, ...], Symbol] = {}
        for index, argument in enumerate(function.body.block.args):
            self._known[argument] = _argument(index, argument)

    # --- loops ------------------------------------------------------------------------------------------------------

    def enter(self, loop: For, path: tuple[int, ...]) -> int | None:
        """Learn what a loop counts and carries; `path` names it and the loops around it. Gives how often it runs at
        most, where that is known."""
        body = loop.body.block
        self._loops[body] = path
        first, step = self.number(loop.lb), self.number(loop.step)
        iterations = _trips(first, self.number(loop.ub), step)
        iteration = Symbol(path, 0, None if iterations is None else max(iterations - 1, 0), is_iteration=True)
        index, *carried = body.args
        self._known[index] = first + symbol(iteration) * step if isinstance(step, int) else self._open(index)
        ends = body.last_op
        given = ends.operands if isinstance(ends, Yield) else ()
        for argument, start, following in zip(carried, loop.iter_args, given, strict=False):
            self._known[argument] = self._stepping(argument, start, following, iteration)
        if any(self._is_open(argument) for argument in carried) and iterations != 0:
            self._learn_turns(loop, path)
        return iterations

    def _stepping(self, argument: SSAValue, start: SSAValue, following: SSAValue, iteration: Symbol) -> Known:
        """A carried value that stays, or grows by the same amount each time."""
        if following is argument:
            return self.of(start)
        marker = Symbol(iteration.loops)
        with_marker = _Trial(self, {argument: symbol(marker)}) if element_name(argument.type) else None
        after = with_marker.of(following) if with_marker is not None else None
        before = self.of(start)
        if isinstance(after, Linear) and not isinstance(before, Pointer) and after.terms == {marker: 1}:
            return before + symbol(iteration) * after.constant
        return self._open(argument)

    def _learn_turns(self, loop: For, path: tuple[int, ...]) -> None:
        """Carried values that return to where they were after some iterations: slots in turn."""
        _, *carried = loop.body.block.args
        ends = loop.body.block.last_op
        assert ends is not None
        state = [self.of(start) for start in loop.iter_args]
        seen: list[list[Known]] = []
        keys = [_key(state)]
        while len(seen) < LONGEST_PERIOD:
            seen.append(state)
            trial = _Trial(self, dict(zip(carried, state, strict=True)))
            state = [trial.of(value) for value in ends.operands]
            keys.append(_key(state))
        for index, argument in enumerate(carried):
            period = next((p for p in range(1, LONGEST_PERIOD) if _repeats([key[index] for key in keys], p)), None)
            if self._is_open(argument) and period is not None:
                found = _in_turn([turn[index] for turn in seen[:period]], path[-1])
                if found is not None:
                    self._known[argument] = found

    def _is_open(self, value: SSAValue) -> bool:
        known = self._known[value]
        number = known.offset if isinstance(known, Pointer) else known
        return isinstance(number, Linear) and bounds(number) == (None, None)

    # --- values -----------------------------------------------------------------------------------------------------

    def of(self, value: SSAValue) -> Known:
        """What is known of a value."""
        if value not in self._known:
            self._known[value] = self._work_out(value)
        return self._known[value]

    def number(self, value: SSAValue) -> Number:
        known = self.of(value)
        return known.offset if isinstance(known, Pointer) else known

    def _work_out(self, value: SSAValue) -> Known:
        owner = value.owner
        if isinstance(owner, Block) or not isinstance(owner, PTOOperation):
            return self._passed(value)
        if (literal := constant_of(value)) is not None:
            return literal
        if (rule := _RULES.get(owner.name)) is None:
            return self._open(value)
        found = rule(self, owner)
        return self._open(value) if found is None else self._settled(value, found)

    def _settled(self, value: SSAValue, found: Known) -> Known:
        """What has no closed form is one number in each iteration, and every use of the value means the same."""
        match found:
            case Pointer():
                offset = self._settled(value, found.offset)
                assert not isinstance(offset, Pointer)
                return Pointer(found.space, found.origin, offset)
            case Linear() if not all(each.is_single for each in found.terms):
                return symbol(Symbol(self.loops_around(value), *bounds(found)))
            case _:
                return found

    def product(self, a: Number, b: Number) -> Number:
        """Of two numbers. A product of symbols is a symbol too, the same one wherever it is computed."""
        if not isinstance(a, Linear) or not isinstance(b, Linear):
            return a * b
        if not all(each.is_single for each in (*a.terms, *b.terms)) or len(a.terms) * len(b.terms) > _MOST_TERMS:
            return a * b
        total = a * b.constant + b * a.constant - a.constant * b.constant
        for x, factor in a.terms.items():
            for y, other in b.terms.items():
                symbols = sorted((*(x.factors or (x,)), *(y.factors or (y,))), key=lambda each: each.number)
                key = tuple(each.number for each in symbols)
                if key not in self._products:
                    self._products[key] = multiplied(tuple(symbols))
                total = total + symbol(self._products[key]) * (factor * other)
        return total

    def _passed(self, value: SSAValue) -> Known:
        """The argument of a strict scope is what is passed to it."""
        if isinstance(value, BlockArgument) and isinstance(scope := value.owner.parent_op(), StrictVecScope):
            return self.of(scope.arguments[value.index])
        return self._open(value)

    def _open(self, value: SSAValue) -> Known:
        """A value that only the run knows: one for each iteration of the loops around it."""
        unknown = symbol(Symbol(self.loops_around(value), *_limits(value)))
        if isinstance(value.type, PtrType):
            return Pointer(value.type.space, ANYWHERE if value.type.space is Space.GM else "", unknown)
        return unknown

    def loops_around(self, value: SSAValue) -> tuple[int, ...]:
        owner = value.owner
        block = owner.parent_block() if isinstance(owner, Operation) else owner
        while block is not None:
            if block in self._loops:
                return self._loops[block]
            block = block.parent_block()
        return ()


class _Trial(Values):
    """The values of a loop body, were its carried values these."""

    def __init__(self, outer: Values, given: Mapping[SSAValue, Known]) -> None:
        self._outer = outer
        self._known = dict(given)
        self._loops = outer._loops  # pyright: ignore[reportPrivateUsage]
        self.arrays = outer.arrays
        self._products = outer._products  # pyright: ignore[reportPrivateUsage]

    def of(self, value: SSAValue) -> Known:
        if value in self._known:
            return self._known[value]
        owner = value.owner
        if isinstance(owner, Block) or not self._depends(owner):
            return self._outer.of(value)
        return super().of(value)

    def _depends(self, op: Operation) -> bool:
        return op.name in _RULES and any(
            value in self._known or (isinstance(value.owner, Operation) and self._depends(value.owner))
            for value in op.operands
        )


def _key(state: list[Known]) -> list[tuple[object, ...]]:
    return [
        (each.space, each.origin, key_of(each.offset)) if isinstance(each, Pointer) else key_of(each) for each in state
    ]


def _repeats(keys: list[tuple[object, ...]], period: int) -> bool:
    return all(keys[i] == keys[i % period] for i in range(len(keys)))


def _in_turn(turns: list[Known], loop: int) -> Known | None:
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


def _trips(first: Number, end: Number, step: Number) -> int | None:
    """The most iterations a loop makes."""
    distance = bounds(end - first)[1]
    return None if distance is None or not isinstance(step, int) or step < 1 else -(-max(distance, 0) // step)


def _argument(index: int, value: SSAValue) -> Known:
    if isinstance(value.type, PtrType):
        return Pointer(value.type.space, str(index) if value.type.space is Space.GM else "", _offset_of(value))
    return symbol(Symbol((), *_limits(value)))


def _offset_of(value: SSAValue) -> Number:
    """An argument begins at its own first byte; an on-chip pointer that is passed in may be anywhere."""
    assert isinstance(value.type, PtrType)
    return 0 if value.type.space is Space.GM else between(0, None)


def _limits(value: SSAValue) -> tuple[int | None, int | None]:
    return (0, 1) if element_name(value.type) == "i1" else (None, None)


# --- operations -------------------------------------------------------------------------------------------------------

Rule = Callable[[Values, PTOOperation], Known | None]


def _binary(function: Callable[[Number, Number], Number | None]) -> Rule:
    return lambda values, op: function(values.number(op.operands[0]), values.number(op.operands[1]))


def _same(values: Values, op: PTOOperation) -> Known | None:
    return values.of(op.operands[0])


def _narrowed(values: Values, op: PTOOperation) -> Known | None:
    """A value that fits stays what it is."""
    number, bits = values.number(op.operands[0]), element_of(op.results[0].type).bits
    low, high = bounds(number)
    fits = low is not None and high is not None and low >= -(1 << bits - 1) and high < 1 << bits - 1
    return number if fits else None


def _quotient(a: Number, b: Number) -> Number | None:
    low = bounds(a)[0]
    return divided(a, b) if isinstance(b, int) and b > 0 and low is not None and low >= 0 else None


def _ceiling(a: Number, b: Number) -> Number | None:
    return _quotient(a + (b - 1), b)


def _remainder(a: Number, b: Number) -> Number | None:
    """Of numbers that are not negative. What a loop counts from there on is taken to be none."""
    if not isinstance(b, int) or b <= 0:
        return None
    low = bounds(a)[0]
    return remainder(a, b) if low is not None and low >= 0 else None


def _unsigned_remainder(a: Number, b: Number) -> Number | None:
    """A power of two divides what a negative number wraps to."""
    if isinstance(b, int) and b > 0 and b & (b - 1) == 0:
        return remainder(a, b)
    found = _remainder(a, b)
    return between(0, b - 1) if found is None and isinstance(b, int) and b > 0 else found


def _shifted(a: Number, b: Number) -> Number | None:
    return a * (1 << b) if isinstance(b, int) and 0 <= b < 64 else None


def _halved(a: Number, b: Number) -> Number | None:
    return _quotient(a, 1 << b) if isinstance(b, int) and 0 <= b < 64 else None


def _and(a: Number, b: Number) -> Number | None:
    return a & b if isinstance(a, int) or isinstance(b, int) else None


def _xor(a: Number, b: Number) -> Number | None:
    found: Any = a ^ b
    return None if isinstance(found, Linear) else found


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}


def _compare(values: Values, op: PTOOperation) -> Known | None:
    compare = _COMPARISONS.get(op.word("predicate") or "")
    found: Any = compare(*map(values.number, op.operands)) if compare is not None else None
    return None if found is None or isinstance(found, Maybe) else int(found) if isinstance(found, bool) else found


def run_of(condition: SSAValue, values: Values, path: tuple[int, ...]) -> int | None:
    """The innermost loop around a condition, if it holds in one run of its iterations and in no others: it compares the
    index with something that stays the same."""
    op, loop = condition.owner, path[-1] if path else None
    if loop is None or not isinstance(op, PTOOperation) or op.name != "arith.cmpi":
        return None
    predicate, (a, b) = op.word("predicate") or "", map(values.number, op.operands)
    if predicate not in _ORDERING or (predicate.startswith("u") and not _natural(a, b)):
        return None
    gap = a - b
    if not isinstance(gap, Linear):
        return None
    moving = [each for each in gap.terms if loop in each.loops or not each.is_single]
    return loop if len(moving) == 1 and moving[0].loop == loop else None


_ORDERING = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _select(values: Values, op: PTOOperation) -> Known | None:
    condition, chosen, other = values.number(op.operands[0]), values.of(op.operands[1]), values.of(op.operands[2])
    if isinstance(condition, int):
        return chosen if condition else other
    if isinstance(chosen, Pointer) and isinstance(other, Pointer):
        if (chosen.space, chosen.origin) != (other.space, other.origin):
            return None
        return Pointer(chosen.space, chosen.origin, _chosen(condition, chosen.offset, other.offset))
    if isinstance(chosen, Pointer) or isinstance(other, Pointer):
        return None
    return _chosen(condition, chosen, other)


def _chosen(condition: Number, a: Number, b: Number) -> Number:
    if isinstance(condition, Periodic):
        return b + condition * (a - b)
    return either(a, b)


def _cast_pointer(values: Values, op: PTOOperation) -> Known | None:
    """An address becomes a pointer, a pointer one to other elements or an address."""
    given, type_ = values.of(op.operands[0]), op.results[0].type
    if not isinstance(type_, PtrType):
        return given.offset if isinstance(given, Pointer) and given.space is not Space.GM else None
    if isinstance(given, Pointer):
        return Pointer(type_.space, given.origin, given.offset) if given.space is type_.space else None
    return None if type_.space is Space.GM else Pointer(type_.space, "", given)


def _add_pointer(values: Values, op: PTOOperation) -> Known | None:
    base, distance = values.of(op.operands[0]), values.number(op.operands[1])
    assert isinstance(base, Pointer)
    return Pointer(base.space, base.origin, base.offset + distance * _element(op).bytes)


def _held(values: Values, op: PTOOperation) -> Known | None:
    """What an array holds: the values of a counter in turn, or those of a table."""
    match values.arrays.get(op.operands[0]):
        case RoundCounter(name, modulus):
            return Periodic(name, (), tuple(range(modulus)))
        case Table(held):
            return _looked_up(held, [values.number(index) for index in op.operands[1:]])
        case None:
            return None


def _looked_up(held: Mapping[int, int], indices: list[Number]) -> Number | None:
    match indices:
        case [int(index)]:
            return held.get(index)
        case [Periodic(loop, start, turns)]:
            found = [held.get(turn) if isinstance(turn, int) else None for turn in turns]
            known = tuple(value for value in found if value is not None)
            return periodic(loop, start, known) if len(known) == len(found) else None
        case _:
            return None


def _element(op: PTOOperation) -> Element:
    return element_of(op.operands[0].type)


def _tail_rest(values: Values, op: PTOOperation) -> Known | None:
    """What remains behind a register of lanes. It may fall below zero where the machine says zero, so it serves only
    where it is asked how many lanes are active: none, then."""
    mask, rest = op.results
    if not isinstance(mask.type, MaskType) or not all(use.operation.name in _COUNTED for use in rest.uses):
        return None
    return values.number(op.operands[0]) - PREDICATE_BITS // mask.type.stride


TAILS = (PltB8.name, PltB16.name, PltB32.name)
_COUNTED = frozenset({*TAILS, "scf.yield"})
PREDICATE_BITS = 256

_RULES: dict[str, Rule] = {
    "arith.addi": _binary(lambda a, b: a + b),
    "arith.subi": _binary(lambda a, b: a - b),
    "arith.muli": lambda values, op: values.product(*map(values.number, op.operands)),
    "arith.divsi": _binary(_quotient),
    "arith.divui": _binary(_quotient),
    "arith.floordivsi": _binary(_quotient),
    "arith.ceildivsi": _binary(_ceiling),
    "arith.ceildivui": _binary(_ceiling),
    "arith.remsi": _binary(_remainder),
    "arith.remui": _binary(_unsigned_remainder),
    "arith.andi": _binary(_and),
    "arith.xori": _binary(_xor),
    "arith.shli": _binary(_shifted),
    "arith.shrui": _binary(_halved),
    "arith.shrsi": _binary(_halved),
    "arith.minsi": _binary(smaller),
    "arith.maxsi": _binary(larger),
    "arith.minui": _binary(lambda a, b: smaller(a, b) if _natural(a, b) else None),
    "arith.maxui": _binary(lambda a, b: larger(a, b) if _natural(a, b) else None),
    "arith.cmpi": _compare,
    "arith.select": _select,
    "arith.index_cast": _same,
    "arith.index_castui": _same,
    "arith.extsi": _same,
    "arith.extui": lambda values, op: _same(values, op) if _natural(values.number(op.operands[0])) else None,
    "arith.trunci": _narrowed,
    **dict.fromkeys(TAILS, _tail_rest),
    LocalArrayGet.name: _held,
    **dict.fromkeys((CastPtr.name, PtrToInt.name, IntToPtr.name), _cast_pointer),
    AddPtr.name: _add_pointer,
}


def _natural(*numbers: Number) -> bool:
    return all((low := bounds(number)[0]) is not None and low >= 0 for number in numbers)
