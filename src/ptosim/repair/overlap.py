"""Buffers that overlap by address: two accesses meet on bytes that neither was meant to share.

The pointers of two accesses are followed to where their addresses were given. If these are two places with two known
addresses, the one that begins later lies inside what the other covers: more likely an address is wrong than an order.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ptosim.diagnostics import Location
from ptosim.language.micro.pointer import AddPtr, CastPtr
from ptosim.language.structure.control import For
from ptosim.language.types import PtrType
from ptosim.repair.possible_values import possible
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.program import WrittenProgram

DEEPEST = 32
"""The most steps that a pointer is followed."""


class PointerRoot(NamedTuple):
    """The origin of a pointer: the instruction that gave it its address, and the address."""

    origin: Operation
    address: int


def overlap(program: WrittenProgram, conflict: Conflict) -> str | None:
    """A sentence where the two buffers of a conflict overlap; None where they are one, or it is not known."""
    first = conflict.first
    if first is None or conflict.relation != "inside a core":
        return None
    one = _touched(program, conflict, first.site.location)
    other = _touched(program, conflict, conflict.second.site.location)
    if one is None or other is None or one.address == other.address:
        return None
    lower, upper = sorted((_name(program, one), _name(program, other)))
    return f"{lower[1]} and {upper[1]} overlap in {conflict.place}: move one of them"


def _name(program: WrittenProgram, buffer: PointerRoot) -> tuple[int, str]:
    name, line = program.name_of(buffer.origin), program.first_line(buffer.origin)
    return buffer.address, f"{name} (line {line}, from byte {buffer.address} on)"


def _touched(program: WrittenProgram, conflict: Conflict, location: Location | None) -> PointerRoot | None:
    """The buffer of an access: of its pointers into that memory the one that begins nearest below the bytes."""
    op = program.operation(location)
    operands = op.operands if op is not None else ()
    found = [
        buffer
        for operand in operands
        if isinstance(operand.type, PtrType) and str(operand.type.space) == conflict.place.memory
        if (buffer := _buffer(operand, DEEPEST)) is not None and buffer.address <= conflict.place.low
    ]
    return max(found, key=lambda buffer: buffer.address, default=None)


def _buffer(value: SSAValue, depth: int) -> PointerRoot | None:
    if not depth:
        return None
    if isinstance(value, BlockArgument):
        return _carried(value, depth - 1)
    if not isinstance(value, OpResult):
        return None
    if isinstance(value.op, AddPtr):
        return _buffer(value.op.operands[0], depth - 1)
    addresses = possible(value.op.operands[0]) if isinstance(value.op, CastPtr) else None
    return PointerRoot(value.op, min(addresses)) if addresses is not None and len(addresses) == 1 else None


def _carried(value: BlockArgument, depth: int) -> PointerRoot | None:
    """A pointer that a loop moves on is still into the buffer it began in, unless the loop exchanges it."""
    loop = value.block.parent_op()
    end = value.block.last_op
    if not isinstance(loop, For) or not value.index or end is None:
        return None
    moved: SSAValue = end.operands[value.index - 1]
    while isinstance(moved, OpResult) and isinstance(moved.op, AddPtr):
        moved = moved.op.operands[0]
    return _buffer(loop.iter_args[value.index - 1], depth) if moved is value else None
