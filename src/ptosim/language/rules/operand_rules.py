"""Verifier rules that instructions on pointers and scalars share, and what is known at load of the value of an operand.

What plays a role is declared in the form and checked for every operation alike; rules between registers: vector.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, Operation, SSAValue

from ptosim.effects.element import ELEMENTS
from ptosim.effects.pointer import CAST
from ptosim.effects.requirement import bounds
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.type_kinds import KINDS, is_called
from ptosim.language.types import PtrType, element_name, element_of, same_type

LITERALS = ("arith.constant", "llvm.mlir.constant")


def constant_of(value: SSAValue | None) -> int | None:
    """The integer that a value is known to be, or None."""
    owner = value.owner if value is not None else None
    if not isinstance(owner, Operation) or owner.name not in LITERALS or getattr(owner, "is_dense", False):
        return None
    known: object = getattr(owner, "value", None)  # an int or a float
    return known if isinstance(known, int) else None


def constant_address(value: SSAValue) -> int | None:
    """The address of a pointer that is cast from a constant, or None."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != CAST:
        return None
    return constant_of(owner.operands[0])


def constants(op: PTOOperation, role: str) -> Iterator[tuple[str, int]]:
    """The known values of the operands that play a role, each with its place."""
    for place, value in _placed(op, role):
        if (known := constant_of(value)) is not None:
            yield place, known


def _placed(op: PTOOperation, role: str) -> Iterator[tuple[str, SSAValue]]:
    variadic = role in op.variadic_roles
    for index, value in enumerate(op.played(role)):
        yield nth(role, index) if variadic else role, value


def nth(role: str, index: int) -> str:
    """The place of one of the operands of a variadic role."""
    return f"{role}[{index}]"


def wrong_types(op: PTOOperation) -> Iterator[Problem]:
    """Operands and results that are not what their roles ask for."""
    for role, types in op.types.items():
        for place, value in _placed(op, role):
            if not any(is_called(value.type, word) for word in types):
                scalar = role in op.result_roles and types[0] not in KINDS
                subject = f"{op.name} gives" if scalar else f"{place} must be"
                wanted = " or ".join(KINDS[word][1] if word in KINDS else word for word in types)
                yield Problem(f"{subject} {wanted}, not {value.type}", at=place)


def in_range(op: PTOOperation, low: int, high: int | None, *roles: str, kind: str = "invalid") -> Iterator[Problem]:
    """The operands of these roles, as far as they are constants, are in a range; `high` None means no upper bound."""
    for role in roles:
        for place, known in constants(op, role):
            if known < low or (high is not None and known > high):
                yield Problem(f"{place} is {known}; it must be {bounds(low, high)}", at=place, kind=kind)


def same_width(op: PTOOperation, first: str = "source", second: str = "dest") -> Iterator[Problem]:
    """Two pointers have elements of one byte width; a scalar counts as its own element."""
    one, other = _element(op, first), _element(op, second)
    if one is not None and other is not None and element_of(one).bytes != element_of(other).bytes:
        yield Problem(f"{second} has elements of {other}, but {first} has {one}: their widths differ", at=second)


def _element(op: PTOOperation, role: str) -> Attribute | None:
    """The element type of a pointer, or a scalar type; None for anything else, a scalar where a pointer belongs too."""
    type_ = getattr(op, role).type
    element = type_.element if isinstance(type_, PtrType) else type_
    known = element_name(element) in ELEMENTS and (element is not type_ or role not in op.spaces)
    return element if known else None


def pointed(op: PTOOperation, role: str) -> str | None:
    """The element type that a pointer leads to, or None where the role is played by something else."""
    type_ = getattr(op, role).type
    return element_name(type_.element) if isinstance(type_, PtrType) else None


def updated_base(op: PTOOperation, base: str, result: str = "next", called: str = "base") -> Iterator[Problem]:
    """The pointer that a post-update form gives has the type of the one it comes from."""
    updated = getattr(op, result)
    if updated is not None and not same_type(updated.type, expected := getattr(op, base).type):
        message = f"{op.name} requires updated base result to match {called} type {expected}, not {updated.type}"
        yield Problem(message, at=result)
