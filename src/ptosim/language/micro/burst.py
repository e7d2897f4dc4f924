"""Copies of rows: the clause `nburst(count, source, destination)` and what it may say, for every copy that has rows.

The copies themselves are in the rooms, dma and cube_load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

from xdsl.ir import SSAValue
from xdsl.printer import Printer

from ptosim.effects.burst import COUNT_LIMIT, SHORT_LIMIT
from ptosim.language.operation import Operand, OptionalProperty, Problem, PTOOperation, lint
from ptosim.language.rules.operand_rules import constants, nth
from ptosim.language.text import clauses
from ptosim.language.text.assembly_format import write
from ptosim.language.text.located_parser import LocatedParser

LOOPS = ("loop", "loop1", "loop2")

PREFETCH = "pto.sim.prefetch"
"""An attribute of copies without a use of their data: what they write is undefined."""


def burst_sizes(op: PTOOperation) -> Iterator[Problem]:
    """Copies do something; older descriptions of the fields of some have 16 bits."""
    for role in ("n_burst", "len_burst"):
        for place, known in constants(op, role):
            if known == 0:
                yield lint(f"{role} is 0: the copy does nothing", at=place)
            if SHORT_LIMIT < known <= COUNT_LIMIT and "source_gap" not in op.operand_roles:
                yield lint(f"{role} is {known}; some machines have 16 bits for it", at=place)


class GroupedCopy(PTOOperation):
    """Leading operands, `nburst(...)`, and the clauses that the class has."""

    placement = "outside"
    leading: ClassVar[tuple[str, ...]] = ("source", "dest", "len_burst")
    steps: ClassVar[tuple[str, str]] = ("source_stride", "dest_stride")
    slots: ClassVar[Sequence[Sequence[str]]] = (("nburst",),)
    source = Operand()
    dest = Operand()
    len_burst = Operand("i64")
    n_burst = Operand("i64")
    older = OptionalProperty()
    """Present if a pass has respelled an older copy: its limits remain, and it relies on registers."""

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        written: clauses.Written = []
        clauses.parse_leading(parser, written, *cls.leading)
        order = clauses.ClauseOrder(parser, cls.slots, frozenset(LOOPS))
        loops = 0
        parser.parse_optional_punctuation(",")
        while (word := order.next()) is not None:
            if word in LOOPS:
                roles = ("loop_counts", "loop_source_strides", "loop_dest_strides")
                clauses.parse_group(parser, written, *(nth(role, loops) for role in roles))
                loops += 1
            else:
                cls.parse_clause(parser, word, written)
            parser.parse_optional_punctuation(",")
        operands = clauses.by_role(written)
        if "n_burst" not in operands:
            parser.raise_error(f"expected 'nburst(n_burst, {', '.join(cls.steps)})' of {cls.name}")
        attributes, properties = cls.parse_dictionary(parser)
        clauses.parse_clause_types(parser, written, (*LOOPS, "pad"))
        return cls.make(operands, (), properties, attributes)

    @classmethod
    def parse_clause(cls, parser: LocatedParser, word: str, written: clauses.Written) -> None:
        if word == "nburst":
            clauses.parse_group(parser, written, "n_burst", *cls.steps)
        elif word == "l2_cache_ctl":
            clauses.parse_group(parser, written, "l2_cache_ctl")

    def print(self, printer: Printer) -> None:
        leading = [value for role in self.leading for value in self.segment(role)]
        write(printer, " ", leading)
        groups = list(self.groups())
        for word, values in groups:
            clauses.print_group(printer, word, values)
        printer.print_op_attributes(({"older": self.older} if self.older is not None else {}) | self.attributes)
        clauses.print_clause_types(
            printer, [("", leading), *((w if w in (*LOOPS, "pad") else "", v) for w, v in groups)]
        )

    def groups(self) -> Iterator[tuple[str, Sequence[SSAValue]]]:
        """The clauses as they are printed."""
        yield "nburst", [value for role in ("n_burst", *self.steps) for value in self.segment(role)]


class GranuleCopy(GroupedCopy):
    """Lengths and gaps in 32-byte granules."""

    steps = ("source_gap", "dest_gap")
    source_gap = Operand("i64")
    dest_gap = Operand("i64")

    def rules(self, target: str) -> Iterator[Problem]:
        return burst_sizes(self)
