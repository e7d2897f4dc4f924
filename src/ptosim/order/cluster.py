"""The programs of the cores of a cluster as one: a cube core and two vector cores that signal each other.

What runs on different cores has no order of its own, so any order will do in which every wait comes behind the signal
that it waits for: what is known to have ended, and to whom, is the same in all of them. One is found by going on with
each core as far as the signals that are under way allow. Loops with signals in them are walked side by side, which
takes equal bounds on every core; a branch around a signal cannot be followed, unless it asks for the vector core.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from xdsl.ir import Operation

from ptosim.effects.names import PIPES_OF, CoreKind, Pipe, Space
from ptosim.effects.sync import signalling
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.sync import pipe_of
from ptosim.language.micro.sync_semaphore import fifo_of
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.control import For, If
from ptosim.language.structure.function import Function
from ptosim.order import model
from ptosim.order.number import Linear, Number, Periodic, key_of
from ptosim.order.read_program import SIGNALS, Reader, serial_of
from ptosim.order.slots import slot_signals
from ptosim.order.values import Common, Values

CUBE, VECTORS = 0, (1, 2)
"""The numbers of the cores."""
_SEMAPHORES = signalling("semaphore")
_SETS = signalling("semaphore", half="set")
_BETWEEN_KINDS = 2
"""The mode of signals between the cube core and its vector cores."""
_PER_VECTOR = 16
"""On a5 the cube core has so many ids for each vector core."""


class Unfollowed(Exception):
    """The signals of a cluster cannot be followed."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op, self.reason = op, reason


def is_cluster(entries: dict[CoreKind, Function]) -> bool:
    """Whether a kernel runs on a cube core and two vector cores, which share memories whether they signal or not."""
    return set(entries) == {CoreKind.AIC, CoreKind.AIV}


def read_cluster(module: VerifiedModule, entries: dict[CoreKind, Function]) -> model.OrderProgram:
    """The programs of the cores of a cluster, one node after the other; raises `Unfollowed`."""
    serial = serial_of(module, entries[CoreKind.AIC]) & serial_of(module, entries[CoreKind.AIV])
    common = _Common(model.OrderProgram(model.NodeBlock(), [], {}, serial, cores=1 + len(VECTORS)))
    members = [_Member(module, entries[CoreKind.AIC], CUBE, common)]
    members += [_Member(module, entries[CoreKind.AIV], core, common) for core in VECTORS]
    bodies = [member.read().body for member in members]
    common.program.body = _Merger(common.program, bodies).merged(bodies)
    return common.program


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass
class _Common:
    """The common part of the programs of a cluster: entries, loops and values."""

    program: model.OrderProgram
    values: Common = field(default_factory=Common)
    names: Iterator[int] = field(default_factory=count)
    loops: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])
    """By the loops around them, their bounds, and how many such there were before."""


