"""xDSL's parser with positions: operations and operands know where they were written, uses follow definitions.

The hooks into xDSL that are not public live in this one class; a test fails loudly when they change.
"""

from __future__ import annotations

import difflib
import re
from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import prod
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import AnyDenseElement, RankedStructure, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRTokenKind, PunctuationSpelling

from ptosim.diagnostics import Diagnostic, Source
from ptosim.language.analysis.fast_walk import QuickOperation
from ptosim.language.text.lexer import Lexer
from ptosim.language.text.location_forms import LocationForm, Position, comments, parse_location
from ptosim.language.text.not_simulated import INSTEAD, NOT_SIMULATED, TYPES_NOW, WITH_LOGICAL_VECTORS, refusal
from ptosim.language.types import same_type


class Unsupported(ParseError):
    """A name that exists in the wider PTO or MLIR surface but is outside this machine."""


_DIALECT = re.compile(r"(arith|scf|func|math|builtin|cf|affine|memref|llvm|tensor|vector|linalg|gpu|index)\.[\w.]+")

_SHORT = {"module": "builtin.module", "return": "func.return", "call": "func.call"}
"""Operations that may be written without their dialect."""


MOST_ELEMENTS = 65_536
"""The most elements of a dense literal: far more than any operation takes, and soon filled."""

_OUR_WORDS = {"Could not parse entire input!": "expected an operation or the end of the text"}
"""Messages of xDSL, with ours."""

_SIMPLE_TYPE = re.compile(r"!pto\.[\w.]++(?:<(?:[^<>]|<[^<>]*>)*+>|(?!\s*<))|[a-z][\w$.]*+")
"""The text of a type with at most one other type or attribute with brackets in it, or of one that is a word."""


class Readable(QuickOperation):
    """An operation class that takes part in reading the generic form."""

    @abstractmethod
    def settle(self, parser: LocatedParser) -> None:
        """Bring an operation that was read in the generic form to what its class declares."""

    def modernise(self) -> None:
        """Bring an older way of writing an operation to the current one, where the class knows of one."""


def _nearest(name: str, known: list[str]) -> str | None:
    """The name that was probably meant: one of the same dialect that is spelled alike."""
    dialect, _, word = name.partition(".")
    words = [other[len(dialect) + 1 :] for other in known if other.startswith(f"{dialect}.")]
    near = difflib.get_close_matches(word, words, 1)
    return f"{dialect}.{near[0]}" if near else None


