"""The verifier: what holds for every operation alike, the rules of its class, and the rules between operations.

Every broken rule is reported, in source order, each at the token it is about. Rules between functions are in
call_rules.py, those of modules and kinds of core in core_kind_rules.py, those of unaligned streams in
align_streams.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic
from ptosim.effects.catalogue import effects
from ptosim.effects.record import Static
from ptosim.language.analysis.kernel_entries import program_problems
from ptosim.language.analysis.tile_modules import has_tiles
from ptosim.language.operation import Problem, PTOOperation, enclosing_scope
from ptosim.language.rules.call_rules import call_problems
from ptosim.language.rules.core_kind_rules import core_problems, module_problems
from ptosim.language.rules.fifo_rules import fifo_problems
from ptosim.language.rules.operand_rules import constant_of, wrong_types
from ptosim.language.rules.scalar_stack import stack_problems
from ptosim.language.rules.simt_rules import simt_problems
from ptosim.language.rules.vmi_rules import vmi_problems
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.tile_view import missing_slots, mixed_allocations
from ptosim.language.types import PtrType

RULES, LIBRARY = "pto.rules", "library"
"""The attribute of a module that is held to what the machine demands, and its word."""
_MARKED = "this loop is a vector scope: it is marked with llvm.loop.aivector_scope"


def verify(parsed: ParsedModule, target: str) -> list[Diagnostic]:
    """Everything the verifier has to say, errors and warnings, in source order.

    What the parser has reported at a token, a type that is not the written one, is not said again in other words.
    """
    found: list[Diagnostic] = []
    library = follows_library(parsed.module)
    for op in parsed.module.walk():
        broken = (problem for problem in problems(op, target) if not (library and problem.by_assembler))
        found.extend(parsed.diagnostic(op, problem) for problem in broken)
    rules = (module_problems, core_problems, call_problems, stack_problems, simt_problems, vmi_problems)
    between = [*program_problems(parsed), *mixed_allocations(parsed), *missing_slots(parsed)]
    between += [problem for rule in rules for problem in rule(parsed.module)]
    between += fifo_problems(parsed.module, target)
    found.extend(parsed.diagnostic(op, problem) for op, problem in between)
    reported = {report.location for report in parsed.reports}
    return in_source_order([*parsed.reports, *(other for other in found if other.location not in reported)])


def follows_library(module: ModuleOp) -> bool:
    """Whether only the rules of the machine hold, as for kernels that were written against the tile library."""
    word = module.attributes.get(RULES)
    return isinstance(word, StringAttr) and word.data == LIBRARY


def in_source_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """Each diagnostic once, as they stand in the source."""
    return sorted(dict.fromkeys(found), key=_place)


def problems(op: Operation, target: str) -> Iterator[Problem]:
    """The broken rules of one operation."""
    if not isinstance(op, PTOOperation):
        return
    yield from _placement(op)
    if target not in op.targets and not has_tiles(op):  # tiles are lowered alike for all targets
        yield Problem(f"{op.name} does not exist on {target}", kind="wrong-target")
    yield from _spaces(op)
    yield from wrong_types(op)
    yield from op.rules(target)
    yield from _requirements(op, target)


def _requirements(op: PTOOperation, target: str) -> Iterator[Problem]:
    """Requirements of the record on operands, as far as they are constants."""
    record = effects().get(op.replaced_by or op.name)
    if record is None:
        return
    words = {role: word for role in op.property_roles if (word := op.word(role)) is not None}
    requirements = [each for each in record.requires(Static(words, target=target)) if each.at_load]
    known = {role: _known(op, role) for role in op.operand_roles} if requirements else {}
    for requirement in requirements:
        for place, value, broken in requirement.judged(known):
            if broken:
                yield Problem(requirement.message(place).format(value), place, requirement.kind)


def _known(op: PTOOperation, role: str) -> int | tuple[int | None, ...] | None:
    values = tuple(constant_of(value) for value in op.segment(role))
    return values if role in op.variadic_roles else next(iter(values), None)


def _placement(op: PTOOperation) -> Iterator[Problem]:
    """Checks that vector code is in a scope and other code outside. (infer_scopes.py adds missing scopes.)"""
    scope = enclosing_scope(op)
    if op.is_scope and scope is not None:
        yield Problem("a vector scope cannot contain another")
    elif op.placement == "outside" and scope is not None:
        hint = _MARKED if scope.name == "scf.for" else None
        yield Problem(f"{op.name} must be outside '{scope.name}'", hint=hint)


def _spaces(op: PTOOperation) -> Iterator[Problem]:
    """Pointers point to where the instruction can reach."""
    for role, allowed in op.spaces.items():
        for value in op.played(role):
            if not isinstance(value.type, PtrType):
                yield Problem(f"{role} must be a pointer, not {value.type}", at=role)
            elif not value.type.is_open and value.type.space not in allowed:
                yield Problem(f"{role} must point to {' or '.join(allowed)}, not {value.type.space}", at=role)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    location = diagnostic.location
    return (location.line, location.column) if location is not None else (0, 0)
