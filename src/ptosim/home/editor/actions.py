"""Edits that an editor may carry out: hints of diagnostics, and the text in its current form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ptosim.home.editor.document import Document


@dataclass(frozen=True)
class TextEdit:
    """Other words between two offsets."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Action:
    """Edits that belong together, and what they do."""

    title: str
    edits: tuple[TextEdit, ...]


def mending(document: Document, finding: dict[str, Any]) -> Action | None:
    """The edits of lines that the hint of a finding holds, if it does."""
    edits = tuple(_line_edit(document, **edit) for edit in finding["edits"])
    title = str(finding["hint"] or "mend it").split("\n")[0].strip()
    return Action(title, edits) if edits else None


def _line_edit(document: Document, line: int, count: int, text: str) -> TextEdit:
    """Whole lines, from 1."""
    starts = [*document.text.starts, len(document.text.content)]
    first = min(max(line - 1, 0), len(starts) - 1)
    start, end = starts[first], starts[min(first + count, len(starts) - 1)]
    if text and not text.endswith("\n"):
        text += "\n"
    if start and start == len(document.text.content) and not document.text.content.endswith("\n"):
        text = "\n" + text
    return TextEdit(start, end, text)


def current_form(document: Document) -> Iterator[Action]:
    """The text as `ptosim print` writes it, where it is written in another way."""
    if document.module is not None and (written := document.module.text(comments=True)) != document.text.content:
        whole = TextEdit(0, len(document.text.content), written)
        yield Action("Write the current form of the whole file", (whole,))
