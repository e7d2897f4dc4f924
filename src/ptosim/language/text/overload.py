"""Instructions that two generations wrote with different operands: which role each operand plays follows from the list.

The form of such a class serves the printer, which leaves out what is not there.
"""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.operation import SEGMENTS, PTOOperation, Segments
from ptosim.language.text.assembly_format import parse_word
from ptosim.language.text.located_parser import LocatedParser


class Overloaded(PTOOperation):
    """An instruction whose operands are separated by commas, perhaps with a word behind them."""

    last_word: ClassVar[str | None] = None

    @classmethod
    def assign(cls, types: list[Attribute]) -> tuple[str, ...]:
        """The roles of operands of these types, in the order written; as many as the form that is meant has."""
        raise AssertionError(f"{cls.name} does not say which operand is which")

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        values: list[tuple[SSAValue, Span]] = []
        properties: dict[str, Attribute] = {}
        more = True
        while more:
            if cls.last_word is not None and values and not parser.at(MLIRTokenKind.PERCENT_IDENT):
                properties[cls.last_word] = StringAttr(parse_word(parser, cls.last_word, cls.words[cls.last_word]))
                break
            span = parser.span_here()
            values.append((parser.parse_value(), span))
            more = parser.parse_optional_punctuation(",") is not None
        roles = cls._roles_of([value for value, _ in values], parser, values[-1][1])
        for role, (_, span) in zip(roles, values, strict=True):
            parser.place(role, span)
        operands = {role: value for role, (value, _) in zip(roles, values, strict=True)}
        return cls.parse_rest(parser, operands, properties)

    @classmethod
    def _roles_of(cls, values: list[SSAValue], parser: LocatedParser, span: Span) -> tuple[str, ...]:
        roles = cls.assign([value.type for value in values])
        if len(roles) != len(values):
            message = f"{cls.name} takes {len(roles)} operands ({', '.join(roles)}), not {len(values)}"
            parser.raise_error(message, span)
        return roles

    def settle_operands(self, parser: LocatedParser) -> None:
        """The generic form has the operands in the order of the text, whatever it says of segments."""
        values = list(self.operands)
        found = dict(zip(self._roles_of(values, parser, parser.place_of("")), values, strict=True))
        self.operands = [found[role] for role in self.operand_roles if role in found]
        self.properties[SEGMENTS] = Segments(tuple(int(role in found) for role in self.operand_roles))
