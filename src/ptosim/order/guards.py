"""Guards of loops: a comparison of the end of a loop with a number bounds how often it runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from ptosim.language.analysis.fast_walk import around
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, If
from ptosim.language.structure.scalar_cast import CmpI

_TURNED = {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle", "eq": "eq", "ne": "ne"}
"""The same comparison with its sides exchanged."""
_OPPOSITE = {"slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt", "ne": "eq"}
"""The negation of each comparison."""
_BELOW = {"slt": -1, "sle": 0, "eq": 0}
"""The farthest from a number that its comparisons are followed."""


def bounds_of(loop: For) -> Iterator[int]:
    """Numbers that the end of a loop is no greater than, by the branches that it stands under."""
    if constant_of(loop.ub) is not None:
        return
    end = _plain(loop.ub)
    for condition, holds in _conditions(loop):
        if (bound := _bound(condition, holds, end)) is not None:
            yield bound


def _conditions(op: Operation) -> Iterator[tuple[SSAValue, bool]]:
    """The conditions around an operation, and whether they hold there."""
    for inner, outer in pairwise((op, *around(op))):
        if isinstance(outer, If):
            yield outer.cond, inner.parent_region() is outer.true_region


def _bound(condition: SSAValue, holds: bool, value: SSAValue) -> int | None:
    compared = condition.owner
    if not isinstance(compared, CmpI):
        return None
    predicate = compared.word("predicate")
    for one, other, said in (
        (compared.lhs, compared.rhs, predicate),
        (compared.rhs, compared.lhs, _TURNED.get(predicate or "")),
    ):
        limit = constant_of(other)
        meant = said if holds else _OPPOSITE.get(said or "")
        if _plain(one) is value and limit is not None and meant in _BELOW:
            return limit + _BELOW[meant]
    return None


def _plain(value: SSAValue) -> SSAValue:
    """A value before it was made an index: both are the same number, since an index is the widest."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "arith.index_cast" or not isinstance(value.type, IndexType):
        return value
    return _plain(owner.operands[0])
