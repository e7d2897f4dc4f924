"""A small assembly format: one string says how an instruction is written, and both parser and printer follow it.

A form consists of

    $role       an operand            @name      a word: "X", <X>, #pto.kind<X>, #pto<kind X> or X; a string property
    $role...    several of them       , [ ] ( )  punctuation
    #name       integers              word =     a keyword, perhaps with a sign of equality
    { ... }     optional, present when its first operand or word is
    $role:T     an operand of type T, or of one of several types (`$id:index|i64`); T may also be a kind of types (vreg,
                mask, align) or, of a pointer, the memory that it leads to (`$pointer:gm|ub`)
    -> ...      the results, in the same way: `-> $result:vreg{, $next}`

After the form every instruction may have an attribute dictionary (for properties that the form does not place) and a
type list. Operands have the type they were defined with, so the type list is only compared with them; it may be short,
may leave out offsets of type `index`, and may say `!pto.ptr` or `!pto.mask<G>` for a type that is to be worked out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    UnregisteredAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import AddressSpaceAttr, PtrType, is_open, parse_pointer_body, pointer_of_memref


@dataclass(frozen=True)
class Vocabulary:
    """The words that a property may be, older spellings of them, and how the printer writes one."""

    words: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    printed: str = '"{}"'
    bare: str | None = None
    """The word meant by a kind without a parameter, such as `#pto.pipe`."""
    illegal: tuple[str, ...] = ()
    """Words that parse although no instruction takes them: a rule reports them, with a kind of its own."""
    also: tuple[str, ...] = ()
    """Aliases that are no older than the words they stand for: messages name them, too."""

    @property
    def known(self) -> str:
        """The name in messages."""
        return ", ".join((*self.words, *self.also))


@dataclass(frozen=True)
class OperandToken:
    role: str
    several: bool = False
    types: str = ""


@dataclass(frozen=True)
class WordToken:
    role: str


@dataclass(frozen=True)
class Integers:
    role: str


@dataclass(frozen=True)
class Literal:
    text: str


@dataclass(frozen=True)
class Keyword:
    text: str
    equals: bool


@dataclass(frozen=True)
class Group:
    elements: tuple[Element, ...]


Element = OperandToken | WordToken | Integers | Literal | Keyword | Group

_TOKEN = re.compile(
    r"\$(?P<operand>\w+)(:(?P<types>[\w|]+))?(?P<several>\.\.\.)?|@(?P<word>\w+)|#(?P<integers>\w+)"
    r"|(?P<literal>[\[\](),])|(?P<keyword>\w+)(?P<equals> =)?|(?P<open>\{)|(?P<close>\})"
)


@cache
def compile_form(form: str) -> tuple[Element, ...]:
    """The elements of a form string, up to the results."""
    elements, _ = _compile(list(_TOKEN.finditer(form.partition("->")[0])), 0)
    return elements


def compile_results(form: str) -> tuple[Element, ...]:
    """The results of a form string."""
    return compile_form(form.partition("->")[2])


def _compile(tokens: list[re.Match[str]], position: int) -> tuple[tuple[Element, ...], int]:
    elements: list[Element] = []
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if token["close"]:
            break
        if token["open"]:
            inner, position = _compile(tokens, position)
            elements.append(Group(inner))
        elif token["operand"]:
            elements.append(OperandToken(token["operand"], token["several"] is not None, token["types"] or ""))
        elif token["word"]:
            elements.append(WordToken(token["word"]))
        elif token["integers"]:
            elements.append(Integers(token["integers"]))
        elif token["keyword"]:
            elements.append(Keyword(token["keyword"], token["equals"] is not None))
        else:
            elements.append(Literal(token["literal"]))
    return tuple(elements), position


def placed(elements: tuple[Element, ...]) -> Iterator[OperandToken | WordToken | Integers]:
    """The operands, words and integers of a form, in the order written."""
    for element in elements:
        match element:
            case Group(inner):
                yield from placed(inner)
            case OperandToken() | WordToken() | Integers():
                yield element
            case Literal() | Keyword():
                pass


@dataclass
class Parsed:
    """The parsed text of one instruction."""

    operands: dict[str, SSAValue | list[SSAValue]] = field(default_factory=dict[str, SSAValue | list[SSAValue]])
    words: dict[str, str] = field(default_factory=dict[str, str])
    integers: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def properties(self) -> dict[str, Attribute]:
        """The words and integers as attributes."""
        integers = {name: DenseArrayBase.from_list(i64, numbers) for name, numbers in self.integers.items()}
        return {**{name: StringAttr(word) for name, word in self.words.items()}, **integers}


# --- parsing ----------------------------------------------------------------------------------------------------------


def parse_form(parser: LocatedParser, elements: tuple[Element, ...], words: Mapping[str, Vocabulary]) -> Parsed:
    """The text of the form of an operation, up to its attributes and types."""
    parsed = Parsed()
    _parse_elements(parser, elements, words, parsed, [item.role for item in elements if isinstance(item, OperandToken)])
    if parser.at(MLIRTokenKind.COMMA):
        parser.raise_error(f"{takes(parser.place_of('').text, list(parsed.operands))}; this is one more")
    return parsed


def takes(name: str, roles: Sequence[str]) -> str:
    """The operands that an instruction or a clause takes: number and roles."""
    listed = f" ({', '.join(roles)})" if roles else ""
    return f"{name} takes {len(roles) or 'no'} operand{'s' if len(roles) != 1 else ''}{listed}"


def parse_comma(parser: LocatedParser, name: str, roles: Sequence[str], found: int) -> None:
    """The comma behind so many operands; where it is missing, the message says how many there should be."""
    if not parser.at(MLIRTokenKind.COMMA):
        parser.raise_error(f"Expected ',' before {roles[found]}: {takes(name, roles)}, not {found}")
    parser.parse_punctuation(",")


def _parse_elements(
    parser: LocatedParser,
    elements: tuple[Element, ...],
    words: Mapping[str, Vocabulary],
    parsed: Parsed,
    required: Sequence[str] = (),
) -> None:
    for element, following in zip(elements, (*elements[1:], None), strict=False):
        match element:
            case Literal(",") if isinstance(following, OperandToken) and following.role in required:
                parse_comma(parser, parser.place_of("").text, required, len(parsed.operands))
            case Literal(text):
                parser.parse_punctuation(text, _before(following))  # pyright: ignore[reportArgumentType]
            case OperandToken(role, several):
                parsed.operands[role] = parser.parse_values(role) if several else parser.parse_value(role)
            case WordToken(name):
                if name in parsed.words:
                    given_twice(parser, name, parser.span_here())
                parsed.words[name] = parse_word(parser, name, words[name])
            case Integers(name):
                start = parser.pos
                parsed.integers[name] = parser.parse_comma_separated_list(
                    parser.Delimiter.NONE, lambda: parser.parse_integer(allow_boolean=False)
                )
                parser.place(name, parser.span_since(start))
            case Keyword(text, equals):
                if not parser.at_word(text):
                    parser.raise_error(f"expected '{text}{' =' * equals}'")
                parser.skip_token()
                if equals:
                    parser.parse_punctuation("=", f" after {text}")
            case Group(inner):
                start = parser.mark()
                if _begins(parser, inner):
                    parser.rewind(start)
                    _parse_elements(parser, inner, words, parsed)
                else:
                    parser.rewind(start)


def _before(following: Element | None) -> str:
    """A message on missing punctuation, with the token that stands there."""
    return f" before {following.role}" if isinstance(following, OperandToken | WordToken) else ""


def _begins(parser: LocatedParser, elements: tuple[Element, ...]) -> bool:
    """Whether the text goes on with this optional part; moves past its leading punctuation."""
    for element in elements:
        match element:
            case Literal(text):
                if parser.parse_optional_punctuation(text) is None:  # pyright: ignore[reportArgumentType]
                    return False
            case OperandToken():
                return parser.at(MLIRTokenKind.PERCENT_IDENT)
            case Keyword(text):
                return parser.at_word(text)
            case Integers():
                return parser.at(MLIRTokenKind.INTEGER_LIT)
            case WordToken():
                return parser.at_name() or parser.at(
                    MLIRTokenKind.STRING_LIT, MLIRTokenKind.LESS, MLIRTokenKind.HASH_IDENT
                )
            case Group(inner):
                return _begins(parser, inner)
    return False


def parse_word(parser: LocatedParser, name: str, vocabulary: Vocabulary) -> str:
    """A word in any of its spellings, normalised; an unknown one is an error at the word."""
    start = parser.pos
    word = parser.parse_optional_str_literal()
    if word is None:
        word = parser.parse_bracketed_word()
    if word is None and parser.at(MLIRTokenKind.HASH_IDENT):
        word = _parse_kind(parser, vocabulary)
    if word is None and parser.at_name():
        word = parser.parse_identifier()
    if word is None:
        expected_word(parser, name, vocabulary, parser.span_here() if parser.pos == start else start)
    span = parser.span_since(start)
    parser.place(name, span)
    return check_word(parser, name, word, vocabulary, span)


def expected_word(parser: LocatedParser, name: str, vocabulary: Vocabulary, at: Span | int | None = None) -> NoReturn:
    parser.raise_error(f"expected {name}: one of {vocabulary.known}", at)


def given_twice(parser: LocatedParser, name: str, span: Span) -> NoReturn:
    parser.raise_error(f"{name} is given twice", span)


def _parse_kind(parser: LocatedParser, vocabulary: Vocabulary) -> str | None:
    """`#pto.kind<WORD>` or `#pto<kind WORD>`, `#pto.kind` alone where that has a meaning, or the alias of one."""
    span = parser.span_here()
    name = parser.skip_token()
    if name == "#pto" and parser.parse_optional_punctuation("<") is not None:
        parser.parse_identifier(" of a kind of attribute")
        word = parser.parse_identifier()
        parser.parse_punctuation(">")
        return word
    if "." not in name:
        if (alias := parser.attribute_aliases.get(name)) is None:
            parser.raise_error(f"{name} is not defined", span)
        return word_in(alias)
    word = parser.parse_bracketed_word()
    return vocabulary.bare if word is None else word


def check_word(parser: LocatedParser, name: str, word: str, vocabulary: Vocabulary, span: Span) -> str:
    word = vocabulary.aliases.get(word, word)
    if word not in vocabulary.words and word not in vocabulary.illegal:
        parser.raise_error(f"unknown {name} '{word}'; known: {vocabulary.known}", span)
    return word


def word_in(attribute: Attribute) -> str:
    """The word that an attribute stands for: `"X"` or `#pto.kind<X>`."""
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, AddressSpaceAttr):
        return attribute.space.data
    return attribute.value.data.strip() if isinstance(attribute, UnregisteredAttr) else str(attribute)


def parse_types(parser: LocatedParser) -> list[tuple[Attribute, Span]]:
    """A comma-separated list of types, in or out of parentheses; `i64 x5` stands for five times i64."""
    types: list[tuple[Attribute, Span]] = []
    closing = parser.parse_optional_punctuation("(") is not None
    if closing and parser.parse_optional_punctuation(")") is not None:
        return types
    while True:
        start = parser.pos
        type_ = parse_listed_type(parser)
        span = parser.span_since(start)
        types.extend([(type_, span)] * parser.parse_repetition())
        if parser.parse_optional_punctuation(",") is None:
            break
    if closing:
        parser.parse_punctuation(")")
    return types


_STRIPPED_TILE = r"<\s*(?:loc\s*=|\"?(?:vec|mat|left|right|acc|bias|scaling)\b)"


def parse_listed_type(parser: LocatedParser) -> Attribute:
    """A type; `<T, space>` is short for `!pto.ptr<T, space>`, and a memref in a PTO space is a pointer."""
    if parser.at(MLIRTokenKind.LESS):
        if parser.text_follows(_STRIPPED_TILE):
            parser.raise_error(
                "expected '!pto.tile_buf' before '<': a tile type is written in full", parser.span_here()
            )
        parser.skip_token()
        return PtrType(*parse_pointer_body(parser))
    type_ = parser.parse_type()
    if isinstance(type_, MemRefType) and (pointer := pointer_of_memref(type_)) is not None:  # pyright: ignore[reportUnknownArgumentType]
        return pointer
    return type_  # pyright: ignore[reportUnknownVariableType]


def compare_types(
    parser: LocatedParser, listed: list[tuple[Attribute, Span]], operands: list[tuple[str, SSAValue]]
) -> None:
    """Compare a type list with the operands it names. It may leave out offsets of type index, and may end early."""
    complete = len(listed) == len(operands)
    remaining = iter(operands)
    for type_, span in listed:
        for role, value in remaining:
            if parser.same_type(type_, value):
                break
            if isinstance(value.type, IndexType) and not complete:
                continue
            parser.report(f"{role} has type {value.type}, but the type list says {type_}", span)
            break
        else:
            parser.report(f"the type list has more types than the instruction has operands ({len(operands)})", span)
            return


def agreed_types(
    parser: LocatedParser, listed: list[tuple[Attribute, Span]], values: Sequence[SSAValue], role: str
) -> list[Attribute]:
    """The types of values that are written with all of their types; where one of the two is open, the other."""
    if len(listed) != len(values):
        parser.raise_error(f"{len(values)} values, but {len(listed)} types", parser.place_of(""))
    types: list[Attribute] = []
    for index, ((type_, span), value) in enumerate(zip(listed, values, strict=True)):
        if not parser.same_type(type_, value):
            parser.report(f"{role}[{index}] has type {value.type}, but the type list says {type_}", span)
        types.append(type_ if is_open(value.type) else value.type)
    return types


# --- printing ---------------------------------------------------------------------------------------------------------


Piece = str | SSAValue | Attribute | Sequence["Piece"]
"""A printed piece of an operation: text, the name of a value, a type or other attribute, or several of them with
commas.
"""


def write(printer: Printer, *pieces: Piece) -> None:
    """Write pieces one after the other."""
    for piece in pieces:
        if isinstance(piece, str):
            printer.print_string(piece)
        elif isinstance(piece, SSAValue):
            printer.print_ssa_value(piece)
        elif isinstance(piece, Attribute):
            printer.print_attribute(piece)
        else:
            printer.print_list(piece, lambda each: write(printer, each))


def types_of(values: Iterable[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]


def print_form(printer: Printer, op: Any, elements: tuple[Element, ...], words: Mapping[str, Vocabulary]) -> None:
    """Write the operands and words of an operation as its form says."""
    _print_elements(printer, op, elements, words, None)


def _print_elements(
    printer: Printer, op: Any, elements: tuple[Element, ...], words: Mapping[str, Vocabulary], last: Element | None
) -> Element | None:
    """`last` is what was printed before, which decides about spaces; returned is what was printed last."""
    for element in elements:
        if isinstance(element, Group):
            if _present(op, element.elements):
                last = _print_elements(printer, op, element.elements, words, last)
            continue
        printer.print_string(_space(last, element))
        match element:
            case Literal(text):
                printer.print_string(text)
            case OperandToken(role):
                write(printer, getattr(op, role))
            case WordToken(name):
                printer.print_string(words[name].printed.format(word_of(op, name)))
            case Integers(name):
                write(printer, [str(number) for number in integers_of(op, name)])
            case Keyword(text, equals):
                printer.print_string(f"{text} =" if equals else text)
        last = element
    return last


def _space(last: Element | None, element: Element) -> str:
    """The text between two elements."""
    if last is None:
        return "" if element in (Literal("["), Literal("(")) else " "
    if element == Literal("("):  # of a clause: l1cache(uncache)
        return ""
    is_word = isinstance(element, WordToken) and last not in (Literal("("), Literal("["))
    return " " if last == Literal(",") or isinstance(last, Keyword) or isinstance(element, Keyword) or is_word else ""


def _present(op: Any, elements: tuple[Element, ...]) -> bool:
    first = next(placed(elements))
    found = getattr(op, first.role)
    return bool(found) if isinstance(first, OperandToken) and first.several else found is not None


def word_of(op: Any, name: str) -> str | None:
    """The word stored in a property, or None."""
    attribute = getattr(op, name)
    return attribute.data if isinstance(attribute, StringAttr) else None


def integers_of(op: Any, name: str) -> tuple[int, ...]:
    """The integers stored in a property."""
    return integers_in(getattr(op, name))


def integers_in(attribute: Attribute) -> tuple[int, ...]:
    """The integers of `array<i64: ...>` or `[...]`; none in another attribute."""
    if isinstance(attribute, DenseArrayBase):
        return tuple(int(number) for number in cast("DenseArrayBase[IntegerType]", attribute).get_values())
    entries = cast("ArrayAttr[Attribute]", attribute).data if isinstance(attribute, ArrayAttr) else ()
    return tuple(cast("IntegerAttr[Any]", entry).value.data for entry in entries if isinstance(entry, IntegerAttr))
