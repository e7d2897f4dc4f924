"""Instructions on registers of one element type, as formulas write them: operands stand in the order of the text.

    v = Registers(build, tile.element)
    half = v.every(0.5)
    y = v.op("vmul", x, half, mask)

What a tile operation computes is in formula.py and in the rooms; where registers come from, in walk.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import IntegerType, Signedness, f32
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import Element
from ptosim.language.builder import Builder
from ptosim.language.catalogue import operation
from ptosim.language.types import VregType, element_of
from ptosim.tiles.refusal import Refused
from ptosim.tiles.vector.lane_walk import everything, mask_type


@dataclass(frozen=True)
class Registers:
    """Registers of one element type."""

    build: Builder
    element: Attribute

    @property
    def kind(self) -> Element:
        return element_of(self.element)

    @property
    def type(self) -> VregType:
        return VregType.of(self.element)

    def of(self, element: Attribute) -> Registers:
        """Registers of another element type."""
        return replace(self, element=element)

    def op(self, name: str, *operands: SSAValue, **given: Any) -> SSAValue:
        """An instruction; words and types of results are given by role."""
        kind = operation(f"pto.{name}")
        assert kind is not None
        return self.build.op(name, **dict(zip(kind.operand_roles, operands, strict=False)), **given)

    def scalar(self, value: float) -> SSAValue:
        """A number as an element; integers have no sign there."""
        return self.build.constant(value, signless(self.element))

    def every(self, value: float | SSAValue) -> SSAValue:
        """The same element in all lanes."""
        scalar = value if isinstance(value, SSAValue) else self.scalar(value)
        return self.op("vbr", scalar, result=self.type)

    def pattern(self, bits: int) -> SSAValue:
        """The same bits in all lanes."""
        return self.every(self.build.pattern(bits, signless(self.element)))

    def everywhere(self) -> SSAValue:
        """A mask of all lanes."""
        return everything(self.build, self.kind.bytes)

    def compare(self, comparison: str, lhs: SSAValue, rhs: float | SSAValue, mask: SSAValue) -> SSAValue:
        """The lanes for which a comparison with a register, or with a number, holds."""
        name, other = ("vcmp", rhs) if isinstance(rhs, SSAValue) else ("vcmps", self.scalar(rhs))
        return self.op(name, lhs, other, mask, comparison=comparison, result=mask_type(self.kind.bytes))

    def select(self, mask: SSAValue, on_true: SSAValue, on_false: SSAValue) -> SSAValue:
        return self.op("vsel", on_true, on_false, mask)

    def cast(self, value: SSAValue) -> SSAValue:
        """The bytes of a register as elements of this type."""
        return value if value.type == self.type else self.op("vbitcast", value, result=self.type)


def signless(element: Attribute) -> Attribute:
    """The type of scalars for an element type."""
    return IntegerType(element_of(element).bits) if element_of(element).is_integer else element


def with_sign(element: Attribute, word: str, bits: int | None = None) -> Attribute:
    """Integers of another sign, of the same or another width."""
    return IntegerType(bits or element_of(element).bits, Signedness[word.upper()])


def as_element(build: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """A scalar as an element of a tile: numbers keep their value as far as the type can hold it."""
    wanted, given = element_of(element), element_of(value.type)
    type_ = signless(element)
    if value.type in (element, type_):
        return value
    if not wanted.is_integer and wanted.name not in ("f16", "bf16", "f32"):
        raise Refused(f"the scalar unit does not convert {given.name} to {wanted.name}", kind="unsupported")
    if given.is_integer:
        return _integer_as(build, value, type_)
    if wanted.is_integer:
        return build.op("arith.fptosi", operand=value, result=type_)
    if given.bits < wanted.bits:
        return build.op("arith.extf", operand=value, result=type_)
    if given.bits == wanted.bits:  # f16 and bf16 have a way only through f32
        value = build.op("arith.extf", operand=value, result=f32)
    return build.op("arith.truncf", operand=value, result=type_)


def _integer_as(build: Builder, value: SSAValue, type_: Attribute) -> SSAValue:
    """An integer of any sign as an integer without one, or as a float."""
    given, wanted = element_of(value.type), element_of(type_)
    unsigned, bare = given.kind == "unsigned", IntegerType(given.bits)
    if value.type != bare:
        value = build.op("builtin.unrealized_conversion_cast", operand=value, result=bare)
    if not wanted.is_integer:
        return build.op("arith.uitofp" if unsigned else "arith.sitofp", operand=value, result=type_)
    if unsigned and given.bits < wanted.bits:
        return build.op("arith.extui", operand=value, result=type_)
    return build.cast(value, type_)
