"""Loops that the programs of two cores run alike: from the outermost one inwards, with the same bounds."""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ptosim.diagnostics import Location
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function
from ptosim.sanitize.program import WrittenProgram, ancestors, launched

DEEPEST = 8
"""The most steps that values of two programs are followed when they are compared."""


def loops_alike(program: WrittenProgram, first: Location | None, second: Location | None) -> int:
    """The number of loops around two instructions of different cores that run alike, from the outermost one on."""
    ops = program.operation(first), program.operation(second)
    if ops[0] is None or ops[1] is None:
        return 0
    ways = [[op for op in way(op) if isinstance(op, For)] for op in ops if op is not None]
    pairs = list(zip(*ways, strict=False))
    return next((depth for depth, (one, other) in enumerate(pairs) if not run_alike(one, other)), len(pairs))


def way(op: Operation) -> list[Operation]:
    """From the outermost block of the program to what the scalar unit issues."""
    return [step for _, step in reversed(ancestors(launched(op)))]


def run_alike(loop: For, other: For) -> bool:
    """Whether two loops run equally often."""
    bounds = zip((loop.lb, loop.ub, loop.step), (other.lb, other.ub, other.step), strict=True)
    return loop is other or all(_equal(one, another, DEEPEST) for one, another in bounds)


def _equal(one: SSAValue, other: SSAValue, depth: int) -> bool:
    """Whether two values, perhaps of two functions, are computed alike from the arguments of the kernel."""
    if one is other:
        return True
    if isinstance(one, BlockArgument) and isinstance(other, BlockArgument):
        owners = one.block.parent_op(), other.block.parent_op()
        return one.index == other.index and all(isinstance(owner, Function) for owner in owners)
    if not isinstance(one, OpResult) or not isinstance(other, OpResult) or not depth or one.op.name != other.op.name:
        return False
    if one.op.regions or (one.op.properties, one.op.attributes) != (other.op.properties, other.op.attributes):
        return False
    pairs = zip(one.op.operands, other.op.operands, strict=True)
    return all(_equal(ours, theirs, depth - 1) for ours, theirs in pairs)
