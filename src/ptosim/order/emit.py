"""Inserted synchronisation as operations: flags with their ids, barriers, primes before and drains behind loops.

A pair with one id has plain flags. One that takes several in turn counts the executions of its block: by the index of
the loop where that is the only one around, else in a counter of the scalar unit. Each operation serves the one of the
text whose entry it orders.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.effects.names import CoreKind
from ptosim.language.builder import Builder, Head, InsertionPoint, Number, head_of, known
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.scope import Section, SectionCube, SectionVector
from ptosim.language.operation import core_of
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function
from ptosim.language.tile.tile_types import LocalArrayType
from ptosim.language.tile.tile_types import ViewExtents as ViewType
from ptosim.order.model import LoopNode
from ptosim.order.model import NodeBlock as ModelBlock
from ptosim.order.pairs import Inserted, InsertedBarrier, Pair

_COUNTER = LocalArrayType(ViewType((1,), i64))
_SECTIONS: dict[CoreKind, type[Section]] = {CoreKind.AIC: SectionCube, CoreKind.AIV: SectionVector}


@dataclass(frozen=True)
class EmitTarget:
    """The destination of insertions: into the program itself, or into the text that it was lowered from."""

    module: VerifiedModule
    function: Function
    place: Callable[[Operation], Operation] = lambda op: op
    """The operation there that an operation of the program stands for."""

    @cached_property
    def head(self) -> Head:
        return head_of(self.function.body.block)

    def beside(self, op: Operation, serves: Operation, behind: bool) -> Builder:
        """Writes before an operation of the target, or behind it."""
        block = op.parent_block()
        assert block is not None
        return Builder(self.module.parsed, InsertionPoint(block, op.next_op if behind else op), self.head, serves)

    def holds(self, item: Pair | InsertedBarrier) -> bool:
        """Whether it stands between operations of the target: what is inside one of them belongs to its lowering."""
        first, second = (self.place(entry.op) for entry in item.serves)
        loops = [self.place(loop.op) for loop in item.around]
        return (first is not second or item.distance > 0) and first not in loops and second not in loops


class OrderWriter:
    """Writes what was inserted for one kind of core; in a function for both kinds it stands in sections."""

    def __init__(self, target: EmitTarget, core: CoreKind, inserted: Inserted, is_mixed: bool) -> None:
        self.target = target
        self.place = target.place
        self.inserted = inserted
        self.core = core
        self.is_mixed = is_mixed
        self.counts: dict[tuple[ModelBlock, int], Number] = {}
        """Executions of blocks, modulo some lanes, for those who ask inside."""
        self.counters: dict[tuple[ModelBlock, int], SSAValue] = {}
        """Blocks of which only a counter says it, for those who ask behind all loops."""

    def emit(self) -> None:
        for pair in filter(self.target.holds, self.inserted.pairs):
            if (pair.lanes or 1) > 1:
                self._count(pair)
        for node, added in self.inserted.before.items():
            for each in filter(self.target.holds, added):
                with self._beside(node.op, each.serves[1].op, behind=False) as build:
                    if isinstance(each, InsertedBarrier):
                        build.barrier(pipe=f"PIPE_{each.pipe}")
                    else:
                        _flag(build, "wait_flag", each, self._turn(build, each, 0))
        for node, set_ in self.inserted.after.items():
            for pair in reversed(list(filter(self.target.holds, set_))):
                with self._beside(node.op, pair.serves[0].op, behind=True) as build:
                    _flag(build, "set_flag", pair, self._turn(build, pair, pair.distance))
        for loop, primed in self.inserted.primed.items():
            for pair in filter(self.target.holds, primed):
                self._prime(loop, pair)

    @contextmanager
    def _beside(self, op: Operation, serves: Operation, behind: bool) -> Generator[Builder]:
        """Writes beside an operation of the program, in a section where the code is for both kinds of core."""
        op = self.place(op)
        build = self.target.beside(op, self.place(serves), behind)
        if not self.is_mixed or core_of(op) is not None:
            yield build
            return
        block = Block()
        with build.into(block):
            yield build
        build.add_region(_SECTIONS[self.core].make({}, regions=[Region(block)]))

    def _turn(self, build: Builder, pair: Pair, later: int) -> Number:
        """The id that a pair takes in this execution of its block, or some executions later."""
        lanes = pair.lanes or 1
        if lanes == 1:
            return 0
        return build.remainder(build.plus(self.counts[pair.block, lanes], later), lanes)

    def _prime(self, loop: LoopNode, pair: Pair) -> None:
        lanes = pair.lanes or 1
        for turn in range(pair.distance):
            with self._beside(loop.op, pair.serves[0].op, behind=False) as build:
                _flag(build, "set_flag", pair, turn % lanes)
        for turn in reversed(range(pair.distance)):
            with self._beside(loop.op, pair.serves[1].op, behind=True) as build:
                # where every id has a token left, it does not matter which is the first
                count = 0 if pair.distance % lanes == 0 else _held(build, self.counters[pair.block, lanes])
                _flag(build, "wait_flag", pair, build.remainder(build.plus(count, turn), lanes))

    # --- counting -----------------------------------------------------------------------------------------------------

    def _count(self, pair: Pair) -> None:
        """Learn to say how often the block of a pair was executed, modulo its lanes."""
        lanes, outermost = pair.lanes or 1, pair.outermost
        if (pair.block, lanes) in self.counts:
            return
        assert outermost is not None
        # behind the loop the ids that are left depend on how often it ran, unless every one of them is: a counter says
        is_even = all(
            other.distance % lanes == 0
            for other in self.inserted.pairs
            if other.block is pair.block and other.lanes == lanes
        )
        found = self._by_index(outermost, lanes) if is_even and outermost.body is pair.block else None
        self.counts[pair.block, lanes] = self._by_counter(pair, lanes) if found is None else found

    def _by_index(self, loop: LoopNode, lanes: int) -> Number | None:
        """The index of the loop says it, where the step is known. Behind the loop it is not needed."""
        op = self.place(loop.op)
        assert isinstance(op, For)
        step = known(op.step)
        if step is None or known(op.lb) != 0:
            return None
        first = op.body.block.first_op
        assert first is not None
        build = self.target.beside(first, op, behind=False)
        return build.remainder(build.quotient(build.index(op.body.block.args[0]), step), lanes)

    def _by_counter(self, pair: Pair, lanes: int) -> Number:
        assert pair.outermost is not None
        serves = self.place(pair.serves[0].op)
        before = self.target.beside(self.place(pair.outermost.op), serves, behind=False)
        counter = self.counters[pair.block, lanes] = before.declare_local_array(result=_COUNTER)
        zero = before.index(0)
        before.local_array_set(array=counter, indices=[zero], value=before.i64(0))
        block = self._block_of(pair)
        first, last = block.first_op, block.last_op
        assert first is not None and last is not None
        start, end = (self.target.beside(at, serves, behind=False) for at in (first, last))
        inside = _held(start, counter)
        following = end.i64(end.remainder(end.plus(inside, 1), lanes))
        end.local_array_set(array=counter, indices=[zero], value=following)
        return inside

    def _block_of(self, pair: Pair) -> Block:
        """The operations of the block of a pair; those of a section belong to the block around it."""
        block = self.place(pair.after.op).parent_block()
        while block is not None and isinstance(block.parent_op(), Section):
            block = block.parent_block()
        assert block is not None
        return block


def _held(build: Builder, counter: SSAValue) -> SSAValue:
    """The value of a counter."""
    return build.index(build.local_array_get(array=counter, indices=[build.index(0)], result=i64))


def _flag(build: Builder, name: str, pair: Pair, turn: Number) -> None:
    pipes = {"source": f"PIPE_{pair.source}", "destination": f"PIPE_{pair.destination}"}
    event = build.plus(turn, pair.base)
    if (fixed := known(event)) is not None:
        build.op(name, event=f"EVENT_ID{fixed}", **pipes)
    else:
        build.op(f"{name}_dyn", event=build.index(event), **pipes)
