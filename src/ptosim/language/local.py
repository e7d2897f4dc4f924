"""Arrays and structures of scalars on the stack of the scalar unit.

They belong to one activation of the code that declares them: each time a declaration executes, its scalars are zero.
What is passed to a function is the array itself. Nothing else takes one, so that none outlives the code it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.printer import Printer

from ptosim.language.function import Call, Function
from ptosim.language.located import LocatedParser
from ptosim.language.operands import are_type
from ptosim.language.operation import Operand, Problem, Property, PTOOperation, Result, VariadicOperand
from ptosim.language.syntax import integers_of, parse_types
from ptosim.language.tile_types import LocalArrayType, StructType, View
from ptosim.language.types import element_of

INDEX = IndexType()

STACK_BYTES = 32 << 10
"""What the arrays and structures of a module may take together. Nothing is published; kernels that were seen use a few
words."""


def scalars_of(type_: Attribute) -> list[Attribute]:
    """The scalars of a structure, those of inner ones in their place; of a scalar type itself."""
    if isinstance(type_, StructType):
        return [scalar for field in type_.data for scalar in scalars_of(field)]
    return [type_]


def size_of(type_: Attribute) -> int:
    """The bytes of an array, a structure or a scalar."""
    if isinstance(type_, LocalArrayType):
        return _count(type_.data) * size_of(type_.data.element)
    return sum(element_of(scalar).bytes for scalar in scalars_of(type_))


def _count(view: View) -> int:
    count = 1
    for extent in view.shape:
        count *= extent or 0
    return count


Found = tuple[Operation, Problem]


def local_problems(module: ModuleOp) -> Iterator[Found]:
    """Arrays and structures stay where they are declared, and fit the stack."""
    taken = 0
    for op in module.walk():
        for value in (*op.results, *(argument for region in op.regions for argument in _arguments(region))):
            if isinstance(value.type, LocalArrayType | StructType):
                yield from _strays(op, value)
        if isinstance(op, Declaration) and op.is_typed:
            taken += size_of(op.result.type)
            if taken > STACK_BYTES:
                message = f"arrays and structures take {taken} bytes; the stack of the scalar unit has {STACK_BYTES}"
                yield op, Problem(message, kind="limit")
                return


def _arguments(region: Region) -> Sequence[SSAValue]:
    return region.block.args if region.blocks else ()


def _strays(op: Operation, value: SSAValue) -> Iterator[Found]:
    """A value that is neither declared nor a parameter of a function, and uses that could let one outlive its place."""
    if not isinstance(op, Declaration | Function):
        yield op, Problem(f"{op.name} cannot give {value.type}: {_STAYS}")
        return
    users = _ARRAY_USERS if isinstance(value.type, LocalArrayType) else _STRUCT_USERS
    for use in value.uses:
        if not isinstance(use.operation, users):
            yield use.operation, Problem(f"{use.operation.name} cannot take {value.type}: {_STAYS}")


_STAYS = "an array or structure stays in the function that declares it"


# --- declarations -----------------------------------------------------------------------------------------------------


class Declaration(PTOOperation):
    """`%a = NAME -> T`: an array or a structure comes to be."""

    placement = "outside"
    typed = False
    result = Result()
    declared: ClassVar[type[LocalArrayType] | type[StructType]]

    @classmethod
    def parse_signature(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        parser.parse_punctuation("->", f" and the type of what {cls.name} declares")
        return cls.results_of(parser, parse_types(parser))

    def print_rest(self, printer: Printer) -> None:
        super().print_rest(printer)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @property
    def is_typed(self) -> bool:
        return isinstance(self.result.type, self.declared)

    def rules(self, target: str) -> Iterator[Problem]:
        if not self.is_typed:
            yield Problem(f"{self.name} gives !{self.declared.name}, not {self.result.type}", at="result")


class DeclareLocalArray(Declaration):
    """Declare an array of scalars.

    The array lies on the stack of the scalar unit: each core has its own, and whenever the declaration executes all
    elements are zero. It may be passed to functions, which then work on the same elements; it cannot be returned,
    yielded or carried by a loop.

        %a = pto.declare_local_array -> !pto.local_array<2xi32>
    """

    name = "pto.declare_local_array"
    declared = LocalArrayType

    def facts(self) -> Mapping[str, Any]:
        assert isinstance(self.result.type, LocalArrayType)
        element = element_of(self.result.type.data.element)
        return {"elements": (element,) * _count(self.result.type.data)}


class DeclareStruct(Declaration):
    """Declare a structure of scalars.

    The structure lies on the stack of the scalar unit: each core has its own, and whenever the declaration executes all
    fields are zero. It stays where it is declared: functions and loops do not take it.

        %s = pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>
    """

    name = "pto.declare_struct"
    declared = StructType

    def facts(self) -> Mapping[str, Any]:
        return {"elements": tuple(element_of(scalar) for scalar in scalars_of(self.result.type))}


# --- arrays -----------------------------------------------------------------------------------------------------------


class _Element(PTOOperation):
    """One element of an array, chosen by as many indices as it has dimensions."""

    placement = "outside"
    array = Operand()
    indices = VariadicOperand()

    def facts(self) -> Mapping[str, Any]:
        assert isinstance(self.array.type, LocalArrayType)
        return {"shape": self.array.type.data.shape, "held": element_of(self.array.type.data.element)}

    def element_rules(self, scalar: Attribute, role: str) -> Iterator[Problem]:
        if not isinstance(self.array.type, LocalArrayType):
            yield Problem(f"array must be a !pto.local_array, not {self.array.type}", at="array")
            return
        view = self.array.type.data
        if len(self.indices) != view.rank:
            plural = "an index" if view.rank == 1 else f"{view.rank} indices"
            yield Problem(f"{self.array.type} takes {plural}, not {len(self.indices)}", at="array")
        yield from are_type(self, INDEX, "indices")
        if scalar != view.element:
            yield Problem(f"{role} has type {scalar}, but {self.array.type} holds {view.element}", at=role)


class LocalArrayGet(_Element):
    """Read an element of an array.

    There are as many indices as the array has dimensions. One outside of its dimension is `out-of-bounds`; a check goes
    on with 0.

        %a = pto.declare_local_array -> !pto.local_array<2xi32>
        %x = pto.local_array_get %a[%i] : !pto.local_array<2xi32> -> i32
    """

    name = "pto.local_array_get"
    form = "$array[$indices...]"
    listed = ("array",)
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        return self.element_rules(self.result.type, "result")


class LocalArraySet(_Element):
    """Write an element of an array.

    There are as many indices as the array has dimensions. One outside of its dimension is `out-of-bounds`; a check goes
    on without the write.

        %a = pto.declare_local_array -> !pto.local_array<2xi32>
        pto.local_array_set %a[%i], %x : !pto.local_array<2xi32>, i32
    """

    name = "pto.local_array_set"
    form = "$array[$indices...], $value"
    listed = ("array", "value")
    value = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        return self.element_rules(self.value.type, "value")


# --- structures -------------------------------------------------------------------------------------------------------


class _Field(PTOOperation):
    """One scalar of a structure, chosen by the position of its field, and of fields inside of that."""

    placement = "outside"
    struct = Operand()
    path = Property()

    def facts(self) -> Mapping[str, Any]:
        type_, position = self.struct.type, 0
        for step in integers_of(self, "path"):
            assert isinstance(type_, StructType)
            position += sum(len(scalars_of(field)) for field in type_.data[:step])
            type_ = type_.data[step]
        return {"position": position, "elements": tuple(map(element_of, scalars_of(self.struct.type)))}

    def field_rules(self, scalar: Attribute, role: str) -> Iterator[Problem]:
        if not isinstance(self.struct.type, StructType):
            yield Problem(f"struct must be a !pto.struct, not {self.struct.type}", at="struct")
            return
        found = _field_of(self.struct.type, integers_of(self, "path"))
        if isinstance(found, str):
            yield Problem(found, at="path")
        elif isinstance(found, StructType):
            yield Problem(f"the path ends at {found}; it must go on to a scalar", at="path")
        elif scalar != found:
            yield Problem(f"{role} has type {scalar}, but the field has type {found}", at=role)


def _field_of(type_: Attribute, path: Sequence[int]) -> Attribute | str:
    """What a path leads to, or what is wrong with it."""
    for step in path:
        if not isinstance(type_, StructType):
            return f"{type_} has no fields"
        if not 0 <= step < len(type_.data):
            return f"{type_} has {len(type_.data)} fields; there is no field {step}"
        type_ = type_.data[step]
    return type_


class StructGet(_Field):
    """Read a field of a structure.

    The integers are the position of the field, and of a field inside of that where it is a structure itself.

        %s = pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>
        %x = pto.struct_get %s[1, 0] : !pto.struct<i32, !pto.struct<f32, index>> -> f32
    """

    name = "pto.struct_get"
    form = "$struct[#path]"
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        return self.field_rules(self.result.type, "result")


class StructSet(_Field):
    """Write a field of a structure.

    The integers are the position of the field, and of a field inside of that where it is a structure itself.

        %s = pto.declare_struct -> !pto.struct<i32, !pto.struct<f32, index>>
        pto.struct_set %s[0], %x : !pto.struct<i32, !pto.struct<f32, index>>, i32
    """

    name = "pto.struct_set"
    form = "$struct[#path], $value"
    value = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        return self.field_rules(self.value.type, "value")


_ARRAY_USERS = (LocalArrayGet, LocalArraySet, Call)
_STRUCT_USERS = (StructGet, StructSet)
