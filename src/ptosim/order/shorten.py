"""Loops that run only a few times: what an order costs shows there already, and much sooner."""

from __future__ import annotations

from ptosim.language.build import Builder, Place, head_of
from ptosim.language.control import For
from ptosim.language.function import every_function
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import enclosing_scope, is_scope
from ptosim.order.read import SIGNALS

MOST_ITERATIONS = 8


def shorten(module: VerifiedModule) -> None:
    """Let the loops outside of vector scopes run a few times at most. Cores that signal each other have to agree how
    often, so their loops stay as they are."""
    if any(op.name in SIGNALS for op in module.parsed.module.walk()):
        return
    for function in every_function(module.parsed.module):
        if function.is_declaration:
            continue
        head = head_of(function.body.block)
        for op in list(function.walk()):
            if isinstance(op, For) and not is_scope(op) and enclosing_scope(op) is None:
                build = Builder(module.parsed, Place.at(op), head, serves=op)
                last = build.plus(op.lb, build.times(op.step, MOST_ITERATIONS))
                shorter = build.least(op.ub, last)
                if not isinstance(shorter, int):
                    op.operands[list(op.operands).index(op.ub)] = shorter
