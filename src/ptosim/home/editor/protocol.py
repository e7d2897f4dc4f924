"""The words and units of the Language Server Protocol for what the other modules say in offsets and findings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from ptosim.diagnostics import IN_THE_TEXT
from ptosim.home.editor import completion, outline
from ptosim.home.editor.document import Document

SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
KINDS: dict[completion.Kind, lsp.CompletionItemKind] = {
    "operation": lsp.CompletionItemKind.Method,
    "value": lsp.CompletionItemKind.Variable,
    "function": lsp.CompletionItemKind.Function,
    "type": lsp.CompletionItemKind.Class,
    "word": lsp.CompletionItemKind.EnumMember,
    "attribute": lsp.CompletionItemKind.Property,
    "label": lsp.CompletionItemKind.Reference,
}
COLOURS = lsp.SemanticTokensLegend([*outline.COLOURS], ["definition"])

STANDARD_INPUT = "<stdin>"
"""The name that commands give to standard input."""


def position(document: Document, offset: int) -> lsp.Position:
    return lsp.Position(*document.text.position(offset))


def stretch(document: Document, start: int, end: int) -> lsp.Range:
    return lsp.Range(position(document, start), position(document, end))


def diagnostic(document: Document, uri: str, source: str, finding: dict[str, Any]) -> lsp.Diagnostic:
    """A finding, as JSON has it, at its place in the open text; without one at the first line."""
    place = _place_in_text(finding)
    own = _range(document, place) if place else stretch(document, 0, len(document.text.line(0)))
    return lsp.Diagnostic(
        own,
        finding["message"],
        SEVERITIES[finding["severity"]],
        finding["kind"],
        source=source,
        related_information=list(_related(document, lsp.Location(uri, own), finding)),
    )


def _related(
    document: Document, own: lsp.Location, finding: dict[str, Any]
) -> Iterator[lsp.DiagnosticRelatedInformation]:
    """The other places, and what is said beside the message."""
    for other in finding["related"]:
        place = other["location"]
        uri = own.uri if _is_own(document, place) else from_fs_path(str(_beside(document, place["file"])))
        yield lsp.DiagnosticRelatedInformation(lsp.Location(uri or own.uri, _range(document, place)), other["role"])
    for note in finding["notes"]:
        yield lsp.DiagnosticRelatedInformation(own, note)
    if finding["hint"]:
        yield lsp.DiagnosticRelatedInformation(own, f"hint: {finding['hint']}")


def _place_in_text(finding: dict[str, Any]) -> dict[str, Any] | None:
    """The place in the text, whatever file that was made from."""
    inside = (other["location"] for other in finding["related"] if other["role"] == IN_THE_TEXT)
    return next(inside, finding["location"])


def _is_own(document: Document, place: dict[str, Any]) -> bool:
    return place["file"] in (document.name, STANDARD_INPUT)


def _beside(document: Document, name: str) -> Path:
    return Path(document.name).parent / name


def _range(document: Document, place: dict[str, Any]) -> lsp.Range:
    """The range of a place; in another file by its line, column and length alone."""
    line, column, length = place["line"], place["column"], place["length"]
    if _is_own(document, place):
        start = min(document.source.offset(line, column), len(document.text.content))
        return stretch(document, start, min(start + length, len(document.text.content)))
    return lsp.Range(lsp.Position(line - 1, column - 1), lsp.Position(line - 1, column - 1 + length))
