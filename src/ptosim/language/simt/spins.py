"""Loops of workitems that may wait: for another warp of the launch, or for another block."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import Space
from ptosim.language.micro.pointer import ElementLoad
from ptosim.language.simt.private_memory import PrivateLoad
from ptosim.language.simt.simt_atomic import AtomicOperation
from ptosim.language.structure.control import Condition, While, Yield
from ptosim.language.structure.function import Call, reached
from ptosim.language.types import PtrType


def may_wait(loop: While) -> bool:
    """Whether a loop looks at memory that others write."""
    return any(isinstance(op, AtomicOperation | ElementLoad | PrivateLoad | Call) for op in loop.walk())


def waits_for_block(loop: While) -> bool:
    """Whether the result of an atomic operation in GM decides if a loop goes on."""
    decided: set[SSAValue] = set()
    grows = True
    while grows:
        before = len(decided)
        for op in loop.walk():
            if _is_atomic_in_gm(op) or any(operand in decided for operand in op.operands):
                decided.update(op.results)
                if isinstance(op, Condition | Yield) and (parent := op.parent_op()) is not None:
                    decided.update(parent.results)
                    decided.update(argument for region in parent.regions for argument in region.block.args)
        grows = len(decided) > before
    last = loop.before_region.block.last_op
    return isinstance(last, Condition) and last.condition in decided


def _is_atomic_in_gm(op: Operation) -> bool:
    if isinstance(op, AtomicOperation):
        return isinstance(op.pointer.type, PtrType) and op.pointer.type.space is Space.GM
    return isinstance(op, Call) and op.function is not None and any(map(_is_atomic_in_gm, reached(op.function)))
