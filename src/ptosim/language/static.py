"""What an operation says before it runs, in the words of the effects floor."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language.operands import nth
from ptosim.language.operation import PTOOperation
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
    words = {role: op.word(role) for role in op.property_roles if isinstance(op.attribute(role), StringAttr)}
    integers = {role: op.integer(role) for role in op.property_roles if isinstance(op.attribute(role), IntegerAttr)}
    return Static(
        {role: word for role, word in words.items() if word is not None},
        {role: number for role, number in integers.items() if number is not None},
        _elements(values),
        {
            role: value.type.stride
            for role, value in values
            if isinstance(value.type, MaskType) and not is_open(value.type)
        },
        {
            role: value.type.space
            for role, value in values
            if isinstance(value.type, PtrType) and not value.type.is_open
        },
        frozenset(
            (
                *(role for role, _ in values),
                *(role for role in op.property_roles if isinstance(op.attribute(role), UnitAttr)),
            )
        ),
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
