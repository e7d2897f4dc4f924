"""Each request of an editor as a question to a document, and the answer in the words of the protocol."""

from __future__ import annotations

import logging
import os
import re
import sys
from contextlib import suppress
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from ptosim.home.editor import completion, outline
from ptosim.home.editor.actions import Action, current_form
from ptosim.home.editor.document import Document
from ptosim.home.editor.hints import remarks
from ptosim.home.editor.hover import hover, instruction
from ptosim.home.editor.names import Definition
from ptosim.home.editor.protocol import COLOURS, KINDS, position, stretch
from ptosim.home.editor.server import COMMANDS, Server
from ptosim.home.editor.tokens import TextToken

server = Server()

_NAME = re.compile(r"[A-Za-z_$.-][\w$.-]*|\d+")


def serve() -> None:
    """Answer an editor at standard input and output until it goes."""
    logging.disable()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed would be taken for an answer
    with suppress(KeyboardInterrupt):
        server.start_io(stdout=answers)


def _open(uri: str) -> Document | None:
    """A kernel that is open. A program is not read here."""
    file = server.files.get(uri)
    return file.document if file is not None and file.is_kernel else None


def _offset(document: Document, at: lsp.Position) -> int:
    return document.text.offset(at.line, at.character)


def _range(document: Document, token: TextToken) -> lsp.Range:
    return stretch(document, token.start, token.end)


# --- versions ---------------------------------------------------------------------------------------------------------


@server.feature(lsp.INITIALIZE)
def initialize(params: lsp.InitializeParams) -> None:
    options: Any = params.initialization_options
    server.trusted = isinstance(options, dict) and cast("dict[str, Any]", options).get("trusted") is True


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
def opened(params: lsp.DidOpenTextDocumentParams) -> None:
    server.opened(params.text_document)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
def changed(params: lsp.DidChangeTextDocumentParams) -> None:
    server.changed(params.text_document.uri, params.text_document.version, params.content_changes)


@server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
def closed(params: lsp.DidCloseTextDocumentParams) -> None:
    server.closed(params.text_document.uri)


# --- what stands here -------------------------------------------------------------------------------------------------


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
    document = _open(params.text_document.uri)
    found = hover(document, _offset(document, params.position)) if document is not None else None
    if document is None or found is None:
        return None
    token, said = found
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said), _range(document, token))


@server.feature(
    lsp.TEXT_DOCUMENT_COMPLETION,
    lsp.CompletionOptions(trigger_characters=["%", "@", "!", "^", ".", '"'], resolve_provider=True),
)
def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    document = _open(params.text_document.uri)
    if document is None:
        return []
    offset = _offset(document, params.position)
    found = completion.complete(document, offset)
    begun = stretch(document, found.start, offset)
    return [_item(each, begun) for each in found.proposals]


def _item(proposal: completion.Offer, begun: lsp.Range) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        proposal.text,
        kind=KINDS[proposal.kind],
        detail=proposal.said or None,
        sort_text=f"{int(proposal.later)}{proposal.text}",
        filter_text=proposal.text,
        text_edit=lsp.TextEdit(begun, proposal.text),
        data=proposal.text if proposal.kind == "operation" else None,
    )


@server.feature(lsp.COMPLETION_ITEM_RESOLVE)
def resolved(item: lsp.CompletionItem) -> lsp.CompletionItem:
    said = instruction(item.data) if isinstance(item.data, str) else None
    if said is not None:
        item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, said)
    return item


