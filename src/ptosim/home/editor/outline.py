"""The shape of a text: its functions and regions, what can be folded, the meaning of each word, its indentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ptosim.home.editor.document import Document
from ptosim.home.editor.names import Braces, Definition
from ptosim.home.editor.tokens import TextToken

Colour = Literal["comment", "string", "number", "keyword", "function", "macro", "type", "variable", "parameter"]
COLOURS: tuple[Colour, ...] = (
    *("comment", "string", "number", "keyword", "function", "macro", "type", "variable", "parameter"),
)
INDENT = "  "


@dataclass(frozen=True)
class OutlineEntry:
    """A function, a loop, a scope: its name, the text that it covers, and what it holds."""

    name: str
    is_function: bool
    start: int
    end: int
    named: TextToken
    inner: tuple[OutlineEntry, ...]


def symbols(document: Document) -> tuple[OutlineEntry, ...]:
    return tuple(_symbols(document, document.names.root))


def _symbols(document: Document, region: Braces) -> Iterator[OutlineEntry]:
    names = document.names
    for inside in region.inner:
        children = tuple(_symbols(document, inside))
        opener = inside.opener
        if opener is None or opener.start > inside.start:
            yield from children
            continue
        own = [each for each in names.functions if opener.start < each.token.start < inside.start]
        index = next((each for each in inside.values.values() if _names_loop(each, inside)), None)
        named = own[-1].token if own else opener
        words = named.text if own or index is None else f"{opener.text} {index.token.text}"
        if opener.text in ("module", "builtin.module") and inside is document.names.root.inner[0]:
            yield from children
        else:
            yield OutlineEntry(words, bool(own), opener.start, inside.end, named, children)


def _names_loop(definition: Definition, region: Braces) -> bool:
    return definition.is_parameter and definition.token.start < region.start


def folds(document: Document) -> Iterator[tuple[int, int, str]]:
    """First and last line, from 0, of each region and of each run of comments."""
    for region in document.names.regions[1:]:
        first, _ = document.text.position(region.start)
        last, _ = document.text.position(region.end)
        if last - 1 > first:
            yield first, last - 1, "region"
    lines = [document.text.position(token.start)[0] for token in document.tokens if _alone(document, token)]
    begun = 0
    for number, line in enumerate(lines):
        if number + 1 == len(lines) or lines[number + 1] != line + 1:
            if number > begun:
                yield lines[begun], line, "comment"
            begun = number + 1


def _alone(document: Document, token: TextToken) -> bool:
    """Whether a comment has its line for itself."""
    line, _ = document.text.position(token.start)
    return token.kind == "comment" and not document.text.content[document.text.starts[line] : token.start].strip()


def colours(document: Document) -> Iterator[tuple[TextToken, Colour, bool]]:
    """The meaning of each token that has one, and whether it defines a name."""
    plain: Mapping[str, Colour] = {
        "comment": "comment",
        "string": "string",
        "number": "number",
        "type": "type",
        "attribute": "macro",
        "label": "macro",
    }
    names = document.names
    for token in document.tokens:
        definition = names.by_token.get(token.start)
        defines = definition is not None and definition.token is token
        if token.kind == "value":
            yield token, "parameter" if definition is not None and definition.is_parameter else "variable", defines
        elif token.kind == "symbol":
            yield token, "function", defines
        elif token.kind == "word":
            if token.text in names.known:
                yield token, "keyword" if not token.text.startswith("pto.") else "macro", False
        elif token.kind != "mark":
            yield token, plain[token.kind], False


def together(document: Document, offset: int) -> list[Definition]:
    """The name at an offset: a value or a block, or every function of that name."""
    token = document.token_at(offset)
    definition = document.names.by_token.get(token.start) if token is not None else None
    if definition is None:
        return []
    return document.names.same_function(definition) if definition.token.kind == "symbol" else [definition]


def clash(document: Document, found: list[Definition], name: str) -> str | None:
    """The reason why another name for these would clash: it is visible there already."""
    names, own = document.names, {id(each) for each in found}
    others = names.functions if name.startswith("@") else [*names.by_token.values()]
    for other in others:
        if other.token.text != name or id(other) in own:
            continue
        if name.startswith("@") or any(_share(each, other) for each in found):
            line, _ = document.text.position(other.token.start)
            return f"{name} is defined already, in line {line + 1}"
    return None


def _share(one: Definition, other: Definition) -> bool:
    """Whether a region holds both names, or one of them what the other one means."""
    return _within(one.region, other.region) or _within(other.region, one.region)


def _within(region: Braces | None, outer: Braces) -> bool:
    while region is not None and region is not outer:
        region = region.parent
    return region is outer


def indented(document: Document) -> str:
    """The text with each operation as deep as the braces around it say, and no blanks at the ends of lines. What an
    operation goes on with keeps its distance from the line that it begins in, and stands deeper than that."""
    content, lines = document.text.content, list[str]()
    tokens = document.tokens
    depth = at = indent = moved = 0
    goes_on = ""
    for number, start in enumerate(document.text.starts):
        written = document.text.line(number)
        words = written.strip()
        own: list[TextToken] = []
        while at < len(tokens) and tokens[at].start <= start + len(written):
            own.append(tokens[at])
            at += 1
        before = len(written) - len(written.lstrip())
        if not own or (goes_on != "=" and _begins(document, own)):
            indent = len(INDENT) * max(0, depth - (len(words) - len(words.lstrip("}"))))
            moved = indent - before
            lines.append(" " * indent + words if words else "")
        else:
            lines.append(" " * max(indent + len(INDENT), before + moved) + words)
        said = [token.text for token in own if token.kind != "comment"]
        goes_on = said[-1] if said else goes_on
        marks = [token.text for token in own if token.kind == "mark"]
        depth = max(0, depth + marks.count("{") - marks.count("}"))
    return "\n".join(lines).rstrip("\n") + "\n" if content.strip() else ""


def _begins(document: Document, line: list[TextToken]) -> bool:
    """Whether a line of these tokens is not the rest of an operation."""
    token = line[0]
    if token.kind == "value":
        definition = document.names.by_token.get(token.start)
        return definition is not None and definition.token is token and not definition.is_parameter
    if token.kind == "word":
        return "." in token.text or token.text in document.names.known
    if token.kind in ("type", "attribute"):  # an alias
        return len(line) > 1 and line[1].text == "="
    return token.kind in ("comment", "label") or token.text == "}" or token.text.startswith('"')
