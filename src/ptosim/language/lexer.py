"""xDSL's lexer, quicker: one pattern reads the common tokens, everything else is left to xDSL.

Its pattern for strings is replaced, because it takes exponential time for a string that is not closed.
"""

from __future__ import annotations

import re

from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

_SUFFIX = r"(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*)"

_GROUPS = (
    (r"[a-zA-Z_][a-zA-Z0-9_$.]*", MLIRTokenKind.BARE_IDENT),
    (f"%{_SUFFIX}", MLIRTokenKind.PERCENT_IDENT),
    (f"!{_SUFFIX}", MLIRTokenKind.EXCLAMATION_IDENT),
    (r",", MLIRTokenKind.COMMA),
    (r":", MLIRTokenKind.COLON),
    (r"<", MLIRTokenKind.LESS),
    (r">", MLIRTokenKind.GREATER),
    (r"->", MLIRTokenKind.ARROW),
    (r"=", MLIRTokenKind.EQUAL),
    (r"\(", MLIRTokenKind.L_PAREN),
    (r"\)", MLIRTokenKind.R_PAREN),
    (r"\[", MLIRTokenKind.L_SQUARE),
    (r"\]", MLIRTokenKind.R_SQUARE),
    (r"\{(?!-#)", MLIRTokenKind.L_BRACE),
    (r"\}", MLIRTokenKind.R_BRACE),
    (r"(?:[1-9][0-9]*(?![0-9.])|0(?![x0-9.]))", MLIRTokenKind.INTEGER_LIT),
)
_KINDS = (None, *(kind for _, kind in _GROUPS))
_COMMON = re.compile(r"(?:[ \t\n\r\f\v]|//[^\n]*)*+(?:" + "|".join(f"({pattern})" for pattern, _ in _GROUPS) + ")")


class Lexer(MLIRLexer):
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> Token[MLIRTokenKind, str]:
        found = _COMMON.match(self.input.content, self.pos)
        if found is None:
            return super().lex()
        group = found.lastindex or 0
        kind = _KINDS[group]
        assert kind is not None
        start, self.pos = found.span(group)
        return Token(kind, Span(start, self.pos, self.input))
