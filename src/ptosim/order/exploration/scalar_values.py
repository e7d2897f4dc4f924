"""Scalar values of an exploration: what they are computed to, and which are the same function of the same values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm
from typing import cast

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.language.analysis.scalar_rules import is_number, rule_of
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.function import Function
from ptosim.order.exploration import turning_numbers as turning
from ptosim.order.exploration.turning_numbers import ANY, NATURAL, Turning

REMAINDERS = ("arith.remui", "arith.remsi")
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")
_NEGATED = {"ne": "eq", "sge": "slt", "sgt": "sle", "uge": "ult", "ugt": "ule"}
LONGEST_PERIOD = 24
FARTHEST_COMPARED = 16
"""Indices are told apart up to the constants that something is compared with, if these are no larger."""


def divisor(op: Operation) -> int | None:
    """The dividend of a remainder, by a division or by a mask."""
    if op.name in REMAINDERS:
        by = constant_of(op.operands[1])
        return by if by is not None and by > 0 else None
    if op.name == "arith.andi":
        masks = [mask for value in op.operands if (mask := constant_of(value)) is not None]
        return masks[0] + 1 if len(masks) == 1 and masks[0] > 0 and masks[0] & (masks[0] + 1) == 0 else None
    return None


def computed(op: Operation, given: list[Turning]) -> Turning | None:
    """The result of an operation of `arith`; None for a remainder, or a condition, that may be one of several."""
    name = op.name.removeprefix("arith.")
    if name == "cmpi":
        assert isinstance(op, PTOOperation)
        decided = turning.compared(op.word("predicate") or "", *given)
        return None if decided is None else int(decided)
    if all(isinstance(each, int) for each in given) and (rule := rule_of(op)) is not None:
        found = rule(*given)
        return ANY if found is None else int(found)
    if op.name in _CASTS:
        return given[0] if op.name != "arith.trunci" else ANY
    if (by := divisor(op)) is not None:
        number = given[0] if op.name in REMAINDERS or not isinstance(given[0], int) else given[1]
        return turning.remainder(number, by)
    return _plain(name, given)


def _plain(name: str, given: list[Turning]) -> Turning:
    if len(given) != 2:
        return ANY
    a, b = given
    match name:
        case "addi":
            return turning.add(a, b)
        case "subi":
            return turning.add(a, turning.negated(b))
        case "muli":
            return turning.multiply(a, b)
        case "shli" if isinstance(b, int) and 0 <= b < 32:
            return turning.multiply(a, 1 << b)
        case "divui" | "divsi" | "floordivsi":
            return turning.divided(a, b)
        case "shrui" | "shrsi" if isinstance(b, int) and 0 <= b < 32:
            return turning.divided(a, 1 << b)
        case "minsi" | "minui":
            return turning.lesser(a, b)
        case "maxsi" | "maxui":
            return turning.greater(a, b)
        case "ceildivui" | "ceildivsi" | "remui":
            return NATURAL if turning.is_natural(a) and turning.is_natural(b) else ANY
        case _:
            return ANY


class Numbering:
    """Values that are the same function of the same values have one number, and conditions that contradict each other
    the same one with another sign."""

    def __init__(self, function: Function) -> None:
        self._names: dict[SSAValue, tuple[object, bool]] = {}
        self._known: dict[object, SSAValue] = {}
        self._sources: dict[object, frozenset[SSAValue]] = {}
        for op in function.walk():
            self._read(op)

    def name(self, value: SSAValue) -> tuple[object, bool]:
        """And whether it is the contrary that is named."""
        return self._names.get(value, (value, False))

    def of_bounds(self, first: SSAValue, end: SSAValue) -> object:
        """The name of whether a loop with these bounds runs at all."""
        name = ("runs", self.name(first)[0], self.name(end)[0])
        self._sources.setdefault(name, frozenset(self._of((first, end))))
        return name

    def sources(self, name: object) -> frozenset[SSAValue]:
        """The arguments of blocks, and what nothing is known of, that a value is made of."""
        found = self._sources.get(name)
        if found is None and isinstance(name, BlockArgument):
            return frozenset((cast("SSAValue", name),))
        return found or frozenset()

    def _read(self, op: Operation) -> None:
        if len(op.results) != 1 or not (op.name.startswith("arith.") and is_number(op.results[0])):
            for result in op.results:
                self._sources[result] = frozenset((result,))
            return
        result, operands = op.results[0], list(op.operands)
        word, contrary = "", False
        if op.name == "arith.cmpi":
            assert isinstance(op, PTOOperation)
            word = op.word("predicate") or ""
            contrary = word in _NEGATED
            word = _NEGATED.get(word, word)
        literal = constant_of(result)
        key = (op.name, word, literal, str(result.type), *(self.name(value) for value in operands))
        first = self._known.setdefault(key, result)
        self._names[result] = first, contrary
        self._sources.setdefault(first, frozenset(self._of(operands)))

    def _of(self, operands: Iterable[SSAValue]) -> Iterator[SSAValue]:
        for value in operands:
            if isinstance(value, BlockArgument):
                yield value
            else:
                yield from self.sources(self.name(value)[0])


class Counting:
    """The modulus of each index and argument, so that every remainder is known, and the number of its values that are
    told apart because they are compared with constants.
    """

    def __init__(self, function: Function, numbering: Numbering) -> None:
        self._periods: dict[SSAValue, int] = {}
        self._cutoffs: dict[SSAValue, int] = {}
        for op in function.walk():
            by = divisor(op)
            known = [constant_of(value) for value in op.operands] if op.name == "arith.cmpi" else []
            most = max((each + 1 for each in known if each is not None and 0 <= each <= FARTHEST_COMPARED), default=0)
            for value in numbering.sources(numbering.name(op.results[0])[0]) if by is not None or most else ():
                self._periods[value] = lcm(self._periods.get(value, 1), by or 1)
                self._cutoffs[value] = max(self._cutoffs.get(value, 0), most)

    def period(self, value: SSAValue) -> int:
        """1 where it would be too long."""
        found = self._periods.get(value, 1)
        return found if found <= LONGEST_PERIOD else 1

    def cutoff(self, value: SSAValue) -> int:
        return self._cutoffs.get(value, 0)
