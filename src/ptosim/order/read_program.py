"""From a function to the program that the analysis sees, for one kind of core.

Sections of the other kind are left out, those of this kind dissolve. What is called, and loops with a condition, cannot
be looked into: if there is an entry inside, everything must have ended before and afterwards (`opaque`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from xdsl.ir import Block as Operations
from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.names import PIPES_OF, SERIAL_PIPES, CoreKind, Pipe, Space
from ptosim.effects.sync import signalling
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.pointer import StDev, StoreScalar
from ptosim.language.micro.scope import Section
from ptosim.language.micro.sync import EVENT_IDS, Barrier, BufferOperation, GetBuf, pipe_of
from ptosim.language.micro.sync_fence import Dsb, FenceBarrierAll, reach_of
from ptosim.language.micro.sync_semaphore import slots_of
from ptosim.language.micro.sync_token import SimTSync
from ptosim.language.operation import PTOOperation, cores_of, enclosing_scope, is_scope
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.control import For, If, While, Yield
from ptosim.language.structure.function import Call, Function, reached
from ptosim.language.tile.tile_local import DeclareLocalArray, LocalArraySet
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.order import model
from ptosim.order.arrays import RoundCounter, goes_on
from ptosim.order.integers import natural
from ptosim.order.number import Linear, Periodic, bounds
from ptosim.order.touches import awaited, range_key, touches_of, touches_of_launch, touches_of_scope
from ptosim.order.unknown_ids import id_of, is_named, loops_of, settle
from ptosim.order.values import ANYWHERE, Common, LoopTrial, Values

SERIAL: dict[str, frozenset[Pipe]] = {"a5": SERIAL_PIPES, "a2a3": SERIAL_PIPES - {Pipe.V, Pipe.M}}
"""By machine, the pipes whose entries end one after the other. On a2a3 vector and matrix operations overlap."""


def serial_of(module: VerifiedModule, function: Function) -> frozenset[Pipe]:
    """The serial pipes of a function: tile operations overlap on some machines, micro-instructions do not."""
    has_tiles = any(isinstance(op, TileOperation) for op in module.parsed.origin(function).walk())
    return SERIAL[module.target] if has_tiles else SERIAL_PIPES


SIGNALS = signalling("semaphore", "cross-block", "syncall")
"""Signals between cores stay as they are written: each counts as an access to what other cores touch."""

_MOST_REPEATED = 16
"""A loop of more iterations is followed as a loop, even if it only synchronises."""
_REACHED = (Space.GM, Space.UB, Space.L1)
"""Memories that two cores can reach: the cube core stores to UB, a vector core to L1."""
EVERYTHING = tuple(
    model.EntryTouch(True, model.ByteRange(space, ANYWHERE if space is Space.GM else "", None, (), (None,)))
    for space in _REACHED
)


def read(
    module: VerifiedModule,
    function: Function,
    core: CoreKind,
    serial: frozenset[Pipe],
    shared: tuple[model.EntryTouch, ...] | None = None,
) -> model.OrderProgram:
    """The program of a function on one kind of core; `shared` is what other cores touch, everything if that is unknown.
    If it is nothing, signals order what is on their own pipe and no more."""
    return Reader(module, function, core, serial, EVERYTHING if shared is None else shared).read()


def touched(program: model.OrderProgram) -> tuple[model.EntryTouch, ...]:
    """The touches of another core's program in memories that this one can reach, as writes."""
    found = {
        range_key(touch.range): model.EntryTouch(True, _everywhere(touch.range))
        for entry in program.entries
        if not entry.is_signal
        for touch in entry.touches
        if touch.range.space in _REACHED
    }
    return tuple(found.values())


def _everywhere(range_: model.ByteRange) -> model.ByteRange:
    """The bytes of all iterations; loops of another core are not those of this one."""
    hull = (min(range_.ends), max(range_.ends)) if range_.ends else None
    return replace(range_, loop=None, start=(), spans=(hull,))


def is_opaque(op: Operation) -> bool:
    """Whether an operation hides entries or synchronisation that the analysis cannot see."""
    if isinstance(op, While):
        hidden: Iterable[Operation] = op.walk()
    elif isinstance(op, Call) and not isinstance(op, SimtLaunch) and (callee := op.function) is not None:
        hidden = reached(callee)
    else:
        return False
    return enclosing_scope(op) is None and any(is_entry(inside) or inside.name in _SYNC for inside in hidden)


def is_entry(op: Operation) -> bool:
    """Whether an operation occupies a pipe, or stores for one to read."""
    if enclosing_scope(op) is not None:
        return False
    record = effects().get(op.name)
    occupies = record is not None and record.pipe is not Pipe.S
    return is_scope(op) or op.name in SIGNALS or occupies or isinstance(op, StoreScalar | StDev)


