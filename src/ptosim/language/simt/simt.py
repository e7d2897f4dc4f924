"""Launches of workitems, the sections that are written in place of a function, and what orders workitems.

A launch is one entry of pipe V, as a vector scope is. What may stand in the code of workitems is said by each class
(`PTOOperation.simt`) and held by rules/simt_rules.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import CoreKind
from ptosim.language.analysis.fast_walk import around
from ptosim.language.operation import Body, Operand, Problem, Property, PTOOperation, VariadicOperand
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.function import Call, function_of
from ptosim.language.text.assembly_format import agreed_types, parse_types, write
from ptosim.language.text.located_parser import LocatedParser

DIMENSIONS = ("dim_x", "dim_y", "dim_z")
MOST_WORKITEMS = 2048
"""The most workitems of one launch."""
MAX_THREADS, MAX_REGISTERS = "pto.simt_max_threads", "pto.simt_max_regs"
"""Attributes of a function of workitems."""
DEFAULT_THREADS = 1024
"""The most workitems of a function that does not say how many it takes."""


def most_workitems(function: PTOOperation) -> int:
    """The most workitems of a function."""
    found = function.attributes.get(MAX_THREADS)
    return found.value.data if isinstance(found, IntegerAttr) else DEFAULT_THREADS  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def unfit(x: int, y: int, z: int, most: int) -> str | None:
    """Why a launch of these dimensions cannot be."""
    if x == y == z == 0:
        return "the call launches workitems, and no pto.store_vfsimt_info has stored dimensions before it"
    message = wrong_dimensions((x, y, z), most)
    return None if message is None else f"the launch has no such dimensions: {message}"


def wrong_dimensions(sizes: Sequence[int | None], most: int = MOST_WORKITEMS) -> str | None:
    """Problems of the dimensions of a launch, as far as they are known."""
    for name, size in zip("xyz", sizes, strict=True):
        if size is not None and size < 1:
            return f"dimension {name} is {size}; each must be at least 1"
    x, y, z = sizes
    if x is None or y is None or z is None or x * y * z <= most:
        return None
    limit = f"at most {most} workitems" if most < MOST_WORKITEMS else f"a launch has at most {MOST_WORKITEMS}"
    return f"{x} x {y} x {z} are {x * y * z} workitems; {limit}"


class SimtLaunch(Call, name="pto.simt_launch"):
    """Launch a function of workitems.

    Runs a pto.simt_entry function once for each workitem of three dimensions x, y, z. The launch is one entry of V: it
    takes its arguments by value and does not stop the scalar unit.

        pto.simt_launch @body<<<%x, %y, %z>>>(%p, %n) : (!pto.ptr<f32, ub>, i32) -> ()
    """

    simt = "outside"
    placement = "outside"
    cores = (CoreKind.AIV,)
    targets = ("a5",)
    dim_x = Operand("i32")
    dim_y = Operand("i32")
    dim_z = Operand("i32")
    arguments = VariadicOperand()

    @property
    def dimensions(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        return self.dim_x, self.dim_y, self.dim_z

    def facts(self) -> Mapping[str, Any]:
        return {"most": DEFAULT_THREADS if self.function is None else most_workitems(self.function)}

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parser.place("callee", parser.span_here())
        callee = SymbolRefAttr(parser.parse_symbol_name())
        _brackets(parser, "<")
        sizes: dict[str, SSAValue | list[SSAValue]] = {}
        for number, role in enumerate(DIMENSIONS):
            if number:
                parser.parse_punctuation(",", f" before {role}")
            sizes[role] = parser.parse_value(role, "i32")
        _brackets(parser, ">")
        parser.parse_punctuation("(")
        arguments = [] if parser.at(MLIRTokenKind.R_PAREN) else parser.parse_values("arguments")
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the type of the function")
        agreed_types(parser, parse_types(parser), arguments, "arguments")
        parser.parse_punctuation("->")
        results = [type_ for type_, _ in parse_types(parser)]
        return cls.make({**sizes, "arguments": arguments}, results, {"callee": callee}, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.symbol)
        write(printer, "<<<", list(self.dimensions), ">>>")
        printer.print_operands(self.arguments)
        printer.print_op_attributes(self.attributes)
        write(printer, " : (", [value.type for value in self.arguments], ") -> (", [r.type for r in self.results], ")")

    def rules(self, target: str) -> Iterator[Problem]:
        if self.results:
            yield Problem(f"{self.name} gives nothing: a function of workitems has no results", at="callee")
            return
        yield from super().rules(target)
        callee = self.function
        if callee is None:
            return
        if not callee.is_simt_entry:
            hint = f"write attributes {{pto.simt_entry}} behind the parameters of @{self.symbol}"
            yield Problem(f"@{self.symbol} is no pto.simt_entry function", at="callee", hint=hint)
        yield from _sizes(self, most_workitems(callee))


class StoreVfsimtInfo(PTOOperation, name="pto.store_vfsimt_info"):
    """Store the dimensions of launches that are written as calls.

    A func.call of a pto.simt_entry function launches it with the dimensions stored last. They are written z, y, x.

        pto.store_vfsimt_info %z, %y, %x : i32, i32, i32
    """

    form = "$dim_z:i32, $dim_y:i32, $dim_x:i32"
    placement = "outside"
    cores = (CoreKind.AIV,)
    targets = ("a5",)
    dim_z = Operand()
    dim_y = Operand()
    dim_x = Operand()

    @property
    def dimensions(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        return self.dim_x, self.dim_y, self.dim_z

    def rules(self, target: str) -> Iterator[Problem]:
        yield from _sizes(self, MOST_WORKITEMS)


def _sizes(op: SimtLaunch | StoreVfsimtInfo, most: int) -> Iterator[Problem]:
    sizes = [constant_of(value) for value in op.dimensions]
    for role, size in zip(DIMENSIONS, sizes, strict=True):
        if size is not None and size < 1:
            yield Problem(wrong_dimensions([size if role == each else None for each in DIMENSIONS]) or "", at=role)
            return
    if (message := wrong_dimensions(sizes, most)) is not None:
        yield Problem(f"{op.name}: {message}")


class SectionSimt(PTOOperation, name="pto.section.simt"):
    """Code of workitems, in place.

    A launch of its body with constant dimensions x, y, z. The body sees the values around it as they are when the
    section is issued; what it defines ends with it.

        pto.section.simt<<<32, 2, 1>>> { }
    """

    placement = "outside"
    cores = (CoreKind.AIV,)
    targets = ("a5",)
    dim_x = Property()
    dim_y = Property()
    dim_z = Property()
    body = Body()

    @property
    def sizes(self) -> tuple[int, int, int]:
        x, y, z = (self.integer(role) or 0 for role in DIMENSIONS)
        return x, y, z

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        _brackets(parser, "<")
        sizes: dict[str, Attribute | None] = {}
        for number, role in enumerate(DIMENSIONS):
            if number:
                parser.parse_punctuation(",", f" before {role}")
            start = parser.pos
            size = parser.parse_integer(allow_boolean=False)
            if abs(size) >= 1 << 31:
                parser.raise_error(f"{role} is {size}, which is no i32", parser.span_since(start))
            sizes[role] = IntegerAttr(size, i32)
            parser.place(role, parser.span_since(start))
        _brackets(parser, ">")
        before = parser.parse_keyword_attributes()
        body = parser.parse_body()
        return cls.make({}, (), sizes, before | parser.parse_optional_attr_dict(), [body])

    def print(self, printer: Printer) -> None:
        write(printer, f"<<<{', '.join(map(str, self.sizes))}>>>")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def rules(self, target: str) -> Iterator[Problem]:
        if self.body.block.args:
            yield Problem(f"the body of {self.name} has no arguments; it sees the values around it")
        function = function_of(self)
        if any(isinstance(each, SectionSimt) for each in around(self)):
            yield Problem(f"{self.name} cannot stand in another one")
        elif function is not None and function.is_simt_entry:
            yield Problem(f"{self.name} cannot stand in the pto.simt_entry function @{function.symbol}")
        for role, size in zip(DIMENSIONS, self.sizes, strict=True):
            if size < 0:
                yield Problem(f"{role} is {size}; dimensions are not negative", at=role)
                return
        if (message := wrong_dimensions(self.sizes)) is not None:
            yield Problem(f"{self.name}: {message}")


def _brackets(parser: LocatedParser, bracket: Any) -> None:
    for _ in range(3):
        parser.parse_punctuation(bracket, " of <<<x, y, z>>>")


class SyncThreads(PTOOperation, name="pto.syncthreads"):
    """Barrier of all workitems of the launch.

    Each waits until all are there; accesses of UB and GM before it are ordered before those behind it. A workitem that
    never comes, or a branch that only some take, makes the others wait for ever.

        pto.syncthreads
    """

    simt = "inside"
    placement = "outside"
    targets = ("a5",)


class ThreadFence(PTOOperation, name="pto.threadfence"):
    """Fence of one workitem for all cores.

    Orders its accesses of UB and GM before it ahead of those behind it, as others see them. It does not wait.

        pto.threadfence
    """

    simt = "inside"
    placement = "outside"
    targets = ("a5",)


class ThreadFenceBlock(PTOOperation, name="pto.threadfence_block"):
    """Fence of one workitem for its launch.

    As pto.threadfence, for the workitems of the same launch.

        pto.threadfence_block
    """

    simt = "inside"
    placement = "outside"
    targets = ("a5",)


def section_of(op: Operation) -> SectionSimt | None:
    """The section of workitems that an operation stands in."""
    return next((each for each in around(op) if isinstance(each, SectionSimt)), None)
