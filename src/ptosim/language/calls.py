"""Rules between functions: no recursion, and a helper is called where what it contains may stand.

A helper that has a scope, or an instruction that must be outside of one, cannot be called inside. Vector instructions
without a scope belong in that of the caller; where there is none, infer_scopes.py gives them one.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.language.function import Call, Function, callee_of, every_function
from ptosim.language.operation import Problem, PTOOperation, enclosing_scope

Found = tuple[Operation, Problem]
Calls = dict[Function, list[tuple[Call, Function]]]


def helpers(module: ModuleOp) -> set[Function]:
    """The functions that are called and not marked as entries."""
    called = {callee_of(op) for op in module.walk() if isinstance(op, Call)}
    return {function for function in called if function is not None and not function.is_marked}


def call_problems(module: ModuleOp) -> Iterator[Found]:
    calls = {function: list(_calls(function)) for function in every_function(module)}
    if not any(calls.values()):
        return
    recursive = list(_recursion(calls))
    yield from recursive
    if recursive:
        return
    for made in calls.values():
        for call, callee in made:
            if enclosing_scope(call) is not None and (reason := _outside(callee, calls)) is not None:
                message = f"@{callee.symbol} contains {reason}, which must be outside a vector scope"
                yield call, Problem(message, at="callee")


def _calls(function: Function) -> Iterator[tuple[Call, Function]]:
    for op in function.walk():
        if isinstance(op, Call) and (callee := callee_of(op)) is not None:
            yield op, callee


def _recursion(calls: Calls) -> Iterator[Found]:
    """The calls that close a circle."""
    finished: set[Function] = set()
    for start in calls:
        path: list[Function] = []
        yield from _visit(start, calls, path, finished)


def _visit(function: Function, calls: Calls, path: list[Function], finished: set[Function]) -> Iterator[Found]:
    if function in finished:
        return
    path.append(function)
    for call, callee in calls.get(function, ()):
        if callee in path:
            circle = " -> ".join(f"@{member.symbol}" for member in (*path[path.index(callee) :], callee))
            yield call, Problem(f"recursion is not supported: {circle}", at="callee")
        else:
            yield from _visit(callee, calls, path, finished)
    path.pop()
    finished.add(function)


def _outside(function: Function, calls: Calls) -> str | None:
    """The name of something in a function that cannot be in a scope, or None."""
    for op in function.walk():
        if isinstance(op, PTOOperation) and enclosing_scope(op) is None and (op.is_scope or op.placement == "outside"):
            return op.name
    inner = (_outside(callee, calls) for call, callee in calls.get(function, ()) if enclosing_scope(call) is None)
    return next((reason for reason in inner if reason is not None), None)
