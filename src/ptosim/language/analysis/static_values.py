"""The static facts of an operation, in the words of the effects floor."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.operand_rules import nth
from ptosim.language.types import MaskType, PtrType, VregType, element_name, element_of, is_open


class _TypeFacts(NamedTuple):
    """The facts of a type, each where it has one."""

    element: Element | None
    mask_stride: int | None
    space: Space | None


@cache
def _facts_of(type_: Attribute) -> _TypeFacts:
    has_element = isinstance(type_, PtrType | VregType) or element_name(type_) is not None
    return _TypeFacts(
        element_of(type_) if has_element else None,
        type_.stride if isinstance(type_, MaskType) and not is_open(type_) else None,
        type_.space if isinstance(type_, PtrType) and not is_open(type_) else None,
    )


def static_of(op: Operation, target: str) -> Static:
    """The static description of an operation."""
    if not isinstance(op, PTOOperation):
        values = [(str(index), value) for index, value in enumerate(op.operands)]
        values += [("result", value) for value in op.results[:1]]
        facts = [(role, _facts_of(value.type)) for role, value in values]
        return Static(elements={role: each.element for role, each in facts if each.element is not None}, target=target)
    numbered = [(nth(role, index), value) for role in op.variadic_roles for index, value in enumerate(op.segment(role))]
    values = [*op.roles(), *numbered, *zip(op.result_roles, op.results, strict=False)]
    facts = [(role, _facts_of(value.type)) for role, value in reversed(values)]  # of several the first one counts
    flags = [role for role in op.property_roles if isinstance(op.attribute(role), UnitAttr)]
    return Static(
        {role: word for role in op.property_roles if (word := op.word(role)) is not None},
        {role: number for role in op.property_roles if (number := op.integer(role)) is not None},
        {role: each.element for role, each in facts if each.element is not None},
        {role: each.mask_stride for role, each in facts if each.mask_stride is not None},
        {role: each.space for role, each in facts if each.space is not None},
        frozenset((*(role for role, _ in values), *flags)),
        target,
        op.facts(),
    )
