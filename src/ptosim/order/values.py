"""Values of a program before it runs, in closed form: integers and pointers.

Integers are numbers of number.py, pointers an origin and an offset in bytes. Loops are named by numbers; a walk of
the program enters each of them with `loop_of` before it asks for values inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ptosim.effects.names import Space
from ptosim.effects.scalar import BINARY
from ptosim.language.micro import predicate
from ptosim.language.micro.pointer import AddPtr, CastPtr, IntToPtr, PtrToInt
from ptosim.language.micro.scope import StrictVecScope
from ptosim.language.micro.system import GetBlockIdx, GetBlockNum, GetSubblockIdx
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, Yield
from ptosim.language.structure.function import Function
from ptosim.language.structure.scalar_cast import CmpI
from ptosim.language.tile.tile_local import LocalArrayGet
from ptosim.language.types import MaskType, PtrType, element_name, element_of
from ptosim.order import facts, integers
from ptosim.order.arrays import FilledArray, RoundCounter, Tally, arrays_of, passed
from ptosim.order.guards import bounds_of
from ptosim.order.number import (
    LONGEST_PERIOD,
    Linear,
    Number,
    Periodic,
    Symbol,
    between,
    bounds,
    key_of,
    multiplied,
    periodic,
    symbol,
)

_MOST_TERMS = 16
"""A product of longer sums, or of more symbols, has no closed form."""
ANYWHERE = "?"
"""The origin of a pointer that may point into any argument."""


@dataclass
class Common:
    """The common computations of several cores: the same computation has the same result on each of them."""

    known: dict[tuple[object, ...], facts.Known] = field(default_factory=dict[tuple[object, ...], facts.Known])
    iterations: dict[tuple[int, ...], Symbol] = field(default_factory=dict[tuple[int, ...], Symbol])
    products: dict[tuple[int, ...], Symbol] = field(default_factory=dict[tuple[int, ...], Symbol])


class Values:
    """The values of one function, perhaps as one of several cores computes them."""

    def __init__(
        self,
        function: Function,
        common: Common | None = None,
        subblock: int | None = None,
        path: tuple[int, ...] = (),
    ) -> None:
        """`path`: the loop of the blocks of a grid, where these are followed as its iterations."""
        self._known: dict[SSAValue, facts.Known] = {}
        self._loops: dict[Block, tuple[int, ...]] = {function.body.block: path}
        """The loops around a block, where it is the body of one."""
        self.arrays = arrays_of(function)
        self.common = common or Common()
        self.arithmetic = integers.ClosedForms(self.product, self.quotient)
        self.subblock = subblock
        """The number of the vector core in its cluster, if only that one is meant."""
        self.path = path
        for index, argument in enumerate(function.body.block.args):
            self._known[argument] = self._shared(("argument", index), lambda at=(index, argument): _argument(*at))

    # --- loops --------------------------------------------------------------------------------------------------------

    def enter(self, loop: For, path: tuple[int, ...]) -> int | None:
        """Learn what a loop counts and carries; `path` names it and the loops around it. Gives how often it runs at
        most, where that is known."""
        body = loop.body.block
        self._loops[body] = path
        first, step = self.number(loop.lb), self.number(loop.step)
        iterations = facts.trips(first, self.number(loop.ub), step)
        iteration = self.common.iterations.setdefault(
            path, Symbol(path, 0, None if iterations is None else max(iterations - 1, 0), is_iteration=True)
        )
        index, *carried = body.args
        is_plain = isinstance(step, int) or (isinstance(step, Linear) and all(each.is_single for each in step.terms))
        self._known[index] = first + self.product(symbol(iteration), step) if is_plain else self._open(index)
        ends = body.last_op
        given = ends.operands if isinstance(ends, Yield) else ()
        for argument, start, following in zip(carried, loop.iter_args, given, strict=False):
            self._known[argument] = self._stepping(argument, start, following, iteration)
        if any(self._is_open(argument) for argument in carried) and iterations != 0:
            self._learn_turns(loop, path)
        allowed = [iterations, *(facts.trips(first, end, step) for end in bounds_of(loop))]
        return min((most for most in allowed if most is not None), default=None)

    def _stepping(self, argument: SSAValue, start: SSAValue, following: SSAValue, iteration: Symbol) -> facts.Known:
        """A carried value that stays, or grows by the same amount each time."""
        if following is argument:
            return self.of(start)
        marker = Symbol(iteration.loops)
        after = LoopTrial(self, {argument: symbol(marker)}).of(following) if element_name(argument.type) else None
        before = self.of(start)
        if isinstance(after, Linear) and not isinstance(before, facts.Pointer) and after.terms == {marker: 1}:
            return before + symbol(iteration) * after.constant
        return self._open(argument)

    def _learn_turns(self, loop: For, path: tuple[int, ...]) -> None:
        """Carried values that return to where they were after some iterations: slots in turn."""
        _, *carried = loop.body.block.args
        ends = loop.body.block.last_op
        assert ends is not None
        states = [[self.of(start) for start in loop.iter_args]]
        for _ in range(LONGEST_PERIOD):
            trial = LoopTrial(self, dict(zip(carried, states[-1], strict=True)))
            states.append([trial.of(value) for value in ends.operands])
        for argument, turns in zip(carried, zip(*states, strict=True), strict=True):
            keys = [facts.known_key(turn) for turn in turns]
            period = next((p for p in range(1, LONGEST_PERIOD) if facts.is_repeated(keys, p)), None)
            found = facts.in_turn(turns[:period], path[-1]) if period is not None and self._is_open(argument) else None
            if found is not None:
                self._known[argument] = found

    def _is_open(self, value: SSAValue) -> bool:
        number = facts.number_of(self._known[value])
        return isinstance(number, Linear) and bounds(number) == (None, None)

    # --- values -------------------------------------------------------------------------------------------------------

    def of(self, value: SSAValue) -> facts.Known:
        """The facts about a value. Its operands come first: chains are as long as a file may be, recursion is not."""
        if (found := self._known.get(value)) is not None:
            return found
        pending = [value]
        while pending:
            if missing := self._missing(pending[-1]):
                pending += missing
            elif (latest := pending.pop()) not in self._known:
                self._known[latest] = self._work_out(latest)
        return self._known[value]

    def _missing(self, value: SSAValue) -> list[SSAValue]:
        """The operands that are computed, too, and not known yet."""
        if value in self._known or not _is_computed(value):
            return []
        assert isinstance(value.owner, Operation)
        return [each for each in value.owner.operands if each not in self._known and _is_computed(each)]

    def number(self, value: SSAValue) -> Number:
        return facts.number_of(self.of(value))

    def _work_out(self, value: SSAValue) -> facts.Known:
        owner = value.owner
        if isinstance(owner, Block) or not isinstance(owner, PTOOperation):
            return self._passed(value)
        if (literal := constant_of(value)) is not None:
            return literal
        if owner.name == GetSubblockIdx.name and self.subblock is not None:
            return self.subblock
        if owner.name == GetBlockIdx.name and self.path:
            return symbol(self.common.iterations.setdefault(self.path, Symbol(self.path, 0, is_iteration=True)))
        rule = _RULES.get(owner.name)
        found = rule(self, owner) if rule is not None else None
        if found is not None and facts.is_too_wide(found):
            found = None
        if found is not None and not facts.is_unsettled(found):
            return found
        return self._shared(self._computation(value, owner), lambda: self._settled(value, found))

    def _computation(self, value: SSAValue, op: PTOOperation) -> tuple[object, ...] | None:
        """The key of a computation that gives the same result from the same numbers everywhere; else None."""
        if not op.name.startswith("arith.") and op.name not in _SAME_FOR_ALL:
            return None
        words = tuple(sorted((name, str(word)) for name, word in op.properties.items()))
        numbers = [self.number(each) if element_name(each.type) else None for each in op.operands]
        if any(number is None or facts.is_unsettled(number) for number in numbers):
            return None
        return (op.name, words, self.loops_around(value), *(key_of(each) for each in numbers if each is not None))

    def _shared(self, key: tuple[object, ...] | None, make: Callable[[], facts.Known]) -> facts.Known:
        if key is None:
            return make()
        if key not in self.common.known:
            self.common.known[key] = make()
        return self.common.known[key]

    def _settled(self, value: SSAValue, found: facts.Known | None) -> facts.Known:
        """A number without a closed form: one in each iteration, the same in every use of the value."""
        if found is None:
            return self._open(value)
        return facts.with_number(found, symbol(Symbol(self.loops_around(value), *bounds(facts.number_of(found)))))

    def product(self, a: Number, b: Number) -> Number:
        """The product of two numbers. A product of symbols is a symbol too, the same one wherever it is computed."""
        if not isinstance(a, Linear) or not isinstance(b, Linear):
            return a * b
        if not all(each.is_single for each in (*a.terms, *b.terms)) or len(a.terms) * len(b.terms) > _MOST_TERMS:
            return a * b
        total = a * b.constant + b * a.constant - a.constant * b.constant
        for x, factor in a.terms.items():
            for y, other in b.terms.items():
                symbols = sorted((*(x.factors or (x,)), *(y.factors or (y,))), key=lambda each: each.number)
                if len(symbols) > _MOST_TERMS:
                    return a * b
                key = tuple(each.number for each in symbols)
                if key not in self.common.products:
                    self.common.products[key] = multiplied(tuple(symbols))
                total = total + symbol(self.common.products[key]) * (factor * other)
        return total

    def quotient(self, a: Number, b: Number) -> Number | None:
        """The quotient of numbers that are not negative. Multiples of a divisor that only the run knows are counted,
        and the rest divided is one number wherever it is computed.
        """
        if isinstance(b, int) or not isinstance(a, Linear) or not isinstance(b, Linear):
            return integers.quotient(a, b)
        (divisor, factor), *others = b.terms.items()
        if others or b.constant or factor < 1 or (divisor.low or 0) < 1 or not integers.natural(a):
            return None
        counted: Number = 0
        rest: Number = a.constant
        for each, times in a.terms.items():
            left = _without(divisor, each)
            if left is None or times % factor or not all(one.is_single for one in (each, *left)):
                rest = rest + symbol(each) * times
            else:
                counted = counted + self._multiplied(left) * (times // factor)
        if isinstance(rest, Periodic) or not integers.natural(rest) or facts.is_unsettled(rest):
            return None
        if isinstance(rest, Linear):
            loops = max((each.loops for each in (*rest.terms, divisor)), key=len)
            found = self._shared(("quotient", key_of(rest), key_of(b)), lambda: symbol(Symbol(loops, 0)))
            assert not isinstance(found, facts.Pointer)
            return counted + found
        return counted if rest == 0 else None

    def _multiplied(self, symbols: tuple[Symbol, ...]) -> Number:
        total: Number = 1
        for each in symbols:
            total = self.product(total, symbol(each))
        return total

    def tallied(self, tally: Tally, more: int | None) -> Number | None:
        """The iterations of a loop in all; every tally of one loop has the same number."""
        path = self._loops.get(tally.loop.body.block)
        if path is None or more is None:
            return None
        before = self._shared(("tally", path), lambda: symbol(Symbol(path[:-1], 0)) if len(path) > 1 else 0)
        assert not isinstance(before, facts.Pointer)
        return before + symbol(self.common.iterations[path]) + more

    def _passed(self, value: SSAValue) -> facts.Known:
        """The argument of a strict scope is what is passed to it."""
        if isinstance(value, BlockArgument) and isinstance(scope := value.owner.parent_op(), StrictVecScope):
            return self.of(scope.arguments[value.index])
        return self._open(value)

    def _open(self, value: SSAValue) -> facts.Known:
        """A value that only the run knows: one for each iteration of the loops around it."""
        unknown = symbol(Symbol(self.loops_around(value), *_limits(value)))
        if isinstance(value.type, PtrType):
            return facts.Pointer(value.type.space, ANYWHERE if value.type.space is Space.GM else "", unknown)
        return unknown

    def loops_around(self, value: SSAValue) -> tuple[int, ...]:
        owner = value.owner
        block = owner.parent_block() if isinstance(owner, Operation) else owner
        while block is not None:
            if block in self._loops:
                return self._loops[block]
            block = block.parent_block()
        return ()


def _without(divisor: Symbol, product: Symbol) -> tuple[Symbol, ...] | None:
    """The quotient of a product by one of its factors; None if it is no factor."""
    factors = product.factors or (product,)
    at = factors.index(divisor) if divisor in factors else None
    return None if at is None else (*factors[:at], *factors[at + 1 :])


def _is_computed(value: SSAValue) -> bool:
    """Whether a rule asks for all operands of the operation that gives a value."""
    owner = value.owner
    if not isinstance(owner, PTOOperation) or owner.name in _PARTLY:
        return False
    return owner.name in _RULES and (owner.name != CmpI.name or owner.word("predicate") in integers.COMPARISONS)


class LoopTrial(Values):
    """The values of a loop body, were its carried values these."""

    def __init__(self, outer: Values, given: Mapping[SSAValue, facts.Known]) -> None:
        self._outer = outer
        self._known = dict(given)
        self._loops = outer._loops  # pyright: ignore[reportPrivateUsage]
        self.arrays = outer.arrays
        self.common = outer.common
        self.arithmetic = outer.arithmetic
        self.subblock = outer.subblock
        self.path = outer.path
        self._dependent = _computed_from(given)

    def of(self, value: SSAValue) -> facts.Known:
        if value in self._known:
            return self._known[value]
        return super().of(value) if value in self._dependent else self._outer.of(value)

    def _missing(self, value: SSAValue) -> list[SSAValue]:
        return [each for each in super()._missing(value) if each in self._dependent]


def _computed_from(given: Iterable[SSAValue]) -> set[SSAValue]:
    """Values that are computed from some values, however far from them."""
    found, pending = set[SSAValue](), list(given)
    while pending:
        for use in pending.pop().uses:
            if use.operation.name in _RULES:
                pending += (new := [result for result in use.operation.results if result not in found])
                found.update(new)
    return found


def _argument(index: int, value: SSAValue) -> facts.Known:
    """An argument begins at its own first byte; an on-chip pointer that is passed in may be anywhere."""
    if not isinstance(value.type, PtrType):
        return symbol(Symbol((), *_limits(value)))
    if value.type.space is Space.GM:
        return facts.Pointer(Space.GM, str(index), 0)
    return facts.Pointer(value.type.space, "", between(0, None))


def _limits(value: SSAValue) -> tuple[int | None, int | None]:
    if isinstance(value.owner, Operation) and value.owner.name in _LEAST:
        return _LEAST[value.owner.name], None
    return (0, 1) if element_name(value.type) == "i1" else (None, None)


_LEAST = {GetBlockIdx.name: 0, GetBlockNum.name: 1, GetSubblockIdx.name: 0}
"""The least that a launch answers."""


_SAME_FOR_ALL = (GetBlockIdx.name, GetBlockNum.name)
"""Values that every core of a cluster has in common."""

# --- operations -------------------------------------------------------------------------------------------------------

Rule = Callable[[Values, PTOOperation], facts.Known | None]


def _binary(values: Values, op: PTOOperation) -> facts.Known | None:
    rule = values.arithmetic.rule(op.name)
    return rule(*map(values.number, op.operands)) if rule is not None else None


def _same(values: Values, op: PTOOperation) -> facts.Known | None:
    return values.of(op.operands[0])


def _unsigned(values: Values, op: PTOOperation) -> facts.Known | None:
    """A value that is not negative, or not widened, stays as it is."""
    given = op.operands[0]
    is_wide = element_name(given.type) in ("i64", "index")
    return _same(values, op) if is_wide or integers.natural(values.number(given)) else None


def _narrowed(values: Values, op: PTOOperation) -> facts.Known | None:
    return values.arithmetic.resized(values.number(op.operands[0]), element_of(op.results[0].type).bits, True)


def _compare(values: Values, op: PTOOperation) -> facts.Known | None:
    return values.arithmetic.cmpi(op.word("predicate") or "", *map(values.number, op.operands))


def _select(values: Values, op: PTOOperation) -> facts.Known | None:
    condition, chosen, other = values.number(op.operands[0]), values.of(op.operands[1]), values.of(op.operands[2])
    if isinstance(condition, int):
        return chosen if condition else other
    if facts.origin_of(chosen) != facts.origin_of(other):
        return None
    return facts.with_number(
        chosen, values.arithmetic.select(condition, facts.number_of(chosen), facts.number_of(other))
    )


def _cast_pointer(values: Values, op: PTOOperation) -> facts.Known | None:
    """An address becomes a pointer, a pointer one to other elements or an address."""
    given, type_ = values.of(op.operands[0]), op.results[0].type
    if not isinstance(type_, PtrType):
        return given.offset if isinstance(given, facts.Pointer) and given.space is not Space.GM else None
    if isinstance(given, facts.Pointer):
        return facts.Pointer(type_.space, given.origin, given.offset) if given.space is type_.space else None
    return None if type_.space is Space.GM else facts.Pointer(type_.space, "", given)


def _add_pointer(values: Values, op: PTOOperation) -> facts.Known | None:
    base, distance = values.of(op.operands[0]), values.number(op.operands[1])
    return facts.with_number(base, facts.number_of(base) + distance * element_of(op.operands[0].type).bytes)


def _held(values: Values, op: PTOOperation) -> facts.Known | None:
    """The content of an array: the values of a counter in turn, or those of a table."""
    match values.arrays.get(op.operands[0]):
        case RoundCounter(name, modulus):
            return Periodic(name, (), tuple(range(modulus)))
        case FilledArray(held):
            return _looked_up(held, [values.number(index) for index in op.operands[1:]])
        case Tally() as tally:
            return values.tallied(tally, passed(tally, op))
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


def _tail_rest(values: Values, op: PTOOperation) -> facts.Known | None:
    """The rest of a count behind a register of lanes. It may fall below zero where the machine says zero, so it serves
    only to ask how many lanes are active: none, then.
    """
    mask, rest = op.results
    if not isinstance(mask.type, MaskType) or not all(use.operation.name in _COUNTED for use in rest.uses):
        return None
    return values.number(op.operands[0]) - PREDICATE_BITS // mask.type.stride


TAILS = tuple(tail.name for tail in predicate.TAILS)
_COUNTED = frozenset({*TAILS, "scf.yield"})
PREDICATE_BITS = 256

_PARTLY = frozenset({*TAILS, LocalArrayGet.name})
"""Operations of which a rule may pass over operands."""

_RULES: dict[str, Rule] = {
    **dict.fromkeys(BINARY, _binary),
    "arith.cmpi": _compare,
    "arith.select": _select,
    "arith.index_cast": _same,
    "arith.extsi": _same,
    **dict.fromkeys(("arith.extui", "arith.index_castui"), _unsigned),
    "arith.trunci": _narrowed,
    **dict.fromkeys(TAILS, _tail_rest),
    LocalArrayGet.name: _held,
    **dict.fromkeys((CastPtr.name, PtrToInt.name, IntToPtr.name), _cast_pointer),
    AddPtr.name: _add_pointer,
}
