"""The pass that orders a module: inserts what is missing into the functions that leave their order open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import Operation

from ptosim.effects.names import CoreKind, Space
from ptosim.language.analysis.kernel_entries import kernels
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import outside_scopes
from ptosim.language.rules.core_kind_rules import cores
from ptosim.language.structure.control import While
from ptosim.language.structure.function import Function, Return
from ptosim.order.assumptions import confine
from ptosim.order.automatic import unordered
from ptosim.order.conflict import Conflicts
from ptosim.order.conflict import Meeting as InMemory
from ptosim.order.emit import EmitTarget, OrderWriter
from ptosim.order.exploration.explorer import explored
from ptosim.order.insert import Inserter
from ptosim.order.model import EntryNode, Flag, GetBuffer, Opaque, OrderProgram
from ptosim.order.pairs import Inserted
from ptosim.order.read_program import SIGNALS, is_entry, is_opaque, read, serial_of, touched
from ptosim.order.rounds import EarlyStart
from ptosim.order.state import State
from ptosim.order.unknown_ids import is_token
from ptosim.order.walk import Ends, Walker
from ptosim.order.written_walk import TurnWalker

CAREFUL = "careful"
"""Insert everywhere, copies of unknown length being taken to stay inside of their buffers."""
ASSUMED = "assumed"
"""Likewise, accesses to GM that only may meet being taken not to, and signals to say all that is to be said between
cores. The caller checks the result."""
BY_SIGNALS = "accesses of other cores are in order by their signals and the pipes of these"


@dataclass(frozen=True)
class Order:
    """Missing synchronisation of a function, for each kind of core that runs it."""

    function: Function
    programs: Mapping[CoreKind, OrderProgram]
    inserters: Mapping[CoreKind, Inserter]
    assumptions: tuple[str, ...]
    apart: tuple[tuple[EntryNode, EntryNode], ...]
    """Entries that are taken to touch different bytes of GM."""

    @property
    def inserted(self) -> dict[CoreKind, Inserted]:
        return {core: inserter.inserted for core, inserter in self.inserters.items()}

    def write(self, target: EmitTarget) -> None:
        """Write it into the function itself, or into the text that it was lowered from."""
        drained = {target.place(op): None for op in _before_everything(self.function, self.programs)}
        awaited = {target.place(op): None for op in _behind_everything(self.function, self.programs)}
        for core, inserted in self.inserted.items():
            OrderWriter(target, core, inserted, is_mixed=len(self.programs) > 1).emit()
        for op in drained:
            target.beside(op, op, behind=False).barrier(pipe="PIPE_ALL")
        for op in awaited:
            target.beside(op, op, behind=True).barrier(pipe="PIPE_ALL")


def order_entries(module: VerifiedModule, sync: str) -> VerifiedModule:
    """Insert synchronisation, so that entries that depend on each other are ordered."""
    for order in orders(module, sync):
        order.write(EmitTarget(module, order.function))
    return module


def orders(module: VerifiedModule, sync: str, known: Collection[InMemory] = ()) -> Iterator[Order]:
    """The functions with entries of open order; `known` are operations that meet in GM, whatever else is assumed."""
    for function, how in unordered(module, sync):
        has_signals = any(op.name in SIGNALS for op in outside_scopes(function))
        programs = {core: _read(module, function, core, has_signals, sync != ASSUMED) for core in cores(function)}
        assumptions = {BY_SIGNALS: None} if has_signals and sync == ASSUMED else dict[str, None]()
        for program in programs.values() if sync in (ASSUMED, CAREFUL) else ():
            assumptions |= confine(program).assumptions
        written = {core: _Written(program) for core, program in programs.items()} if how != "auto" else {}
        suffices = bool(written) and all(each.suffices() for each in written.values())
        if not suffices and any(each.walker is not None for each in written.values()):
            suffices = _is_explored(module, function, programs)
        if not suffices:
            sure = known if sync == ASSUMED else None
            inserters = {core: Inserter(program, Conflicts(program, sure)) for core, program in programs.items()}
            for core, each in written.items():
                inserters[core].walker.distrusted = each.distrusted()
            for inserter in inserters.values():
                inserter.insert()
            apart = tuple(pair for inserter in inserters.values() for pair in inserter.conflicts.assumed)
            yield Order(function, programs, inserters, tuple(assumptions), apart)


def _is_explored(module: VerifiedModule, function: Function, programs: Mapping[CoreKind, OrderProgram]) -> bool:
    """Whether what the walk cannot follow is in order as it stands."""
    return len(programs) == 1 and all(explored(module, function, core, each) > 0 for core, each in programs.items())


def _peers(module: VerifiedModule) -> dict[tuple[Function, CoreKind], list[tuple[Function, CoreKind]]]:
    """The programs on other cores of the cluster that run beside each; a vector core has a twin."""
    peers: dict[tuple[Function, CoreKind], list[tuple[Function, CoreKind]]] = {}
    for kernel in kernels(module.parsed):
        programs = [(function, core) for core, function in kernel.entries.items()]
        for function, core in programs:
            others = [other for other in programs if other[1] is not core or core is CoreKind.AIV]
            peers.setdefault((function, core), []).extend(others)
    return peers


def _read(
    module: VerifiedModule,
    function: Function,
    core: CoreKind,
    has_signals: bool,
    minds_peers: bool,
) -> OrderProgram:
    """The program of a function; its signals touch what the programs beside it touch."""
    serial = serial_of(module, function)
    if not minds_peers:
        return read(module, function, core, serial, ())
    peers = _peers(module).get((function, core)) if has_signals else None
    if peers is None:
        return read(module, function, core, serial)
    shared = [
        touch
        for other, kind in peers
        for touch in touched(read(module, other, kind, serial))
        if kind is not core or touch.range.space is Space.GM  # a twin has memories of its own
    ]
    return read(module, function, core, serial, tuple(shared))


class _Written:
    """The order that a program has, followed turn by turn as a proof does."""

    def __init__(self, program: OrderProgram) -> None:
        self.program = program
        self.is_missing = False
        self.nodes = list(program.body.walk())
        self.walker: TurnWalker | None = None
        if any(isinstance(node, Flag | GetBuffer) for node in self.nodes):
            self.walker = TurnWalker(program, Conflicts(program), self._note)
            self.walker.walk()

    def _note(self, walker: Walker, state: State, meeting: EarlyStart, open_: int) -> None:
        self.is_missing = True
        state.open[meeting.later.pipe] &= ~open_

    def suffices(self) -> bool:
        walker, is_opaque = self.walker, any(isinstance(node, Opaque) for node in self.nodes)
        if walker is None or is_opaque:
            return not (is_opaque or self.program.entries)
        return not (self.is_missing or walker.uneven or walker.doubled or walker.end.counts())

    def distrusted(self) -> frozenset[Ends]:
        """The pipes whose flags do not balance, or are not known: which token a wait takes cannot be told."""
        if self.walker is None:
            return frozenset()
        doubled = [node for node in self.walker.doubled if not is_token(node.id)]
        return frozenset({*self.walker.uneven, *((node.source, node.destination) for node in doubled)})


def _opaque(programs: Mapping[CoreKind, OrderProgram]) -> dict[Operation, None]:
    nodes = (node for program in programs.values() for node in program.body.walk())
    return {node.op: None for node in nodes if isinstance(node, Opaque)}


def _before_everything(function: Function, programs: Mapping[CoreKind, OrderProgram]) -> Iterator[Operation]:
    """Operations that all entries end before: the end of a function that has any, and opaque nodes."""
    yield from _opaque(programs)
    if any(program.body.nodes for program in programs.values()):
        yield from (op for op in function.body.block.ops if isinstance(op, Return))


def _behind_everything(function: Function, programs: Mapping[CoreKind, OrderProgram]) -> Iterator[Operation]:
    """Operations that end before all that follows: calls and loops with a condition, and every entry in such a loop."""
    if _opaque(programs):
        operations = list(function.walk())
        repeated = {inside for op in operations if isinstance(op, While) for inside in op.walk()}
        yield from (op for op in operations if is_opaque(op) or (op in repeated and is_entry(op)))
