"""xDSL's lexer, quicker: one pattern reads the common tokens, everything else is left to xDSL.

Its pattern for strings is replaced, because it takes exponential time for a string that is not closed. Integers that no
type has room for by far are refused here, before anybody converts them, which takes quadratic time.
"""

from __future__ import annotations

import re
from contextlib import suppress

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind, StringLiteral

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

LONGEST_INTEGER = 100
"""Characters; an i64 needs 20 digits, and zeros may stand before them."""
_INTEGER = re.compile(r"#?(?:[su]?i)?(?:0x[0-9a-fA-F]+|[0-9]+)")
"""An integer, the number of a result (`#1`) or the width of a type (`i32`)."""
_NO_DIGIT = re.compile(r"(?:[ \t\n\r\f\v]|//[^\n]*)*+(\.[0-9]+)")


class Lexer(MLIRLexer):
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> Token[MLIRTokenKind, str]:
        found = _COMMON.match(self.input.content, self.pos)
        if found is None:
            if (number := _NO_DIGIT.match(self.input.content, self.pos)) is not None:
                message = f"a number begins with a digit: write 0{number[1]}"
                raise ParseError(Span(*number.span(1), self.input), message)
            token = _decoded(super().lex())
            start = token.span.start
        else:
            group = found.lastindex or 0
            kind = _KINDS[group]
            assert kind is not None
            start, self.pos = found.span(group)
            token = Token(kind, Span(start, self.pos, self.input))
        if self.pos - start > LONGEST_INTEGER and _INTEGER.fullmatch(token.text):
            raise ParseError(
                token.span, f"an integer of {len(token.text)} characters; no type holds more than 20 digits"
            )
        return token


def _decoded(token: Token[MLIRTokenKind, str]) -> Token[MLIRTokenKind, str]:
    """A string that escapes stand in for is a string still, where its bytes are text."""
    if token.kind is MLIRTokenKind.BYTES_LIT:
        with suppress(UnicodeDecodeError):
            _ = StringLiteral.from_span(token.span).string_contents
            return Token(MLIRTokenKind.STRING_LIT, token.span)
    return token
