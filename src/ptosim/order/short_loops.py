"""Loops that run only a few times: what an order costs shows there already, and much sooner."""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.language.analysis.fast_walk import around
from ptosim.language.builder import Builder, InsertionPoint, head_of
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import is_scope, outside_scopes
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function, every_function
from ptosim.order.read_program import SIGNALS

MOST_ITERATIONS = 8
MOST_ENTRIES = 1500
"""The most entries of pipes that a shortened kernel should execute."""
READ = 3
"""To read an entry takes as long as to execute so many."""


def shorten(module: VerifiedModule) -> None:
    """Let the loops outside of vector scopes run a few times at most. Cores that signal each other have to agree how
    often, so their loops stay as they are."""
    if any(op.name in SIGNALS for op in module.parsed.module.walk()):
        return
    for function in every_function(module.parsed.module):
        if function.is_declaration or function.is_simt_entry:
            continue
        head = head_of(function.body.block)
        for op, most in _iterations(function).items():
            build = Builder(module.parsed, InsertionPoint.at(op), head, serves=op)
            last = build.plus(op.lb, build.times(op.step, most))
            shorter = build.least(op.ub, last)
            if not isinstance(shorter, int):
                op.operands[list(op.operands).index(op.ub)] = shorter


def work(module: VerifiedModule) -> int:
    """The work until a kernel is timed: its entries are read, and then run."""
    functions = [each for each in every_function(module.parsed.module) if not each.is_declaration]
    return sum(READ * len(_entries(each)) + _executed(each, _iterations(each)) for each in functions)


def _iterations(function: Function) -> dict[For, int]:
    """The most iterations of each loop: all alike, and where that is still too much, the outermost only once."""
    loops = [op for op in outside_scopes(function) if isinstance(op, For) and not is_scope(op)]
    depths = {loop: len(_loops(loop)) for loop in loops}
    often = dict.fromkeys(loops, MOST_ITERATIONS)
    for once, most in [
        (0, MOST_ITERATIONS),
        (0, 4),
        (0, 2),
        *((depth, 2) for depth in range(1, max(depths.values(), default=0) + 1)),
    ]:
        often = {loop: 1 if depths[loop] < once else most for loop in loops}
        if _executed(function, often) <= MOST_ENTRIES:
            break
    return often


def _executed(function: Function, often: dict[For, int]) -> int:
    """Entries of a run in which every loop runs as often as it may."""
    return sum(prod(often.get(loop, 1) for loop in _loops(op)) for op in _entries(function))


def _entries(function: Function) -> list[Operation]:
    names = {name for name, record in effects().items() if record.pipe is not Pipe.S and record.signal is None}
    return [op for op in outside_scopes(function) if is_scope(op) or op.name in names]


def _loops(op: Operation) -> list[For]:
    """The loops around an operation."""
    return [each for each in around(op) if isinstance(each, For)]
