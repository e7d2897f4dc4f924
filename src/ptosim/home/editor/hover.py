"""The words for the token under the cursor: the page of an instruction, what is known of a value, who a function is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ptosim.diagnostics import PTOError
from ptosim.home.editor.document import Document
from ptosim.home.editor.names import Definition
from ptosim.home.editor.tokens import TextToken
from ptosim.report.instruction import Page, page

_SHORT = {"module": "builtin.module", "return": "func.return", "call": "func.call"}


@cache
def page_of(name: str) -> Page | None:
    """The page of an operation as a text may name it."""
    try:
        return page(_SHORT.get(name, name))
    except PTOError:
        return None


@cache
def instruction(name: str) -> str | None:
    """The page as Markdown; None for what is no instruction."""
    found = page_of(name)
    if found is None:
        return None
    return f"**{found.name}  ({found.group})**\n\n{found.markdown()}"


def hover(document: Document, offset: int) -> tuple[TextToken, str] | None:
    """The token there, and what to say of it in Markdown."""
    token = document.token_at(offset)
    if token is None or token.kind in ("comment", "mark"):
        return None
    if token.kind in ("word", "string") and (said := instruction(token.text.strip('"'))) is not None:
        return token, said
    definition = document.names.by_token.get(token.start)
    if definition is None:
        return None
    return token, "\n\n".join(_definition(document, definition))


def _definition(document: Document, definition: Definition) -> Iterator[str]:
    line, _ = document.text.position(definition.token.start)
    yield f"```pto\n{document.text.line(line).strip()}\n```"
    if definition.token.kind == "value":
        yield from document.known_of(definition.token)
    uses = len(definition.uses)
    yield f"line {line + 1}, " + ("not used" if not uses else f"used {uses} times" if uses > 1 else "used once")
