"""Reads on behind a syntax error, at the next operation: one reading finds the first errors of a text that is wrong.

A text without an error never comes here: `parser.parse` reads it once, as far as it goes. An operation that cannot be
read leaves values unknown; operations that use these are left out without a word, for they may be right.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Operation
from xdsl.parser import UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.diagnostics import Source
from ptosim.language.text.located_parser import LocatedParser, Position

MOST_ERRORS = 20

_OPERATION = (MLIRTokenKind.PERCENT_IDENT, MLIRTokenKind.BARE_IDENT, MLIRTokenKind.STRING_LIT)
"""The beginning of an operation."""
_NAME = re.compile(r"%[\w.$-]+")
_RESULTS = r"(?:%[\w.$-]+(?:\s*:\s*\d+)?\s*,\s*)*%[\w.$-]+(?:\s*:\s*\d+)?\s*="
_BEGINS = re.compile(
    rf"[ \t]*(?:{_RESULTS}|(?:pto|arith|scf|func|cf|math|builtin|llvm)\.[\w.]+(?!\s*=)|(?:return|call|module)\b"
    r'|"[\w.]+"\s*\(|\}|\^)'
)
"""The beginning of a line with an operation, the end of a region or a block."""
_REGION = re.compile(r"\{(?=[ \t]*(?://[^\n]*)?(?:\n|$))")
"""A brace at the end of a line, which opens a region."""

_CLOSES = re.compile(r"[^\n{]*?(?=\})")
"""The rest of a line up to the end of the region that it stands in."""


class _Follows(ParseError):
    """An operation that cannot be read because an earlier one could not."""


class _Enough(Exception):
    """The end of reading: as many errors as are told."""


class RecoveringParser(LocatedParser):
    """Collects errors instead of ending with the first; `positions` and `definitions` have what could be read."""

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, source)
        self.errors: list[ParseError] = []
        self._unread: set[str] = set()
        """Names of values that an operation defines which could not be read."""
        self._failures = 0
        """Operations that could not be read, so far."""

    def read_on(self) -> list[ParseError]:
        """The errors of the whole text, up to MOST_ERRORS."""
        with suppress(_Enough):
            while not self.at(MLIRTokenKind.EOF):
                try:
                    self.parse_module()
                except ParseError as problem:  # between operations
                    if self.at(MLIRTokenKind.FILE_METADATA_BEGIN):
                        break
                    if not self._failures:  # a brace too many is what an operation leaves that could not be read
                        self._tell(problem)
                    self._go_on(self._next_beginning(max(self._current_token.span.end, self._reached(problem))))
        return self.errors

    def parse_optional_operation(self) -> Operation | None:
        """An operation, or what stands where one could; the end of a region or a block is left to the caller."""
        if self.at(MLIRTokenKind.R_BRACE, MLIRTokenKind.EOF, MLIRTokenKind.CARET_IDENT):
            return None
        if not self._open and not self.at(*_OPERATION):
            return super().parse_optional_operation()
        start, depth, failures = self.mark(), len(self._open), self._failures
        scopes = self.ssa_values, self.blocks, self.forward_block_references
        try:
            if not self.at(*_OPERATION):
                self.raise_error("expected an operation or '}'")
            return self.parse_operation()
        except ParseError as problem:
            if failures == self._failures:  # otherwise it may be what the failure inside it has led to
                self._tell(problem)
            del self._open[depth:]
            self.ssa_values, self.blocks, self.forward_block_references = scopes
            self._failures += 1
            self._leave_out(start, max(start, self._reached(problem)))
            return self._left_out(start)

    def _left_out(self, start: int) -> Operation:
        """A placeholder for an operation that could not be read, so that the region around it has one there."""
        op = UnrealizedConversionCastOp.get([], [])
        self.positions[op] = Position(Span(start, start + 1, self._current_token.span.input))
        return op

    def _tell(self, problem: ParseError) -> None:
        if isinstance(problem, _Follows):
            return
        if problem.span.start not in (one.span.start for one in self.errors):
            self.errors.append(problem)
        if len(self.errors) == MOST_ERRORS:
            raise _Enough

    def _reached(self, problem: ParseError) -> int:
        """The end of the text that was read: errors of the lexer lie ahead of the token that was read last."""
        if isinstance(problem, MultipleSpansParseError):
            return self._last_end
        ahead = problem.span.start if problem.span.start > self._current_token.span.start else 0
        return max(self._last_end, ahead)

    def _leave_out(self, start: int, reached: int) -> None:
        """Go on behind an operation that could not be read; the operations inside it are read for their own errors."""
        text = self.source.text
        braces = text.count("{", start, reached) - text.count("}", start, reached)
        closing = None if braces else _CLOSES.match(text, reached)  # of a body in one line
        end = closing.end() if closing else self._next_beginning(reached)
        start = text.rfind("\n", 0, start) + 1
        opened = [found.end() for found in _REGION.finditer(text, self._last_end, end)]  # which the lexer may have left
        self._unread |= {name[1:] for name in _NAME.findall(text, start, end) if name[1:] not in self.ssa_values}
        self._go_on(opened[-1] if opened else end)
        if opened:
            self._read_inside()

    def _read_inside(self) -> None:
        """The operations of a region whose beginning could not be read, and of those that follow it directly."""
        values = self.ssa_values.copy()
        while not self.at(MLIRTokenKind.R_BRACE, MLIRTokenKind.EOF):
            if self.parse_optional_operation() is None and not self.at(MLIRTokenKind.R_BRACE, MLIRTokenKind.EOF):
                self._go_on(self._next_beginning(self._current_token.span.end, label=False))
        self.ssa_values = values
        if self.at(MLIRTokenKind.R_BRACE):
            closing = self._current_token.span.end
            line_end = self.source.text.find("\n", closing)
            if again := _REGION.search(self.source.text, closing, line_end if line_end >= 0 else len(self.source.text)):
                self._go_on(again.end())
                self._read_inside()
            else:
                self._go_on(self._next_beginning(closing))

    def _next_beginning(self, start: int, label: bool = True) -> int:
        """The start of the next line that can be read; the rest of this line is left out."""
        text = self.source.text
        at = start
        while (newline := text.find("\n", at)) >= 0:
            found = _BEGINS.match(text, newline + 1)
            if found and (label or not found[0].lstrip().startswith("^")):
                return newline + 1
            at = newline + 1
        return len(text)

    def _go_on(self, start: int) -> None:
        """Read on from an offset, or from the first line behind it that the lexer can begin with."""
        while True:
            try:
                self._resume_from(start)
            except ParseError as problem:
                self._tell(problem)
                newline = self.source.text.find("\n", max(start, problem.span.start))
                start = newline + 1 if newline >= 0 else len(self.source.text)
            else:
                self._last_end = start
                return

    def _undefined(self, operand: UnresolvedOperand) -> NoReturn:
        if operand.operand_name in self._unread or (self._failures and operand.operand_name in self._seen):
            raise _Follows(operand.span, "")
        super()._undefined(operand)
