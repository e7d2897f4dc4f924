"""Lifetimes of tiles: from the first statement that touches one to the last, whole loops where it is carried around.

A tile goes by many names: views, branches, loops and selections hand it on. Names that may be one tile are one class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ptosim.language.structure.control import For, If, While
from ptosim.language.structure.function import Function
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_view import TileBufAddr
from ptosim.language.tile.view_operation import ViewOperation


@dataclass
class Interval:
    """The statements between which a tile is in use, both included; None where nothing touches it."""

    start: int | None = None
    end: int | None = None
    arms: frozenset[tuple[int, int]] | None = None
    """The branches that all accesses are confined to."""

    def include(self, start: int, end: int, arms: frozenset[tuple[int, int]]) -> None:
        self.start = start if self.start is None else min(self.start, start)
        self.end = end if self.end is None else max(self.end, end)
        self.arms = arms if self.arms is None else self.arms & arms


@dataclass
class Liveness:
    """The statements of a function in order, and when each class of tiles is in use."""

    function: Function
    statements: list[Operation] = field(default_factory=list[Operation])
    _number: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _last: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _parents: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def __post_init__(self) -> None:
        self._count(self.function)
        for op in self.statements:
            for one, other in _same(op):
                self._join(self.root(one), self.root(other))

    def _count(self, op: Operation) -> None:
        self._number[op] = len(self.statements)
        self.statements.append(op)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    self._count(inner)
        self._last[op] = len(self.statements) - 1

    def _join(self, one: SSAValue, other: SSAValue) -> None:
        if one is not other:
            self._parents[one] = other

    def root(self, value: SSAValue) -> SSAValue:
        """The value that stands for all names of a tile."""
        while value in self._parents:
            value = self._parents[value]
        return value

    def intervals(self, allocations: Sequence[Operation]) -> list[Interval]:
        """The times when the tile of each allocation is in use."""
        found = {self.root(op.results[0]): Interval() for op in allocations}
        home = {self.root(op.results[0]): op for op in allocations}
        for op in self.statements:
            for value in touched(op):
                root = self.root(value)
                if root in found:
                    around = self._whole_loop(op, home[root])
                    found[root].include(self._number[around], self._last[around], self._arms(op))
        return [found[self.root(op.results[0])] for op in allocations]

    def _whole_loop(self, op: Operation, allocation: Operation) -> Operation:
        """The outermost loop around an access that the allocation stands before: the tile is carried around it."""
        outer = op
        parent = op.parent_op()
        while parent is not None and not isinstance(parent, Function):
            if isinstance(parent, For | While) and not parent.is_ancestor(allocation):
                outer = parent
            parent = parent.parent_op()
        return outer

    def _arms(self, op: Operation) -> frozenset[tuple[int, int]]:
        arms: set[tuple[int, int]] = set()
        block = op.parent_block()
        while block is not None and (parent := block.parent_op()) is not None:
            if isinstance(parent, If):
                arms.add((self._number[parent], int(block is parent.false_region.first_block)))
            block = parent.parent_block()
        return frozenset(arms)


def touched(op: Operation) -> Iterator[SSAValue]:
    """The tiles whose bytes an operation uses. Behind a pointer made of a tile anything may happen."""
    match op:
        case TileOperation():
            for role in {*op.reads, *op.writes, *op.scratch}:
                yield from op.segment(role)
        case TileBufAddr():
            yield op.source
        case _:
            pass


def _same(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Pairs of names that this operation makes names of one tile."""
    match op:
        case ViewOperation() if op.shares is not None:
            yield op.results[0], op.segment(op.shares)[0]
        case For():
            body = op.body.block
            for init, inside, result, following in zip(
                op.iter_args, body.args[1:], op.results, _yielded(body), strict=True
            ):
                yield from ((inside, init), (result, init), (following, init))
        case If() if op.results:
            for region in (op.true_region, op.false_region):
                yield from zip(op.results, _yielded(region.block), strict=True)
        case Select():
            yield from ((op.result, op.if_true), (op.result, op.if_false))
        case _:
            pass


def _yielded(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    return last.operands if last is not None else ()
