"""Which arguments a kernel reads and which it writes, as far as pointers can be followed from the parameters.

A check works on copies; what is only read needs none, and what is only written needs no contents. Compiled code makes
sure at each access that it is one of those that were found here (rows.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.names import GM
from ptosim.effects.record import no_accesses
from ptosim.language.control import For, If, Yield
from ptosim.language.function import Function as PTOFunction
from ptosim.language.function import reached
from ptosim.language.kernels import KernelProgram
from ptosim.language.operation import PTOOperation
from ptosim.language.pointer import AddPtr
from ptosim.language.static import static_of

Usage = tuple[frozenset[int], frozenset[int]]
"""The numbers of the parameters that are read, and of those that are written."""


class Unknown(Exception):
    """A pointer comes from somewhere else."""


def usage(program: KernelProgram, target: str) -> Usage | None:
    """What becomes of the parameters of a kernel; None where a pointer cannot be followed."""
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
    record = effects().get(op.name)
    if record is None or record.accesses is no_accesses or not isinstance(op, PTOOperation):
        return
    for access in record.accesses(static_of(op, target)):
        if access.space is GM:
            (pointer,) = op.segment(access.base)
            yield pointer, access.direction


def _parameters(value: SSAValue, entry: PTOFunction, seen: set[SSAValue]) -> set[int]:
    if value in seen:
        return set()
    seen.add(value)
    sources = list(_sources(value, entry))
    if not sources:
        assert isinstance(value, BlockArgument)
        return {value.index}
    return {number for source in sources for number in _parameters(source, entry, seen)}


def _sources(value: SSAValue, entry: PTOFunction) -> Iterator[SSAValue]:
    """The values that this one may be, or be derived from; none of a parameter."""
    owner = value.owner
    if isinstance(value, BlockArgument):
        around = value.block.parent_op()
        if around is entry:
            return
        if isinstance(around, For) and value.index > 0:
            yield around.iter_args[value.index - 1]
            yield _last(around, value.index - 1)
            return
        raise Unknown
    match owner:
        case AddPtr():
            yield owner.pointer
        case For():
            number = owner.results.index(value)
            yield owner.iter_args[number]
            yield _last(owner, number)
        case If():
            number = owner.results.index(value)
            for region in owner.regions:
                end = region.block.last_op
                assert isinstance(end, Yield)
                yield end.arguments[number]
        case _:
            raise Unknown


def _last(loop: For, number: int) -> SSAValue:
    end = loop.body.block.last_op
    assert isinstance(end, Yield)
    return end.arguments[number]
