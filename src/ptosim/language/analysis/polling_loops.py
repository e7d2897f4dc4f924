"""Loops that wait for a word in global memory: an scf.while that goes on as long as a scalar load compares so.

    scf.while : () -> () {
      %word = pto.ld_dev %p[%i] : !pto.ptr<i32, gm> -> i32
      %more = arith.cmpi slt, %word, %value : i32
      scf.condition(%more)
    } do { ... }

Who leaves it has waited until the word is what the comparison does not allow; where another condition, by arith.andi,
may end it as well, the word tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ptosim.effects.names import Space
from ptosim.effects.sim_signal import MOST_LOOKS
from ptosim.language.analysis.value_flow import handed_on
from ptosim.language.micro.pointer import AddPtr, CastPtr, LdDev, LoadScalar
from ptosim.language.micro.sync_fence import CmoCacheInvalid, Dcci
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import Condition, While
from ptosim.language.structure.scalar_cast import CmpI
from ptosim.language.types import PtrType

LEFT_BY = {"eq": "ne", "ne": "eq", "slt": "ge", "sge": "lt", "sgt": "le", "sle": "gt"}
"""The relation between a word and its bound behind a loop that goes on while a comparison holds."""
TURNED = {"eq": "eq", "ne": "ne", "ge": "le", "le": "ge", "gt": "lt", "lt": "gt"}


@dataclass(frozen=True, eq=False)
class Poll:
    """The load that decides whether such a loop goes on, and what it has seen at the end: `word comparison value`."""

    load: LoadScalar | LdDev
    comparison: str
    value: SSAValue


def poll_of(op: While) -> Poll | None:
    """The condition that a loop waits for: one of the conditions that must all hold for another round."""
    last = op.before_region.block.last_op
    conditions = _conjuncts(last.condition) if isinstance(last, Condition) else ()
    return next(filter(None, (_poll(op, condition) for condition in conditions)), None)


def waits_for_word(op: While) -> bool:
    """Whether a loop looks at the same word each time, so that only others can end it."""
    poll = poll_of(op)
    return poll is not None and all(_stays(value, op) for value in (poll.load.pointer, poll.load.offset))


def _stays(value: SSAValue, loop: While) -> bool:
    """Whether a value is the same in every round."""
    owner = value.owner
    if isinstance(owner, Block):
        return not loop.is_ancestor(owner)
    if not loop.is_ancestor(owner):
        return True
    is_plain = owner.name.startswith("arith.") or isinstance(owner, AddPtr | CastPtr)
    return is_plain and all(_stays(operand, loop) for operand in owner.operands)


def changes(value: SSAValue, loop: While) -> bool:
    """Whether a value that a loop carries may be another one in each round."""
    if not isinstance(value, BlockArgument) or value.block is not loop.before_region.block:
        return not _stays(value, loop)
    after, last = loop.after_region.block, value.block.last_op
    handed = handed_on(after)[value.index]
    if isinstance(handed, BlockArgument) and handed.block is after and isinstance(last, Condition):
        handed = last.arguments[handed.index]
    return handed is not value and handed is not loop.arguments[value.index]


def gives_up_late(value: SSAValue) -> bool:
    """Whether a condition of a loop stays true for so many rounds that a run would be over: it counts up to MOST_LOOKS
    or beyond."""
    compared = value.owner
    if not isinstance(compared, CmpI) or compared.word("predicate") not in ("slt", "sle", "ult", "ule", "ne"):
        return False
    counter, limit = compared.lhs, constant_of(compared.rhs)
    loop = counter.block.parent_op() if isinstance(counter, BlockArgument) else None
    if not isinstance(counter, BlockArgument) or not isinstance(loop, While) or limit is None:
        return False
    if counter.block is not loop.before_region.block:
        return False
    first, added = constant_of(loop.arguments[counter.index]), handed_on(loop.after_region.block)[counter.index].owner
    if first is None or not isinstance(added, Operation) or added.name != "arith.addi":
        return False
    step = next((number for number in map(constant_of, added.operands) if number is not None), 0)
    return step > 0 and (limit - first) // step >= MOST_LOOKS


def _conjuncts(condition: SSAValue) -> Iterator[CmpI]:
    owner = condition.owner
    if isinstance(owner, CmpI):
        yield owner
    elif isinstance(owner, Operation) and owner.name == "arith.andi":
        for operand in owner.operands:
            yield from _conjuncts(operand)


def _poll(op: While, compared: CmpI) -> Poll | None:
    left = LEFT_BY.get(compared.word("predicate") or "")
    if left is None:
        return None
    for word, value, said in ((compared.lhs, compared.rhs, left), (compared.rhs, compared.lhs, TURNED[left])):
        load = word.owner
        if isinstance(load, LoadScalar | LdDev) and load.parent is op.before_region.block and _of_words(load):
            return Poll(load, said, value)
    return None


def is_poll(load: Operation) -> bool:
    """Whether a load is the look of such a loop."""
    parent = load.parent_op()
    found = poll_of(parent) if isinstance(parent, While) else None
    return found is not None and found.load is load


def refreshes(load: Operation) -> bool:
    """Whether something in the loop around a load makes sure that it looks at memory, and not at a cache."""
    if not isinstance(load, LoadScalar):
        return True
    loop = load.parent_op()
    return loop is not None and any(inner.name in (CmoCacheInvalid.name, Dcci.name) for inner in loop.walk())


def _of_words(load: LoadScalar | LdDev) -> bool:
    pointer = load.pointer.type
    return isinstance(pointer, PtrType) and pointer.space is Space.GM and pointer.element == i32
