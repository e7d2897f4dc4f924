"""The static facts of an operation, in the words of the effects floor."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import nth
from ptosim.language.types import MaskType, PtrType, VregType, element_name, element_of, is_open


def static_of(op: Operation, target: str) -> Static:
    """The static description of an operation."""
    if not isinstance(op, PTOOperation):
        values = [(str(index), value) for index, value in enumerate(op.operands)]
        values += [("result", value) for value in op.results[:1]]
        return Static(elements=_elements(values), target=target)
    results = [(role, value) for role, value in zip(op.result_roles, op.results, strict=False)]
    numbered = [(nth(role, index), value) for role in op.variadic_roles for index, value in enumerate(op.segment(role))]
    values = [*op.roles(), *numbered, *results]
    types = [(role, value.type) for role, value in values if not is_open(value.type)]
    flags = [role for role in op.property_roles if isinstance(op.attribute(role), UnitAttr)]
    return Static(
        {role: word for role in op.property_roles if (word := op.word(role)) is not None},
        {role: number for role in op.property_roles if (number := op.integer(role)) is not None},
        _elements(values),
        {role: type_.stride for role, type_ in types if isinstance(type_, MaskType)},
        {role: type_.space for role, type_ in types if isinstance(type_, PtrType)},
        frozenset((*(role for role, _ in values), *flags)),
        target,
        op.facts(),
    )


def _elements(values: list[tuple[str, SSAValue]]) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for role, value in values:
        type_ = value.type
        if isinstance(type_, (PtrType, VregType)) or element_name(type_) is not None:
            found.setdefault(role, element_of(type_))
    return found
