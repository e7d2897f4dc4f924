"""Arrays and structs of scalars on the stack of the scalar unit: declared in a function, read and written there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, cast

from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import Element
from ptosim.language.operation import Operand, Problem, Result, VariadicOperand
from ptosim.language.rules.operand_rules import constant_of, nth
from ptosim.language.text.assembly_format import integers_of
from ptosim.language.tile.tile_types import LocalArrayType, StructType, ViewExtents
from ptosim.language.tile.view_operation import ViewOperation
from ptosim.language.types import element_of

# --- arrays -----------------------------------------------------------------------------------------------------------


class DeclareLocalArray(ViewOperation, name="pto.declare_local_array"):
    """An array of scalars.

    It lies on the stack of the scalar unit: each core has its own, and whenever the declaration executes all elements
    are zero. It may be passed to functions, which then work on the same elements; it cannot be returned, yielded or
    carried by a loop.

        %a = pto.declare_local_array -> !pto.local_array<2xi32>
    """

    kinds = {"result": (LocalArrayType,)}
    arrow = True
    result = Result()

    def facts(self) -> Mapping[str, Any]:
        return {"elements": _scalars(self.result.type)}


class LocalArrayGet(ViewOperation, name="pto.local_array_get"):
    """Reads an element of an array.

    One index for each dimension. One outside of it is `out-of-bounds`; a check goes on with 0.

        %x = pto.local_array_get %a[%i] : !pto.local_array<2xi32> -> i32
    """

    form = "$array[$indices:index...]"
    listed = ("array",)
    kinds = {"array": (LocalArrayType,)}
    array = Operand()
    indices = VariadicOperand()
    result = Result()

    def facts(self) -> Mapping[str, Any]:
        return _held(self.array)

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _element_problems(self.array, self.indices)
        yield from _same_element(_array(self.array).element, self.result, "result")


class LocalArraySet(ViewOperation, name="pto.local_array_set"):
    """Writes an element of an array.

    One index for each dimension. One outside of it is `out-of-bounds`; a check goes on without the write.

        pto.local_array_set %a[%i], %x : !pto.local_array<2xi32>, i32
    """

    form = "$array[$indices:index...], $value"
    listed = ("array", "value")
    kinds = {"array": (LocalArrayType,)}
    array = Operand()
    indices = VariadicOperand()
    value = Operand()

    def facts(self) -> Mapping[str, Any]:
        return _held(self.array)

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _element_problems(self.array, self.indices)
        yield from _same_element(_array(self.array).element, self.value, "value")


def _array(value: SSAValue) -> ViewExtents:
    return cast(LocalArrayType, value.type).data


def _held(array: SSAValue) -> Mapping[str, Any]:
    """The extents of an array, and what it holds."""
    return {"shape": _array(array).shape, "held": element_of(_array(array).element)}


def _scalars(type_: Attribute) -> tuple[Element, ...]:
    """The scalars of an array or a struct, those of inner structs in their place; of a scalar type itself."""
    if isinstance(type_, LocalArrayType):
        return (element_of(type_.data.element),) * prod(cast("tuple[int, ...]", type_.data.shape))
    if isinstance(type_, StructType):
        return tuple(scalar for field in type_.data for scalar in _scalars(field))
    return (element_of(type_),)


def size_of(type_: Attribute) -> int:
    """The bytes of an array or a struct, which may be far more than there are: arrays are not written out for it."""
    if isinstance(type_, LocalArrayType):
        return element_of(type_.data.element).bytes * prod(cast("tuple[int, ...]", type_.data.shape))
    return sum(scalar.bytes for scalar in _scalars(type_))


def _element_problems(array: SSAValue, indices: Sequence[SSAValue]) -> Iterator[Problem]:
    """There is an index for each dimension, and constant ones are in the array."""
    shape = _array(array).shape
    if len(indices) != len(shape):
        yield Problem(
            f"expects {len(shape)} indices, one for each dimension of {array.type}, not {len(indices)}", "array"
        )
        return
    for number, (index, extent) in enumerate(zip(indices, cast("tuple[int, ...]", shape), strict=True)):
        known, place = constant_of(index), nth("indices", number)
        if known is not None and not 0 <= known < extent:
            yield Problem(f"{place} is {known}; it must be 0..{extent - 1}", at=place)


def _same_element(expected: Attribute, value: SSAValue, role: str) -> Iterator[Problem]:
    if value.type != expected:
        yield Problem(f"{role} must be {expected}, not {value.type}", at=role)


# --- structs ----------------------------------------------------------------------------------------------------------


class DeclareStruct(ViewOperation, name="pto.declare_struct"):
    """A struct of scalars.

    It lies on the stack of the scalar unit: each core has its own, and whenever the declaration executes all fields are
    zero. Only struct_get and struct_set use it: it is never passed on.

        %s = pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>
    """

    kinds = {"result": (StructType,)}
    arrow = True
    result = Result()

    def facts(self) -> Mapping[str, Any]:
        return {"elements": _scalars(self.result.type)}

    def view_rules(self, target: str) -> Iterator[Problem]:
        for use in self.result.uses:
            if not isinstance(use.operation, StructGet | StructSet):
                message = f"a struct may only be used by pto.struct_get and pto.struct_set, not by {use.operation.name}"
                yield Problem(message, at=use.index, on=use.operation)


class StructGet(ViewOperation, name="pto.struct_get"):
    """Reads a field of a struct.

    The path counts from 0: the field, then the field of that struct.

        %x = pto.struct_get %s[1, 0] : !pto.struct<i32, !pto.struct<f32, index>> -> f32
    """

    form = "$struct[#path]"
    listed = ("struct",)
    kinds = {"struct": (StructType,)}
    struct = Operand()
    result = Result()

    def facts(self) -> Mapping[str, Any]:
        return _field(self.struct, integers_of(self, "path"))

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _field_problems(self.struct, integers_of(self, "path"), self.result, "result")


class StructSet(ViewOperation, name="pto.struct_set"):
    """Writes a field of a struct.

    The path counts from 0: the field, then the field of that struct.

        pto.struct_set %s[0], %x : !pto.struct<i32, !pto.struct<f32, index>>, i32
    """

    form = "$struct[#path], $value"
    listed = ("struct", "value")
    kinds = {"struct": (StructType,)}
    struct = Operand()
    value = Operand()

    def facts(self) -> Mapping[str, Any]:
        return _field(self.struct, integers_of(self, "path"))

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _field_problems(self.struct, integers_of(self, "path"), self.value, "value")


def _field(struct: SSAValue, path: tuple[int, ...]) -> Mapping[str, Any]:
    """All scalars of a struct, and the position among them that a path leads to."""
    type_, position = struct.type, 0
    for step in path:
        fields = cast(StructType, type_).data
        position += sum(len(_scalars(field)) for field in fields[:step])
        type_ = fields[step]
    return {"elements": _scalars(struct.type), "position": position}


def _field_problems(struct: SSAValue, path: tuple[int, ...], value: SSAValue, role: str) -> Iterator[Problem]:
    """A path leads from field to field and ends at a scalar of the type of the value."""
    field: Attribute = struct.type
    for step in path:
        if not isinstance(field, StructType):
            yield Problem(f"the path leads into {field}, which has no fields", at="path")
            return
        if not 0 <= step < len(field.data):
            yield Problem(f"the path has {step}, but {field} has fields 0..{len(field.data) - 1}", at="path")
            return
        field = field.data[step]
    if isinstance(field, StructType):
        yield Problem(f"the path ends at {field}; it must end at a scalar", at="path")
    else:
        yield from _same_element(field, value, role)
