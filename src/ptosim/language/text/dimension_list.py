"""Dimension lists of tile and view types: `16x?xf32`, or with blanks, `16 x ? x f32`."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.text.located_parser import LocatedParser


def parse_extents(parser: LocatedParser) -> list[int | None]:
    """The extents, None for those that only the run knows; an `x` behind the last one is left to what follows."""
    found: list[int | None] = []
    mark = parser.mark()
    while parser.at(MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.QUESTION):
        extent = parser.parse_shape_dimension()
        found.append(None if extent == DYNAMIC_INDEX else extent)
        mark = parser.mark()
        if not parser.span_here().text.startswith("x"):
            return found
        parser.parse_shape_delimiter()
    parser.rewind(mark)
    return found
