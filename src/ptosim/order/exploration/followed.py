"""Loops and branches of a program in words: how often a loop runs, how its index is known, which branches go alike."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ptosim.language.operation import enclosing_scope, is_scope
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For, If, While
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import ParsedModule
from ptosim.order.exploration.scalar_values import Counting, Numbering


def followed(parsed: ParsedModule, function: Function) -> Iterator[str]:
    """One sentence for each loop and branch that is followed, in the order of the text."""
    numbering = Numbering(function)
    counting = Counting(function, numbering)
    first: dict[object, tuple[int, bool]] = {}
    for op in function.walk():
        place = parsed.location(op)
        if place is None or is_scope(op) or enclosing_scope(op) is not None:
            continue
        line = place.shown.line
        if isinstance(op, For):
            yield f"line {line}: the loop {_times(op)}, {_counted(op, counting)}"
        elif isinstance(op, While):
            yield f"line {line}: the loop has a condition and is not looked into: everything ends before and behind it"
        elif isinstance(op, If):
            name, contrary = numbering.name(op.cond)
            other = first.setdefault(name, (line, contrary))
            way = "the same way as" if other[1] is contrary else "the other way than"
            alike = "" if other[0] == line else f", {way} that at line {other[0]}"
            yield f"line {line}: the branch goes either way{alike}"


def _times(op: For) -> str:
    first, end, step = (constant_of(value) for value in (op.lb, op.ub, op.step))
    if first is None or end is None or not step or step < 1:
        return "runs any number of times"
    times = len(range(first, end, step))
    return f"runs {times} time{'s' * (times != 1)}"


def _counted(op: Operation, counting: Counting) -> str:
    assert isinstance(op, For)
    index = op.body.block.args[0]
    period, cutoff = counting.period(index), counting.cutoff(index)
    parts = [f"exactly up to iteration {cutoff}"] if cutoff else []
    parts += [f"modulo {period}"] if period > 1 else []
    return f"its index is known {', then '.join(parts)}" if parts else "whatever its index is"
