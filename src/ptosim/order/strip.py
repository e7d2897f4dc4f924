"""Written synchronisation as a whole: what there is of it, and the text of a module without some or all of it.

Signals between cores are never touched: only their author knows what they mean.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from ptosim.language.load import VerifiedModule
from ptosim.language.micro.sync import Barrier, BufferOperation, FlagPair
from ptosim.language.operation import PTOOperation
from ptosim.language.text.printing import text
from ptosim.language.tile.tile_local import DeclareLocalArray, LocalArrayGet, LocalArraySet
from ptosim.language.tile.tile_sync import DeclareEventIdArray, EventIdArrayGet, EventIdArraySet, TSync

_WRITTEN = (FlagPair, Barrier, BufferOperation, TSync)
_WRITES = (LocalArraySet.name, EventIdArraySet.name)
_ARRAYS = (*_WRITES, DeclareLocalArray.name, LocalArrayGet.name, DeclareEventIdArray.name, EventIdArrayGet.name)


def written_sync(module: VerifiedModule) -> dict[tuple[object, ...], list[int]]:
    """The synchronisation of a module in groups that belong together: both sides of a flag, all uses of a buffer id,
    each barrier for itself. Operations are named by their number in the text."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, op in enumerate(module.parsed.module.walk()):
        if isinstance(op, _WRITTEN):
            groups.setdefault(_group(op, number), []).append(number)
    return groups


def _group(op: PTOOperation, number: int) -> tuple[object, ...]:
    match op:
        case FlagPair():
            return ("flag", op.word("source"), op.word("destination"), op.word("event"), *op.operands)
        case BufferOperation():
            return ("buffer", op.integer("id_literal"), *op.segment("id"))
        case _:
            return ("barrier", number)


def operation(module: VerifiedModule, number: int) -> Operation:
    """An operation by its number in the text."""
    return next(op for index, op in enumerate(module.parsed.module.walk()) if index == number)


def named(op: Operation) -> str:
    """The name of a synchronising operation in reports."""
    assert isinstance(op, PTOOperation)
    words = [op.attribute(role) for role in op.property_roles]
    return " ".join([op.name, *(word.data for word in words if isinstance(word, StringAttr))])


def without(module: VerifiedModule, numbers: Collection[int]) -> str:
    """The text of a module without some operations."""
    return text(stripped(module, numbers).parsed)


def stripped(module: VerifiedModule, numbers: Collection[int]) -> VerifiedModule:
    """A copy of a module without some operations, and without what was computed for them alone."""
    copy = module.parsed.cloned()
    operations = list(copy.module.walk())
    before = _needed(operations)
    removed = {operations[number] for number in numbers}
    rest = [op for op in operations if op not in removed]
    unused = set(operations) - before  # it stays as it was written, with what it is computed from
    idle = before.difference(_needed(rest, unused)) if removed else set[Operation]()
    for op in reversed([op for op in operations if op in removed or op in idle]):
        op.detach()
        op.erase()
    return replace(module, parsed=copy)


def _needed(operations: Sequence[Operation], also: Collection[Operation] = ()) -> set[Operation]:
    """All but computations of the scalar unit that nothing uses, and what `also` uses; what is written to an array is
    used by what reads it."""
    writes: dict[SSAValue, list[Operation]] = {}
    for op in operations:
        if op.name in _WRITES:
            writes.setdefault(op.operands[0], []).append(op)
    open_ = [op for op in operations if not op.name.startswith("arith.") and op.name not in _ARRAYS] + [*also]
    needed = set(open_)
    while open_:
        op = open_.pop()
        for value in op.operands:
            owner = [value.owner] if isinstance(value.owner, Operation) else []
            new = {*owner, *(writes.get(value, ()) if op.name not in _WRITES else ())} - needed
            needed |= new
            open_ += new
    return needed
