"""Bodies of functions in place of their calls, for functions on values that are none when something runs."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ptosim.diagnostics import error
from ptosim.language.structure.function import Call, Function, Return
from ptosim.language.text.parser import ParsedModule

MOST_COPIES = 100_000
"""Operations; twenty functions that call the next one twice would be a million."""


def inline_calls(parsed: ParsedModule, is_taken_in: Callable[[Call], bool], what: str) -> None:
    """Replace the calls that are taken in; functions that were called that way are gone. (There is no recursion.)"""
    taken: set[Function] = set()
    copies = 0
    while calls := [op for op in parsed.module.walk() if isinstance(op, Call) and is_taken_in(op)]:
        for call in calls:
            callee = call.function
            assert callee is not None
            copies += sum(1 for _ in callee.walk())
            if copies > MOST_COPIES:
                message = f"calls of functions on {what} become more than {MOST_COPIES} operations"
                raise error("limit", message, parsed.location(call))
            _inline(parsed, call, callee)
            taken.add(callee)
    still = {op.function for op in parsed.module.walk() if isinstance(op, Call)}
    for function in taken - still:
        if not function.is_marked:
            function.detach()
            function.erase()


def _inline(parsed: ParsedModule, call: Call, callee: Function) -> None:
    """A copy of the body in place of the call; what it returns is what the call gave."""
    block = call.parent_block()
    assert block is not None
    values: dict[SSAValue, SSAValue] = dict(zip(callee.args, call.arguments, strict=True))
    given: list[SSAValue] = []
    for op in callee.body.block.ops:
        if isinstance(op, Return):
            given = [values.get(value, value) for value in op.operands]
        else:
            block.insert_op_before(parsed.copied(op, values), call)
    for result, value in zip(call.results, given, strict=True):
        result.replace_all_uses_with(value)
    call.detach()
    call.erase()
