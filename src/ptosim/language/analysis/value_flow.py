"""Values through control flow: in and out of loops, branches and calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ptosim.language.micro.scope import StrictVecScope
from ptosim.language.structure.control import For, If, While
from ptosim.language.structure.execute_region import ExecuteRegion
from ptosim.language.structure.function import Call

Edge = tuple[SSAValue, SSAValue]
"""A value that is handed over, and its name at the destination."""


def edges(op: Operation) -> Iterator[Edge]:
    """All that an operation hands on, into its regions, from them and between them; what it begins with comes first.

    Of operations that are not verified yet as much as there is of both sides.
    """
    match op:
        case For():
            body = op.body.block
            for given in (op.iter_args, handed_on(body)):
                yield from _pairs(given, body.args[1:], op.results)
        case While():
            before, after = op.before_region.block, op.after_region.block
            yield from _pairs(op.arguments, before.args)
            yield from _pairs(handed_on(after), before.args)
            yield from _pairs(handed_on(before)[1:], after.args, op.results)  # behind the condition
        case If():
            for region in op.regions:
                yield from _pairs(handed_on(region.block), op.results)
        case ExecuteRegion():
            yield from _pairs(handed_on(op.region.block), op.results)
        case StrictVecScope():
            yield from _pairs(op.arguments, op.body.block.args)
        case Call():
            callee = op.function
            if callee is not None and not callee.is_declaration:
                yield from _pairs(op.arguments, callee.args)
                yield from _pairs(handed_on(callee.body.block), op.results)
        case _:
            pass


def handed_on(block: Block) -> Sequence[SSAValue]:
    """Values that the last operation of a block passes on."""
    last = block.last_op
    return last.operands if last is not None else ()


def _pairs(given: Iterable[SSAValue], *becoming: Sequence[SSAValue]) -> Iterator[Edge]:
    for index, value in enumerate(given):
        for names in becoming:
            yield from ((value, name) for name in names[index : index + 1])


def sources(value: SSAValue) -> list[SSAValue]:
    """The values that a loop or a branch hands on as this one; none where it is computed."""
    owner = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    if not isinstance(owner, For | While | If):
        return []
    return [given for given, becomes in edges(owner) if becomes is value]