class Reader:
    """Reads the program of a function on one kind of core."""

    def __init__(
        self,
        module: VerifiedModule,
        function: Function,
        core: CoreKind,
        serial: frozenset[Pipe],
        shared: tuple[model.EntryTouch, ...],
        blocks: Common | None = None,
    ) -> None:
        """With `blocks`, what several programs have in common, the blocks of a grid are iterations of a loop around
        everything."""
        self.target = module.target
        self.shared = shared
        self.function = function
        self.kind = core
        self.program = model.OrderProgram(model.NodeBlock(), [], {}, serial)
        self.names: Iterator[int] = count()
        self.path = () if blocks is None else (next(self.names),)
        self.values = Values(function, blocks, path=self.path)
        self.repeated = _SYNC
        """The operations of a loop that only synchronises."""

    def read(self) -> model.OrderProgram:
        self.program.body = self._block(self.function.body.block, self.path)
        settle(self.program)
        return self.program

    def _block(self, operations: Operations, path: tuple[int, ...]) -> model.NodeBlock:
        return model.NodeBlock(list(self._nodes(operations, path)))

    def _nodes(self, operations: Operations, path: tuple[int, ...]) -> Iterator[model.Node]:
        for op in operations.ops:
            if isinstance(op, Section):
                if op.core is self.kind:
                    yield from self._nodes(op.body.block, path)
            else:
                yield from self._node(op, path)

    def _node(self, op: Operation, path: tuple[int, ...]) -> Iterator[model.Node]:
        if is_scope(op):
            if self.kind is CoreKind.AIV:
                yield self._entry(op, Pipe.V, touches_of_scope(op, self.values, self.target, path, self.names), path)
        elif isinstance(op, SimtLaunch):
            if self.kind is CoreKind.AIV:
                yield self._entry(op, Pipe.V, touches_of_launch(op, self.values, self.target), path)
        elif is_opaque(op):
            yield model.Opaque(op)
        elif isinstance(op, For):
            yield from self._loop(op, path)
        elif isinstance(op, If):
            arms = tuple(self._block(region.block, path) for region in (op.true_region, op.false_region))
            if any(arm.nodes for arm in arms):
                yield model.BranchNode(op, arms, self.values.number(op.cond), _run_of(op.cond, self.values, path))
        elif op.name in _SYNC:
            yield _synchronising(op, self.values)
        elif isinstance(op, SimTSync):
            yield model.TileWait(op, awaited(op, self.values))
        elif isinstance(op, DeclareLocalArray | LocalArraySet):
            yield from self._count(op)
        elif op.name in SIGNALS:
            yield from self._signal(op, path)
        elif isinstance(op, PTOOperation) and self.kind in cores_of(op):
            yield from self._work(op, path)

    def _loop(self, op: For, path: tuple[int, ...]) -> Iterator[model.Node]:
        if (times := self._repeated(op)) is not None:
            for index in times:
                values = LoopTrial(self.values, {op.body.block.args[0]: index})
                for each in op.body.block.ops:
                    yield from self._synchronisation(each, values)
            return
        name = self._name(op, path)
        inside = (*path, name)
        most = self.values.enter(op, inside)
        if most == 0:
            return
        loop = model.LoopNode(op, name, self._block(op.body.block, inside), inside, most)
        if loop.body.nodes:
            self.program.loops[name] = loop
            phases = _phases(loop)
            loop.body.nodes += [model.Count(op, counter, goes_on=True) for counter in phases]
            yield from (model.Count(op, counter) for counter in phases)
            yield loop
            yield from (model.Count(op, counter, is_over=True) for counter in phases)

    def _name(self, op: For, path: tuple[int, ...]) -> int:
        return next(self.names)

    def _repeated(self, op: For) -> range | None:
        """The indices of a loop that runs some known times and only synchronises: such as one that primes each id."""
        first, end, step = (self.values.number(value) for value in (op.lb, op.ub, op.step))
        if not isinstance(first, int) or not isinstance(end, int) or not isinstance(step, int) or step < 1:
            return None
        indices, inside = range(first, end, step), [each for each in op.body.walk() if each.results == ()]
        is_sync = all(each.name in self.repeated or isinstance(each, Yield) for each in inside)
        return indices if is_sync and len(indices) <= _MOST_REPEATED and not op.iter_args and len(inside) > 1 else None

    def _synchronisation(self, op: Operation, values: Values) -> Iterator[model.Node]:
        """Effects of such a loop in one iteration."""
        if op.name in _SYNC:
            yield _synchronising(op, values)

    def _count(self, op: DeclareLocalArray | LocalArraySet) -> Iterator[model.Node]:
        counter = self.values.arrays.get(op.results[0] if isinstance(op, DeclareLocalArray) else op.array)
        if not isinstance(counter, RoundCounter):
            return
        following = isinstance(op, LocalArraySet) and goes_on(op)
        start = constant_of(op.value) if isinstance(op, LocalArraySet) else 0
        yield model.Count(op, (counter.name, (), 0), None if following else start, following)

    def _work(self, op: Operation, path: tuple[int, ...]) -> Iterator[model.Node]:
        record = effects().get(op.name)
        touches = touches_of(op, self.values, self.target)
        if record is not None and record.pipe in PIPES_OF[self.kind] and touches:
            yield self._entry(op, record.pipe, touches, path)

    def _signal(self, op: Operation, path: tuple[int, ...]) -> Iterator[model.Node]:
        """A signal counts as a write of all bytes that another core touches; one of a FIFO, of its slots. Where it
        names no pipe of this core, or stops the scalar unit, all that came before has to be in order with all that
        follows; a FIFO asks nothing of earlier entries."""
        assert isinstance(op, PTOOperation)
        pipe = pipe_of(op, "pipe")
        stops, slots = pipe is Pipe.S or (self.target == "a2a3" and "wait" in op.name), slots_of(op)
        if stops and (slots is not None or self.shared == ()):
            return
        if pipe is None or pipe not in PIPES_OF[self.kind] or stops:
            yield model.Opaque(op)
            return
        touches = EVERYTHING if "cross" in op.name and self.shared else self.shared
        if slots is not None:
            local = Space.UB if self.kind is CoreKind.AIV else Space.L1
            touches = (model.EntryTouch(True, model.ByteRange(local, "", None, (), (slots,))),)
        entry = self._entry(op, pipe, touches, path)
        entry.is_signal = True
        yield entry

    def _entry(
        self, op: Operation, pipe: Pipe, touches: tuple[model.EntryTouch, ...], path: tuple[int, ...]
    ) -> model.EntryNode:
        entry = model.EntryNode(op, pipe, touches, path, len(self.program.entries))
        self.program.entries.append(entry)
        return entry


