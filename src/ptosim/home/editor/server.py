"""The open files of an editor, what is found in each version of them, and the commands that run them.

Each version of a file is read anew. A proof and the commands run in processes of their own; what they find is shown
only where the file is still the same.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from ptosim.home.editor import protocol
from ptosim.home.editor.actions import Action, mending
from ptosim.home.editor.document import Document, LineCycles
from ptosim.home.editor.text import Text
from ptosim.home.processes import said_by
from ptosim.report.envelope import installed_version

VERIFY_PAUSE = 0.01
"""Seconds: edits that have come by then are answered together."""
LONG = 400
"""Lines: tiles of a longer text are lowered after its first answer, and a pause."""
LOWERING_PAUSE = 0.3
PROOF_PAUSE = 1.0
PROOF_SECONDS = 10
COMMAND_SECONDS = 120
COMMANDS = ("check", "profile", "plan")
PICTURED = ("profile", "plan")
"""Commands that draw a page."""
PROGRAMS = ("python", "cpp", "c")
"""Languages whose files are programs: nothing but a command runs them."""
PROGRAM_SUFFIXES = (".py", ".cpp", ".cc", ".cxx", ".hpp", ".h")


@dataclass
class OpenFile:
    """One version of an open file, with findings and pending work."""

    document: Document
    language: str
    found: dict[str, list[lsp.Diagnostic]] = field(default_factory=dict[str, "list[lsp.Diagnostic]"])
    """By what found it."""
    fixes: list[tuple[lsp.Diagnostic, Action]] = field(default_factory=list["tuple[lsp.Diagnostic, Action]"])
    verifying: asyncio.TimerHandle | None = None
    proving: asyncio.Task[None] | None = None

    @property
    def is_kernel(self) -> bool:
        """Whether it is a text to read, and no program."""
        return self.language not in PROGRAMS and not self.document.name.endswith(PROGRAM_SUFFIXES)

    @property
    def folder(self) -> str | None:
        folder = Path(self.document.name).parent
        return str(folder) if folder.is_dir() else None

    def stop(self) -> None:
        if self.verifying is not None:
            self.verifying.cancel()
        if self.proving is not None:
            self.proving.cancel()


class EditorProtocol(LanguageServerProtocol):
    """Messages that are forgotten once they are answered: pygls would keep the future of each notification."""

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def ended(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, ended, args, kwargs)


class Server(LanguageServer):
    """The server behind `ptosim lsp`; requests.py answers its questions."""

    def __init__(self) -> None:
        super().__init__("ptosim", installed_version(), protocol_cls=EditorProtocol)  # pyright: ignore[reportUnknownMemberType]
        self.files: dict[str, OpenFile] = {}
        self.trusted = False
        """Whether programs of this workspace may be run."""

    # --- versions -----------------------------------------------------------------------------------------------------

    def opened(self, opened: lsp.TextDocumentItem) -> None:
        encoding = self.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16
        text = Text.of(opened.text, str(getattr(encoding, "value", encoding)))
        self._arrived(
            opened.uri, Document(to_fs_path(opened.uri) or opened.uri, opened.version, text), opened.language_id
        )

    def changed(self, uri: str, version: int, changes: Iterable[lsp.TextDocumentContentChangeEvent]) -> None:
        file = self.files.get(uri)
        if file is None:
            return
        text = file.document.text
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                text = text.replaced((start.line, start.character), (end.line, end.character), change.text)
            else:
                text = Text.of(change.text, text.encoding)
        self._arrived(uri, Document(file.document.name, version, text), file.language)

    def closed(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        if file is not None:
            file.stop()
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _arrived(self, uri: str, document: Document, language: str) -> None:
        """Take a version for the current one, and verify it soon, unless a later one comes first."""
        if uri in self.files:
            self.files[uri].stop()
        file = self.files[uri] = OpenFile(document, language)
        if file.is_kernel:
            file.verifying = asyncio.get_running_loop().call_later(VERIFY_PAUSE, self._verify, uri, file)
        else:
            self._publish(uri, file)

    def _verify(self, uri: str, file: OpenFile) -> None:
        """Show what `verify` finds: in a long text of tiles first what it finds before it lowers them."""
        if len(file.document.text.starts) > LONG and file.document.module is not None:
            self._take(uri, file, "ptosim", [each.to_json() for each in file.document.said_by_text])
            file.verifying = asyncio.get_running_loop().call_later(LOWERING_PAUSE, self._verify_all, uri, file)
        else:
            self._verify_all(uri, file)

    def _verify_all(self, uri: str, file: OpenFile) -> None:
        found = file.document.diagnostics
        if "ptosim" not in file.found or found != file.document.said_by_text:
            self._take(uri, file, "ptosim", [each.to_json() for each in found])
        if file.document.module is not None and file.document.module.kernels:
            file.proving = asyncio.get_running_loop().create_task(
                self._prove(uri, file, [*file.document.module.kernels])
            )

    async def _prove(self, uri: str, file: OpenFile, kernels: Sequence[str]) -> None:
        await asyncio.sleep(PROOF_PAUSE)
        findings: list[dict[str, Any]] = []
        for kernel in kernels:
            words = ["prove", "-", "--kernel", kernel]
            said = await said_by(words, file.document.text.content, PROOF_SECONDS, file.folder)
            findings += said["findings"] if said is not None else []
        self._take(uri, file, "ptosim prove", findings)

    # --- findings -----------------------------------------------------------------------------------------------------

    def _take(self, uri: str, file: OpenFile, source: str, findings: Iterable[dict[str, Any]]) -> None:
        """Publish what was found in a version beside what else was, unless there is a later one."""
        if self.files.get(uri) is not file:
            return
        shown: list[lsp.Diagnostic] = []
        file.fixes = [each for each in file.fixes if each[0].source != source]
        for finding in findings:
            shown.append(protocol.diagnostic(file.document, uri, source, finding))
            if (action := mending(file.document, finding)) is not None:
                file.fixes.append((shown[-1], action))
        file.found[source] = shown
        self._publish(uri, file)

    def _publish(self, uri: str, file: OpenFile) -> None:
        shown = [each for found in file.found.values() for each in found]
        known = lsp.PublishDiagnosticsParams(uri, shown, file.document.version)
        self.text_document_publish_diagnostics(known)

    # --- commands -----------------------------------------------------------------------------------------------------

    async def run_command(self, name: str, uri: str, words: Sequence[str]) -> dict[str, Any] | None:
        """Run a command on the text of an open file; on the file itself, where that is a program."""
        file = self.files.get(uri)
        if file is None:
            return self._refuse(f"{uri} is not open")
        if not file.is_kernel and not self.trusted:
            return self._refuse("a program is run in a trusted workspace only (initializationOptions.trusted)")
        text = file.document.text.content if file.is_kernel else None
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            picture = ["--html", str(page)] if name in PICTURED else []
            subject = "-" if file.is_kernel else file.document.name
            found = await said_by([name, subject, *words, *picture], text, COMMAND_SECONDS, file.folder)
            html = page.read_text("utf-8") if page.exists() else None
        if found is None:
            return self._refuse(f"ptosim {name} has not ended within {COMMAND_SECONDS} s, and was stopped")
        self._take(uri, file, f"ptosim {name}", found["findings"])
        if name == "profile" and found["ok"]:
            lines = found["result"]["lines"]
            file.document.cycles = [LineCycles(each["line"], each["busy"], each["critical"]) for each in lines]
            if self._shows_hints():
                self.workspace_inlay_hint_refresh(None)
        return {"ok": found["ok"], "result": found["result"], "html": html}

    def _shows_hints(self) -> bool:
        workspace = self.client_capabilities.workspace
        hints = workspace.inlay_hint if workspace is not None else None
        return hints is not None and bool(hints.refresh_support)

    def _refuse(self, words: str) -> None:
        self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, words))
