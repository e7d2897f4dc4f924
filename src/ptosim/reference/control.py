"""Structured control flow as Python: loops, branches, calls, sections, and the bodies of vector scopes.

Each function writes the lines of one operation with the translator (translate.py). Loops and branches become Python's
own; the values that a region passes on are assignments to local variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.language.analysis.polling_loops import poll_of
from ptosim.language.micro.pointer import AddPtr, CastPtr, LdDev, LoadScalar, looks_at_memory
from ptosim.language.micro.scope import Section, SectionCube, SectionVector, StrictVecScope, VecScope
from ptosim.language.micro.sim_signal import SimTestWords
from ptosim.language.simt.private_memory import LLVMConstant
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Call
from ptosim.language.structure.scalar import Constant
from ptosim.language.types import is_vector_state

if TYPE_CHECKING:
    from ptosim.reference.translate import Translator


def captures(op: Operation) -> list[SSAValue]:
    """The values that a scope uses from outside, in order of first use."""
    inside = {value for inner in op.walk() for value in inner.results}
    inside |= {arg for inner in op.walk() for region in inner.regions for block in region.blocks for arg in block.args}
    found: dict[SSAValue, None] = {}
    for inner in op.walk():
        for operand in inner.operands:
            if operand not in inside:
                found[operand] = None
    return list(found)


def _for(t: Translator, op: Operation) -> None:
    assert isinstance(op, For)
    block = op.body.block
    index, *carried = block.args
    t.assign(carried, op.iter_args)
    t.line(f"for {t.name(index)} in core.loop({t.name(op.lb)}, {t.name(op.ub)}, {t.name(op.step)}):")
    t.loops = (*t.loops, t.name(index))
    t.region(op.body, lambda: t.assign(carried, _ends(block)))
    t.loops = t.loops[:-1]
    for result, value in zip(op.results, carried, strict=True):
        t.names[result] = t.name(value)  # after the loop the carried variable holds its result


def _if(t: Translator, op: Operation) -> None:
    assert isinstance(op, If)
    t.line(f"if witness.branch({t.name(op.cond)}):" if t.followed else f"if {t.name(op.cond)}:")
    _arm(t, op, op.true_region, is_true=True)
    t.line("else:")
    _arm(t, op, op.false_region, is_true=False)


def _arm(t: Translator, op: If, region: Region, is_true: bool) -> None:
    """A branch, with the answers that have chosen it."""
    answered = t.answers.in_branch(op, is_true) if t.tainted else ()
    _heed(t, answered, for_good=False)
    t.region(region, lambda: t.assign(op.results, _ends(region.block)))
    t.depth += 1
    for _ in answered:
        t.line("core.machine.forget()")
    t.depth -= 1


def _heed(t: Translator, answered: Iterable[Operation], for_good: bool) -> None:
    """Inside of a block that begins: these have answered yes."""
    t.depth += 1
    for op in answered:
        t.line(f"core.machine.heed({t.constant(t.site(op), 'site')}, {for_good})")
    t.depth -= 1


def _while(t: Translator, op: Operation) -> None:
    assert isinstance(op, While)
    before, after = op.before_region.block, op.after_region.block
    condition = before.last_op
    assert isinstance(condition, Condition)
    t.assign(before.args, op.arguments)
    turns, rounds = f"w{len(t.out.lines)}", f"v{len(t.out.lines)}"
    if t.followed:
        t.line(f"{turns} = witness.turns()")
    polls = looks_at_memory(op)
    watched = _only_reads(op)
    if watched:
        t.line(f"{rounds} = core.rounds({polls})")
    t.line("while True:")
    t.region(op.before_region, lambda: t.assign(op.results, condition.arguments))
    t.depth += 1
    t.line(f"if not {t.name(condition.condition)}:")
    poll = poll_of(op)
    word: list[str] = []
    if poll is not None:
        named = (t.constant(t.site(poll.load), "site"), *map(t.name, (poll.load.pointer, poll.load.offset)))
        word = [*named, repr(poll.comparison), t.name(poll.value)]
        t.line(f"    core.leave_poll({', '.join(word)}, {t.answers.gives_up(op, poll)})")
    if t.tainted:
        _heed(t, (test for test in t.answers.behind(op) if isinstance(test, SimTestWords)), for_good=True)
    t.line("    break")
    carried = "".join(f"{t.name(arg)}, " for arg in before.args)
    t.line(f"core.iterate({rounds}, ({carried}))" if watched else "core.iterate()")
    if t.followed:
        t.line(f"{turns}[0] += 1")
    t.assign(after.args, condition.arguments)
    t.depth -= 1
    t.region(op.after_region, lambda: t.assign(before.args, _ends(after)))
    if polls:
        t.depth += 1
        t.line(f"core.poll({t.constant(t.site(op), 'site')})" if poll is None else f"core.poll({', '.join(word)})")
        t.depth -= 1


def _only_reads(op: While) -> bool:
    """Whether a round changes nothing but the scalars that the loop carries, so that they decide how it goes on."""
    return not any(is_vector_state(value.type) for value in op.arguments) and all(
        inner.name.startswith(("arith.", "math.", "scf.")) or inner.name in _WITHOUT_EFFECT for inner in op.walk()
    )


_WITHOUT_EFFECT = (AddPtr.name, CastPtr.name, LoadScalar.name, LdDev.name)


def _ends(block: Block) -> Sequence[SSAValue]:
    """Values that a region passes on at its end."""
    last = block.last_op
    assert isinstance(last, Yield)
    return last.arguments


def _call(t: Translator, op: Operation) -> None:
    assert isinstance(op, Call)
    callee = op.function
    if callee is None or callee.is_declaration:
        t.line(f"core.missing_function({op.symbol!r})")
        return
    t.line("core.step()")
    results = ", ".join(t.expand(op.results))
    call = f"{t.function(callee)}({', '.join(['core', *t.expand(op.operands)])})"
    t.line(f"{results} = {call}" if results else call)


def _return(t: Translator, op: Operation) -> None:
    if op.operands:
        t.line("return " + ", ".join(t.expand(op.operands)))


def _section(t: Translator, op: Operation) -> None:
    if isinstance(op, Section) and op.core is t.kind:
        _body(t, op)


def _constant(t: Translator, op: Operation) -> None:
    assert isinstance(op, Constant)
    if op.is_dense:  # for tile operations, which are gone
        return
    t.names[op.result] = f"({op.pattern if op.element.is_float else op.value!r})"


def _skip(t: Translator, op: Operation) -> None:
    """Terminators of regions: their parent reads them."""


STRUCTURED: dict[str, Callable[[Translator, Operation], None]] = {
    "arith.constant": _constant,
    LLVMConstant.name: _constant,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.yield": _skip,
    "scf.condition": _skip,
    "func.call": _call,
    "func.return": _return,
    SectionCube.name: _section,
    SectionVector.name: _section,
}


def _body(t: Translator, op: Operation) -> None:
    """The captured values of a strict scope are its operands."""
    for block in op.regions[0].blocks:
        t.assign(block.args, op.operands)
        t.block(block)


SCOPE_BODIES: dict[str, Callable[[Translator, Operation], None]] = {
    VecScope.name: _body,
    StrictVecScope.name: _body,
    "scf.for": _for,
}
