"""Definitions and uses of values, functions and blocks, read from tokens: a text need not be right for that.

A value belongs to the region, between braces, that it is defined in, or that the operation opens which names it: the
index of a loop, what it carries, the parameters of a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ptosim.home.editor.tokens import TextToken
from ptosim.language.catalogue import operations, structural_operations

_SHORT = {"module", "return", "call"}
_CLOSING = {"(": ")", "[": "]", "<": ">", "{": "}"}


def operation_names() -> set[str]:
    """The names of all operations, those that stand without their dialect included."""
    return {operation.name for operation in (*operations(), *structural_operations())} | _SHORT


@dataclass(eq=False)
class Braces:
    """A pair of braces: the names that are defined in it, and those that the text gives to the opening operation."""

    start: int
    end: int
    opener: TextToken | None
    """The name of the operation."""
    parent: Braces | None
    values: dict[str, Definition] = field(default_factory=dict[str, "Definition"])
    inner: list[Braces] = field(default_factory=list["Braces"])

    def find(self, name: str) -> Definition | None:
        found = self.values.get(name)
        return found or (self.parent.find(name) if self.parent is not None else None)

    def visible(self) -> Iterator[Definition]:
        """Definitions that may be used here, the nearest first."""
        yield from reversed(self.values.values())
        if self.parent is not None:
            yield from self.parent.visible()


@dataclass(eq=False)
class Definition:
    """A name and where it is used."""

    token: TextToken
    region: Braces
    statement: TextToken | None = None
    """The name of the operation that gives a value; of a function, the word before its name."""
    uses: list[TextToken] = field(default_factory=list[TextToken])
    is_parameter: bool = False

    @property
    def occurrences(self) -> list[TextToken]:
        return sorted([self.token, *self.uses], key=lambda token: token.start)


@dataclass(eq=False)
class _Bracket:
    mark: str
    region: Braces | None = None
    names_arguments: bool = False
    """Whether values in it are parameters of a function or a block."""


class Names:
    """The names of a text."""

    def __init__(self, tokens: list[TextToken], length: int) -> None:
        self._tokens = [token for token in tokens if token.kind != "comment"]
        self.root = Braces(0, length, None, None)
        self.functions: list[Definition] = []
        self.labels: list[Definition] = []
        self.by_token: dict[int, Definition] = {}
        """The definition of the name at the offset of a token."""
        self.regions: list[Braces] = [self.root]
        self._length = length
        self._brackets: list[_Bracket] = []
        self._waiting: list[Definition] = []
        """Values that belong to the region that comes."""
        self._statement: TextToken | None = None
        self._results: list[Definition] = []
        self._uses: list[tuple[TextToken, Braces]] = []
        self._label_uses: list[tuple[TextToken, Braces]] = []
        self._symbols: list[TextToken] = []
        self._read()
        self._resolve()

    @cached_property
    def known(self) -> set[str]:
        return operation_names()

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def _region(self) -> Braces:
        return next((each.region for each in reversed(self._brackets) if each.region is not None), self.root)

    @property
    def _between(self) -> bool:
        """Whether operations stand here, and not what an operation consists of."""
        return not self._brackets or self._brackets[-1].region is not None

    def _read(self) -> None:
        for index, token in enumerate(self._tokens):
            match token.kind:
                case "mark":
                    self._mark(index, token)
                case "value":
                    self._value(index, token)
                case "symbol":
                    self._symbol(index, token)
                case "label":
                    self._label(index, token)
                case "word" | "string" if self._between and token.text.strip('"') in self.known:
                    self._begins(token)
                case _:
                    pass
        for bracket in self._brackets:
            if bracket.region is not None:
                bracket.region.end = self._length

    def _begins(self, token: TextToken) -> None:
        self._statement = token
        for result in self._results:
            result.statement = token
        self._results = []
        self._waiting = []

    def _mark(self, index: int, token: TextToken) -> None:
        if token.text == "{":
            self._brackets.append(_Bracket("{", self._opened(token) if self._opens_region(index) else None))
        elif token.text in ("(", "["):
            self._brackets.append(_Bracket(token.text, names_arguments=self._names_arguments(index)))
        elif token.text in (")", "]", "}"):
            self._close(token)

    def _close(self, token: TextToken) -> None:
        marks = [bracket.mark for bracket in self._brackets]
        opening = next(mark for mark, closing in _CLOSING.items() if closing == token.text)
        if opening not in marks:
            return
        while self._brackets:
            bracket = self._brackets.pop()
            if bracket.region is not None:
                bracket.region.end = token.end
                self._statement = bracket.region.opener
            if bracket.mark == opening:
                return

    def _opened(self, token: TextToken) -> Braces:
        parent = self._region
        region = Braces(token.start, self._length, self._statement, parent)
        parent.inner.append(region)
        self.regions.append(region)
        for definition in self._waiting:
            definition.region = region
            region.values.setdefault(definition.token.name, definition)
        self._waiting = []
        return region

    def _opens_region(self, index: int) -> bool:
        """Whether operations follow a brace, and not attributes."""
        before = self._tokens[index - 1].text if index else ""
        first, second = (self._text(index + 1), self._text(index + 2))
        if before in ("attributes", "<"):
            return False
        if first == "}":
            return bool(self._waiting) or before in ("do", "else", "module", "vecscope")
        if first.startswith(("%", "^")):
            return True
        word = first.strip('"')
        return second not in ("=", ",") and (word in self.known or ("." in word and second not in ("}", ":")))

    def _text(self, index: int) -> str:
        return self._tokens[index].text if index < len(self._tokens) else ""

    def _names_arguments(self, index: int) -> bool:
        before = self._tokens[index - 1] if index else None
        if before is None:
            return False
        return before.kind == "label" or (before.kind == "symbol" and self._text(index - 2) in _FUNCTION_WORDS)

    def _value(self, index: int, token: TextToken) -> None:
        region = self._region
        inside = self._brackets[-1] if self._brackets else None
        if inside is not None and inside.names_arguments:
            definition = Definition(token, region, is_parameter=True)
            if self._text(index - 2).startswith("^") or self._of_block(index):
                region.values.setdefault(token.name, definition)
                self.by_token[token.start] = definition
            else:
                self._wait(definition)
        elif self._between and self._is_result(index):
            definition = Definition(token, region)
            if region.values.setdefault(token.name, definition) is not definition:
                region.values[token.name].uses.append(token)
            self.by_token[token.start] = region.values[token.name]
            self._results.append(definition)
        elif self._text(index + 1) == "=" and (not self._between or self._begins_loop(index)):
            self._wait(Definition(token, region, self._statement, is_parameter=True))
        else:
            self._uses.append((token, region))

    def _wait(self, definition: Definition) -> None:
        self._waiting.append(definition)
        self.by_token[definition.token.start] = definition

    def _of_block(self, index: int) -> bool:
        """Whether the parenthesis around a token follows a label."""
        depth = 0
        for at in range(index - 1, -1, -1):
            text = self._tokens[at].text
            depth += (text in (")", "]", "}")) - (text in ("(", "[", "{"))
            if depth < 0:
                return at > 0 and self._tokens[at - 1].kind == "label"
        return False

    def _begins_loop(self, index: int) -> bool:
        return self._text(index - 1).endswith("for")

    def _is_result(self, index: int) -> bool:
        """Whether the names in front of `=` include this one."""
        if index and self._begins_loop(index):
            return False
        at = index + 1
        while True:
            if self._text(at) == ":":
                at += 2
            if self._text(at) == "=":
                return True
            if self._text(at) != "," or not self._text(at + 1).startswith("%"):
                return False
            at += 2

    def _symbol(self, index: int, token: TextToken) -> None:
        before = self._text(index - 1)
        if before in _FUNCTION_WORDS:
            definition = Definition(token, self._region, self._statement)
            self.functions.append(definition)
            self.by_token[token.start] = definition
        else:
            self._symbols.append(token)

    def _label(self, index: int, token: TextToken) -> None:
        following = self._text(index + 1)
        if self._between and (following == ":" or (following == "(" and self._follows_statement(index))):
            definition = Definition(token, self._region)
            self.labels.append(definition)
            self.by_token[token.start] = definition
        else:
            self._label_uses.append((token, self._region))

    def _follows_statement(self, index: int) -> bool:
        """Whether a label stands where a block begins; operands of a branch follow its name or a comma."""
        before = self._tokens[index - 1] if index else None
        return before is None or not (before.text.endswith(("br", "branch")) or before.text == ",")

    # --- joining ------------------------------------------------------------------------------------------------------

    def _resolve(self) -> None:
        for token, region in self._uses:
            if (found := region.find(token.name)) is not None:
                self._used(token, found)
        by_symbol: dict[str, Definition] = {}
        for function in reversed(self.functions):
            by_symbol[function.token.text] = function
        for token in self._symbols:
            if (found := by_symbol.get(token.text)) is not None:
                self._used(token, found)
        for token, region in self._label_uses:
            same = [each for each in self.labels if each.token.text == token.text and each.region is region]
            if same:
                self._used(token, same[0])

    def _used(self, token: TextToken, definition: Definition) -> None:
        definition.uses.append(token)
        self.by_token[token.start] = definition

    # --- questions ----------------------------------------------------------------------------------------------------

    def region_at(self, offset: int) -> Braces:
        """The innermost region that holds an offset."""
        region = self.root
        while True:
            inside = next((each for each in region.inner if each.start < offset < each.end), None)
            if inside is None:
                return region
            region = inside

    def visible(self, offset: int) -> list[Definition]:
        """Values that are defined before an offset and may be used there."""
        seen: dict[str, Definition] = {}
        for definition in self.region_at(offset).visible():
            if definition.token.start < offset:
                seen.setdefault(definition.token.name, definition)
        return list(seen.values())

    def same_function(self, definition: Definition) -> list[Definition]:
        """The functions of one name, which nested modules may each have."""
        return [each for each in self.functions if each.token.text == definition.token.text] or [definition]


_FUNCTION_WORDS = {"func.func", "func", "private", "public", "nested"}
