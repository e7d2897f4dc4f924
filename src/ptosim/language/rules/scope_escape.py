"""Says why a value cannot leave the vector scope that bare code would get, and what to wrap or store instead."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue, Use
from xdsl.traits import IsTerminator

from ptosim.language.operation import Problem, PTOOperation, is_scope
from ptosim.language.passes.scope_runs import Runs, ScopeRun
from ptosim.language.text.parser import ParsedModule


def escape(parsed: ParsedModule, runs: Runs, run: ScopeRun, op: Operation, needed: set[Operation]) -> Problem:
    """The message for an operation whose results are used outside of its run, directly or by scalars that are
    needed."""
    value, use = next(_uses_outside(runs, run, op, needed))
    user = use.operation
    last = _neighbour(run, user)
    obstacle = next((other for other in _between(run, last) if _must_be_outside(other)), None)
    ends = obstacle or next((other for other in _between(run, last) if other is not user), user)
    name, where = _name(parsed, value), _line(parsed, user)
    first = _line(parsed, run.first)
    message = f"{name} cannot leave its vector scope, which begins in line {first}: {user.name} in line {where} uses it"
    if ends is not user:
        message += f", and {ends.name} in line {_line(parsed, ends)} is not part of the scope"
    if obstacle is None:
        hint = f"wrap lines {first} to {max(first, where)} in pto.vecscope {{ ... }}"
    else:
        hint = f"store {name} to UB and load it again where it is used, or move {obstacle.name} out of these lines"
    return Problem(message, hint=hint)


def _uses_outside(runs: Runs, run: ScopeRun, op: Operation, needed: set[Operation]) -> Iterator[tuple[SSAValue, Use]]:
    """The uses of results outside of a run; those by scalars that are needed outside come last."""
    uses = [(result, use) for result in op.results for use in result.uses]
    yield from ((result, use) for result, use in uses if runs.run_of(use.operation) is not run)
    yield from ((result, use) for result, use in uses if use.operation in needed)


def _neighbour(run: ScopeRun, user: Operation) -> Operation:
    """The operation of the run's block that a use of a later operation is part of."""
    block, here = run.ops[0].parent_block(), user
    while here.parent_block() is not block:
        parent = here.parent_op()
        assert parent is not None  # a value is used in the block that defines it, or in one inside
        here = parent
    return here


def _between(run: ScopeRun, last: Operation) -> Iterator[Operation]:
    """Operations between a run and an operation behind it; if that ends the region, all else in it."""
    if last.has_trait(IsTerminator):
        parent = last.parent_op()
        region = parent.regions if parent is not None else ()
        yield from (op for part in region for op in part.walk() if op not in run.ops)
        return
    here = run.ops[-1].next_op
    while here is not None:
        yield from here.walk()
        if here is last:
            return
        here = here.next_op


def _must_be_outside(op: Operation) -> bool:
    return isinstance(op, PTOOperation) and (op.placement == "outside" or is_scope(op))


def _line(parsed: ParsedModule, op: Operation) -> int:
    location = parsed.location(op)
    return location.shown.line if location is not None else 0


def _name(parsed: ParsedModule, value: SSAValue) -> str:
    return parsed.named(value) or "what has no name here"
