"""Dependences between the instructions of a vector scope through registers.

Decided on the def-use graph as written, loop-carried values, branches and calls included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.language.analysis.static_values import static_of
from ptosim.language.analysis.value_flow import edges
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Call, Function, Return, reached

Calls = Callable[[Function], Sequence[Call]]
"""The calls of a function."""
ThroughMemory = Mapping[Operation, set[Operation]]
"""Loads that read, behind a fence, what a store wrote."""


def waiting(start: Operation, calls: Calls, through_memory: ThroughMemory) -> set[Operation]:
    """The operations whose operands or execution depend on the results of this one."""
    found: set[Operation] = set()
    seen: set[SSAValue] = set()
    pending: list[SSAValue] = list(start.results)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            for op in (use.operation, *_governed(use.operation, use.index)):
                if op not in found:
                    found.add(op)
                    others = _with_memory(op, found, through_memory)
                    pending += [result for other in others for result in other.results]
            pending += _passed_on(use.operation, use.index, calls)
    return found


def stores(scope: Operation, target: str) -> Iterator[Operation]:
    """The operations of a scope that write memory."""
    for op in executed(scope):
        record = effects().get(op.name)
        if record and any(access.direction == "write" for access in record.accesses(static_of(op, target))):
            yield op


def _with_memory(op: Operation, found: set[Operation], through_memory: ThroughMemory) -> Iterator[Operation]:
    if not op.regions:
        yield op
    for load in through_memory.get(op, ()):
        found.add(load)
        yield load


def _passed_on(op: Operation, index: int, calls: Calls) -> list[SSAValue]:
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
            return [call.results[index] for call in calls(parent)]
        case Yield() | Condition() if parent is not None:
            return _becoming(op.operands[index], parent)
        case For() | While() | Call():
            return _becoming(op.operands[index], op)
        case _:
            return []


def _becoming(value: SSAValue, op: Operation) -> list[SSAValue]:
    return [name for given, name in edges(op) if given is value]


def executed(scope: Operation) -> Iterator[Operation]:
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
