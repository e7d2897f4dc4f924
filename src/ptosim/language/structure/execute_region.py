"""The region that runs once, which may have several blocks like a function; behind the parser it has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.ir import Attribute
from xdsl.printer import Printer

from ptosim.language.operation import Body, Problem, PTOOperation, VariadicResult
from ptosim.language.structure.control import Yield
from ptosim.language.text.assembly_format import parse_types, types_of, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.structured_blocks import join_blocks


class ExecuteRegion(PTOOperation, name="scf.execute_region"):
    """Region that runs once.

    Runs its body where it stands; `scf.yield` at its end gives the results. `cf.br` and `cf.cond_br` may lead from one
    block of it to another.

        %r = scf.execute_region -> i32 { scf.yield %a : i32 }
    """

    implicit_end = Yield
    output = VariadicResult()
    region = Body()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parser.parse_optional_keyword("no_inline")
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            types = [type_ for type_, _ in parse_types(parser)]
        body = parser.parse_body()
        return cls.make({}, types, attributes=parser.parse_optional_attr_dict(), regions=[body])

    def close_regions(self, parser: LocatedParser) -> None:
        join_blocks(parser, self.region)
        super().close_regions(parser)

    def print(self, printer: Printer) -> None:
        if self.results:
            write(printer, " -> (", types_of(self.results), ")")
        write(printer, " ")
        printer.print_region(self.region, print_empty_block=False, print_block_terminators=bool(self.results))
        printer.print_op_attributes(self.attributes)

    def rules(self, target: str) -> Iterator[Problem]:
        if self.region.block.args:
            yield Problem(f"the region of {self.name} has no arguments")
