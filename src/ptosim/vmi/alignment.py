"""Alignment of addresses, as far as it is known before anything runs."""

from __future__ import annotations

from math import gcd

from xdsl.ir import Block, Operation, SSAValue

from ptosim.language.builder import Number, known
from ptosim.language.micro.pointer import AddPtr, CastPtr
from ptosim.language.structure.control import For
from ptosim.language.types import PtrType, element_of

MOST = 1 << 16
"""The alignment of zero, the greatest that is asked for."""


def known_multiple(value: Number) -> int:
    """A power of two, or a product of one, that divides a number; 1 where nothing is known."""
    if isinstance(number := known(value), int):
        return gcd(number, MOST)
    assert isinstance(value, SSAValue)
    owner = value.owner
    if isinstance(owner, Block):
        return _of_counter(owner, value)
    match owner.name:
        case "arith.addi" | "arith.subi":
            return gcd(*(known_multiple(operand) for operand in owner.operands))
        case "arith.muli":
            one, other = (known_multiple(operand) for operand in owner.operands)
            return min(one * other, MOST)
        case "arith.divui" | "arith.divsi":
            dividend, divisor = known_multiple(owner.operands[0]), known(owner.operands[1])
            return dividend // divisor if divisor and divisor > 0 and dividend % divisor == 0 else 1
        case "arith.index_cast" | "arith.index_castui":
            return known_multiple(owner.operands[0])
        case _:
            return 1


def _of_counter(block: Block, value: SSAValue) -> int:
    loop = block.parent_op()
    if not isinstance(loop, For) or value is not block.args[0]:
        return 1
    return gcd(known_multiple(loop.lb), known_multiple(loop.step))


def known_address_multiple(pointer: SSAValue, offset: Number) -> int:
    """The known alignment of the address of an element behind a pointer, in bytes."""
    assert isinstance(pointer.type, PtrType)
    return gcd(_of_pointer(pointer), known_multiple(offset) * element_of(pointer.type.element).bytes)


def _of_pointer(pointer: SSAValue) -> int:
    owner = pointer.owner
    if not isinstance(owner, Operation):
        return 1
    match owner:
        case AddPtr():
            return known_address_multiple(*owner.operands)
        case CastPtr() if isinstance(owner.input.type, PtrType):
            return _of_pointer(owner.input)
        case CastPtr():
            return known_multiple(owner.input)
        case _:
            return 1