class _Member(Reader):
    """Reads the program of one core of a cluster."""

    def __init__(self, module: VerifiedModule, function: Function, core: int, common: _Common) -> None:
        kind = CoreKind.AIC if core == CUBE else CoreKind.AIV
        super().__init__(module, function, kind, common.program.serial, ())
        self.number = core
        self.common = common
        self.values = Values(function, common.values, None if core == CUBE else core - 1)
        self.names = common.names
        self.repeated |= _SEMAPHORES
        self.program = replace(common.program, body=model.NodeBlock())
        self.primes: list[model.Node] = []
        """The slots of FIFOs that are free to begin with."""
        self._seen = Counter[tuple[object, ...]]()

    def read(self) -> model.OrderProgram:
        first = len(self.program.entries)
        program = super().read()
        program.body.nodes[:0] = self.primes
        for entry in program.entries[first:]:
            entry.touches = tuple(placed for touch in entry.touches for placed in self._placed(entry.op, touch))
        for node in program.body.walk():
            node.core = self.number
            if isinstance(node, model.Count):
                node.counter = (*node.counter[:2], self.number)
            elif isinstance(node, model.TileWait):
                node.ranges = tuple(self._own(each) for each in node.ranges)
        return program

    def _node(self, op: Operation, path: tuple[int, ...]) -> Iterator[model.Node]:
        if isinstance(op, If) and isinstance(condition := self.values.number(op.cond), int):
            yield from self._nodes((op.true_region if condition else op.false_region).block, path)
        elif isinstance(op, If | For) and (signals := slot_signals(op)):
            for signal in signals:
                yield from self._of_slots(op, signal)
        else:
            yield from super()._node(op, path)

    def _name(self, op: For, path: tuple[int, ...]) -> int:
        """Loops of several cores are one loop where they signal in it and run equally often."""
        if not any(each.name in SIGNALS for each in op.walk()):
            return next(self.names)
        bounds = tuple(key_of(self.values.number(value)) for value in (op.lb, op.ub, op.step))
        self._seen[path, bounds] += 1
        key = (path, bounds, self._seen[path, bounds])
        if key not in self.common.loops:
            self.common.loops[key] = next(self.names)
        return self.common.loops[key]

    def _synchronisation(self, op: Operation, values: Values) -> Iterator[model.Node]:
        return self._semaphore(op, values) if op.name in _SEMAPHORES else super()._synchronisation(op, values)

    def _signal(self, op: Operation, path: tuple[int, ...]) -> Iterator[model.Node]:
        return self._semaphore(op, self.values)

    def _semaphore(self, op: Operation, values: Values) -> Iterator[model.Node]:
        """On a5 a signal goes from one core to one other; on a2a3 the cube core speaks to both, and hears both."""
        assert isinstance(op, PTOOperation)
        pipe = pipe_of(op, "pipe") or Pipe.ALL  # without one the whole core signals or waits
        is_here = pipe is Pipe.ALL or pipe in PIPES_OF[self.kind]
        if not is_here or _mode(op) != _BETWEEN_KINDS or op.name not in _SEMAPHORES:
            raise Unfollowed(op, f"{op.name} waits for or signals other cores than those of a cluster, or on no pipe")
        stops = pipe is Pipe.ALL or self.target == "a2a3"
        literal = op.integer("id_literal")
        number: Number = values.number(op.segment("id")[0]) if literal is None else literal
        id_: model.Id = None if isinstance(number, Linear) else number
        if id_ is None or (isinstance(id_, Periodic) and not id_.is_by_turns):
            raise Unfollowed(op, f"the id of {op.name} is only known when it runs")
        for partner in self._partners():
            if op.name in _SETS:
                yield model.SetSignal(op, pipe, id_, partner)
            else:
                yield model.WaitSignal(op, Pipe.S if stops else pipe, id_, partner)

    def _partners(self) -> tuple[int | None, ...]:
        if self.number != CUBE:
            return (CUBE,)
        return VECTORS if self.target == "a2a3" else (None,)

    def _of_slots(self, around: If | For, op: Operation) -> Iterator[model.Node]:
        """A slot of a FIFO that is free again. They are given back some at a time: an entry that fills a slot is
        behind the one that gave it back in any case, as if each had its own signal."""
        slots, period = fifo_of(op) or (0, 1)
        for node in self._semaphore(op, self.values):
            assert isinstance(node, model.SignalNode)
            node.need = period
            if isinstance(around, For):  # the last slots come back
                yield from (replace(node, need=1) for _ in range(slots))
                continue
            if isinstance(node, model.SetSignal) and not any(each.op is op for each in self.primes):
                self.primes += [replace(node) for _ in range(slots)]
            yield node

    # --- memories -----------------------------------------------------------------------------------------------------

    def _placed(self, op: Operation, touch: model.EntryTouch) -> Iterator[model.EntryTouch]:
        """The cube core may store to the UB of either vector core, or of both."""
        if touch.range.space is not Space.UB or self.number != CUBE:
            yield model.EntryTouch(touch.writes, self._own(touch.range))
            return
        assert isinstance(op, PTOOperation)
        named = [role for role in ("sub_block", "sid") if role in op.operand_roles and op.segment(role)]
        which = self.values.number(op.segment(named[0])[0]) if named else None
        if not named and "dst_mode" not in op.property_roles:
            which = 0
        cores = [VECTORS[which]] if isinstance(which, int) and which in (0, 1) else VECTORS
        for core in cores:
            yield model.EntryTouch(touch.writes, replace(touch.range, origin=_memory(core)))

    def _own(self, range_: model.ByteRange) -> model.ByteRange:
        """Each vector core has a UB of its own."""
        if range_.space is not Space.UB or self.number == CUBE:
            return range_
        return replace(range_, origin=_memory(self.number))


def _mode(op: PTOOperation) -> int:
    mode = op.integer("ffts_mode") if "ffts_mode" in op.property_roles else None
    return _BETWEEN_KINDS if mode is None else mode


