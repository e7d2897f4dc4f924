"""An open file: its text, what `verify` says of it, and what is known of its names and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import SSAValue

from ptosim.diagnostics import Diagnostic, PTOError, Source
from ptosim.home.editor.names import Names
from ptosim.home.editor.text import Text
from ptosim.home.editor.tokens import TextToken, tokens
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.text.parser import ParsedModule
from ptosim.module import Module, load
from ptosim.tiles.passes.memory_plan import MemoryPlan


@dataclass(frozen=True)
class LineCycles:
    """The cycles of a line in a profile."""

    line: int
    """From 1."""
    busy: int
    critical: int


@dataclass
class Document:
    """One version of an open file."""

    name: str
    """Its path, as diagnostics show it."""
    version: int
    text: Text
    cycles: Sequence[LineCycles] = ()
    """The cycles of the last profile of this very text."""

    @cached_property
    def source(self) -> Source:
        return Source(self.name, self.text.content)

    @cached_property
    def tokens(self) -> list[TextToken]:
        return tokens(self.text.content)

    @cached_property
    def names(self) -> Names:
        return Names(self.tokens, len(self.text.content))

    def token_at(self, offset: int) -> TextToken | None:
        """The token that an offset touches; between two, the one that is no mark."""
        touching = [token for token in self.tokens if token.start <= offset <= token.end]
        return min(touching, key=lambda token: (token.kind == "mark", token.start), default=None)

    # --- what it means ------------------------------------------------------------------------------------------------

    @cached_property
    def _loaded(self) -> tuple[Module | None, tuple[Diagnostic, ...]]:
        try:
            return load(self.source), ()
        except PTOError as problem:
            return None, problem.diagnostics

    @property
    def module(self) -> Module | None:
        """The module, where the text is right."""
        return self._loaded[0]

    @property
    def said_by_text(self) -> tuple[Diagnostic, ...]:
        """The findings of `ptosim verify`, as far as no tiles are lowered."""
        return self.module.warnings if self.module is not None else self._loaded[1]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Exactly those of `ptosim verify`."""
        return self.module.remarks if self.module is not None else self._loaded[1]

    @cached_property
    def plans(self) -> Sequence[MemoryPlan]:
        """The memory plan of its tiles, where there is one."""
        if self.module is not None:
            with suppress(PTOError):
                return self.module.plan().functions
        return ()

    @property
    def parsed(self) -> ParsedModule | None:
        return self.module.verified.parsed if self.module is not None else None

    @cached_property
    def _values(self) -> dict[int, SSAValue]:
        """By the offset of the name that defines it."""
        return {span.start: value for value, span in self.parsed.definitions.items()} if self.parsed else {}

    def value(self, defining: TextToken) -> SSAValue | None:
        """The value that a name defines, where the text is right."""
        return self._values.get(defining.start)

    def known_of(self, defining: TextToken) -> Iterator[str]:
        """Facts about a value before anything runs: its type, its number, its position."""
        value = self.value(defining)
        if value is not None:
            yield f"`{value.type}`"
            if (number := constant_of(value)) is not None:
                yield f"is {number}" + (f" ({number:#x})" if abs(number) > 9 else "")
        for plan in self.plans:
            for tile in plan.tiles:
                if tile.name == defining.text and tile.line == self.source.position(defining.start)[0]:
                    where = "at an address that the run knows" if tile.address is None else f"at {tile.address:#x}"
                    yield f"{tile.size} bytes of {tile.space} {where}, in use in lines {tile.first} to {tile.last}"
