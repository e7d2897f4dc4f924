"""Which write of a configuration register reaches an instruction: what it is issued with, where that can be told.

Registers are reset at the start of every block and keep what is written to them. Where branches, rounds of a loop or
callers decide which write came last, nobody knows before the run.
"""

from __future__ import annotations

from typing import Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ptosim.language.control import For, While
from ptosim.language.function import Call, Function, entry_functions, reached
from ptosim.language.operation import PTOOperation

Reaching = PTOOperation | Literal["start"] | None
"""The write that an instruction sees; what registers hold at the start; None: it depends."""


def reaching(op: Operation, setter: str) -> Reaching:
    """The last operation of this name before another one, if there is only one that can be it."""
    here = op
    while True:
        earlier = here.prev_op
        while earlier is not None:
            if earlier.name == setter and isinstance(earlier, PTOOperation):
                return earlier
            if _may_write(earlier, setter):
                return None
            earlier = earlier.prev_op
        parent = here.parent_op()
        if parent is None or (isinstance(parent, For | While) and _may_write(parent, setter)):
            return None
        if isinstance(parent, Function):
            return "start" if _is_only_launched(parent) else None
        here = parent


def writes(op: Operation, setter: str) -> list[PTOOperation]:
    """Every write of the register in the module of an operation."""
    return [each for each in _top(op).walk() if each.name == setter and isinstance(each, PTOOperation)]


def _top(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def _may_write(op: Operation, setter: str) -> bool:
    """Whether an operation contains the write, or calls what does."""
    inside = list(op.walk())
    called = [each.function for each in inside if isinstance(each, Call) and each.function is not None]
    return any(each.name == setter for each in (*inside, *reached(*called)))


def _is_only_launched(function: Function) -> bool:
    """Whether a function is an entry that nothing calls."""
    top = _top(function)
    called = any(isinstance(op, Call) and op.function is function for op in top.walk())
    return not called and isinstance(top, ModuleOp) and function in entry_functions(top)
