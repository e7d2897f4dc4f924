"""Walks over operations without a detour: into them, out of them, by class."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterator

from xdsl.ir import Block, Operation


class ByInheritance(ABCMeta):
    """A walk for classes whose instances are told by inheritance alone: nothing registers with them."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


class QuickOperation(Operation, metaclass=ByInheritance):
    """An operation through which one loop walks, where xDSL has three generators for every depth."""

    def walk(self, *, reverse: bool = False, region_first: bool = False) -> Iterator[Operation]:
        """This operation and those inside, as written. The caller may erase the one given, or put others into it."""
        if reverse or region_first:
            yield from super().walk(reverse=reverse, region_first=region_first)
            return
        yield self
        waiting: list[Operation | Block] = _blocks(self)
        while waiting:
            here = waiting.pop()
            op = here.first_op if isinstance(here, Block) else here
            while op is not None:
                beside = op.next_op
                yield op
                if op.regions:
                    waiting += ([] if beside is None else [beside]) + _blocks(op)
                    break
                op = beside


def around(op: Operation) -> Iterator[Operation]:
    """The operations that another one stands in, the innermost first."""
    while (parent := op.parent_op()) is not None:
        yield parent
        op = parent


def _blocks(op: Operation) -> list[Operation | Block]:
    """The last one first."""
    return [block for region in reversed(op.regions) for block in reversed(region.blocks)]
