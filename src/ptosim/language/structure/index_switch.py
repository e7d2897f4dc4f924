"""One of several regions by an index, which only kernels on logical vectors have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Region
from xdsl.printer import Printer

from ptosim.language.operation import Operand, Problem, Property, PTOOperation, VariadicResult
from ptosim.language.structure.control import Yield
from ptosim.language.text.assembly_format import integers_of, parse_types, types_of, write
from ptosim.language.text.located_parser import LocatedParser


class IndexSwitch(PTOOperation, name="scf.index_switch"):
    """Choice among regions by an index.

    The region of the case that the index is, else the default one; `scf.yield` at its end gives the results.

        %r = scf.index_switch %i -> i32 case 2 { scf.yield %a : i32 } default { scf.yield %b : i32 }
    """

    implicit_end = Yield
    index = Operand("index")
    cases = Property()
    output = VariadicResult()

    @property
    def numbers(self) -> Sequence[int]:
        """The index of each region but the last, which is the default one."""
        return integers_of(self, "cases")

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        index = parser.parse_value("index", "index")
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            types = [type_ for type_, _ in parse_types(parser)]
        cases: list[int] = []
        regions: list[Region] = []
        while parser.parse_optional_keyword("case") is not None:
            cases.append(parser.parse_integer(allow_boolean=False))
            regions.append(parser.parse_body())
        parser.parse_keyword("default")
        regions.append(parser.parse_body())
        numbers = DenseArrayBase.from_list(i64, cases)
        return cls.make({"index": index}, types, {"cases": numbers}, attributes, regions)

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.operands[0])
        printer.print_op_attributes(self.attributes)
        if self.results:
            write(printer, " -> (", types_of(self.results), ")")
        for number, region in zip((*self.numbers, None), self.regions, strict=True):
            write(printer, " default " if number is None else f" case {number} ")
            printer.print_region(region, print_empty_block=False, print_block_terminators=bool(self.results))

    def rules(self, target: str) -> Iterator[Problem]:
        if len(set(self.numbers)) < len(self.numbers):
            yield Problem(f"{self.name} has two regions for one index", at="cases")
        if any(region.block.args for region in self.regions):
            yield Problem(f"the regions of {self.name} have no arguments")
