"""Masks of logical vectors: of the first lanes, of all, of the first of each group. Logic on masks: vmi_arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.printer import Printer

from ptosim.language.logical_types import LogicalMaskType
from ptosim.language.operation import OptionalProperty, Problem, Property, Result
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.text.assembly_format import types_of, write
from ptosim.language.text.generic_form import SEGMENTS
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.vmi.vmi_operation import VmiOperation, divides


class VmiFirst(VmiOperation, name="pto.vmi.create_mask"):
    """The first n lanes of a logical mask.

    n is signed and taken as 0 where it is negative, as all where there are fewer lanes.

        %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<100xpred>
    """

    form = "$count:index -> $result:truths"


class VmiFirstOfGroups(VmiOperation, name="pto.vmi.create_group_mask"):
    """The first n lanes of each group of a logical mask.

    Lane i is active where i modulo group_size is below n. The groups make up all lanes.

        %m = pto.vmi.create_group_mask %n {num_groups = 4, group_size = 25} : index -> !pto.vmi.mask<100xpred>
    """

    form = "$count:index -> $result:truths"
    num_groups = Property()
    group_size = Property()

    def shapes(self) -> Iterator[Problem]:
        groups, size, lanes = self.integer("num_groups"), self.integer("group_size"), self.lanes("result")
        if groups is None or size is None or groups < 1 or size < 1:
            yield Problem(f"num_groups and group_size of {self.name} are positive integers", at="num_groups")
        elif groups * size != lanes:
            message = f"{groups} groups of {size} lanes are not the {lanes} lanes of the mask"
            yield Problem(message, at="num_groups")


class _Pattern(VmiOperation):
    form = "-> $result:truths"
    pattern = Property()
    group = OptionalProperty()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        start = parser.pos
        word = parser.parse_optional_str_literal()
        if word is None:
            parser.raise_error(f'expected the pattern of {cls.name}, such as "PAT_ALL"', parser.span_here())
        parser.place("pattern", parser.span_since(start))
        return cls.parse_rest(parser, {}, {"pattern": StringAttr(word)})

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{self.word("pattern")}"')
        shown = {name: value for name, value in self.properties.items() if name not in ("pattern", SEGMENTS)}
        printer.print_op_attributes({**shown, **self.attributes})
        write(printer, " : ", types_of(self.results))

    def shapes(self) -> Iterator[Problem]:
        yield from divides(self, "result")
        yield from self.pattern_rules(self.word("pattern") or "")

    def pattern_rules(self, pattern: str) -> Iterator[Problem]:
        """Checks that a pattern exists."""
        return iter(())


class VmiAll(_Pattern, name="pto.vmi.pset"):
    """All lanes of a logical mask.

    PAT_ALL is the only pattern.

        %m = pto.vmi.pset "PAT_ALL" : !pto.vmi.mask<100xpred>
    """

    def pattern_rules(self, pattern: str) -> Iterator[Problem]:
        if pattern != "PAT_ALL":
            yield Problem(f"{self.name} knows the pattern PAT_ALL only, not {pattern}", at="pattern")
        type_ = self.type_of("result")
        if isinstance(type_, LogicalMaskType) and type_.width is not None:
            message = f"{self.name} gives a mask of lanes of any width: write !pto.vmi.mask<{type_.lanes}xpred>"
            yield Problem(message, at="result")


class VmiFirstByName(_Pattern, name="pto.vmi.pge"):
    """The first n lanes of a logical mask, or of each group of it, n being a part of the pattern.

    PAT_VLn, n from 1 to the number of lanes.

        %m = pto.vmi.pge "PAT_VL8" {group = 4} : !pto.vmi.mask<100xpred>
    """

    @property
    def count(self) -> int | None:
        found = re.fullmatch(r"PAT_VL([1-9]\d{0,5})", self.word("pattern") or "")
        return int(found[1]) if found else None

    def pattern_rules(self, pattern: str) -> Iterator[Problem]:
        if self.count is None or self.count > self.lanes("result"):
            message = f"{self.name} knows the patterns PAT_VL1 to PAT_VL{self.lanes('result')}, not {pattern}"
            yield Problem(message, at="pattern")


class VmiTail(VmiOperation, name="pto.vmi.plt"):
    """The first lanes of a logical mask, as many as remain, and what remains behind them.

    Of a negative number no lane is active and nothing remains.

        %m, %rest = pto.vmi.plt %remaining : i32 -> !pto.vmi.mask<100xpred>, i32
    """

    form = "$count:i32 -> $result:truths, $rest:i32"
    result = Result()
    rest = Result()


def is_all_true(mask: SSAValue) -> bool:
    """Whether a mask is known to have every lane active."""
    op = mask.owner
    if not isinstance(op, VmiOperation) or not isinstance(mask.type, LogicalMaskType):
        return False
    match op:
        case VmiAll():
            return True
        case VmiFirst():
            return (constant_of(op.operands[0]) or 0) >= mask.type.lanes
        case VmiFirstByName():
            return op.count == mask.type.lanes
        case _:
            return False
