"""Possible values of integers, as far as the text tells: ids of slots are remainders, masks, selections, swaps.

Sound and small: what is not known to be one of a few integers is None. `order/` has use for more; this is enough to say
which ids a computed flag or buffer reaches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import product

from xdsl.ir import BlockArgument, OpResult, SSAValue

from ptosim.effects.scalar import Arithmetic, integers
from ptosim.language.analysis.scalar_rules import Rule, rule_of
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For

MOST = 64
"""The most integers that are told apart."""
DEEPEST = 32
"""The most steps that a value is followed."""

Values = frozenset[int]
Known = Mapping[SSAValue, Values | None]


class FewIntegers(Arithmetic):
    """Sets of constants, for each pair of which something comes out."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def rule(self, name: str) -> Rule | None:
        exact = integers(self.bits).rule(name)
        if exact is None or name in ("arith.remui", "arith.andi"):
            return super().rule(name)
        return partial(_each, exact)

    def remui(self, a: Values | None, b: Values | None) -> Values | None:
        """Whatever is divided."""
        return _below(b)

    def andi(self, a: Values | None, b: Values | None) -> Values | None:
        known = [each for each in (a, b) if each is not None]
        return _below({mask + 1 for mask in known[0]}) if len(known) == 1 else _each(integers(self.bits).andi, a, b)

    def resized(self, a: Values | None, bits: int, signed: bool) -> Values | None:
        return None if a is None else _few({integers(self.bits).resized(each, bits, signed) for each in a})


def _each(exact: Rule, a: Values | None, b: Values | None) -> Values | None:
    if a is None or b is None or len(a) * len(b) > MOST * MOST:
        return None
    return _few({exact(one, other) for one, other in product(a, b)})


def possible(value: SSAValue) -> Values | None:
    """The integers that a value can be; None where that is not known."""
    return _possible(value, {}, DEEPEST)


def _possible(value: SSAValue, known: Known, depth: int) -> Values | None:
    if value in known:
        return known[value]
    constant = constant_of(value)
    if constant is not None:
        return frozenset({constant})
    if not depth:
        return None
    if isinstance(value, BlockArgument):
        return _argument(value, known, depth - 1)
    return _result(value, known, depth - 1) if isinstance(value, OpResult) else None


def _result(value: OpResult, known: Known, depth: int) -> Values | None:
    name, operands = value.op.name, value.op.operands
    if name == "arith.select":
        return _union(_possible(operand, known, depth) for operand in operands[1:])
    rule = rule_of(value.op, FewIntegers) if name != "arith.cmpi" else None
    return rule(*(_possible(operand, known, depth) for operand in operands)) if rule is not None else None


def _below(divisors: Collection[int] | None) -> Values | None:
    """Possible values of an unsigned remainder, for any dividend."""
    if divisors is None or min(divisors) <= 0 or max(divisors) > MOST:
        return None
    return frozenset(range(max(divisors)))


def _argument(value: BlockArgument, known: Known, depth: int) -> Values | None:
    """A counter between constants, or a value that a loop carries from one iteration to the next."""
    loop = value.block.parent_op()
    if not isinstance(loop, For):
        return None
    if value.index == 0:
        bounds = [_possible(bound, known, depth) for bound in (loop.lb, loop.ub, loop.step)]
        if any(bound is None or len(bound) != 1 for bound in bounds):
            return None
        low, high, step = (min(bound) for bound in bounds if bound)
        return frozenset(range(low, high, step)) if step > 0 and high - low <= MOST * step else None
    return _carried(loop, known, depth).get(value)


def _carried(loop: For, known: Known, depth: int) -> Known:
    """Possible values of each carried value: the initial ones, and what an iteration makes of these, until no more
    come."""
    arguments = list[SSAValue](loop.body.block.args[1:])
    end = loop.body.block.last_op
    assert end is not None
    found = {
        argument: _possible(initial, known, depth) for argument, initial in zip(arguments, loop.iter_args, strict=True)
    }
    for _ in range(MOST):
        seen = {**known, **found}
        more = [_possible(next_, seen, depth) for next_ in end.operands]
        grown = {argument: _union((found[argument], values)) for argument, values in zip(arguments, more, strict=True)}
        if grown == found:
            return found
        found = grown
    return {}


def _union(several: Iterable[Values | None]) -> Values | None:
    found: set[int] = set()
    for values in several:
        if values is None:
            return None
        found |= values
    return _few(found)


def _few(values: set[int]) -> Values | None:
    return frozenset(values) if len(values) <= MOST else None
