"""Arguments that a kernel reads and writes, as far as pointers can be followed from the parameters.

A check works on copies; what is only read needs none, and what is only written needs no contents. Compiled code makes
sure at each access that it is one of those that were found here (rows.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from ptosim.effects.names import GM
from ptosim.language.analysis.kernel_entries import KernelProgram
from ptosim.language.analysis.value_flow import sources
from ptosim.language.micro.pointer import AddPtr
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.private_memory import PrivateLoad, PrivateStore
from ptosim.language.structure.function import Call, reached
from ptosim.language.structure.function import Function as PTOFunction
from ptosim.native.observe.tracks import accesses_of

Usage = tuple[frozenset[int], frozenset[int]]
"""The numbers of the parameters that are read, and of those that are written."""


class Unknown(Exception):
    """A pointer comes from somewhere else."""


class PointerUses:
    """The parameters behind the pointers to GM of a kernel."""

    def __init__(self, entries: Iterable[PTOFunction], target: str) -> None:
        self.target = target
        self._entries = list(entries)
        self._operations = list(reached(*self._entries))
        self._calls: dict[PTOFunction, list[Call]] = {}
        for op in self._operations:
            if isinstance(op, Call) and op.function is not None:
                self._calls.setdefault(op.function, []).append(op)

    def all(self) -> Usage:
        """The uses of all parameters."""
        read: set[int] = set()
        written: set[int] = set()
        for op in self._operations:
            if isinstance(op, PrivateLoad | PrivateStore) and op.facts()["space"] is GM:
                raise Unknown
            for pointer, direction in global_accesses(op, self.target):
                (read if direction == "read" else written).update(self.of(pointer))
        return frozenset(read), frozenset(written)

    def of(self, pointer: SSAValue) -> frozenset[int]:
        """The parameters that a pointer may come from."""
        return frozenset(self._of(pointer, set()))

    def _of(self, value: SSAValue, seen: set[SSAValue]) -> set[int]:
        if value in seen:
            return set()
        seen.add(value)
        given = self._given(value)
        if isinstance(given, int):
            return {given}
        if not given:
            raise Unknown
        return {number for source in given for number in self._of(source, seen)}

    def _given(self, value: SSAValue) -> Sequence[SSAValue] | int:
        """The number of a parameter, or the values that a value comes from."""
        function = value.block.parent_op() if isinstance(value, BlockArgument) else None
        if isinstance(value, BlockArgument) and isinstance(function, PTOFunction):
            if function in self._entries:
                return value.index
            return [call.arguments[value.index] for call in self._calls.get(function, ())]
        return [value.owner.pointer] if isinstance(value.owner, AddPtr) else sources(value)


def usage(program: KernelProgram, target: str) -> Usage | None:
    """The uses of a kernel's parameters; None where a pointer cannot be followed."""
    try:
        return PointerUses(program.entries.values(), target).all()
    except Unknown:
        return None


def global_accesses(op: Operation, target: str) -> Iterator[tuple[SSAValue, str]]:
    """The pointers to GM behind which an operation reads or writes."""
    for access in accesses_of(op, target):
        if access.space is GM and isinstance(op, PTOOperation):
            (pointer,) = op.segment(access.base)
            yield pointer, access.direction
