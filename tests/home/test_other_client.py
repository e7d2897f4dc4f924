"""A client that others have written, pygls': every answer has the types of the protocol, which it reads strictly."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

import ptosim
from home.test_language_server import TILES, place, shown, verified

lsp = pytest.importorskip("lsprotocol.types")
clients = pytest.importorskip("pygls.lsp.client")
converters = pytest.importorskip("lsprotocol.converters")
PATIENCE = 60


async def talked(text: str) -> dict[str, Any]:
    """Everything that a client may ask about a text that lacks an operand."""
    client = clients.LanguageClient("pygls", "2")
    published: asyncio.Queue[Any] = asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def keep(params: Any) -> None:
        published.put_nowait(params)

    await client.start_io(sys.executable, "-m", "ptosim", "lsp")
    server = await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    uri, whole = "file:///other/softmax.pto", text.count("\n") + 1
    document = lsp.TextDocumentIdentifier(uri)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "pto", 1, text)))
    at = lsp.Position(*place(text, "%largest", 1))
    span = lsp.Range(lsp.Position(0, 0), lsp.Position(whole, 0))
    found: dict[str, Any] = {"server": server, "published": await asyncio.wait_for(published.get(), PATIENCE)}
    here = {"text_document": document, "position": at}
    asked = {
        "hover": client.text_document_hover_async(lsp.HoverParams(**here)),
        "completion": client.text_document_completion_async(lsp.CompletionParams(**here)),
        "definition": client.text_document_definition_async(lsp.DefinitionParams(**here)),
        "references": client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(include_declaration=True), **here)
        ),
        "rename": client.text_document_rename_async(lsp.RenameParams(new_name="most", **here)),
        "signature": client.text_document_signature_help_async(lsp.SignatureHelpParams(**here)),
        "symbols": client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document)),
        "folding": client.text_document_folding_range_async(lsp.FoldingRangeParams(document)),
        "tokens": client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document)),
        "inlays": client.text_document_inlay_hint_async(lsp.InlayHintParams(document, span)),
        "actions": client.text_document_code_action_async(
            lsp.CodeActionParams(document, span, lsp.CodeActionContext(found["published"].diagnostics))
        ),
        "formatting": client.text_document_formatting_async(
            lsp.DocumentFormattingParams(document, lsp.FormattingOptions(tab_size=2, insert_spaces=True))
        ),
    }
    for name, question in asked.items():
        found[name] = await asyncio.wait_for(question, PATIENCE)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return found


def test_another_client_understands_every_answer() -> None:
    text = TILES.read_text().replace("ins(%a : ", "ins(%b : ", 1)
    found = asyncio.run(talked(text))
    published = found["published"]
    plain = converters.get_converter().unstructure(published.diagnostics)
    assert published.version == 1 and shown(plain) == verified(text, "/other/softmax.pto") != []
    assert "tile_buf<vec, 32x1xf32" in found["hover"].contents.value
    assert {"%largest", "%total"} <= {each.label for each in found["completion"]}
    line = place(text, "%largest = ")[0]
    definition = found["definition"]
    (first,) = definition if isinstance(definition, list) else [definition]
    assert first.range.start.line == line and len(found["references"]) == text.count("%largest")
    (changes,) = (found["rename"].changes or {}).values()
    assert len(changes) == text.count("%largest") and {each.new_text.lstrip("%") for each in changes} == {"most"}
    assert found["signature"].signatures and found["symbols"][0].name and found["folding"]
    assert not found["inlays"]  # of a text that is wrong nothing is planned
    legend = found["server"].capabilities.semantic_tokens_provider.legend
    assert len(found["tokens"].data) % 5 == 0 and max(found["tokens"].data[3::5]) < len(legend.token_types)
    assert not found["actions"] and not found["formatting"]  # no repair is known, and nothing stands wrongly
    assert ptosim.load(TILES).kernel().name == "softmax"