def _phases(loop: model.LoopNode) -> list[model.Counter]:
    """The first number of ids of flags in a loop that do not count from 0."""
    ids = [node.id for node in loop.body.walk() if isinstance(node, model.Flag)]
    found = {(id_.loop, id_.start, 0): None for id_ in ids if isinstance(id_, Periodic) and id_.start}
    return [counter for counter in found if counter[0] == loop.name]


def _run_of(condition: SSAValue, values: Values, path: tuple[int, ...]) -> int | None:
    """The innermost loop around a condition, if it holds in one run of its iterations and in no others: it compares the
    index with something that stays the same."""
    op, loop = condition.owner, path[-1] if path else None
    if loop is None or not isinstance(op, PTOOperation) or op.name != "arith.cmpi":
        return None
    predicate, (a, b) = op.word("predicate") or "", map(values.number, op.operands)
    if predicate not in _ORDERING or (predicate.startswith("u") and not natural(a, b)):
        return None
    gap = a - b
    if not isinstance(gap, Linear):
        return None
    moving = [each for each in gap.terms if loop in each.loops or not each.is_single]
    return loop if len(moving) == 1 and moving[0].loop == loop else None


_ORDERING = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


# --- synchronisation that is written ----------------------------------------------------------------------------------


def _id(op: PTOOperation, values: Values) -> tuple[model.Id, tuple[int, ...]]:
    """And the loops in which it may change, where only the run knows it."""
    if (event := op.word("event")) is not None:
        return int(event.removeprefix("EVENT_ID")), ()
    if "number" in op.property_roles:
        return f"token {op.facts()['number']}", ()
    number = values.number(op.segment("event")[0])
    return id_of(number), loops_of(number)


def _pipe(op: PTOOperation, role: str) -> Pipe:
    pipe = pipe_of(op, role)
    assert pipe is not None
    return pipe


def _buffer(op: BufferOperation, values: Values) -> model.Node:
    number = op.integer("id_literal") if op.id is None else values.number(op.id)
    mode = (op.integer("mode_literal") or 0) if op.mode is None else values.number(op.mode)
    known = id_of(number) if number is not None and isinstance(mode, int) and mode == 0 else None
    kind = model.GetBuffer if isinstance(op, GetBuf) else model.ReleaseBuffer
    return kind(op, _pipe(op, "pipe"), known, varies=loops_of(number or 0))


def _synchronising(op: Operation, values: Values) -> model.Node:
    assert isinstance(op, PTOOperation)
    if op.name in _FLAGS:
        kind = model.SetNode if op.name in _SETS else model.WaitNode
        id_, varies = _id(op, values)
        low, high = bounds(values.number(op.segment("event")[0])) if id_ is None or is_named(id_) else (None, None)
        reach = range(max(low or 0, 0), EVENT_IDS if high is None else min(high + 1, EVENT_IDS))
        return kind(op, _pipe(op, "source"), _pipe(op, "destination"), id_, varies=varies, reach=reach)
    if isinstance(op, BufferOperation):
        return _buffer(op, values)
    if isinstance(op, Dsb):
        return model.Fence(op, reach_of(op))
    if isinstance(op, FenceBarrierAll):
        return model.BarrierNode(op, Pipe.ALL, reach_of(op))
    return model.BarrierNode(op, _pipe(op, "pipe"))


_FLAGS, _SETS = signalling("flag", "token"), signalling("flag", "token", half="set")
_SYNC = _FLAGS | signalling("buffer") | {Barrier.name, FenceBarrierAll.name, Dsb.name}
