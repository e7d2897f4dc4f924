"""Families of instructions on vector registers, and the rules about registers.

An instruction of a family says which element types it takes and little else. Rules about pointers and plain scalars
are in operand_rules.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from xdsl.ir import Attribute

from ptosim.diagnostics import Severity
from ptosim.effects.element import ELEMENTS
from ptosim.language.operation import Operand, Problem, PTOOperation, Result, lint
from ptosim.language.types import MaskType, VregType, element_name, element_of, is_open, mask_for

# --- element types ----------------------------------------------------------------------------------------------------


def integers(*widths: int) -> frozenset[str]:
    """Signless, signed and unsigned integers of these widths."""
    return frozenset(f"{sign}i{width}" for width in widths for sign in ("", "s", "u"))


F16_F32 = frozenset({"f16", "f32"})
FLOATS = F16_F32 | {"bf16"}
INTEGERS = integers(8, 16, 32, 64)
UP_TO_32_BITS = integers(8, 16, 32) | FLOATS
COMPUTED = INTEGERS | FLOATS
"""Everything but the low-precision payloads, which can only be loaded, stored, moved and converted."""


def listing(names: frozenset[str]) -> str:
    """Element types in a fixed order, for messages."""
    return ", ".join(name for name in ELEMENTS if name in names)


# --- rules ------------------------------------------------------------------------------------------------------------


def type_of(op: PTOOperation, role: str) -> Attribute:
    """The type of an operand or result by its role."""
    return getattr(op, role).type


def element_type(op: PTOOperation, role: str) -> str | None:
    """The name of the element type of a register, or None where the role is played by something else."""
    type_ = type_of(op, role)
    return element_of(type_).name if isinstance(type_, VregType) else None


def same_types(op: PTOOperation, *roles: str) -> Iterator[Problem]:
    """All of these vector registers are of one type."""
    first, *others = roles
    expected = type_of(op, first)
    for role in others:
        type_ = type_of(op, role)
        if type_ != expected and isinstance(type_, VregType) and isinstance(expected, VregType):
            yield Problem(f"{role} has type {type_}, but {first} has type {expected}", at=role)


def mask_matches(
    op: PTOOperation,
    role: str,
    value_type: Attribute,
    expected: MaskType | None = None,
    severity: Severity = "error",
) -> Iterator[Problem]:
    """A mask governs lanes of the width of the value (or has an explicitly expected granularity).

    Without a granularity of their own, 64-bit lanes are usually governed by b32; anything else is only warned of.
    """
    mask = type_of(op, role)
    if expected is None:
        if not isinstance(value_type, VregType):
            return
        expected = mask_for(value_type)
        if element_of(value_type).bytes == 8:
            severity = "warning"
    if isinstance(mask, MaskType) and mask != expected and not is_open(mask):
        message = f"mask type {mask} does not match value vector type {value_type}; expected {expected}"
        yield Problem(message, at=role, kind="invalid" if severity == "error" else "lint", severity=severity)


def element_among(op: PTOOperation, role: str, names: frozenset[str]) -> Iterator[Problem]:
    """The elements of a register are of one of the named types."""
    name = element_type(op, role)
    if name is None or name in names:
        return
    low_precision = ELEMENTS[name].kind == "lowprecision"
    message = f"{op.name} does not take elements of type {name}; it takes {listing(names)}"
    yield Problem(message, at=role, hint="convert them with pto.vcvt first" if low_precision else None)


def element_documented(op: PTOOperation, role: str, names: frozenset[str]) -> Iterator[Problem]:
    """The elements are of a type that the published list names; others are computed all the same."""
    name = element_type(op, role)
    if name is not None and name not in names:
        yield lint(f"{name} is not among the documented element types of {op.name}: {listing(names)}", at=role)


def compatible_scalar(op: PTOOperation, role: str, vector: str) -> Iterator[Problem]:
    """A scalar that joins a vector is of its element type; an integer may leave out the sign."""
    element, type_ = element_type(op, vector), type_of(op, role)
    if element is None:
        return
    allowed = (element, element[1:]) if element in INTEGERS and element[0] in "su" else (element,)
    if element_name(type_) not in allowed:
        yield Problem(f"{role} has type {type_}, but the elements of {vector} need {' or '.join(allowed)}", at=role)


def not_on_a5(op: PTOOperation, target: str, instead: str) -> Iterator[Problem]:
    """An instruction that the a5 documents leave out is warned of there, and runs."""
    if target == "a5":
        message = f"{op.name} is documented as not available on a5"
        yield Problem(message, kind="wrong-target", severity="warning", hint=f"use {instead}")


# --- families ---------------------------------------------------------------------------------------------------------


class VectorOperation(PTOOperation):
    """An instruction on vector registers, inside a vector scope.

    Its form calls registers V that all have one type, of which the first decides about elements; M are masks of their
    lanes, and T scalars of their elements.
    """

    accepted: ClassVar[frozenset[str]] = COMPUTED
    """Element types; any other is an error."""
    documented: ClassVar[frozenset[str]] = COMPUTED
    """Element types that the published lists name; an accepted type that they leave out is warned of."""
    mask_severity: ClassVar[Severity] = "error"

    def rules(self, target: str) -> Iterator[Problem]:
        registers, masks, scalars = (called(type(self), word) for word in "VMT")
        yield from same_types(self, *registers)
        first = registers[0]
        name = element_type(self, first)
        if name in self.accepted:
            yield from element_documented(self, first, self.documented)
        else:
            yield from element_among(self, first, self.accepted)
        for role in masks:
            yield from mask_matches(self, role, type_of(self, first), severity=self.mask_severity)
        for role in scalars:
            yield from compatible_scalar(self, role, first)


def called(kind: type[PTOOperation], word: str) -> list[str]:
    """The roles that are said to be of a kind."""
    return [role for role, types in kind.types.items() if types == (word,)]


def gives(op: VectorOperation, expected: Callable[[VregType], VregType]) -> Iterator[Problem]:
    """The type of the result follows from that of an accepted input."""
    source, result = type_of(op, "input"), type_of(op, "result")
    if not isinstance(source, VregType) or element_of(source).name not in op.accepted:
        return
    if isinstance(result, VregType) and result != (type_ := expected(source)):
        yield Problem(f"{op.name} of {source} gives {type_}, not {result}", at="result")


class VectorUnary(VectorOperation):
    """`%d = pto.OP %a, %mask : V, M -> V`."""

    form = "$input:V, $mask:M -> $result:V"
    input = Operand()
    result = Result()


class VectorBinary(VectorOperation):
    """`%d = pto.OP %a, %b, %mask : V, V, M -> V`."""

    form = "$lhs:V, $rhs:V, $mask:M -> $result:V"
    lhs = Operand()
    rhs = Operand()


class VectorScalar(VectorOperation):
    """`%d = pto.OP %a, %s, %mask : V, T, M -> V`. The dialect's own verifier does not look at the mask of these."""

    form = "$input:V, $scalar:T, $mask:M -> $result:V"
    mask_severity = "warning"


class MultiplyAdd(VectorOperation):
    """`%d = pto.OP %acc, %a, %b, %mask : V, V, V, M -> V`."""

    form = "$acc:V, $lhs:V, $rhs:V, $mask:M -> $result:V"
