"""Which instructions of a vector scope wait for which others through registers.

A store whose value, mask, address or execution depends on what a load returned cannot overtake that load. Decided on
the def-use graph as written, loop-carried values, branches and calls included; pairs of a store and a later load of the
same bytes with a fence between them are edges too, and are added as a run meets them.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.language.control import Condition, For, If, While, Yield
from ptosim.language.flow import edges
from ptosim.language.function import Call, Function, Return, reached
from ptosim.language.static import static_of
from ptosim.machine.entry import Site
from ptosim.sanitize.program import Program
from ptosim.sanitize.scope import SCALAR_ACCESSES


class Dependence:
    """Dependence between the instructions of a program's vector scopes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._reached: dict[Operation, set[Operation]] = {}
        self._through_memory: dict[Operation, set[Operation]] = {}
        self._scalar: dict[Site, bool] = {}
        self._calls: dict[Function, list[Call]] | None = None

    def depends(self, store: Site, load: Site) -> bool:
        """Whether the store has to wait for the load."""
        first, second = self.program.executed(load), self.program.executed(store)
        return first is not None and second is not None and second in self._from(first)

    def may_be_overtaken(self, load: Site, scope: Site) -> bool:
        """Whether the scope has a store that does not wait for this load through registers."""
        op, around = self.program.executed(load), self.program.executed(scope)
        if op is None or around is None:
            return True
        known = self.program.overtaken
        if (op, around) not in known:
            reached = self._walk(op)
            known[op, around] = any(store not in reached for store in self._stores(around))
        return known[op, around]

    def has_scalar_accesses(self, scope: Site) -> bool:
        """Whether scalar code of the scope reads or writes memory."""
        if scope not in self._scalar:
            around = self.program.executed(scope)
            self._scalar[scope] = around is None or any(op.name in SCALAR_ACCESSES for op in _executed(around))
        return self._scalar[scope]

    def _stores(self, scope: Operation) -> Iterator[Operation]:
        for op in _executed(scope):
            record = effects().get(op.name)
            if record and any(a.direction == "write" for a in record.accesses(static_of(op, self.program.target))):
                yield op

    def through_memory(self, store: Site, load: Site) -> None:
        """A load has read, behind a fence, what a store of the same scope wrote."""
        first, second = self.program.executed(store), self.program.executed(load)
        if first is None or second is None or second in self._through_memory.get(first, ()):
            return
        self._through_memory.setdefault(first, set()).add(second)
        self._reached.clear()

    def _from(self, op: Operation) -> set[Operation]:
        if op not in self._reached:
            self._reached[op] = self._walk(op)
        return self._reached[op]

    def _walk(self, start: Operation) -> set[Operation]:
        reached: set[Operation] = set()
        seen: set[SSAValue] = set()
        pending: list[SSAValue] = list(start.results)
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            for use in value.uses:
                for op in (use.operation, *_governed(use.operation, use.index)):
                    if op not in reached:
                        reached.add(op)
                        pending += [result for other in self._with_memory(op, reached) for result in other.results]
                pending += self._passed_on(use.operation, use.index)
        return reached

    def _with_memory(self, op: Operation, reached: set[Operation]) -> Iterator[Operation]:
        if not op.regions:
            yield op
        for load in self._through_memory.get(op, ()):
            reached.add(load)
            yield load

    def _passed_on(self, op: Operation, index: int) -> list[SSAValue]:
        """The values that an operand becomes where control flow hands it on."""
        parent = op.parent_op()
        match op:
            case For() if index < 3:
                return [op.body.block.args[0], *op.results]
            case If():
                return list(op.results)
            case Condition() if index == 0 and parent is not None:
                return list(parent.results)
            case Return() if isinstance(parent, Function):
                return [call.results[index] for call in self._calls_of(parent)]
            case Yield() | Condition() if parent is not None:
                return _becoming(op.operands[index], parent)
            case For() | While() | Call():
                return _becoming(op.operands[index], op)
            case _:
                return []

    def _calls_of(self, function: Function) -> list[Call]:
        if self._calls is None:
            self._calls = {}
            for op in self.program.operations():
                if isinstance(op, Call) and (callee := op.function) is not None:
                    self._calls.setdefault(callee, []).append(op)
        return self._calls.get(function, [])


def _becoming(value: SSAValue, op: Operation) -> list[SSAValue]:
    return [name for given, name in edges(op) if given is value]


def _executed(scope: Operation) -> Iterator[Operation]:
    """The operations that a scope executes, calls included; each once."""
    yield from scope.walk()
    yield from reached(*(op.function for op in scope.walk() if isinstance(op, Call) and op.function is not None))


def _governed(op: Operation, index: int) -> Iterator[Operation]:
    """The operations whose execution an operand decides."""
    match op:
        case If():
            yield from _inside(op)
        case For() if index < 3:
            yield from _inside(op)
        case Condition() if index == 0 and (parent := op.parent_op()) is not None:
            yield from _inside(parent)
        case _:
            pass


def _inside(op: Operation) -> Iterator[Operation]:
    for region in op.regions:
        yield from region.walk()
