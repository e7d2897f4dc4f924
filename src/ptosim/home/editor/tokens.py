"""The tokens of a text, whatever is wrong with it: an editor needs them while somebody types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["comment", "string", "value", "symbol", "label", "type", "attribute", "word", "number", "mark"]

_KINDS: dict[Kind, str] = {
    "comment": r"//[^\n]*",
    "string": r'"(?:[^"\\\n]|\\.)*+"?',
    "value": r"%[\w$.-]+(?:#\d+)?",
    "symbol": r"@(?:[\w$.-]+|\"[^\"\n]*\")",
    "label": r"\^[\w$.-]+",
    "type": r"![\w$.-]+",
    "attribute": r"#[\w$.-]+",
    "number": r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w$])",
    "word": r"[A-Za-z_][\w$.]*",
    "mark": r"->|::|[^\s\w]",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))


@dataclass(frozen=True, slots=True)
class TextToken:
    """A piece of the text."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def name(self) -> str:
        """The common name of all results of a value's operation."""
        return self.text.partition("#")[0] if self.kind == "value" else self.text


def tokens(text: str) -> list[TextToken]:
    """All of them, comments too, in the order of the text."""
    return [TextToken(_kind(found), found[0], found.start()) for found in _TOKEN.finditer(text)]


def _kind(found: re.Match[str]) -> Kind:
    kind = found.lastgroup
    assert kind in _KINDS
    return kind
