"""A text that is edited, and places in it as an editor counts them: lines from 0, columns in UTF-16 units or bytes."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

Encoding = str
"""utf-8, utf-16 or utf-32: what the columns of an editor count."""

_BREAKS = re.compile(r"\r\n?")
_LONE = re.compile("[\ud800-\udfff]")


def _width(character: str, encoding: Encoding) -> int:
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 2 if character > "\uffff" else 1
    return len(character.encode())


@dataclass(frozen=True)
class Text:
    """Line breaks are as a file has them that is read as text, and a half of a pair counts as a character unknown."""

    content: str
    encoding: Encoding = "utf-16"

    @staticmethod
    def of(content: str, encoding: Encoding = "utf-16") -> Text:
        return Text(_LONE.sub("\ufffd", _BREAKS.sub("\n", content)), encoding)

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *(found.end() for found in re.finditer("\n", self.content))]

    def line(self, number: int) -> str:
        """The text of a line, from 0, without its break."""
        start = self.starts[number]
        end = self.starts[number + 1] - 1 if number + 1 < len(self.starts) else len(self.content)
        return self.content[start:end]

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        line = bisect_right(self.starts, offset) - 1
        before = self.content[self.starts[line] : offset]
        return line, len(before) if before.isascii() else sum(_width(each, self.encoding) for each in before)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place; one outside the text is brought inside, one within a character goes before it."""
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.content)
        words = self.line(line)
        start = self.starts[line]
        if words.isascii():
            return start + min(max(column, 0), len(words))
        for number, character in enumerate(words):
            column -= _width(character, self.encoding)
            if column < 0:
                return start + number
        return start + len(words)

    def replaced(self, start: tuple[int, int], end: tuple[int, int], words: str) -> Text:
        """The text with other words between two places."""
        low, high = sorted((self.offset(*start), self.offset(*end)))
        return Text.of(self.content[:low] + words + self.content[high:], self.encoding)
