"""Branches around two entries: a race between them is certain only where both can be executed in one run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.language.analysis.fast_walk import around
from ptosim.language.structure.control import For, If
from ptosim.order.model import BranchNode, EntryNode
from ptosim.order.number import Periodic
from ptosim.order.places import Places


def both_run(places: Places, earlier: EntryNode, later: EntryNode, apart: int) -> bool | None:
    """Whether the branches around two entries may all be taken, so many iterations apart; None where it is unknown."""
    found: bool | None = True
    for condition, arm in _taken(places, earlier):
        for other, other_arm in _taken(places, later):
            leaves, others = set(_leaves(condition)), set(_leaves(other))
            changes = apart and any(_is_index(leaf) for leaf in leaves | others)
            if condition is other and not changes and arm != other_arm:
                return False
            if condition is not other and not changes and leaves & others:
                found = None
    return found


def _taken(places: Places, entry: EntryNode) -> Iterator[tuple[SSAValue, int]]:
    """The conditions around an entry that are not followed turn by turn, and which arm it is in."""
    for (_, node), (inner, _) in pairwise(places.chain(entry)):
        if isinstance(node, BranchNode) and isinstance(node.op, If) and not isinstance(node.condition, int | Periodic):
            yield node.op.cond, node.arms.index(inner)


def _leaves(value: SSAValue) -> Iterator[SSAValue]:
    """The inputs of a condition."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name.startswith("arith."):
        for operand in owner.operands:
            yield from _leaves(operand)
    else:
        yield value


def _is_index(value: SSAValue) -> bool:
    """Whether a value is another one in each iteration of a loop."""
    if isinstance(value, BlockArgument):
        return isinstance(value.owner.parent_op(), For)
    return isinstance(value.owner, Operation) and any(isinstance(each, For) for each in around(value.owner))