class LocatedParser(Parser):
    """Records positions, rejects undefined values at their use, collects type-list mismatches for the verifier."""

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, "", source.name)
        self._parser_state = ParserState(Lexer(Input(source.text, source.name)))
        self.source = source
        self.positions: dict[Operation, Position] = {}
        self.definitions: dict[SSAValue, Span] = {}
        self.reports: list[Diagnostic] = []
        self.hints: list[tuple[SSAValue, Attribute]] = []
        self._open: list[Position] = []
        self._seen: dict[str, Span] = {}
        self._types: dict[str, TypeAttribute] = {}
        self.location_aliases: dict[str, LocationForm] = {}
        self.placed: list[tuple[int, LocationForm | None, Operation]] = []
        """The start of each operation, and its location."""
        self.named: list[tuple[LocationForm, SSAValue]] = []
        """Arguments that have one."""
        self._read_by_xdsl: tuple[int, LocationForm | None] = (-1, None)
        self._comments = list(comments(source.text))[::-1]
        self._last_end = 0

    # --- operations ---------------------------------------------------------------------------------------------------

    def parse_operation(self) -> Operation:
        first = self.span_here()
        comment = self._comment_before(first.start)
        bound = self._parse_op_result_list()
        position = Position(self.span_here())
        generic = self.at(MLIRTokenKind.STRING_LIT)
        name = self.parse_optional_identifier_or_str_literal()
        if name is None:
            self.raise_error("expected the name of an operation", position.name.start, position.name.end)
        self._open.append(position)
        op_type = self._operation_class(_SHORT.get(name, name), position.name)
        op = self._parse_generic_operation(op_type) if generic else op_type.parse(self)
        end, form = self._read_by_xdsl
        form = (form if end == self._last_end else None) or self.parse_optional_loc() or comment
        self.placed.append((first.start, form, op))
        position.start, position.end = first.start, self._last_end
        self.positions[op] = position
        if isinstance(op, Readable):
            if generic:
                op.settle(self)
            op.modernise()
        self._open.pop()
        self._bind(op, bound, first)
        return op

    def _comment_before(self, start: int) -> LocationForm | None:
        """The place that a comment gives to the operation that begins here: the last since the one before."""
        found = None
        while self._comments and self._comments[-1][0] <= start:
            found = LocationForm(self._comments.pop()[1])
        return found

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        """The names in front of an operation. What is not followed by one is mostly an operand too many before it."""
        first = self.span_here()
        try:
            return super()._parse_op_result_list()
        except ParseError as problem:
            if problem.span.start > self._current_token.span.start:  # of the text that comes, which is no token
                raise
            message = f"expected '=' after the result {first.text}; the operation before it takes no such operand"
            self.raise_error(message, first)

    def _operation_class(self, name: str, span: Span) -> type[Operation]:
        found = self.ctx.get_optional_op(name)
        if found is not None and (name not in WITH_LOGICAL_VECTORS or "pto.vmi." in self.source.text):
            return found
        if (message := refusal(name)) is not None:
            raise Unsupported(span, message)
        full = name if "." in name else f"pto.{name}"
        if full in INSTEAD:
            self.raise_error(f"unknown operation '{name}': {INSTEAD[full]}", span)
        if found is None and self.ctx.get_optional_op(full) is not None:
            self.raise_error(f"unknown operation '{name}'; did you mean '{full}'?", span)
        near = _nearest(name, [op.name for op in self.ctx.loaded_ops if op is not found])
        hint = f"; did you mean '{near}'?" if near else ""
        if _DIALECT.fullmatch(name):
            hint = f": {NOT_SIMULATED[name]}" if name in NOT_SIMULATED else hint
            raise Unsupported(span, f"'{name}' is not part of the language{hint}")
        self.raise_error(f"unknown operation '{name}'{hint}", span)

    def _bind(self, op: Operation, bound: list[tuple[Span, int]], first: Span) -> None:
        """Give the results their names."""
        count = sum(size for _, size in bound)
        if bound and count != len(op.results):
            self.raise_error(f"{op.name} has {len(op.results)} results, but {count} are named", first)
        start = 0
        for span, size in bound:
            self._register_ssa_definition(span.text[1:], op.results[start : start + size], span)
            start += size

    def place_implicit(self, op: Operation) -> None:
        """An operation that the text leaves out stands where the operation being read stands."""
        self.positions[op] = Position(self._open[-1].name)

    def parse_body(self, arguments: Sequence[Parser.Argument] | None = None) -> Region:
        """A region as the text has it; `close_regions` of the operation sees that it is one block."""
        if not self.at(MLIRTokenKind.L_BRACE):
            self.raise_error("expected '{' and a body", self.span_here())
        return self.parse_region(arguments)

    def parse_keyword_attributes(self) -> dict[str, Attribute]:
        """`attributes {...}`, if present."""
        found = self.parse_optional_attr_dict_with_keyword()
        return dict(found.data) if found is not None else {}

    def parse_optional_location(self) -> None:
        """Parses a location of a block argument, or at the end of an operation in the generic form."""
        if (form := self.parse_optional_loc()) is not None:
            self._read_by_xdsl = self._last_end, form

    def parse_optional_loc(self) -> LocationForm | None:
        """`loc(...)`, if present."""
        if self.parse_optional_keyword("loc") is None:
            return None
        self.parse_punctuation("(")
        form = parse_location(self)
        if self.parse_optional_punctuation(")") is None:
            self.raise_error("expected ')'")
        return form

    def _parse_block(self) -> Block:
        """Parses a block; refuses text that is neither an operation nor the end of the region."""
        if self.at(MLIRTokenKind.EOF):
            self.raise_error("expected '}': the text ends inside a region")
        if not self.at(MLIRTokenKind.CARET_IDENT):
            self.raise_error("expected an operation or '}'")
        label = self._consume_token().span
        name = label.text[1:]
        if name in self.blocks and name not in self.forward_block_references:
            self.raise_error(f"^{name} is already defined", label.start, label.end)
        block = self._get_block_from_name(label)
        self.forward_block_references.pop(name)
        self._parse_optional_block_arg_list(block)
        self.parse_punctuation(":")
        self._parse_block_body(block)
        return block

    def parse_optional_successor(self) -> Block | None:
        """A label, which may be a number too."""
        label = self._parse_optional_token(MLIRTokenKind.CARET_IDENT)
        return None if label is None else self._get_block_from_name(label.span)

    def _parse_file_metadata_dictionary(self) -> NoReturn:
        raise Unsupported(self.span_here(), "a kernel has no use for the resources of a file, {-# ... #-}")

    def _parse_alias_def(self) -> None:
        """`#name = ...` or `!name = ...` at the top level."""
        name = self._consume_token()
        if name.text in self.attribute_aliases or name.text in self.location_aliases:
            self.raise_error(f"{name.text} is already defined", name.span)
        self.parse_punctuation("=", " after an alias")
        if (form := self.parse_optional_loc()) is not None:
            self.location_aliases[name.text] = form
        else:
            self.attribute_aliases[name.text] = self.parse_attribute()

    def parse_optional_type(self) -> TypeAttribute | None:
        """A type; one that was read before in the same spelling is not read again."""
        start = self.pos
        spelling = _SIMPLE_TYPE.match(self.source.text, start)
        if spelling is not None and (known := self._types.get(spelling[0])) is not None:
            self._last_end = spelling.end()
            self._resume_from(self._last_end)
            return known
        with self._reading("type"):
            found = super().parse_optional_type()
        if found is not None:
            self._types[self.source.text[start : self._last_end]] = found
        return found

    def parse_optional_attribute(self) -> Attribute | None:
        with self._reading("attribute"):
            return super().parse_optional_attribute()

    def _parse_dense_literal_type(self) -> RankedStructure[AnyDenseElement]:
        """The type of a dense literal, which xDSL then fills with as many elements as it says."""
        start = self.pos
        type_ = super()._parse_dense_literal_type()
        if prod(type_.get_shape()) > MOST_ELEMENTS:
            self.raise_error(f"a dense literal has at most {MOST_ELEMENTS} elements", self.span_since(start))
        return type_

    @contextmanager
    def _reading(self, what: str) -> Generator[None]:
        """xDSL verifies types and attributes while it reads them, and raises what it likes at what it does not know."""
        start = self.span_here()
        try:
            yield
        except ParseError:
            raise
        except Exception as problem:
            raise ParseError(start, f"this {what} cannot be read: {problem}") from problem

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ):
        if is_type and "." in attr_name and self.ctx.get_optional_type(attr_name) is None:
            span = self.span_since(self._last_end - len(attr_name) - 1)
            if attr_name in TYPES_NOW:
                self.raise_error(f"'!{attr_name}' is an old name: write !{TYPES_NOW[attr_name]}", span)
            near = _nearest(attr_name, [type_.name for type_ in self.ctx.loaded_types])
            hint = f"; did you mean '!{near}'?" if near else ""
            self.raise_error(f"unknown type '!{attr_name}'{hint}", span)
        return super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)

    # --- positions ----------------------------------------------------------------------------------------------------

    def parse_optional_unresolved_operand(self) -> UnresolvedOperand | None:
        operand = super().parse_optional_unresolved_operand()
        if operand is not None and self._open:
            self._open[-1].operands.append(operand.span)
        return operand

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        if name in self.ssa_values:
            line, _ = self.source.position(self._seen[name].start)
            self.raise_error(f"%{name} is already defined, in line {line}", span)
        self.ssa_values[name] = tuple(values)
        self._seen[name] = span
        for value in values:
            self.definitions[value] = span

    # The next four are called for every token, and say in one step what xDSL says in several.

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None):
        state = self._parser_state
        token = state.current_token
        assert expected_kind is None or token.kind is expected_kind
        state.current_token = state.lexer.lex()
        self._last_end = token.span.end
        return token

    def _parse_optional_token(self, expected_kind: MLIRTokenKind):
        return self._consume_token() if self._parser_state.current_token.kind is expected_kind else None

    def parse_optional_punctuation(self, punctuation: PunctuationSpelling) -> PunctuationSpelling | None:
        found = self._parse_optional_token(KIND_BY_PUNCTUATION_SPELLING[punctuation])
        return None if found is None else punctuation

    def parse_punctuation(self, punctuation: PunctuationSpelling, context_msg: str = "") -> PunctuationSpelling:
        if self._parse_optional_token(KIND_BY_PUNCTUATION_SPELLING[punctuation]) is None:
            self.raise_error(f"Expected '{punctuation}'{context_msg}", self._current_token.span)
        return punctuation

    def span_since(self, start: int) -> Span:
        """From an offset to the end of the token read last."""
        return Span(start, self._last_end, self.lexer.input)

    def raise_error(self, msg: str, at_position: Span | int | None = None, end_position: int | None = None) -> NoReturn:
        """Raises an error; text that is missing at the end of a line is reported there, not at the first token of the
        next.
        """
        msg = _OUR_WORDS.get(msg, msg)
        here = self._current_token.span
        if (at_position is None or at_position is here) and "\n" in self.source.text[self._last_end : here.start]:
            at_position = self._last_end
        if isinstance(at_position, int):
            at_position = Span(at_position, at_position if end_position is None else end_position, self.lexer.input)
        raise ParseError(here if at_position is None else at_position, msg)

    # --- values -------------------------------------------------------------------------------------------------------

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        value = self._defined(operand)
        if not self.same_type(type, value):
            self.report(f"%{operand.operand_name} has type {value.type}, but is used as {type}", operand.span)
        return value

    def parse_value(self, role: str | None = None, type_: str = "T") -> SSAValue:
        """An operand, with the type it was defined with; `role` names it for diagnostics, `type_` what it may be of."""
        if self.at(MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT):
            number = self._current_token.text
            define = f"write %c = arith.constant {number} : {type_} before it, and %c here"
            self.raise_error(f"expected {role or 'operand'}: an SSA value such as %x, not a number; {define}")
        operand = self.parse_unresolved_operand(f"expected {role or 'operand'}: an SSA value such as %x")
        if role is not None:
            self.place(role, operand.span)
        return self._defined(operand)

    def parse_values(self, role: str) -> list[SSAValue]:
        """Operands separated by commas."""
        values = [self.parse_value(f"{role}[0]")]
        while self.parse_optional_punctuation(",") is not None:
            values.append(self.parse_value(f"{role}[{len(values)}]"))
        return values

    def place(self, role: str, span: Span) -> None:
        """Remember where an operand or word of the current operation was written."""
        if self._open:
            self._open[-1].roles[role] = span

    def place_of(self, role: str) -> Span:
        """The place of an operand, word or attribute of the current operation, else of the operation itself."""
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
        word = self.parse_bracketed_word()
        value = self.parse_attribute() if word is None else StringAttr(word)
        self.place(name, self.span_since(start.start))
        return name, value

    def parse_bracketed_word(self) -> str | None:
        """`<vec>`, if present: a word whose kind follows from its place."""
        if self.parse_optional_punctuation("<") is None:
            return None
        word = self.parse_identifier()
        self.parse_punctuation(">")
        return word

    def _find_duplicated_key(self, attrs: list[tuple[str, Attribute]]) -> str | None:
        if (name := super()._find_duplicated_key(attrs)) is not None:
            self.raise_error(f"{name} is given twice", self.place_of(name) if self._open else None)
        return None

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
        name = operand.operand_name
        self.raise_error(f"%{name} is not defined here{self._explanation(name, operand.span)}", operand.span)

    def _explanation(self, name: str, span: Span) -> str:
        """Why a value is not visible: it went out of sight, comes later, or has another name."""
        if name in self._seen:
            line, _ = self.source.position(self._seen[name].start)
            return f": the region that defines it, in line {line}, has ended"
        results = r"(?:%[\w$.-]+(?::\d+)?\s*,\s*)*"
        later = re.compile(rf"^\s*{results}(%{re.escape(name)})(?::\d+)?\s*[=,]", re.MULTILINE)
        if found := later.search(self.source.text, span.end):
            line, _ = self.source.position(found.start(1))
            return f": its definition follows in line {line}"
        near = difflib.get_close_matches(name, self.ssa_values, 1)
        return f"; did you mean %{near[0]}?" if near else ""

    # --- tokens -------------------------------------------------------------------------------------------------------

    def at(self, *kinds: MLIRTokenKind) -> bool:
        return self._current_token.kind in kinds

    def at_name(self) -> bool:
        """Whether the text goes on with a bare name that is not the next operation, nor its own location."""
        text = self._current_token.text
        return self.at(MLIRTokenKind.BARE_IDENT) and "." not in text and text not in (*_SHORT, "loc")

    def at_word(self, text: str) -> bool:
        return self._current_token.text == text

    def text_ahead(self, pattern: str) -> str | None:
        """The first group of a pattern, matched against the text from the next token on."""
        found = re.compile(pattern).match(self.source.text, self._current_token.span.start)
        return found[1] if found else None

    def text_follows(self, pattern: str) -> bool:
        """Whether the text from here on begins with a pattern."""
        return re.compile(pattern).match(self.source.text, self.pos) is not None

    def parse_optional_integer(self, allow_boolean: bool = True, allow_negative: bool = True) -> int | None:
        """An integer, which no type has room for beyond 64 bits."""
        start = self.mark()
        number = super().parse_optional_integer(allow_boolean, allow_negative)
        if number is not None and not -(1 << 63) <= number < 1 << 64:
            self.raise_error(f"{number} does not fit into 64 bits", self.span_since(start))
        return number

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

    # --- reports ------------------------------------------------------------------------------------------------------

    def same_type(self, listed: Attribute, value: SSAValue) -> bool:
        """Whether a value has the type that is listed for it, as far as both are known; inference reads the list."""
        if listed == value.type:
            return True
        if not same_type(listed, value.type):
            return False
        self.hints.append((value, listed))
        return True

    def report(self, message: str, span: Span) -> None:
        """An error that does not stop parsing: it joins those of the verifier."""
        location = self.source.location(span.start, max(1, span.end - span.start))
        self.reports.append(Diagnostic("invalid", "error", message, location))