def _memory(core: int) -> str:
    return f"core {core}"


# --- one after the other ----------------------------------------------------------------------------------------------


def semaphore(node: model.SignalNode, id_: int) -> tuple[int, int, int]:
    """A counter: its source, its destination, its id."""
    partner = node.partner if node.partner is not None else VECTORS[id_ // _PER_VECTOR % len(VECTORS)]
    ends = (node.core, partner) if isinstance(node, model.SetSignal) else (partner, node.core)
    return (*ends, id_ % _PER_VECTOR)


def semaphores(node: model.SignalNode) -> list[tuple[int, int, int]]:
    """All that a signal may count, in turn."""
    ids = node.id.values if isinstance(node.id, Periodic) else (node.id,)
    return list(dict.fromkeys(semaphore(node, id_) for id_ in ids if isinstance(id_, int)))


class _Merger:
    """Puts the programs of several cores into one order."""

    def __init__(self, program: model.OrderProgram, bodies: list[model.NodeBlock]) -> None:
        self.program = program
        self.under_way = Counter[tuple[int, int, int]]()
        """Signals that were set and not waited for; those that a wait takes in turn are counted as one."""
        self.first: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        nodes = [node for body in bodies for node in body.walk()]
        for node in nodes:
            if isinstance(node, model.SignalNode):
                if not (members := semaphores(node)):
                    raise Unfollowed(node.op, f"the id of {node.op.name} is only known when it runs")
                self._unite(members)
        self.participants = Counter(node.name for node in nodes if isinstance(node, model.LoopNode))

    def _unite(self, members: list[tuple[int, int, int]]) -> None:
        roots = {self._root(member) for member in members}
        for root in roots:
            self.first[root] = min(roots)

    def _root(self, member: tuple[int, int, int]) -> tuple[int, int, int]:
        while (found := self.first.get(member, member)) != member:
            member = found
        return member

    def merged(self, blocks: list[model.NodeBlock]) -> model.NodeBlock:
        queues = [deque(block.nodes) for block in blocks]
        nodes: list[model.Node] = []
        while any(queues):
            taken = [self._taken(queue) for queue in queues]
            nodes += [node for each in taken for node in each]
            if not any(taken):
                nodes.append(self._loop(queues))
        return model.NodeBlock(nodes)

    def _taken(self, queue: deque[model.Node]) -> list[model.Node]:
        """The next nodes, as far as a core can run them without the others."""
        found: list[model.Node] = []
        while queue and self._is_free(queue[0]):
            node = queue.popleft()
            found.append(node)
            if isinstance(node, model.SignalNode):
                self.under_way[self._root(semaphores(node)[0])] += 1 if isinstance(node, model.SetSignal) else -1
        return found

    def _is_free(self, node: model.Node) -> bool:
        if isinstance(node, model.WaitSignal):
            return self.under_way[self._root(semaphores(node)[0])] >= node.need
        inside = any(isinstance(each, model.SignalNode) for block in node.blocks() for each in block.walk())
        if inside and isinstance(node, model.BranchNode):
            raise Unfollowed(node.op, "this branch decides which signals another core gets")
        return not inside

    def _loop(self, queues: list[deque[model.Node]]) -> model.LoopNode:
        """The loop that all the cores have come to which it is on."""
        heads = [queue[0] for queue in queues if queue]
        loops = [head for head in heads if isinstance(head, model.LoopNode)]
        for first in loops:
            alike = [loop for loop in loops if loop.name == first.name]
            if len(alike) == self.participants[first.name]:
                for queue in queues:
                    if queue and queue[0] in alike:
                        queue.popleft()
                return self._side_by_side(alike)
        raise Unfollowed(heads[0].op, _reason(heads[0]))

    def _side_by_side(self, loops: list[model.LoopNode]) -> model.LoopNode:
        before = +self.under_way
        body = self.merged([loop.body for loop in loops])
        if +self.under_way != before:
            raise Unfollowed(loops[0].op, "an iteration does not wait for as many signals as it sets")
        loop = self.program.loops[loops[0].name] = replace(loops[0], body=body)
        return loop


def _reason(node: model.Node) -> str:
    if isinstance(node, model.LoopNode):
        return "no loop with these bounds stands on the core that is signalled here, or it comes too late"
    return f"{node.op.name} may wait for a signal that never comes"
