"""The verifier: placement and targets of every operation, the rules of its class, and the rules between operations.

Every broken rule is reported, in source order, each at the token it is about.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic
from ptosim.language.operation import Problem, PTOOperation, enclosing_scope
from ptosim.language.parser import ParsedModule
from ptosim.language.types import is_vector_state


def verify(parsed: ParsedModule, target: str) -> list[Diagnostic]:
    """Everything the verifier has to say, errors and warnings, in source order."""
    found = [*parsed.reports]
    for op in parsed.module.walk():
        found.extend(_diagnostic(parsed, op, problem) for problem in problems(op, target))
    return sorted(found, key=_place)


def problems(op: Operation, target: str) -> Iterator[Problem]:
    """The broken rules of one operation."""
    if not isinstance(op, PTOOperation):
        return
    yield from _placement(op)
    if target not in op.targets:
        yield Problem(f"{op.name} does not exist on {target}", kind="wrong-target")
    yield from op.rules(target)


def _placement(op: PTOOperation) -> Iterator[Problem]:
    scope = enclosing_scope(op)
    if op.is_scope and scope is not None:
        yield Problem("a vector scope cannot contain another")
    elif op.placement == "outside" and scope is not None:
        yield Problem(f"{op.name} must be outside '{scope.name}'")
    elif scope is None and _touches_vector_state(op):
        yield Problem(
            f"{op.name} must be inside a vector scope", hint="wrap the vector instructions in pto.vecscope { ... }"
        )


def _touches_vector_state(op: PTOOperation) -> bool:
    if not op.name.startswith("pto."):
        return False  # loops, branches, calls and selections only pass values on
    if op.placement == "inside":
        return True
    return any(is_vector_state(value.type) for value in (*op.operands, *op.results))


def _diagnostic(parsed: ParsedModule, op: Operation, problem: Problem) -> Diagnostic:
    place = problem.on or op
    if isinstance(problem.at, int):
        location = parsed.operand_location(place, problem.at)
    else:
        location = parsed.location(place, problem.at)
    return Diagnostic(problem.kind, problem.severity, problem.message, location, hint=problem.hint)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    location = diagnostic.location
    return (location.line, location.column) if location is not None else (0, 0)
