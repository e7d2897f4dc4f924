"""Rules between functions: no recursion, and a helper is called where what it contains may stand.

A helper may have vector instructions without a scope of its own; then it belongs in the scope of its caller. One that
has a scope, or an instruction that must be outside of one, cannot be called inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.language.function import Call, Function, callee_of
from ptosim.language.operation import Problem, PTOOperation, enclosing_scope, needs_scope

Found = tuple[Operation, Problem]
Calls = dict[Function, list[tuple[Call, Function]]]


def helpers(module: ModuleOp) -> set[Function]:
    """The functions that are called and not marked as entries."""
    called = {callee_of(op) for op in module.walk() if isinstance(op, Call)}
    return {function for function in called if function is not None and not function.is_marked}


def call_problems(module: ModuleOp) -> Iterator[Found]:
    calls = {function: list(_calls(function)) for function in module.walk() if isinstance(function, Function)}
    if not any(calls.values()):
        return
    recursive = list(_recursion(calls))
    yield from recursive
    if recursive:
        return
    called = helpers(module)
    for function, made in calls.items():
        for call, callee in made:
            if (message := _misplaced(call, callee, function in called, calls)) is not None:
                yield call, Problem(f"@{callee.symbol} contains {message}", at="callee")


def _misplaced(call: Call, callee: Function, in_helper: bool, calls: Calls) -> str | None:
    if enclosing_scope(call) is not None:
        reason = _outside(callee, calls)
        return reason and f"{reason}, which must be outside a vector scope"
    reason = None if in_helper else _inside(callee, calls)
    return reason and f"{reason}, so it must be called inside a vector scope"


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


def _inside(function: Function, calls: Calls) -> str | None:
    """The name of something in a function that needs a scope around the call, or None."""
    return _first(function, calls, needs_scope, _inside)


def _outside(function: Function, calls: Calls) -> str | None:
    """The name of something in a function that cannot be in a scope, or None."""
    return _first(function, calls, lambda op: op.is_scope or op.placement == "outside", _outside)


def _first(
    function: Function,
    calls: Calls,
    wanted: Callable[[PTOOperation], bool],
    again: Callable[[Function, Calls], str | None],
) -> str | None:
    for op in function.walk():
        if isinstance(op, PTOOperation) and enclosing_scope(op) is None and wanted(op):
            return op.name
    inner = (again(callee, calls) for call, callee in calls.get(function, ()) if enclosing_scope(call) is None)
    return next((reason for reason in inner if reason is not None), None)
