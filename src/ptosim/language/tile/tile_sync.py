"""Synchronisation in terms of tiles: waits for what touches them, and arrays of event ids.

Flags, barriers and events between pipes are in sync.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Self

from xdsl.dialects.builtin import IndexType, StringAttr, i32, i64
from xdsl.ir import Attribute
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import Pipe
from ptosim.language.micro.sync import BARRIER_EVENT_TYPES, pipe_of
from ptosim.language.operation import Operand, OptionalProperty, Problem, Result, VariadicOperand, lint
from ptosim.language.rules.operand_rules import constant_of, nth
from ptosim.language.text.assembly_format import Vocabulary, parse_types, parse_word
from ptosim.language.text.clauses import by_role
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import parse_clause
from ptosim.language.tile.tile_family import VectorTile
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import EventIdArrayType, PartitionViewType, TileBufType
from ptosim.language.tile.view_operation import Operands, ViewOperation
from ptosim.target import load_target

_OVERLAPPING = (Pipe.MTE2, Pipe.MTE3, Pipe.ALL)
"""The pipes of a5 whose entries may overlap, so that a barrier orders something."""


_MOVES = {"TSTORE": "TSTORE_VEC", "TMOV": "TMOV_M2L", "TEXTRACT": "TMOV_M2L", "TINSERT": "TMOV_V2M"}
"""The class of operations that run on one of several pipes."""


def _classes(parser: LocatedParser) -> Vocabulary:
    """The classes, and the names of operations, as the instruction pages write them: `TADD` is of the class TVEC."""
    word = parser.text_ahead(r"<\s*(T[A-Z][A-Z0-9_]*)\s*>")
    if word is None or word in BARRIER_EVENT_TYPES.aliases:
        return BARRIER_EVENT_TYPES
    meant = _MOVES.get(word)
    found = parser.ctx.get_optional_op(f"pto.{word.lower()}")
    if meant is None and found is not None:
        if issubclass(found, VectorTile):
            meant = "TVEC"
        elif word.startswith(("TMATMUL", "TGEMV")):
            meant = "TMATMUL"
    if meant is None:
        return BARRIER_EVENT_TYPES
    aliases = BARRIER_EVENT_TYPES.aliases
    return replace(BARRIER_EVENT_TYPES, aliases={**aliases, word: aliases[meant]})


class TSync(TileOperation, name="pto.tsync"):
    """Wait for what touches tiles.

    What is issued later, on any pipe, starts after everything issued before that touches a byte of the tiles or views.
    Other tiles are not waited for. With the class of an operation in place of tiles it is a barrier of the pipe of that
    class.

        pto.tsync ins(%a, %b : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>)
    """

    pipes = (Pipe.S,)
    outs = ()
    untyped = ("tiles",)
    words = {"op_class": BARRIER_EVENT_TYPES}
    tiles = VariadicOperand()
    op_class = OptionalProperty()

    @classmethod
    def usage(cls) -> str:
        return f"{cls.name} ins(%tile, ... : TYPES), or {cls.name}<CLASS>"

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        if parser.at(MLIRTokenKind.LESS):
            word = StringAttr(parse_word(parser, "op_class", _classes(parser)))
            return cls.make({}, (), {"op_class": word}, parser.parse_optional_attr_dict())
        if not parser.at(MLIRTokenKind.PERCENT_IDENT):
            clause = parse_clause(parser, "ins")
            return cls.build(parser, by_role(list(cls.placed(parser, clause))), parser.parse_optional_attr_dict())
        values = parser.parse_values("tiles")
        if parser.parse_optional_punctuation(":") is not None:
            for index, (_, span) in enumerate(parse_types(parser)):
                parser.place(f"{nth('tiles', index)}_type", span)
        return cls.build(parser, {"tiles": values}, parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        if (word := self.word("op_class")) is None:
            super().print(printer)
        else:
            printer.print_string(f"<{word}>")
            printer.print_op_attributes(self.attributes)

    def tile_rules(self, target: str) -> Iterator[Problem]:
        for index, value in enumerate(self.tiles):
            if not isinstance(value.type, TileBufType | PartitionViewType):
                place = nth("tiles", index)
                message = f"{self.name} expects {place} to be a tile or a partition view, not {value.type}"
                hint = "there are no values for events: pto.record_event and pto.wait_event name them"
                yield Problem(message, at=place, hint=hint)
        if self.op_class is not None and target == "a5" and pipe_of(self, "op_class") not in _OVERLAPPING:
            message = f"entries of {self.word('op_class')} end in order on a5: {self.name} has no effect"
            yield lint(message, at="op_class")


# --- arrays of event ids ----------------------------------------------------------------------------------------------


class DeclareEventIdArray(ViewOperation, name="pto.declare_eventid_array"):
    """An array of event ids.

    Its elements have no defined value before they are set.

        %ids = pto.declare_eventid_array -> !pto.eventid_array<2>
    """

    absorbed = ""
    kinds = {"result": (EventIdArrayType,)}
    arrow = True
    result = Result()


class _EventId(ViewOperation):
    absorbed = ""
    kinds = {"array": (EventIdArrayType,)}
    array = Operand()
    index = Operand()

    def view_rules(self, target: str) -> Iterator[Problem]:
        known, array = constant_of(self.index), self.array.type
        if known is not None and isinstance(array, EventIdArrayType) and not 0 <= known < array.data:
            yield Problem(f"index is {known}; it must be 0..{array.data - 1}", at="index")


class EventIdArrayGet(_EventId, name="pto.eventid_array_get"):
    """Reads an event id.

    For pto.set_flag_dyn and pto.wait_flag_dyn.

        %id = pto.eventid_array_get %ids[%i] : !pto.eventid_array<2> -> index
    """

    form = "$array[$index:index|i32|i64]"
    listed = ("array",)
    result = Result()

    @classmethod
    def inferred(
        cls, parser: LocatedParser, operands: Operands, properties: Mapping[str, Attribute]
    ) -> list[Attribute]:
        return [IndexType()]

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from super().view_rules(target)
        if self.result.type not in (IndexType(), i32, i64):
            yield Problem(f"an event id is index, i32 or i64, not {self.result.type}", at="result")


class EventIdArraySet(_EventId, name="pto.eventid_array_set"):
    """Writes an event id.

    Ids are 0 to 7.

        pto.eventid_array_set %ids[%i], %id : !pto.eventid_array<2>, index
    """

    form = "$array[$index:index|i32|i64], $value:index|i32|i64"
    listed = ("array", "value")
    value = Operand()

    def view_rules(self, target: str) -> Iterator[Problem]:
        yield from super().view_rules(target)
        known = constant_of(self.value)
        ids = load_target(target).sync.event_ids
        if known is not None and not 0 <= known < ids:
            yield Problem(f"value is {known}; event ids are 0..{ids - 1}", at="value", kind="id-range")
