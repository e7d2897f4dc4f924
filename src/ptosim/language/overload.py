"""Instructions that two generations wrote with different operands: which role each operand plays follows from the list.

The form of such a class serves the printer; its `parse` calls `parse_overloaded`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.located import LocatedParser
from ptosim.language.operation import PTOOperation
from ptosim.language.syntax import parse_word

OperationT = TypeVar("OperationT", bound=PTOOperation)

Assignment = Callable[[list[Attribute]], tuple[str, ...]]
"""From the types of the operands, in the order written, to their roles."""


def parse_overloaded(cls: type[OperationT], parser: Parser, assign: Assignment, word: str | None = None) -> OperationT:
    """Operands separated by commas, perhaps a word behind them, then what follows in every instruction."""
    assert isinstance(parser, LocatedParser)
    values: list[tuple[SSAValue, Span]] = []
    properties: dict[str, Attribute] = {}
    more = True
    while more:
        if word is not None and values and not parser.at(MLIRTokenKind.PERCENT_IDENT):
            properties[word] = StringAttr(parse_word(parser, word, cls.words[word]))
            break
        span = parser.span_here()
        values.append((parser.parse_value(), span))
        more = parser.parse_optional_punctuation(",") is not None
    roles = assign([value.type for value, _ in values])
    if len(roles) != len(values):
        expected = ", ".join(roles)
        parser.raise_error(f"{cls.name} takes {len(roles)} operands ({expected}), not {len(values)}", values[-1][1])
    for role, (_, span) in zip(roles, values, strict=True):
        parser.place(role, span)
    operands = {role: value for role, (value, _) in zip(roles, values, strict=True)}
    return cls.parse_rest(parser, operands, properties)
