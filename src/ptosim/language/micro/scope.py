"""Vector scopes and the sections of mixed kernels.

A scope is one launch on pipe V; the third way to write one is a loop with `llvm.loop.aivector_scope` (control.py). A
section holds the code of one kind of core; an engine that runs the other kind passes it over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import CoreKind
from ptosim.language.analysis.fast_walk import around
from ptosim.language.operation import Body, Problem, PTOOperation, VariadicOperand
from ptosim.language.rules.operand_rules import nth
from ptosim.language.text.assembly_format import agreed_types, parse_types
from ptosim.language.text.located_parser import LocatedParser


class _Region(PTOOperation):
    """`NAME { ... }`."""

    placement = "outside"
    body = Body()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        before = parser.parse_keyword_attributes()
        body = parser.parse_body()
        return cls.make({}, attributes=before | parser.parse_optional_attr_dict(), regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def rules(self, target: str) -> Iterator[Problem]:
        if self.body.block.args:
            yield Problem(f"the body of {self.name} has no arguments; it sees the values around it")


class VecScope(_Region, name="pto.vecscope"):
    """Vector scope.

    One vector function: a launch that does not stop the scalar unit. The body sees the values around it.

        pto.vecscope { }
    """

    cores = (CoreKind.AIV,)

    @property
    def is_scope(self) -> bool:
        return True


class StrictVecScope(PTOOperation, name="pto.strict_vecscope"):
    """Vector scope without capture.

    One vector function whose body sees only the values passed to it.

        pto.strict_vecscope(%ub, %n) { ^bb0(%p: !pto.ptr<f32, ub>, %m: i32): } : (!pto.ptr<f32, ub>, i32) -> ()
    """

    placement = "outside"
    cores = (CoreKind.AIV,)
    arguments = VariadicOperand()
    body = Body()

    @property
    def is_scope(self) -> bool:
        return True

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parser.parse_punctuation("(")
        arguments = [] if parser.at(MLIRTokenKind.R_PAREN) else parser.parse_values("arguments")
        parser.parse_punctuation(")")
        body = parser.parse_body()
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation(":") is not None:
            agreed_types(parser, parse_types(parser), arguments, "arguments")
            parser.parse_punctuation("->")
            parser.parse_punctuation("(")
            parser.parse_punctuation(")", ": a vector scope has no results")
        return cls.make({"arguments": arguments}, attributes=attributes, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_operands(self.arguments)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    def rules(self, target: str) -> Iterator[Problem]:
        received = self.body.block.args
        if len(received) != len(self.arguments):
            yield Problem(f"{len(self.arguments)} values are passed, but the body receives {len(received)}")
        else:
            for index, (inside, outside) in enumerate(zip(received, self.arguments, strict=True)):
                if inside.type != outside.type:
                    yield Problem(
                        f"the body receives value {index} as {inside.type}, but {outside.type} is passed",
                        at=nth("arguments", index),
                    )
        yield from self._captures()

    def _captures(self) -> Iterator[Problem]:
        for op in self.body.walk():
            for index, value in enumerate(op.operands):
                owner = value.owner
                block = owner.parent_block() if isinstance(owner, Operation) else owner
                if block is None or not self.body.block.is_ancestor(block):
                    yield Problem(
                        "a strict vector scope sees only what is passed to it",
                        at=index,
                        on=op,
                        hint="pass the value as an operand and receive it as an argument of the body",
                    )


class Section(_Region):
    """Code for one kind of core of a mixed kernel."""

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if any(isinstance(each, Section) for each in around(self)):
            yield Problem("a section cannot contain another")


class SectionVector(Section, name="pto.section.vector"):
    """Vector section of a mixed kernel.

    The code that both vector cores of a cluster run; `pto.get_subblock_idx` tells them apart.

        pto.section.vector { }
    """

    core = CoreKind.AIV


class SectionCube(Section, name="pto.section.cube"):
    """Cube section of a mixed kernel.

    The code that the cube core of a cluster runs.

        pto.section.cube { }
    """

    core = CoreKind.AIC
