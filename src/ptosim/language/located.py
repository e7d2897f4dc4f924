"""xDSL's parser with positions: operations and operands know where they were written, uses follow definitions.

The hooks into xDSL that are not public live in this one class; a test fails loudly when they change.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.diagnostics import Diagnostic, Location, Source
from ptosim.language.types import same_type


@dataclass
class Position:
    """Where an operation was written: its name, its operands in the order of the text, and by role."""

    name: Span
    operands: list[Span] = field(default_factory=list[Span])
    roles: dict[str, Span] = field(default_factory=dict[str, Span])


class Unsupported(ParseError):
    """A name that exists in the wider PTO surface but is outside this machine."""


OUTSIDE = re.compile(
    r"pto\.(t[a-z]\w*|comm\..*|simt\..*|section\.simt|ldg|stg|load|store|get_tid_\w+|get_laneid|syncthreads|threadfence\w*)"
)


class LocatedParser(Parser):
    """Records positions, rejects undefined values at their use, collects type-list mismatches for the verifier."""

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, source.text, source.name)
        self.source = source
        self.positions: dict[Operation, Position] = {}
        self.definitions: dict[SSAValue, Span] = {}
        self.reports: list[Diagnostic] = []
        self._open: list[Position] = []
        self._last_end = 0

    # --- positions --------------------------------------------------------------------------------

    def parse_operation(self) -> Operation:
        position = Position(self._name_span())
        self._open.append(position)
        op = super().parse_operation()
        self._open.pop()
        self.positions[op] = position
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if self._open:
            end = self._last_end
            self._open[-1].name = Span(end - len(name), end, self.lexer.input)
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is not None:
            return found
        span = self._open[-1].name
        if OUTSIDE.fullmatch(name):
            raise Unsupported(
                span, f"'{name}' belongs to a part of PTO that is not simulated (tile, communication or SIMT level)"
            )
        near = difflib.get_close_matches(name, [op.name for op in self.ctx.loaded_ops], 1)
        self.raise_error(f"unknown operation '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""), span)

    def _name_span(self) -> Span:
        return self._current_token.span

    def parse_optional_unresolved_operand(self) -> UnresolvedOperand | None:
        operand = super().parse_optional_unresolved_operand()
        if operand is not None and self._open:
            self._open[-1].operands.append(operand.span)
        return operand

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            self.definitions[value] = span

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None):
        token = super()._consume_token(expected_kind)
        self._last_end = token.span.end
        return token

    @property
    def previous_end(self) -> int:
        """Offset just after the token read last."""
        return self._last_end

    # --- values -----------------------------------------------------------------------------------

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        value = self._defined(operand)
        if not same_type(type, value.type):
            self.report(f"%{operand.operand_name} has type {value.type}, but is used as {type}", operand.span)
        return value

    def parse_value(self, role: str | None = None) -> SSAValue:
        """An operand, with the type it was defined with; `role` names it for diagnostics."""
        operand = self.parse_unresolved_operand(f"expected {role or 'operand'}: an SSA value such as %x")
        if role is not None:
            self.place(role, operand.span)
        return self._defined(operand)

    def place(self, role: str, span: Span) -> None:
        """Remember where an operand or word of the current operation was written."""
        if self._open:
            self._open[-1].roles[role] = span

    def place_of(self, role: str) -> Span:
        """Where an operand, word or attribute of the current operation was written, else the operation itself."""
        position = self._open[-1]
        return position.roles.get(role, position.name)

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        start = self.span_here()
        name = self.parse_optional_identifier_or_str_literal()
        if name is None:
            self.raise_error("expected the name of an attribute", start)
        if self.parse_optional_punctuation("=") is None:
            self.place(name, start)
            return name, UnitAttr()
        start = self.span_here()
        value = self.parse_attribute()
        self.place(name, Span(start.start, self._last_end, self.lexer.input))
        return name, value

    def _defined(self, operand: UnresolvedOperand) -> SSAValue:
        values = self.ssa_values.get(operand.operand_name)
        if values is None:
            self._undefined(operand)
        if operand.index >= len(values):
            self.raise_error(
                f"%{operand.operand_name} has {len(values)} results; there is no #{operand.index}", operand.span
            )
        return values[operand.index]

    def _undefined(self, operand: UnresolvedOperand) -> NoReturn:
        near = difflib.get_close_matches(operand.operand_name, self.ssa_values, 1)
        hint = f"; did you mean %{near[0]}?" if near else ""
        self.raise_error(f"%{operand.operand_name} is not defined here{hint}", operand.span)

    # --- tokens -----------------------------------------------------------------------------------

    def at(self, *kinds: MLIRTokenKind) -> bool:
        return self._current_token.kind in kinds

    def at_word(self, text: str) -> bool:
        return self._current_token.text == text

    def skip_token(self) -> str:
        return self._consume_token().text

    def span_here(self) -> Span:
        return self._current_token.span

    def mark(self) -> int:
        return self._current_token.span.start

    def rewind(self, mark: int) -> None:
        self._resume_from(mark)

    def parse_repetition(self) -> int:
        """`x5` after a type: how often it is meant. 1 when absent."""
        token = self._current_token
        if token.kind == MLIRTokenKind.BARE_IDENT and re.fullmatch(r"x[1-9]\d?", token.text):
            self._consume_token()
            return int(token.text[1:])
        return 1

    # --- reports ----------------------------------------------------------------------------------

    def location(self, span: Span) -> Location:
        line, column = self.source.position(span.start)
        return Location(self.source.name, line, column, max(1, span.end - span.start), self.source)

    def report(self, message: str, span: Span) -> None:
        """An error that does not stop parsing: it joins those of the verifier."""
        self.reports.append(Diagnostic("invalid", "error", message, self.location(span)))
