"""Decisions by words in GM: the ways on which a test has answered yes, and the uses of a value that was looked at.

A test (pto.comm.ttest), or a loop that gives up after some looks, tells something only where its answer was yes: in the
branch of an scf.if that no other answer takes, and behind a loop that no other answer ends. A value of a word is used
where it decides a branch, and where it goes into anything else than scalar arithmetic; that it decides whether a loop
looks again is no use of it, but how often that loop goes round then depends on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce

from xdsl.ir import Operation, OpResult, SSAValue

from ptosim.effects.sim_signal import COMPARISONS, OPPOSITES
from ptosim.language.analysis.polling_loops import LEFT_BY, TURNED, Poll, changes, gives_up_late, poll_of
from ptosim.language.analysis.value_flow import edges
from ptosim.language.micro.pointer import AddPtr, CastPtr
from ptosim.language.micro.sim_signal import SimTestWords
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Call, Return
from ptosim.language.structure.scalar_cast import CmpI

Answered = frozenset[Operation]
"""Tests answered with yes, and loads of loops that have found their value."""
_NONE: Answered = frozenset()
_CASTS = ("arith.extui", "arith.extsi", "arith.index_cast", "arith.index_castui", "arith.trunci")
_HANDS_ON = (Yield, Return, If, For, While, Call)


@dataclass
class WordUses:
    """Uses of a value that was looked at, or of the answer of a test: one operation of each sort."""

    branch: Operation | None = None
    data: Operation | None = None
    count: Operation | None = None
    """An operation that depends on how often a loop has looked."""


@dataclass
class _Flow:
    """The uses of values."""

    values: set[SSAValue] = field(default_factory=set[SSAValue])
    branch: Operation | None = None
    data: Operation | None = None
    loops: list[While] = field(default_factory=list[While])
    """Loops that go on or end by them."""


class WordAnswers:
    """The values of one module."""

    def __init__(self, module: Operation) -> None:
        self._into: dict[SSAValue, list[SSAValue]] = defaultdict(list)
        self._from: dict[SSAValue, list[SSAValue]] = defaultdict(list)
        self._uses: dict[Operation, WordUses] = {}
        for op in module.walk():
            for value, name in edges(op):
                self._into[value].append(name)
                self._from[name].append(value)

    # --- answers ------------------------------------------------------------------------------------------------------

    def in_branch(self, op: If, is_true: bool) -> Answered:
        """Tests that have answered yes where a branch is taken."""
        return self._answered(op.cond, is_true, frozenset()) or _NONE

    def behind(self, op: While) -> Answered:
        """Tests that have answered yes where a loop has ended."""
        last = op.before_region.block.last_op
        return (self._answered(last.condition, False, frozenset()) if isinstance(last, Condition) else None) or _NONE

    def gives_up(self, op: While, poll: Poll) -> bool:
        """Whether a loop may end although its word is not what it looks for."""
        return poll.load not in self.behind(op)

    def _answered(self, value: SSAValue, holds: bool, around: frozenset[SSAValue]) -> Answered | None:
        """Tests that have answered yes wherever a value is true, or false; None: it never is."""
        known = constant_of(value)
        if known is not None:
            return _NONE if bool(known) == holds else None
        if value in around:
            return None  # round a loop: what comes from there has been looked at
        around |= {value}
        owner = value.owner
        if isinstance(owner, Operation) and owner.name.startswith("arith."):
            return self._computed(owner, holds, around)
        if isinstance(owner, SimTestWords):
            return frozenset((owner,)) if holds else _NONE
        sources = self._from.get(value, [])
        if isinstance(owner, If) and isinstance(value, OpResult):
            index = value.index
            arms = [region.block.last_op for region in owner.regions]
            ways = [
                self._both(
                    self._answered(arm.operands[index], holds, around), self._answered(owner.cond, taken, around)
                )
                for arm, taken in zip(arms, (True, False), strict=True)
                if arm is not None
            ]
            return _common(ways)
        found = _common([self._answered(source, holds, around) for source in sources]) if sources else _NONE
        if isinstance(owner, While):
            return self._both(found, self.behind(owner))
        return found

    def _both(self, one: Answered | None, other: Answered | None) -> Answered | None:
        return None if one is None or other is None else one | other

    def _computed(self, op: Operation, holds: bool, around: frozenset[SSAValue]) -> Answered | None:
        """The same for the results of scalar arithmetic."""
        if isinstance(op, CmpI):
            return self._compared(op, holds, around)
        if op.name in _CASTS:
            return self._answered(op.operands[0], holds, around)
        if op.name not in ("arith.andi", "arith.ori", "arith.xori"):
            return _NONE
        first, second = op.operands
        if op.name == "arith.xori":
            for value, other in ((first, second), (second, first)):
                if (known := constant_of(other)) is not None:
                    return self._answered(value, holds != bool(known), around)
            return _NONE
        if not holds and op.name == "arith.andi":
            for value, other in ((first, second), (second, first)):
                if gives_up_late(other):
                    return self._answered(value, False, around)
        sides = [self._answered(side, holds, around) for side in (first, second)]
        if holds == (op.name == "arith.andi"):
            return self._both(*sides)
        return _common(sides)

    def _compared(self, op: CmpI, holds: bool, around: frozenset[SSAValue]) -> Answered | None:
        """A comparison of a word with a number, or of an answer with true or false."""
        left = LEFT_BY.get(op.word("predicate") or "")
        if left is None:
            return _NONE
        for word, other, said in ((op.lhs, op.rhs, left), (op.rhs, op.lhs, TURNED[left])):
            is_so = OPPOSITES[said] if holds else said
            load = self._source(word).owner
            loop = load.parent_op() if isinstance(load, Operation) else None
            poll = poll_of(loop) if isinstance(loop, While) else None
            if poll is not None and poll.load is load:
                return frozenset((poll.load,)) if _implies(is_so, other, poll) else _NONE
            known = constant_of(other)
            if known in (0, 1, -1) and is_so in ("eq", "ne"):
                return self._answered(word, (is_so == "eq") == bool(known), around)
        return _NONE

    def _source(self, value: SSAValue) -> SSAValue:
        """The origin of a value that is handed on from one place, or only becomes wider."""
        seen: set[SSAValue] = set()
        while value not in seen:
            seen.add(value)
            owner, sources = value.owner, self._from.get(value, [])
            if len(sources) == 1:
                value = sources[0]
            elif isinstance(owner, Operation) and owner.name in ("arith.extsi", "arith.index_cast"):
                value = owner.operands[0]
        return value

    # --- uses ---------------------------------------------------------------------------------------------------------

    def uses(self, op: Operation) -> WordUses:
        """The uses of the value of a load, or of the answer of a test."""
        if op not in self._uses:
            flow = self._flow(op.results)
            varying = [
                result
                for loop in flow.loops
                for value, result in zip(_passed_on(loop), loop.results, strict=False)
                if value not in flow.values and changes(value, loop)
            ]
            count = self._flow(varying)
            others = [loop for loop in count.loops if loop not in flow.loops]
            found = count.branch or count.data or (others[0] if others else None)
            self._uses[op] = WordUses(flow.branch, flow.data, found)
        return self._uses[op]

    def _flow(self, values: Iterable[SSAValue]) -> _Flow:
        flow = _Flow()
        todo = list(values)
        while todo:
            value = todo.pop()
            if value in flow.values:
                continue
            flow.values.add(value)
            todo += self._into.get(value, [])
            for use in value.uses:
                op = use.operation
                if op.name.startswith(("arith.", "math.")) or isinstance(op, AddPtr | CastPtr):
                    todo += op.results
                elif isinstance(op, Condition) and use.index == 0:
                    loop = op.parent_op()
                    if isinstance(loop, While) and loop not in flow.loops:
                        flow.loops.append(loop)
                elif (isinstance(op, If) and use.index == 0) or (isinstance(op, For) and use.index < _BOUNDS):
                    flow.branch = flow.branch or op
                elif not isinstance(op, (*_HANDS_ON, Condition)) or (isinstance(op, Call) and _is_far(op)):
                    flow.data = flow.data or op
        return flow


_BOUNDS = 3


def _passed_on(loop: While) -> Iterable[SSAValue]:
    last = loop.before_region.block.last_op
    return last.arguments if isinstance(last, Condition) else ()


def _is_far(op: Call) -> bool:
    return op.function is None or op.function.is_declaration


def _common(ways: Iterable[Answered | None]) -> Answered | None:
    """Tests that have answered yes on all ways."""
    possible = [way for way in ways if way is not None]
    return reduce(lambda one, other: one & other, possible) if possible else None


def _implies(comparison: str, other: SSAValue, poll: Poll) -> bool:
    """Whether a word that compares so with a value is what a loop looks for."""
    mine, wanted = constant_of(other), constant_of(poll.value)
    if other is poll.value:
        mine = wanted = 0
    if mine is None or wanted is None:
        return False
    numbers = {number + step for number in (mine, wanted, -(1 << 31), (1 << 31) - 1) for step in (-1, 0, 1)}
    holds, found = COMPARISONS[comparison], COMPARISONS[poll.comparison]
    return all(found(number, wanted) for number in numbers if holds(number, mine))
