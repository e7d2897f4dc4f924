"""The fields of an operation class: the operands, results, properties and regions of an instruction, each by its role.

    class VSts(PTOOperation):
        form = "$value:vreg, $dest:ub[$offset:index]{, $mask} -> {$next}"
        value = Operand()

On the class a field is its own description; on an operation it is the value that plays the role. What the form places
it also declares: `dest` and `mask` above are fields as `value` is, which stands there again for those who read it. What
plays a role, the form says as well (language/text/assembly_format.py), or the field of one that it does not place:
`Operand("i64")`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from xdsl.ir import Attribute, OpResult, Region, SSAValue

from ptosim.language.text import assembly_format

if TYPE_CHECKING:
    from ptosim.language.operation import PTOOperation


Value = TypeVar("Value", covariant=True)


class Field(Generic[Value]):
    """Anything that plays a role in an operation."""

    role: str = ""

    def __init__(self, types: str = "") -> None:
        self.types = types

    def __set_name__(self, owner: type, name: str) -> None:
        self.role = name

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> Value: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | Value:
        return self if op is None else self.of(op)

    @abstractmethod
    def of(self, op: PTOOperation) -> Value:
        """The value that plays the role in an operation."""


class Operand(Field[SSAValue]):
    """An operand that is always there."""

    def of(self, op: PTOOperation) -> SSAValue:
        return op.segment(self.role)[0]


class OptionalOperand(Field[SSAValue | None]):
    """An operand that may be missing."""

    def of(self, op: PTOOperation) -> SSAValue | None:
        return next(iter(op.segment(self.role)), None)


class VariadicOperand(Field[Sequence[SSAValue]]):
    """Any number of operands."""

    def of(self, op: PTOOperation) -> Sequence[SSAValue]:
        return op.segment(self.role)


class Result(Field[OpResult]):
    """A result that is always there."""

    def of(self, op: PTOOperation) -> OpResult:
        return op.results[op.result_roles.index(self.role)]


class OptionalResult(Field[OpResult | None]):
    """A result at the end of the list that only some forms have."""

    def of(self, op: PTOOperation) -> OpResult | None:
        index = op.result_roles.index(self.role)
        return op.results[index] if index < len(op.results) else None


class VariadicResult(Field[Sequence[OpResult]]):
    """All results, any number of them."""

    def of(self, op: PTOOperation) -> Sequence[OpResult]:
        return op.results


class Property(Field[Attribute]):
    """A word or other attribute that is always there."""

    def of(self, op: PTOOperation) -> Attribute:
        return cast(Attribute, op.attribute(self.role))


class OptionalProperty(Field[Attribute | None]):
    """A word or other attribute that may be missing."""

    def of(self, op: PTOOperation) -> Attribute | None:
        return op.attribute(self.role)


class Body(Field[Region]):
    """A region. It has exactly one block, except that of a function without a body."""

    def of(self, op: PTOOperation) -> Region:
        return op.regions[op.region_roles.index(self.role)]


# --- what a class declares --------------------------------------------------------------------------------------------


def declared(cls: type[PTOOperation]) -> dict[str, Field[Any]]:
    """Declarations of this very class: roles that its form places, unless those above have it, and what else it has."""
    own = vars(cls)
    in_form: dict[str, Field[Any]] = {}
    for role, field in _in_form(own.get("form", "")):
        if role in own:
            in_form[role] = own[role]
        elif not isinstance(getattr(cls, role, None), Field):
            in_form[role] = field
            field.role = role
            setattr(cls, role, field)
    return in_form | {role: field for role, field in own.items() if isinstance(field, Field)}


def all_fields(cls: type[PTOOperation]) -> dict[str, Field[Any]]:
    """Declarations of a class and those above it; one that is declared again stands where it does so."""
    fields: dict[str, Field[Any]] = {}
    for parent in reversed(cls.__mro__):
        added: dict[str, Field[Any]] = vars(parent).get("declared", {})
        fields = {role: field for role, field in fields.items() if role not in added} | added
    return fields


def asked_types(cls: type[PTOOperation]) -> dict[str, tuple[str, ...]]:
    """Types of operands and results, by role."""
    asked = {role: field.types for role, field in cls.fields.items()}
    parts = (
        assembly_format.compile_form(cls.form),
        assembly_format.compile_form(cls.tail),
        assembly_format.compile_results(cls.form),
    )
    for item in assembly_format.placed(sum(parts, ())):
        if isinstance(item, assembly_format.OperandToken) and item.types:
            asked[item.role] = item.types
    return {role: tuple(types.split("|")) for role, types in asked.items() if types}


def as_written(cls: type[PTOOperation], roles: Sequence[str]) -> tuple[str, ...]:
    """The operands in the order of the text, which is that of the generic form, too."""
    first = cls.operand_order or [role for role, _ in _in_form(cls.form)]
    named = [role for role in first if role in roles]
    return (*named, *(role for role in roles if role not in named))


_AS_RESULT: dict[type[Field[Any]], type[Field[Any]]] = {
    Operand: Result,
    OptionalOperand: OptionalResult,
    VariadicOperand: VariadicResult,
}


def _in_form(form: str) -> Iterator[tuple[str, Field[Any]]]:
    """The operands, words and results of a form as fields, each by its role."""
    yield from _placed(assembly_format.compile_form(form))
    for role, field in _placed(assembly_format.compile_results(form)):
        yield role, _AS_RESULT[type(field)]()


def _placed(elements: Sequence[assembly_format.Element], optional: bool = False) -> Iterator[tuple[str, Field[Any]]]:
    for element in elements:
        match element:
            case assembly_format.Group(inner):
                yield from _placed(inner, optional=True)
            case assembly_format.OperandToken(role, several):
                yield role, VariadicOperand() if several else OptionalOperand() if optional else Operand()
            case assembly_format.WordToken(role) | assembly_format.Integers(role):
                yield role, OptionalProperty() if optional else Property()
            case assembly_format.Literal() | assembly_format.Keyword():
                pass