@server.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=[" ", ",", "[", "("]))
def signed(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
    document = _open(params.text_document.uri)
    found = completion.signature(document, _offset(document, params.position)) if document is not None else None
    if found is None:
        return None
    parts = [lsp.ParameterInformation(part) for part in found.parts]
    return lsp.SignatureHelp([lsp.SignatureInformation(found.text, found.summary, parts)], 0, found.active)


# --- names ------------------------------------------------------------------------------------------------------------


def _named(document: Document, at: lsp.Position) -> list[Definition]:
    return outline.together(document, _offset(document, at))


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
    document, uri = _open(params.text_document.uri), params.text_document.uri
    found = _named(document, params.position) if document is not None else []
    return [lsp.Location(uri, _range(document, each.token)) for each in found] if document is not None else []


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
    document, uri = _open(params.text_document.uri), params.text_document.uri
    if document is None:
        return []
    found = _named(document, params.position)
    declared = params.context.include_declaration
    tokens = {token.start: token for each in found for token in (each.occurrences if declared else each.uses)}
    return [lsp.Location(uri, _range(document, tokens[start])) for start in sorted(tokens)]


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
def highlighted(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    document = _open(params.text_document.uri)
    if document is None:
        return []
    tokens = {token.start: token for each in _named(document, params.position) for token in each.occurrences}
    return [lsp.DocumentHighlight(_range(document, token)) for token in tokens.values()]


@server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
def prepared(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
    document = _open(params.text_document.uri)
    if document is None or not _named(document, params.position):
        return None
    token = document.token_at(_offset(document, params.position))
    assert token is not None
    return lsp.PrepareRenamePlaceholder(_range(document, token), token.name)


@server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    document = _open(params.text_document.uri)
    found = _named(document, params.position) if document is not None else []
    if document is None or not found:
        return None
    sign = found[0].token.text[0]
    name = params.new_name.removeprefix(sign)
    if not _NAME.fullmatch(name):
        raise JsonRpcInvalidParams(f"'{params.new_name}' is no name: letters, digits, _ $ . and - may be in one")
    if clash := outline.clash(document, found, sign + name):
        raise JsonRpcInvalidParams(clash)
    edits = [
        lsp.TextEdit(stretch(document, token.start, token.start + len(token.name)), sign + name)
        for token in {token.start: token for each in found for token in each.occurrences}.values()
    ]
    return lsp.WorkspaceEdit({params.text_document.uri: edits})


# --- the shape of the text --------------------------------------------------------------------------------------------


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    document = _open(params.text_document.uri)
    return [_symbol(document, each) for each in outline.symbols(document)] if document is not None else []


def _symbol(document: Document, symbol: outline.OutlineEntry) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        symbol.name,
        lsp.SymbolKind.Function if symbol.is_function else lsp.SymbolKind.Namespace,
        stretch(document, symbol.start, symbol.end),
        _range(document, symbol.named),
        children=[_symbol(document, each) for each in symbol.inner],
    )


@server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
def folded(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    document = _open(params.text_document.uri)
    folds = outline.folds(document) if document is not None else ()
    return [lsp.FoldingRange(first, last, kind=lsp.FoldingRangeKind(kind)) for first, last, kind in folds]


@server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, COLOURS)
def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    document = _open(params.text_document.uri)
    data: list[int] = []
    before = lsp.Position(0, 0)
    for token, colour, defines in outline.colours(document) if document is not None else ():
        assert document is not None
        here, end = position(document, token.start), position(document, token.end)
        column = here.character - before.character if here.line == before.line else here.character
        number = outline.COLOURS.index(colour)
        data += [here.line - before.line, column, end.character - here.character, number, int(defines)]
        before = here
    return lsp.SemanticTokens(data)


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    document = _open(params.text_document.uri)
    if document is None or (text := outline.indented(document)) == document.text.content:
        return []
    return [lsp.TextEdit(stretch(document, 0, len(document.text.content)), text)]


# --- edits and remarks ------------------------------------------------------------------------------------------------


@server.feature(
    lsp.TEXT_DOCUMENT_CODE_ACTION,
    lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite]),
)
def offered(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    document, uri = _open(params.text_document.uri), params.text_document.uri
    if document is None:
        return []
    fixes = [
        _action(document, uri, action, lsp.CodeActionKind.QuickFix, diagnostic)
        for diagnostic, action in server.files[uri].fixes
        if diagnostic.range.start.line <= params.range.end.line and params.range.start.line <= diagnostic.range.end.line
    ]
    rewrites = [_action(document, uri, each, lsp.CodeActionKind.RefactorRewrite) for each in current_form(document)]
    wanted = params.context.only
    return [each for each in (*fixes, *rewrites) if wanted is None or any(_is(each.kind, kind) for kind in wanted)]


def _is(kind: lsp.CodeActionKind | str | None, wanted: lsp.CodeActionKind | str) -> bool:
    """Whether an action is of a kind: `refactor.rewrite` is of `refactor`."""
    return f"{getattr(kind, 'value', kind)}.".startswith(f"{getattr(wanted, 'value', wanted)}.".lstrip("."))


def _action(
    document: Document, uri: str, action: Action, kind: lsp.CodeActionKind, mended: lsp.Diagnostic | None = None
) -> lsp.CodeAction:
    edits = [lsp.TextEdit(stretch(document, edit.start, edit.end), edit.text) for edit in action.edits]
    mends = [mended] if mended is not None else None
    return lsp.CodeAction(action.title, kind, mends, edit=lsp.WorkspaceEdit({uri: edits}))


@server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
def hinted(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    document = _open(params.text_document.uri)
    if document is None:
        return []
    low, high = _offset(document, params.range.start), _offset(document, params.range.end)
    return [
        lsp.InlayHint(position(document, remark.offset), remark.text, tooltip=remark.said, padding_left=True)
        for remark in remarks(document)
        if low <= remark.offset <= high
    ]


# --- commands ---------------------------------------------------------------------------------------------------------


def _offer(name: str) -> None:
    """A command of ptosim as a command of the editor: of an open file, with the words that follow the file."""

    async def run(uri: str, *words: str) -> dict[str, Any] | None:
        return await server.run_command(name, uri, [str(word) for word in words])

    register: Any = server.command
    register(f"ptosim.{name}")(run)


for name in COMMANDS:
    _offer(name)
