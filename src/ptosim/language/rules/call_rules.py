"""Rules between functions: no recursion, no chain of calls without end, helpers called where their contents may stand.

A helper that has a scope, or an instruction that must be outside of one, cannot be called inside. Vector instructions
without a scope belong in that of the caller; where there is none, infer_scopes.py gives them one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, takewhile

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.language.analysis.fast_walk import around
from ptosim.language.operation import Problem, PTOOperation, enclosing_scope
from ptosim.language.structure.function import Call, Function, every_function
from ptosim.language.text.parser import DEEPEST_NESTING

Found = tuple[Operation, Problem]
Calls = dict[Function, list[tuple[Call, Function]]]

_NAMED = 6
"""The most functions of a circle that are named; of a longer one the first and the last ones."""


@dataclass(frozen=True)
class _Contents:
    """Effects of a call of a function, those of its own calls included."""

    levels: int
    """The depth: the function itself, and on the way down calls and the regions around them."""
    outside: str | None
    """The name of something that cannot be in a vector scope."""


def helpers(module: ModuleOp) -> set[Function]:
    """The functions that are called and not marked as entries."""
    called = {op.function for op in module.walk() if isinstance(op, Call)}
    return {function for function in called if function is not None and not function.is_marked}


def call_problems(module: ModuleOp) -> Iterator[Found]:
    calls = {function: list(_calls(function)) for function in every_function(module)}
    if not any(calls.values()):
        return
    order, circles = _callees_first(calls)
    yield from circles
    if circles:
        return
    contents: dict[Function, _Contents] = {}
    for function in order:
        for call, callee in calls[function]:
            if _levels(call, contents[callee]) > DEEPEST_NESTING:
                message = f"calls, with the regions around them, nest deeper than {DEEPEST_NESTING} levels"
                yield call, Problem(message, at="callee", kind="limit")
                return
        contents[function] = _contents(function, calls[function], contents)
    for made in calls.values():
        for call, callee in made:
            if enclosing_scope(call) is not None and (reason := contents[callee].outside) is not None:
                message = f"@{callee.symbol} contains {reason}, which must be outside a vector scope"
                yield call, Problem(message, at="callee")


def _calls(function: Function) -> Iterator[tuple[Call, Function]]:
    for op in function.walk():
        if isinstance(op, Call) and op.function is not None:
            yield op, op.function


def _callees_first(calls: Calls) -> tuple[list[Function], list[Found]]:
    """Every function after those that it calls, and the calls that close a circle."""
    order: dict[Function, None] = {}
    circles: list[Found] = []
    for start in calls:
        path = {start: iter(calls[start])} if start not in order else {}
        while path:
            function = next(reversed(path))
            call, callee = next(path[function], (None, None))
            if call is None or callee is None:
                order[function] = None
                del path[function]
            elif callee in path:
                circles.append((call, Problem(f"recursion is not supported: {_circle(path, callee)}", at="callee")))
            elif callee not in order:
                path[callee] = iter(calls[callee])
    return list(order), circles


def _circle(path: Iterable[Function], again: Function) -> str:
    names = [f"@{function.symbol}" for function in path]
    names = [*names[names.index(f"@{again.symbol}") :], f"@{again.symbol}"]
    if len(names) > _NAMED:
        names = [*names[: _NAMED // 2], "...", *names[-_NAMED // 2 :]]
    return " -> ".join(names)


def _contents(function: Function, calls: list[tuple[Call, Function]], known: Mapping[Function, _Contents]) -> _Contents:
    levels = max((_levels(call, known[callee]) for call, callee in calls), default=1)
    instructions = [op for op in function.walk() if isinstance(op, PTOOperation) and enclosing_scope(op) is None]
    called = [known[callee] for call, callee in calls if enclosing_scope(call) is None]
    own = (op.name for op in instructions if op.is_scope or op.placement == "outside")
    outside = next(chain(own, (callee.outside for callee in called if callee.outside)), None)
    return _Contents(levels, outside)


def _levels(call: Call, callee: _Contents) -> int:
    """The depth of a call: its function, the regions that it stands in, and what it calls."""
    regions = takewhile(lambda each: not isinstance(each, Function), around(call))
    return 1 + len(list(regions)) + callee.levels
