"""The lines of a run whose accesses are told: before and after an instruction, what its witness has to know, and the
taint of registers beside their values.

The translator (translate.py) writes all other lines. Taint is rare: without it little is done beyond the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.names import SPECIAL_REGISTERS
from ptosim.effects.record import Taint
from ptosim.language.analysis.parameter_binding import zeroing_mask
from ptosim.language.operation import PTOOperation
from ptosim.language.types import MaskType, VregType, element_of, is_vector_state
from ptosim.reference.observed.observed_instruction import Act
from ptosim.reference.observed.taint import MASK_WIDTH, Observed
from ptosim.reference.semantics import Semantics

if TYPE_CHECKING:
    from ptosim.reference.translate import Translator


def told(t: Translator, op: Operation, meaning: Semantics, arguments: list[str]) -> None:
    """An instruction that a witness is told of."""
    observed = described(t, op, meaning)
    results = ", ".join(t.name(result) for result in op.results)
    if not t.in_scope:
        written = next((str(access.space) for access in t.accesses(op) if access.direction == "write"), "")
        call = f"witness.scalar({observed}, {as_text(arguments)}, {written!r})"
        t.line(f"{results} = {call}" if results else call)
        return
    taints = _taints(t, op, meaning)
    if t.accesses(op):
        _access(t, op, observed, meaning, arguments, taints)
        return
    t.call_function(op, meaning, arguments)
    vector_results = [result for result in op.results if is_vector_state(result.type)]
    if vector_results:
        _spread(t, op, observed, meaning, arguments, taints)
    if t.namespace[observed].has_registers:
        t.line(f"if {_any_doubt(taints)}: witness.settle({observed}, {as_text(taints)})")


def _access(
    t: Translator, op: Operation, observed: str, meaning: Semantics, arguments: list[str], taints: list[str]
) -> None:
    """An instruction of a scope that touches memory."""
    results = ", ".join(t.name(result) for result in op.results)
    tainted = ", ".join(t.taint(result) for result in op.results)
    suspects = _suspects(taints)
    clean = [_all_clean(suspects)] if suspects else []
    if t.namespace[observed].has_registers:
        clean.append("not witness.doubtful")
    if clean:
        t.line(f"if {' and '.join(clean)}:")
        t.depth += 1
    act = t.constant(Act(t.namespace[observed]), "act")
    t.line(f"witness.act = {act}; witness.site = {act}.site; {act}.reads = 0")
    t.call_function(op, meaning, arguments)
    if results:
        nothing = ", ".join("None" for _ in op.results)
        t.line(f"{tainted} = {_group(nothing)} if {act}.met is None else {act}.moved(core, {as_text(arguments)})")
    if clean:
        t.depth -= 1
        t.line("else:")
        call = f"witness.perform({observed}, {as_text(arguments)}, {as_text(taints)})"
        t.line(f"    {_group(results)}, {_group(tainted)} = {call}" if results else f"    {call}")


def _spread(
    t: Translator, op: Operation, observed: str, meaning: Semantics, arguments: list[str], taints: list[str]
) -> None:
    """After a register operation: the results are tainted as the operands are, which they almost never are."""
    targets = ", ".join(t.taint(result) for result in op.results)
    clean = ", ".join("None" for _ in op.results)
    suspects = _suspects(taints)
    if not suspects:
        t.line(f"{targets} = {clean}")
        return
    mask = zeroing_mask(op, meaning.parameters)
    extended = [*arguments, *([t.name(mask)] if mask is not None else [])]
    spread = f"spread({observed}, {as_text(extended)}, {as_text(taints)})"
    t.line(f"{targets} = {_group(clean)} if {_all_clean(suspects)} else {spread}")


def _taints(t: Translator, op: Operation, meaning: Semantics) -> list[str]:
    """The taint of each argument, and at the end that of the mask that clears inactive lanes."""
    roles = list(meaning.parameters)
    if zeroing_mask(op, meaning.parameters) is not None:
        roles.append("mask")
    return [_taint_of(t, op, role) for role in roles]


def _taint_of(t: Translator, op: Operation, role: str) -> str:
    values = [value for value in _values(op, role) if is_vector_state(value.type)]
    return t.taint(values[0]) if values else "None"


def _values(op: Operation, role: str) -> Sequence[SSAValue]:
    """The operands that a parameter stands for; none has several that are registers or masks."""
    role = "mask" if role == "active" else role
    return op.segment(role) if isinstance(op, PTOOperation) and role in op.operand_roles else ()


def described(t: Translator, op: Operation, meaning: Semantics) -> str:
    """A name for what a core has to know about an operation."""
    widths = tuple(next(map(_width_of, _values(op, parameter)), 0) for parameter in meaning.parameters)
    mask = zeroing_mask(op, meaning.parameters)
    record = effects().get(op.name)
    observed = Observed(
        t.site(op),
        meaning.function,
        meaning.parameters,
        Taint.ALL_TO_ALL if record is None else record.taint,
        tuple(_width_of(result) for result in op.results),
        widths + ((MASK_WIDTH,) if mask is not None else ()),
        len(widths) if mask is not None else None,
        record is not None and record.taint.crosses(t.module.static(op)),
        () if record is None else tuple(filter(SPECIAL_REGISTERS.__contains__, record.reads)),
        () if record is None else tuple(filter(SPECIAL_REGISTERS.__contains__, record.writes)),
    )
    return t.constant(observed, "o")


def _width_of(value: SSAValue) -> int:
    if isinstance(value.type, VregType):
        return element_of(value.type).bytes
    return MASK_WIDTH if isinstance(value.type, MaskType) else 0


def _suspects(taints: list[str]) -> list[str]:
    """The variables that may hold taint."""
    return sorted({taint for taint in taints if taint != "None"})


def _any_doubt(taints: list[str]) -> str:
    return " or ".join(("witness.doubtful", *(f"{name} is not None" for name in _suspects(taints))))


def _all_clean(taints: list[str]) -> str:
    return " and ".join(f"{name} is None" for name in taints)


def as_text(items: list[str]) -> str:
    """A tuple in Python."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _group(names: str) -> str:
    return f"({names})" if "," in names else names
