"""Arrays and structs of scalars on the stack of the scalar unit: declared in a function, read and written there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.ir import Attribute, SSAValue

from ptosim.language.operands import constant_of, nth
from ptosim.language.operation import Operand, Problem, Property, Result, VariadicOperand
from ptosim.language.syntax import integers_of
from ptosim.language.tile_types import LocalArrayType, StructType, View
from ptosim.language.view_operation import ViewOperation

# --- arrays ---------------------------------------------------------------------------------------


class DeclareLocalArray(ViewOperation):
    """An array of scalars.

    It lives as long as the function runs; its elements have no defined value before they are set.

        %a = pto.declare_local_array -> !pto.local_array<2xi32>
    """

    name = "pto.declare_local_array"
    kinds = {"result": (LocalArrayType,)}
    arrow = True
    result = Result()


class LocalArrayGet(ViewOperation):
    """Reads an element of an array.

    One index for each dimension.

        %x = pto.local_array_get %a[%i] : !pto.local_array<2xi32> -> i32
    """

    name = "pto.local_array_get"
    form = "$array[$indices...]"
    listed = ("array",)
    kinds = {"array": (LocalArrayType,)}
    index_roles = ("indices",)
    array = Operand()
    indices = VariadicOperand()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _element_problems(self.array, self.indices)
        yield from _same_element(_array(self.array).element, self.result, "result")


class LocalArraySet(ViewOperation):
    """Writes an element of an array.

    One index for each dimension.

        pto.local_array_set %a[%i], %x : !pto.local_array<2xi32>, i32
    """

    name = "pto.local_array_set"
    form = "$array[$indices...], $value"
    listed = ("array", "value")
    kinds = {"array": (LocalArrayType,)}
    index_roles = ("indices",)
    array = Operand()
    indices = VariadicOperand()
    value = Operand()

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _element_problems(self.array, self.indices)
        yield from _same_element(_array(self.array).element, self.value, "value")


def _array(value: SSAValue) -> View:
    return cast(LocalArrayType, value.type).data


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


# --- structs --------------------------------------------------------------------------------------


class DeclareStruct(ViewOperation):
    """A struct of scalars.

    It lives as long as the function runs, and only struct_get and struct_set use it: it is never passed on. Its
    fields have no defined value before they are set.

        %s = pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>
    """

    name = "pto.declare_struct"
    kinds = {"result": (StructType,)}
    arrow = True
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        for use in self.result.uses:
            if not isinstance(use.operation, StructGet | StructSet):
                message = f"a struct may only be used by pto.struct_get and pto.struct_set, not by {use.operation.name}"
                yield Problem(message, at=use.index, on=use.operation)


class StructGet(ViewOperation):
    """Reads a field of a struct.

    The path counts from 0: the field, then the field of that struct.

        %x = pto.struct_get %s[1, 0] : !pto.struct<i32, !pto.struct<f32, index>> -> f32
    """

    name = "pto.struct_get"
    form = "$struct[#path]"
    listed = ("struct",)
    kinds = {"struct": (StructType,)}
    struct = Operand()
    path = Property()
    result = Result()

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _field_problems(self.struct, integers_of(self, "path"), self.result, "result")


class StructSet(ViewOperation):
    """Writes a field of a struct.

    The path counts from 0: the field, then the field of that struct.

        pto.struct_set %s[0], %x : !pto.struct<i32, !pto.struct<f32, index>>, i32
    """

    name = "pto.struct_set"
    form = "$struct[#path], $value"
    listed = ("struct", "value")
    kinds = {"struct": (StructType,)}
    struct = Operand()
    value = Operand()
    path = Property()

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from _field_problems(self.struct, integers_of(self, "path"), self.value, "value")


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
