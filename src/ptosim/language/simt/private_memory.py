"""The subset of `llvm.*` that front ends write for buffers of a workitem and for wide accesses: bytes behind addresses.

A pointer `!llvm.ptr` leads to private memory of the workitem, `!llvm.ptr<6>` to UB and `!llvm.ptr<1>` to GM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import Space
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, PTOOperation, Result
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.scalar import Constant
from ptosim.language.structure.scalar_form import FLOATS, INTEGERS, SCALARS
from ptosim.language.text.assembly_format import compare_types, parse_types, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import LLVMPointerType, element_name, element_of, is_packed, scalar_name

PERSISTENT = "pto.persistent"
BUFFER = "pto.buffer"
"""The offset of a persistent buffer among those of a workitem, in the functions that its sections become."""
MOST_PRIVATE = 64 << 10
"""Bytes of one private buffer."""


class PrivateOperation(PTOOperation):
    """An operation of the llvm dialect in the code of workitems."""

    simt = "inside"
    placement = "outside"
    targets = ("a5",)


class Alloca(PrivateOperation, name="llvm.alloca"):
    """Private buffer of a workitem.

    An array of constant length, not initialised. With {pto.persistent}, in the kernel before its sections, each
    workitem has one that survives from section to section.

        %b = llvm.alloca %n x f32 : (i32) -> !llvm.ptr
    """

    simt = "any"
    count = Operand()
    element_type = OptionalProperty()
    result = Result()

    @property
    def is_persistent(self) -> bool:
        return PERSISTENT in self.attributes

    @property
    def allocated(self) -> Attribute:
        """The type of the elements."""
        return self.element_type or self.attributes["elem_type"]

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return (constant_of(self.count) or 0) * element_of(self.allocated).bytes

    def facts(self) -> Mapping[str, Any]:
        return {"size": self.size, "buffer": self.integer(BUFFER)}

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        count = parser.parse_value("count", "i32")
        parser.parse_keyword("x")
        start = parser.pos
        type_ = parser.parse_type()
        parser.place("element_type", parser.span_since(start))
        return cls.parse_rest(parser, {"count": count}, {"element_type": type_})

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.count, " x ", self.allocated)
        printer.print_op_attributes(self.attributes)
        write(printer, " : (", self.count.type, ") -> ", self.result.type)

    def rules(self, target: str) -> Iterator[Problem]:
        if not isinstance(self.result.type, LLVMPointerType) or self.result.type.space is not None:
            yield Problem(f"{self.name} gives !llvm.ptr, not {self.result.type}", at="result")
        if not _has_bytes(self.allocated):
            yield Problem(f"{self.name} cannot have elements of {self.allocated}", at="element_type")
            return
        count = constant_of(self.count)
        if count is None or count < 1:
            yield Problem("the length of a private buffer is a positive constant", at="count")
        elif self.size > MOST_PRIVATE:
            yield Problem(
                f"a private buffer of {self.size} bytes; it has at most {MOST_PRIVATE}", at="count", kind="limit"
            )


class GetElementPtr(PrivateOperation, name="llvm.getelementptr"):
    """Address of an element.

    So many elements behind a pointer; the index is a constant, an i32 or an i64.

        %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    """

    base = Operand()
    index = OptionalOperand()
    constant = OptionalProperty()
    element_type = OptionalProperty()
    result = Result()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        while parser.parse_optional_keyword("inbounds") or parser.parse_optional_keyword("nuw"):
            pass
        operands = {"base": parser.parse_value("base")}
        properties: dict[str, Attribute] = {}
        parser.parse_punctuation("[", " before the index")
        start = parser.pos
        if parser.at(MLIRTokenKind.PERCENT_IDENT):
            operands["index"] = parser.parse_value("index", "i64")
        else:
            properties["constant"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
            parser.place("constant", parser.span_since(start))
        parser.parse_punctuation("]", " after the index: private memory has one index")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the type of the address")
        compare_types(parser, parse_types(parser), list(cls._written(operands)))
        parser.parse_punctuation("->")
        results = [parser.parse_type()]
        parser.parse_punctuation(",", " and the type of the elements")
        properties["element_type"] = parser.parse_type()
        return cls.make(operands, results, properties, attributes)

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.base, "[", self.index or str(self.integer("constant")), "]")
        printer.print_op_attributes(self.attributes)
        types = [value.type for value in (self.base, self.index) if value is not None]
        write(printer, " : (", types, ") -> ", self.result.type, ", ", self.stepped)

    @property
    def stepped(self) -> Attribute:
        """The type of the elements that the index counts."""
        return self.element_type or self.attributes["elem_type"]

    def facts(self) -> Mapping[str, Any]:
        return {"step": element_of(self.stepped).bytes, "constant": self.integer("constant")}

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _pointer(self, "base")
        if self.result.type != self.base.type:
            yield Problem(f"{self.name} gives {self.base.type}, not {self.result.type}", at="result")
        if self.index is not None and self.index.type not in (i32, i64):
            yield Problem(f"an index is i32 or i64, not {self.index.type}", at="index")
        if not _has_bytes(self.stepped):
            yield Problem(f"{self.name} cannot count elements of {self.stepped}")


class PrivateLoad(PrivateOperation, name="llvm.load"):
    """Load a scalar or vector.

    Its bytes, from private memory, UB or GM.

        %v = llvm.load %p : !llvm.ptr -> vector<4xf32>
    """

    pointer = Operand()
    volatile_ = OptionalProperty()
    result = Result()

    def facts(self) -> Mapping[str, Any]:
        return {"space": _space(self.pointer), "kind": element_of(self.result.type)}

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("volatile") is not None:
            properties["volatile_"] = UnitAttr()
        return cls.parse_rest(parser, {"pointer": parser.parse_value("pointer")}, properties)

    def print(self, printer: Printer) -> None:
        write(printer, " volatile " if self.volatile_ is not None else " ", self.pointer)
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.pointer.type, " -> ", self.result.type)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _pointer(self, "pointer")
        if not _has_bytes(self.result.type):
            yield Problem(f"{self.name} cannot load {self.result.type}", at="result")


class PrivateStore(PrivateOperation, name="llvm.store"):
    """Store a scalar or vector.

    Its bytes, to private memory, UB or GM.

        llvm.store %v, %p : vector<4xf32>, !llvm.ptr
    """

    value = Operand()
    pointer = Operand()
    volatile_ = OptionalProperty()

    def facts(self) -> Mapping[str, Any]:
        return {"space": _space(self.pointer), "kind": element_of(self.value.type)}

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("volatile") is not None:
            properties["volatile_"] = UnitAttr()
        value = parser.parse_value("value")
        parser.parse_punctuation(",", " before pointer")
        return cls.parse_rest(parser, {"value": value, "pointer": parser.parse_value("pointer")}, properties)

    def print(self, printer: Printer) -> None:
        write(printer, " volatile " if self.volatile_ is not None else " ", self.value, ", ", self.pointer)
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.value.type, ", ", self.pointer.type)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _pointer(self, "pointer")
        if not _has_bytes(self.value.type):
            yield Problem(f"{self.name} cannot store {self.value.type}", at="value")


class LLVMIntToPtr(PrivateOperation, name="llvm.inttoptr"):
    """Address of UB or GM as an LLVM pointer.

    The integer comes from pto.castptr of a pointer.

        %p = llvm.inttoptr %address : i64 to !llvm.ptr<6>
    """

    address = Operand("i64")
    result = Result()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        address = parser.parse_value("address", "i64")
        attributes = parser.parse_optional_attr_dict()
        return cls.make({"address": address}, _parse_to(parser, address), {}, attributes)

    def print(self, printer: Printer) -> None:
        _print_to(self, printer, self.address, self.result)

    def rules(self, target: str) -> Iterator[Problem]:
        type_ = self.result.type
        if not isinstance(type_, LLVMPointerType) or type_.space is None:
            yield Problem(f"{self.name} gives !llvm.ptr<6> (ub) or !llvm.ptr<1> (gm), not {type_}", at="result")


class LLVMBitcast(PrivateOperation, name="llvm.bitcast"):
    """Reinterpret bits of a scalar or vector.

    The same bits as another type of the same width.

        %r = llvm.bitcast %v : vector<2xf16> to i32
    """

    is_pure = True
    operand = Operand()
    result = Result()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        operand = parser.parse_value("operand")
        attributes = parser.parse_optional_attr_dict()
        return cls.make({"operand": operand}, _parse_to(parser, operand), {}, attributes)

    def print(self, printer: Printer) -> None:
        _print_to(self, printer, self.operand, self.result)

    def rules(self, target: str) -> Iterator[Problem]:
        given, wanted = self.operand.type, self.result.type
        for role, type_ in (("operand", given), ("result", wanted)):
            if scalar_name(type_) not in INTEGERS | FLOATS:
                yield Problem(f"{self.name} reinterprets scalars and vectors of them, not {type_}", at=role)
                return
        if element_of(given).bits != element_of(wanted).bits:
            yield Problem(f"{self.name} from {given} to {wanted}: both must have the same width")


class ExtractElement(PrivateOperation, name="llvm.extractelement"):
    """Element of a vector.

    By a number, which is below the length.

        %x = llvm.extractelement %v[%i : i32] : vector<4xf32>
    """

    is_pure = True
    vector = Operand()
    index = Operand()
    result = Result()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        vector = parser.parse_value("vector")
        index = _parse_index(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the type of the vector")
        _compare(parser, vector, "vector")
        part = getattr(vector.type, "element_type", vector.type)
        return cls.make({"vector": vector, "index": index}, [part], {}, attributes)

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.vector, "[", self.index, " : ", self.index.type, "]")
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.vector.type)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _indexed(self)
        if is_packed(self.vector.type) and element_name(self.result.type) != scalar_name(self.vector.type):
            yield Problem(f"{self.name} of {self.vector.type} does not give {self.result.type}", at="result")


class InsertElement(PrivateOperation, name="llvm.insertelement"):
    """Vector with another element.

    The vector, in which the element of a number is replaced.

        %w = llvm.insertelement %x, %v[%i : i32] : vector<4xf32>
    """

    is_pure = True
    value = Operand()
    vector = Operand()
    index = Operand()
    result = Result()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        value = parser.parse_value("value")
        parser.parse_punctuation(",", " before vector")
        vector = parser.parse_value("vector")
        index = _parse_index(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the type of the vector")
        _compare(parser, vector, "vector")
        return cls.make({"value": value, "vector": vector, "index": index}, [vector.type], {}, attributes)

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.value, ", ", self.vector, "[", self.index, " : ", self.index.type, "]")
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.vector.type)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _indexed(self)
        if is_packed(self.vector.type) and element_name(self.value.type) != scalar_name(self.vector.type):
            yield Problem(f"{self.name} into {self.vector.type} does not take {self.value.type}", at="value")
        if self.result.type != self.vector.type:
            yield Problem(f"{self.name} into {self.vector.type} gives it, not {self.result.type}", at="result")


class LLVMUndef(PrivateOperation, name="llvm.mlir.undef"):
    """Undefined value.

    Any bits; a check follows where they go.

        %u = llvm.mlir.undef : vector<4xf32>
    """

    is_pure = True
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        if not _has_bytes(self.result.type):
            yield Problem(f"{self.name} is a scalar or a vector of them, not {self.result.type}", at="result")


class LLVMConstant(Constant, name="llvm.mlir.constant"):
    """A literal, in parentheses.

    As arith.constant.

        %c = llvm.mlir.constant(1 : i32) : i32
    """

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parser.parse_punctuation("(")
        made = super().read(parser)
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the type of the constant")
        start = parser.pos
        type_ = parser.parse_type()
        if type_ != made.result.type:
            parser.raise_error(f"the literal has type {made.result.type}, not {type_}", parser.span_since(start))
        made.attributes.update(attributes)
        return made

    def print(self, printer: Printer) -> None:
        write(printer, "(", *self.literal(), ")")
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.result.type)


# --- what they share --------------------------------------------------------------------------------------------------


def _has_bytes(type_: Attribute) -> bool:
    """Whether values of a type can be stored."""
    return scalar_name(type_) in SCALARS - {"index", "i1", "i4"}


def _space(pointer: SSAValue) -> Space | None:
    """The target of a pointer; None for private memory."""
    return pointer.type.space if isinstance(pointer.type, LLVMPointerType) else None


def _pointer(op: PTOOperation, role: str) -> Iterator[Problem]:
    type_ = op.segment(role)[0].type
    if not isinstance(type_, LLVMPointerType):
        yield Problem(f"{role} must be an LLVM pointer, not {type_}", at=role)


def _indexed(op: ExtractElement | InsertElement) -> Iterator[Problem]:
    """A vector and the number of one of its elements."""
    if not is_packed(op.vector.type):
        yield Problem(f"{op.name} takes a vector, not {op.vector.type}", at="vector")
        return
    if not isinstance(op.index.type, IntegerType):
        yield Problem(f"the number of an element is an integer, not {op.index.type}", at="index")
    count, known = element_of(op.vector.type).count, constant_of(op.index)
    if known is not None and not 0 <= known < count:
        yield Problem(f"index is {known}; {op.vector.type} has elements 0 to {count - 1}", at="index")


def _parse_index(parser: LocatedParser) -> SSAValue:
    """`[%i : i32]`."""
    parser.parse_punctuation("[", " before the index")
    index = parser.parse_value("index", "i32")
    if parser.parse_optional_punctuation(":") is not None:
        _compare(parser, index, "index")
    parser.parse_punctuation("]", " after the index")
    return index


def _compare(parser: LocatedParser, value: SSAValue, role: str) -> None:
    """A type that is written for a value."""
    if not parser.same_type(type_ := parser.parse_type(), value):
        parser.report(f"{role} has type {value.type}, but {type_} is written", parser.place_of(role))


def _parse_to(parser: LocatedParser, operand: SSAValue) -> list[Attribute]:
    """`: T to U`."""
    parser.parse_punctuation(":", " and the type of the operand")
    _compare(parser, operand, "operand")
    parser.parse_keyword("to")
    return [parser.parse_type()]


def _print_to(op: PTOOperation, printer: Printer, operand: SSAValue, result: SSAValue) -> None:
    write(printer, " ", operand)
    printer.print_op_attributes(op.attributes)
    write(printer, " : ", operand.type, " to ", result.type)
