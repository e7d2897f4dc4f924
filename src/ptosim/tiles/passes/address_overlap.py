"""Tiles whose written addresses overlap though both are needed: one overwrites the other before it is read again.

A tile that starts where another one does, or lies inside of it, is another view of its bytes, made on purpose: unless
it is filled anew before anybody has read the other, and one operation then reads both.
What is followed goes into blocks and not out of them, so whatever is reported happens whenever that block is executed;
a run shows nothing of it, since a tile is no more than its bytes there.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Set
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from ptosim.diagnostics import Diagnostic, Related
from ptosim.effects.names import Space
from ptosim.language.load import VerifiedModule
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import While
from ptosim.language.structure.function import Function, callees, every_function
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_view import Allocation
from ptosim.tiles.passes.liveness import Liveness, touched
from ptosim.tiles.passes.memory_plan import room_of


@dataclass(frozen=True)
class _Placed:
    """An allocation with a constant address."""

    op: Allocation
    space: Space
    start: int
    end: int

    def spoils(self, other: _Placed) -> bool:
        """Whether it lies over the other tile, and is no view of it."""
        if self.space is not other.space or self.start == other.start:
            return False
        return self.meets(other) and not other.covers(self)

    def meets(self, other: _Placed) -> bool:
        return self.space is other.space and self.start < other.end and other.start < self.end

    def covers(self, other: _Placed) -> bool:
        return self.space is other.space and self.start <= other.start and other.end <= self.end

    def __str__(self) -> str:
        return f"{self.space}[{self.start}:{self.end}]"


_Held = dict[_Placed, tuple[_Placed, Operation] | None]
"""Tiles that were written, and what has overwritten them since."""


@dataclass(frozen=True)
class _Before:
    """The state where a block begins."""

    held: _Held = field(default_factory=_Held)
    partly: Mapping[_Placed, tuple[_Placed, Operation]] = field(
        default_factory=dict[_Placed, tuple[_Placed, Operation]]
    )
    """Tiles that another one was filled over before anybody had read them."""
    unread: Set[_Placed] = frozenset()
    """Tiles that were written and not read."""


def overlaps(module: VerifiedModule, entries: Container[str]) -> Iterator[Diagnostic]:
    """Each tile that another one overwrites before it is read again, once, in these functions and those they call."""
    functions = list(every_function(module.parsed.module))
    for function in callees(*([each for each in functions if each.symbol in entries] or functions)):
        if not function.is_declaration:
            yield from _Function(module, function).overlaps()


class _Function:
    def __init__(self, module: VerifiedModule, function: Function) -> None:
        self.module = module
        self.liveness = Liveness(function)
        placed: dict[SSAValue, list[_Placed]] = {}
        for op in self.liveness.statements:
            if isinstance(op, Allocation) and op.addr is not None and (start := constant_of(op.addr)) is not None:
                tile = _Placed(op, op.tile.space, start, start + room_of(op))
                if tile.start < tile.end:
                    placed.setdefault(self.liveness.root(op.results[0]), []).append(tile)
        self.placed = {root: found[0] for root, found in placed.items() if len(found) == 1}

    def overlaps(self) -> Iterator[Diagnostic]:
        placed = list(self.placed.values())
        found: dict[tuple[_Placed, _Placed], Diagnostic] = {}
        if any(one.meets(other) for number, one in enumerate(placed) for other in placed[:number]):
            for block in self.liveness.function.body.blocks:
                for lost, by, write, read in self._lost(block, _Before()):
                    found.setdefault((lost, by), self._diagnostic(lost, by, write, read))
        yield from found.values()

    def _lost(self, block: Block, before: _Before) -> Iterator[tuple[_Placed, _Placed, Operation, Operation]]:
        """Reads of bytes that another tile has overwritten; `before`: the state in front of the operation that the
        block belongs to.
        """
        held, partly, unread = dict(before.held), dict(before.partly), set(before.unread)
        for op in block.ops:
            if not isinstance(op, TileOperation):
                if any(self.liveness.root(value) in self.placed for value in op.operands):
                    unread.clear()
                for number, inner in enumerate(inner for region in op.regions for inner in region.blocks):
                    follows = number and isinstance(op, While)  # what it reads before it goes round may be anything
                    yield from self._lost(inner, _Before(held) if follows else _Before(held, partly, unread))
                if op.regions:
                    unread.clear()
                roots = {self.liveness.root(value) for inside in op.walk() for value in touched(inside)}
                held = {tile: by for tile, by in held.items() if self.liveness.root(tile.op.results[0]) not in roots}
                continue  # what is inside may do anything to them
            reads = self._tiles(op, op.reads)
            for tile in reads:
                if (overwritten := held.get(tile)) is not None:
                    yield tile, *overwritten, op
                elif tile in partly and partly[tile][0] in reads:
                    yield tile, *partly[tile], op
            unread = {tile for tile in unread if not any(tile.meets(other) for other in reads)}
            for tile in self._tiles(op, op.writes):
                lost = unread - {tile} if self._fills(op, tile) else set[_Placed]()
                held |= {other: (tile, op) for other in held if tile.spoils(other)}
                partly = {other: by for other, by in partly.items() if other is not tile}
                partly |= {other: (tile, op) for other in lost if tile.meets(other)}
                held[tile] = None
                unread.add(tile)

    def _tiles(self, op: TileOperation, roles: tuple[str, ...]) -> list[_Placed]:
        roots = [self.liveness.root(value) for role in roles for value in op.segment(role)]
        return [self.placed[root] for root in roots if root in self.placed]

    def _fills(self, op: TileOperation, tile: _Placed) -> bool:
        """Whether all bytes of a tile are written, whatever they were."""
        whole = tile.op.tile.valid == tile.op.tile.shape
        return whole and any(value is tile.op.results[0] for role in op.overwrites for value in op.segment(role))

    def _diagnostic(self, lost: _Placed, by: _Placed, write: Operation, read: Operation) -> Diagnostic:
        place = self.module.parsed.location
        roles = ((lost.op, f"{lost} is here"), (by.op, f"{by} is here"), (read, "the lost tile is read here"))
        related = tuple(Related(where, role) for op, role in roles if (where := place(op)) is not None)
        message = f"this overwrites a tile that is read again: {by} and {lost} overlap"
        return Diagnostic("overlap", "warning", message, place(write), related=related)
