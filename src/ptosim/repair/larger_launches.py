"""Larger launches of a kernel, to see whether what holds at one size holds beyond it.

The integers that decide how often a loop of the scalar unit runs are multiplied, and all arrays grow with them, filled
with what they hold: all such integers at once, then each alone, for they need not be sizes. Which of these launches a
kernel admits is for a run to say. A kernel whose loops depend on no argument has no other size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.arguments import Arguments, Parameter
from ptosim.language.analysis.value_flow import handed_on
from ptosim.language.operation import enclosing_scope, is_scope
from ptosim.language.structure.control import For, If, While
from ptosim.language.structure.function import Function
from ptosim.machine.memory import pointer

FACTORS = (4, 16, 64)
"""A tile of 32 rows, a share of a block: it may take much until a loop has a few more turns."""
LARGEST = 1 << 26
"""Bytes that the enlarged arrays may take."""

Way = Sequence[Callable[[], Arguments]]


def enlargements(signature: Sequence[Parameter], arguments: Arguments, entries: Sequence[Function]) -> list[Way]:
    """Ways to enlarge a launch, the likeliest first, each with growing sizes."""
    pointers = {value for value, each in zip(arguments.values, signature, strict=True) if each.is_pointer}
    if not pointers <= {pointer(buffer, 0) for buffer in range(len(arguments.buffers))}:
        return []  # arrays inside others: where one ends another begins
    sizes = [index for index in sorted(_deciding(entries)) if _is_size(signature[index], arguments.values[index])]
    chosen = [sizes, *([index] for index in sizes if len(sizes) > 1)] if sizes else []
    ways = [list(_growing(signature, arguments, indices)) for indices in chosen]
    return [way for way in ways if way]


def _is_size(parameter: Parameter, value: int) -> bool:
    return not parameter.is_pointer and not parameter.element.is_float and parameter.element.bits > 1 and value > 0


def _growing(
    signature: Sequence[Parameter], arguments: Arguments, indices: Sequence[int]
) -> Iterator[Callable[[], Arguments]]:
    for factor in FACTORS:
        copies = factor ** min(len(indices), 2)  # rows and columns
        values = [value * factor if index in indices else value for index, value in enumerate(arguments.values)]
        fits = all(values[index] < 1 << (signature[index].element.bits - 1) for index in indices)
        if fits and sum(map(len, arguments.buffers)) * copies <= LARGEST:
            yield lambda values=tuple(values), copies=copies: replace(
                arguments, values=values, buffers=tuple(np.tile(buffer, copies) for buffer in arguments.buffers)
            )


def _deciding(entries: Sequence[Function]) -> set[int]:
    """The parameters that the bounds of some loop, or the condition of one, are computed from, and what is passed to
    other functions."""
    found: set[int] = set()
    seen: set[SSAValue] = set()
    for entry in entries:
        pending = list(_bounds(entry))
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            pending += _comes_from(value)
            if isinstance(value, BlockArgument) and value.block.parent_op() is entry:
                found.add(value.index)
    return found


def _bounds(entry: Function) -> Iterator[SSAValue]:
    for op in entry.walk():
        if enclosing_scope(op) is not None or is_scope(op):
            continue  # inside one instruction of the vector pipe
        if isinstance(op, For):
            yield from (op.lb, op.ub, op.step)
        elif isinstance(op, While):
            yield from (operand for region in op.regions for end in region.block.ops for operand in end.operands)
        elif op.name == "func.call":
            yield from op.operands


def _comes_from(value: SSAValue) -> Iterator[SSAValue]:
    """The inputs of a value."""
    if isinstance(value, BlockArgument):
        parent = value.block.parent_op()
        if isinstance(parent, For | While):
            yield from parent.operands
            yield from _yielded(parent)
        return
    owner = value.owner
    if isinstance(owner, Operation):
        yield from owner.operands
        if isinstance(owner, For | While | If):
            yield from _yielded(owner)


def _yielded(op: Operation) -> Iterator[SSAValue]:
    for region in op.regions:
        for block in region.blocks:
            yield from handed_on(block)
