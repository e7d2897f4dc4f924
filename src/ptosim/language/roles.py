"""The fields of an operation class: the operands, results, properties and regions of an instruction, each by its role.

    class VSts(PTOOperation):
        form = "$value, $dest[$offset]{, $mask}"
        value = Operand()

On the class a field is its own description; on an operation it is the value that plays the role. What the form places
it also declares: `dest` and `mask` above are fields as `value` is, which stands there again for those who read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self, cast, overload

from xdsl.ir import Attribute, OpResult, Region, SSAValue

from ptosim.language import syntax

if TYPE_CHECKING:
    from ptosim.language.operation import PTOOperation


class Field:
    """Anything that plays a role in an operation."""

    role: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.role = name


class Operand(Field):
    """An operand that is always there."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> SSAValue: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | SSAValue:
        return self if op is None else op.segment(self.role)[0]


class OptionalOperand(Field):
    """An operand that may be missing."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> SSAValue | None: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | SSAValue | None:
        if op is None:
            return self
        return next(iter(op.segment(self.role)), None)


class VariadicOperand(Field):
    """Any number of operands."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> Sequence[SSAValue]: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | Sequence[SSAValue]:
        return self if op is None else op.segment(self.role)


class Result(Field):
    """A result that is always there."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> OpResult: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | OpResult:
        return self if op is None else op.results[op.result_roles.index(self.role)]


class OptionalResult(Field):
    """A result at the end of the list that only some forms have."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> OpResult | None: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | OpResult | None:
        if op is None:
            return self
        index = op.result_roles.index(self.role)
        return op.results[index] if index < len(op.results) else None


class VariadicResult(Field):
    """All results, any number of them."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> Sequence[OpResult]: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | Sequence[OpResult]:
        return self if op is None else op.results


class Property(Field):
    """A word or other attribute that is always there."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> Attribute: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | Attribute:
        return self if op is None else cast(Attribute, op.attribute(self.role))


class OptionalProperty(Field):
    """A word or other attribute that may be missing."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> Attribute | None: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | Attribute | None:
        return self if op is None else op.attribute(self.role)


class Body(Field):
    """A region. It has exactly one block, except that of a function without a body."""

    @overload
    def __get__(self, op: None, owner: type) -> Self: ...
    @overload
    def __get__(self, op: PTOOperation, owner: type) -> Region: ...
    def __get__(self, op: PTOOperation | None, owner: type) -> Self | Region:
        return self if op is None else op.regions[op.region_roles.index(self.role)]


def declared_by(elements: Sequence[syntax.Element], optional: bool = False) -> Iterator[tuple[str, Field]]:
    """The fields that a form declares: its operands and words, each by its role."""
    for element in elements:
        match element:
            case syntax.Group(inner):
                yield from declared_by(inner, optional=True)
            case syntax.Operand(role, several):
                yield role, VariadicOperand() if several else OptionalOperand() if optional else Operand()
            case syntax.Word(role) | syntax.Integers(role):
                yield role, OptionalProperty() if optional else Property()
            case syntax.Literal() | syntax.Keyword():
                pass
