"""Runs of bare vector operations: the operations of a block that share one inferred scope, and the ends of such a run.

An operation is *vector* if it needs a scope, or is a loop or branch around such with nothing inside that ends one;
*scalar* if it only computes; everything else is a *boundary*: copies, flags, barriers, calls, scalar loads and stores,
queries, scopes that are written, ends of regions. A run is a longest row of vector and scalar operations with a vector
operation in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.language.analysis.fast_walk import around
from ptosim.language.micro.sync_fence import MemBar
from ptosim.language.operation import PTOOperation, is_scope, needs_scope
from ptosim.language.structure.control import For, If, Terminator, While
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import AlignType, MaskType, PtrType, VregType, is_vector_state


class ScopeRole(Enum):
    """The role of an operation in the scope around it."""

    VECTOR = "vector"
    SCALAR = "scalar"
    BOUNDARY = "boundary"


@dataclass(eq=False)
class ScopeRun:
    """Neighbours in one block that become one scope."""

    ops: list[Operation]
    copies: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Registers and masks made outside, and what takes their place inside."""

    @property
    def has_vector(self) -> bool:
        """Whether it still needs a scope."""
        return any(map(asks_for_scope, self.ops))

    @property
    def first(self) -> Operation:
        """The first operation that was written here and needs the scope, else the first that was copied here."""
        made = {value.owner for value in self.copies.values()}
        written = (op for op in self.ops if op not in made and asks_for_scope(op))
        return next(written, self.ops[0])


class Runs:
    """The runs of a function, those in loops and branches included, and which one an operation belongs to."""

    def __init__(self, function: Function) -> None:
        self._opened: set[Operation] = set()
        """Loops and branches whose scalar results are needed outside: scopes go into them instead of around them."""
        self._members: dict[Operation, ScopeRun] = {}
        self.all: list[ScopeRun] = []
        while True:
            self.all = list(self._found(function.body.block))
            self._members = {op: run for run in self.all for op in run.ops}
            leaving = {op for run in self.all for op in self.leaving(run, self.needed(run)) if _may_open(op)}
            if not leaving:
                break
            self._opened |= leaving

    def _found(self, block: Block) -> Iterator[ScopeRun]:
        ops: list[Operation] = []
        for op in (*block.ops, None):
            if op is not None and self.kind(op) is not ScopeRole.BOUNDARY:
                ops.append(op)
                continue
            run = ScopeRun(ops)
            if run.has_vector:
                yield run
            ops = []
            if op is not None and not is_scope(op):
                for region in op.regions:
                    for inner in region.blocks:
                        yield from self._found(inner)

    def kind(self, op: Operation) -> ScopeRole:
        return ScopeRole.BOUNDARY if op in self._opened else kind_of(op)

    def run_of(self, op: Operation) -> ScopeRun | None:
        """The run that an operation belongs to, itself or by what it stands in."""
        return next((self._members[each] for each in chain((op,), around(op)) if each in self._members), None)

    def add(self, run: ScopeRun, op: Operation, before: Operation) -> None:
        """An operation joins a run."""
        run.ops.insert(run.ops.index(before), op)
        self._members[op] = run

    def remove(self, run: ScopeRun, op: Operation) -> None:
        run.ops.remove(op)
        del self._members[op]

    def needed(self, run: ScopeRun) -> set[Operation]:
        """The operations of a run with results that are used outside, directly or by scalars that are."""
        found: set[Operation] = set()
        for op in reversed(run.ops):
            users = [use.operation for result in op.results for use in result.uses]
            if any(self.run_of(user) is not run or self._stays_before(user, found) for user in users):
                found.add(op)
        return found

    def _stays_before(self, op: Operation, needed: set[Operation]) -> bool:
        return op in needed and self.kind(op) is ScopeRole.SCALAR

    def leaving(self, run: ScopeRun, needed: set[Operation]) -> list[Operation]:
        """Operations that cannot stay before the scope."""
        return [op for op in run.ops if op in needed and self.kind(op) is ScopeRole.VECTOR]


def kind_of(op: Operation) -> ScopeRole:
    if isinstance(op, For | If | While) and not is_scope(op):
        return ScopeRole.VECTOR if asks_for_scope(op) and not _has_boundary(op) else ScopeRole.BOUNDARY
    if needs_scope(op) or isinstance(op, MemBar) or (_is_pure(op) and _carries(op)):
        return ScopeRole.VECTOR if isinstance(op, PTOOperation) and op.placement != "outside" else ScopeRole.BOUNDARY
    return ScopeRole.SCALAR if _is_pure(op) else ScopeRole.BOUNDARY


def _has_boundary(op: Operation) -> bool:
    """Whether something in a loop or branch ends a run."""
    return any(
        is_scope(inner) or (_has_boundary(inner) if isinstance(inner, For | If | While) else _is_boundary(inner))
        for inner in _inside(op)
    )


def _is_boundary(op: Operation) -> bool:
    return not isinstance(op, Terminator) and kind_of(op) is ScopeRole.BOUNDARY


def asks_for_scope(op: Operation) -> bool:
    """Whether an operation cannot be outside of a scope; a barrier alone has nothing to order."""
    return needs_scope(op) or _carries(op) or any(map(asks_for_scope, _inside(op)))


def _inside(op: Operation) -> Iterator[Operation]:
    """The operations directly in the regions of another one: a walk of deep nests would pass each up level by level."""
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


def is_producer(parsed: ParsedModule, op: Operation) -> bool:
    """Whether an operation makes a register or mask out of scalars and masks so made: then it can be said again.

    A register of a lowered operation may be made in several steps.
    """
    record = effects().get(op.name)
    if record is None or record.reads or record.writes or not needs_scope(op):
        return False
    no_stream = not any(isinstance(value.type, AlignType) for value in op.results)
    return no_stream and all(_is_made_anywhere(parsed, op, value) for value in op.operands)


def _is_made_anywhere(parsed: ParsedModule, op: Operation, value: SSAValue) -> bool:
    is_step = isinstance(value.type, VregType) and parsed.origin(op).name != op.name
    if is_step or isinstance(value.type, MaskType):
        owner = value.owner
        return is_producer(parsed, owner) if isinstance(owner, Operation) else is_parameter(value)
    return not isinstance(value.type, VregType | AlignType | PtrType)


def is_parameter(value: SSAValue) -> bool:
    """Whether a value comes into a function as an argument."""
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), Function)


def _may_open(op: Operation) -> bool:
    """Whether the parts of a loop or branch can have scopes of their own: it carries no register."""
    return isinstance(op, For | If | While) and not _carries(op)


def _carries(op: Operation) -> bool:
    return any(is_vector_state(value.type) for value in (*op.operands, *op.results))


def _is_pure(op: Operation) -> bool:
    return isinstance(op, PTOOperation) and op.is_pure
