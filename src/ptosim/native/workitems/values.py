"""Values of a warp while code is built: a scalar where all lanes are known to hold it, else a vector of 32 lanes; a
packed value is its parts. Floats are their bits, as scalars are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from ptosim.effects.element import Element
from ptosim.effects.simt import WARP
from ptosim.language.types import LLVMPointerType, PtrType, element_of
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Type, Value
from ptosim.native.vector.registers import splat


@dataclass(frozen=True, slots=True, eq=False)
class PackedLanes:
    """The parts of a packed value, element 0 first."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EvenLanes:
    """Numbers that lie equally far apart from lane to lane, modulo their type, where `sure` holds (None: always)."""

    first: Value
    step: int
    sure: Value | None = None

    def also(self, sure: Value) -> EvenLanes:
        """Only where this holds as well."""
        if sure.literal == 1:
            return self
        return EvenLanes(self.first, self.step, sure if self.sure is None else self.sure & sure)


WarpValue = Value | PackedLanes

ALL_LANES = (1 << WARP) - 1


def part_type(element: Element) -> Type:
    """The type of the numbers that a value consists of."""
    return Type(f"i{(element.part or element).bits}")


def parts_of(type_: Attribute) -> tuple[Type, int]:
    """The type of the numbers of a value, and how many there are: 0 where it is not packed."""
    if isinstance(type_, PtrType | LLVMPointerType):
        return I64, 0
    element = element_of(type_)
    return part_type(element), element.count if element.kind == "packed" else 0


def spread(f: FunctionBuilder, value: Value) -> Value:
    """A vector of lanes."""
    return value if value.kind.lanes else splat(f, value, WARP)


def as_vectors(f: FunctionBuilder, value: WarpValue) -> list[Value]:
    """The value as it crosses a join."""
    return [spread(f, part) for part in (value.parts if isinstance(value, PackedLanes) else (value,))]


def from_vectors(type_: Attribute, parts: Iterator[Value]) -> WarpValue:
    """And back."""
    _, count = parts_of(type_)
    return PackedLanes(tuple(next(parts) for _ in range(count))) if count else next(parts)


def vector_types(types: Iterable[Attribute]) -> list[Type]:
    """The types of values as they cross a join."""
    found: list[Type] = []
    for type_ in types:
        kind, count = parts_of(type_)
        found += [kind.vector(WARP)] * max(1, count)
    return found


def as_bits(mask: Value) -> Value:
    """The lanes of a mask, i32."""
    return mask.bitcast(I32)


def from_bits(bits: Value) -> Value:
    return bits.bitcast(I1.vector(WARP))


def some_lane(f: FunctionBuilder, condition: Value) -> Value:
    """Whether a condition holds anywhere."""
    return as_bits(condition) != 0 if condition.kind.lanes else condition


def numbers(f: FunctionBuilder, kind: Type, values: Sequence[int] = range(WARP)) -> Value:
    return f.constant(kind.vector(WARP), values)
