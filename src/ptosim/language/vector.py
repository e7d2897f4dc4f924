"""Verifier rules that instructions on vector registers share."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute

from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.types import LowPrecisionType, MaskType, VregType, element_of, is_open, mask_for


def type_of(op: PTOOperation, role: str) -> Attribute:
    """The type of an operand or result by its role."""
    return getattr(op, role).type


def is_register(op: PTOOperation, role: str) -> Iterator[Problem]:
    if not isinstance(type_ := type_of(op, role), VregType):
        yield Problem(f"{role} must be a vector register, not {type_}", at=role)


def same_types(op: PTOOperation, *roles: str) -> Iterator[Problem]:
    """All of these are vector registers of one type."""
    for role in roles:
        yield from is_register(op, role)
    first, *others = roles
    for role in others:
        if type_of(op, role) != type_of(op, first):
            yield Problem(f"{role} has type {type_of(op, role)}, but {first} has type {type_of(op, first)}", at=role)


def mask_matches(
    op: PTOOperation, role: str, value_type: Attribute, expected: MaskType | None = None
) -> Iterator[Problem]:
    """A mask governs lanes of the width of the value (or has an explicitly expected granularity)."""
    mask = type_of(op, role)
    if not isinstance(mask, MaskType):
        yield Problem(f"{role} must be a mask, not {mask}", at=role)
        return
    if expected is None:
        if not isinstance(value_type, VregType):
            return
        expected = mask_for(value_type)
    if mask != expected and not is_open(mask):
        yield Problem(f"mask type {mask} does not match value vector type {value_type}; expected {expected}", at=role)


def element_among(op: PTOOperation, role: str, names: frozenset[str]) -> Iterator[Problem]:
    """The elements of a register are of one of the named types."""
    type_ = type_of(op, role)
    if isinstance(type_, VregType) and element_of(type_).name not in names:
        yield Problem(f"{op.name} does not take elements of type {type_.element}", at=role)


def not_low_precision(op: PTOOperation, role: str) -> Iterator[Problem]:
    """Low-precision elements can be loaded, stored, moved and converted, but not computed with."""
    type_ = type_of(op, role)
    if isinstance(type_, VregType) and (
        isinstance(type_.element, LowPrecisionType) or element_of(type_).kind == "lowprecision"
    ):
        yield Problem(f"{op.name} does not compute with {type_.element}; convert it with pto.vcvt first", at=role)
