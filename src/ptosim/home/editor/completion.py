"""Words that may stand under the cursor, and how an operation goes on: names, clauses, attributes, free events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ptosim.home.editor.document import Document
from ptosim.home.editor.hover import page_of
from ptosim.home.editor.tokens import TextToken
from ptosim.language.catalogue import attributes, operations, structural_operations
from ptosim.language.operation import PTOOperation
from ptosim.language.tile.tile_operation import TileOperation

Kind = Literal["operation", "value", "function", "type", "word", "attribute", "label"]

_BEGUN = re.compile(r"[%@!^#]?[\w$.-]*$")
_ASKED = re.compile(r":[A-Za-z]\w*")
"""The type of an operand, as the form of an operation writes it."""
_PLACED = re.compile(r"[@$](\w+)")
_PAIR = r"pto\.(?:set|wait)_flag\s*\[\s*\"?(?:PIPE_)?(\w+)\"?\s*,\s*\"?(?:PIPE_)?(\w+)\"?\s*,\s*\"?"
_EVENT = re.compile(rf"{_PAIR}(EVENT_ID\d+)")
_EVENT_BEGUN = re.compile(rf"{_PAIR}\w*$")
_ENDS = re.compile(r"^$|[{}]$|^\s*%[^(]*=$")
"""Text in a line before the name of an operation: nothing, a brace, or its results."""
_NAMED = re.compile(r"[a-z]+\.[\w.]+")


@dataclass(frozen=True)
class Offer:
    """A word that may stand here, and takes the place of the part that is there already."""

    text: str
    kind: Kind
    said: str = ""
    later: bool = False
    """Whether it is offered behind the others."""


@dataclass(frozen=True)
class Completion:
    """The start of the text that has been begun, and what may stand there."""

    start: int
    proposals: tuple[Offer, ...]


@dataclass(frozen=True)
class Signature:
    """The form of an operation, and the part that comes next."""

    text: str
    summary: str
    parts: tuple[tuple[int, int], ...]
    active: int


@cache
def classes() -> dict[str, type[PTOOperation]]:
    return {operation.name: operation for operation in (*operations(), *structural_operations())}


def complete(document: Document, offset: int) -> Completion:
    """Proposals at an offset."""
    content = document.text.content
    inside = next((each for each in document.tokens if each.start < offset <= each.end), None)
    if inside is not None and inside.kind == "comment":
        return Completion(offset, ())
    found = _BEGUN.search(content, max(0, content.rfind("\n", 0, offset) + 1), offset)
    start = found.start() if found else offset
    before = content[content.rfind("\n", 0, offset) + 1 : start].rstrip(' "')
    proposals = _proposals(document, start, content[start:offset], before)
    return Completion(start, tuple(proposals))


def _proposals(document: Document, start: int, begun: str, before: str) -> Iterable[Offer]:
    match begun[:1]:
        case "%":
            return _values(document, start)
        case "@":
            names = dict.fromkeys(each.token.text for each in document.names.functions)
            return [Offer(name, "function") for name in names]
        case "!":
            return [Offer(name, "type") for name in _types()]
        case "^":
            return [Offer(each.token.text, "label") for each in document.names.labels]
        case _:
            operation = _operation_before(document, start)
            if operation is None or (_ENDS.search(before) and not _in_dictionary(document, start)):
                return _operations()
            return [*_words(document, operation, start), *_values(document, start, later=True)]


def _in_dictionary(document: Document, offset: int) -> bool:
    """Whether the brace that is open last before an offset holds attributes."""
    depth = 0
    for token in reversed(document.tokens):
        if token.kind == "mark" and token.start < offset:
            depth += (token.text == "}") - (token.text == "{")
            if depth < 0:
                return all(region.start != token.start for region in document.names.regions)
    return False


def _operation_before(document: Document, offset: int) -> type[PTOOperation] | None:
    """The class of the operation that the text at an offset belongs to."""
    token = _operation_token(document, offset)
    return classes().get(token.text.strip('"')) if token is not None else None


def _operation_token(document: Document, offset: int) -> TextToken | None:
    """The name of the operation that begins last before an offset, if it is the name of one."""
    known = classes()
    for token in reversed(document.tokens):
        if token.end <= offset and token.kind == "word" and (token.text in known or _NAMED.fullmatch(token.text)):
            return token if token.text in known else None
    return None


def _values(document: Document, offset: int, later: bool = False) -> Iterator[Offer]:
    for definition in document.names.visible(offset):
        value = document.value(definition.token)
        said = str(value.type) if value is not None else definition.statement.text if definition.statement else ""
        yield Offer(definition.token.text, "value", said, later)


@cache
def _operations() -> tuple[Offer, ...]:
    named = classes().items()
    return tuple(Offer(name, "operation", _summary(each), each.replaced_by is not None) for name, each in named)


def _summary(operation: type[PTOOperation]) -> str:
    return (operation.__doc__ or "").strip().partition("\n")[0]


@cache
def _types() -> tuple[str, ...]:
    known = {getattr(each, "name", "") for each in attributes()}
    return tuple(sorted(f"!{name}" for name in known if name))


# --- words of an operation --------------------------------------------------------------------------------------------


def _words(document: Document, operation: type[PTOOperation], offset: int) -> Iterator[Offer]:
    """The words and attributes that an operation takes; ids of events that the pair does not use stand first."""
    content = document.text.content
    begun = content[content.rfind("\n", 0, offset) + 1 : offset]
    pair = _EVENT_BEGUN.search(begun)
    if pair is not None and "event" in operation.words:
        yield from _events(content, (pair[1], pair[2]), operation.words["event"].words)
        return
    for role, vocabulary in operation.words.items():
        yield from (Offer(word, "word", role) for word in vocabulary.words)
    for name in operation.property_roles:
        yield Offer(name, "attribute")
    if issubclass(operation, TileOperation):
        for clause in ("ins", "outs"):
            yield Offer(clause, "word", "clause")
    for name in ("attributes", "step", "to", "iter_args", "else", "do"):
        if operation.name.startswith(("scf.", "func.", "builtin.")):
            yield Offer(name, "word")


def _events(content: str, pair: tuple[str, str], events: Iterable[str]) -> Iterator[Offer]:
    taken = {found[3] for found in _EVENT.finditer(content) if (found[1], found[2]) == pair}
    for event in events:
        used = event in taken
        yield Offer(event, "word", f"{'used' if used else 'free'}: {pair[0]} to {pair[1]}", later=used)


# --- how an operation is written --------------------------------------------------------------------------------------


def signature(document: Document, offset: int) -> Signature | None:
    """The form of the operation around an offset; nothing before its first operand or on another line."""
    token = _operation_token(document, offset)
    if token is None:
        return None
    behind = document.text.content[token.end : offset]
    shown = page_of(token.text)
    if shown is None or "\n\n" in behind or behind.count("{") > behind.count("}"):
        return None
    text, parts = written(classes()[token.text])
    active = len(re.findall(",", behind)) if parts else 0
    return Signature(text, shown.summary, parts, min(active, max(0, len(parts) - 1)))


def written(operation: type[PTOOperation]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The syntax in a line, and where its operands and words stand."""
    if issubclass(operation, TileOperation):
        page = page_of(operation.name)
        text = page.syntax if page is not None else operation.name
        return text, tuple(found.span() for found in re.finditer(r"%\w+", text))
    text = f"{operation.name} {_ASKED.sub('', operation.form)}"
    parts = [found.span() for found in _PLACED.finditer(text.partition("->")[0])]
    return text, tuple(parts)
