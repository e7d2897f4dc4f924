"""Arguments that a kernel reads and writes, as far as pointers can be followed from the parameters.

A check works on copies; what is only read needs none, and what is only written needs no contents. Compiled code makes
sure at each access that it is one of those that were found here (rows.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.effects.names import GM
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.language.analysis.value_flow import sources
from ptosim.language.micro.pointer import AddPtr
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.function import Function as PTOFunction
from ptosim.language.structure.function import reached
from ptosim.native.observe.tracks import accesses_of

Usage = tuple[frozenset[int], frozenset[int]]
"""The numbers of the parameters that are read, and of those that are written."""


class Unknown(Exception):
    """A pointer comes from somewhere else."""


def usage(program: KernelProgram, target: str) -> Usage | None:
    """The uses of a kernel's parameters; None where a pointer cannot be followed."""
    read: set[int] = set()
    written: set[int] = set()
    try:
        for entry in program.entries.values():
            for op in reached(entry):
                for pointer, direction in _accesses(op, target):
                    found = _parameters(pointer, entry, set())
                    if direction == "read":
                        read |= found
                    else:
                        written |= found
    except Unknown:
        return None
    return frozenset(read), frozenset(written)


def _accesses(op: Operation, target: str) -> Iterator[tuple[SSAValue, str]]:
    """The pointers to GM behind which an operation reads or writes."""
    for access in accesses_of(op, target):
        if access.space is GM and isinstance(op, PTOOperation):
            (pointer,) = op.segment(access.base)
            yield pointer, access.direction


def _parameters(value: SSAValue, entry: PTOFunction, seen: set[SSAValue]) -> set[int]:
    """The parameters that a pointer may come from."""
    if value in seen:
        return set()
    seen.add(value)
    if isinstance(value, BlockArgument) and value.block.parent_op() is entry:
        return {value.index}
    owner = value.owner
    given = [owner.pointer] if isinstance(owner, AddPtr) else sources(value)
    if not given:
        raise Unknown
    return {number for source in given for number in _parameters(source, entry, seen)}
