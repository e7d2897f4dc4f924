"""Elements of tiles as scalars, and the mode of f32 products: operations of the scalar unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.printer import Printer

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import Operand, OptionalProperty, Problem, Result, lint
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.rules.tile_place_rules import lies_in, unsigned_name
from ptosim.language.rules.tile_rules import name_of
from ptosim.language.text.assembly_format import parse_listed_type, write
from ptosim.language.text.call_syntax import CallOperation
from ptosim.language.text.clauses import by_role
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import parse_clause, print_dictionary
from ptosim.language.tile.tile_operation import TileOperation


class _Element(TileOperation):
    """A tile and the number of an element, counted as they lie in memory."""

    pipes = (Pipe.S,)

    def offset_rules(self, role: str) -> Iterator[Problem]:
        known, tile = constant_of(self.segment("offset")[0]), self.tile(role)
        elements = tile.size // tile.element_bytes
        if known is not None and not 0 <= known < elements:
            yield Problem(f"offset is {known}; {role} has elements 0..{elements - 1}", "offset", "out-of-bounds")


class TGetVal(_Element, name="pto.tgetval"):
    """Read an element of a tile.

    The offset counts elements as they lie in memory. It is a load of the scalar unit.

        %x = pto.tgetval ins(%t, %i : !pto.tile_buf<vec, 16x64xf32>, index) outs : f32
    """

    outs = ()
    scalars = ("offset",)
    src = Operand()
    offset = Operand("index|i32|i64")
    result = Result()

    @classmethod
    def usage(cls) -> str:
        return f"%result = {cls.name} ins(%src, %offset : TILE, SCALAR) outs : TYPE"

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        clause = parse_clause(parser, "ins")
        written = by_role(list(cls.placed(parser, clause)))
        parser.parse_keyword("outs", " before the type of the element")
        parser.parse_punctuation(":")
        span = parser.span_here()
        type_ = parse_listed_type(parser)
        parser.place("result", span)
        attributes = parser.parse_optional_attr_dict()
        properties = cls.settled(parser, attributes)
        return cls.make(written, [type_], properties, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        self.print_ins(printer, {})
        write(printer, ") outs : ", self.result.type)
        print_dictionary(printer, self.attributes, self.words)

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from lies_in(self, "src", "vec")
        yield from self.offset_rules("src")
        expected = self.tile("src").element
        if unsigned_name(self.result.type) != unsigned_name(expected):
            message = f"{self.name} gives an element of src, {name_of(expected)}, not {self.result.type}"
            yield Problem(message, at="result")


class TSetVal(_Element, name="pto.tsetval"):
    """Write an element of a tile.

    The offset counts elements as they lie in memory. It is a store of the scalar unit.

        pto.tsetval ins(%i, %x : index, f32) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    """

    scalars = ("offset", "scalar")
    partly_writes = ("dst",)
    offset = Operand("index|i32|i64")
    scalar = Operand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from self.offset_rules("dst")
        expected, found = self.tile("dst").element, self.scalar.type
        if unsigned_name(found) != unsigned_name(expected):
            message = f"scalar is {found}, but an element of dst is {name_of(expected)}"
            yield lint(message, at="scalar_type", hint="the assembler does not compare the two")


class SetTf32Mode(CallOperation, name="pto.settf32mode"):
    """Let later f32 products round their operands to TF32.

    `enable` switches it on or off. On a2a3 it has no effect.

        pto.settf32mode {enable = true}
    """

    absorbed = "the products behind it are lowered with its mode"
    bare = True
    pipes = (Pipe.S,)
    cores = (CoreKind.AIC,)
    flags = ("enable",)
    defaults = {"enable": True}
    enable = OptionalProperty()
    mode = OptionalProperty()
