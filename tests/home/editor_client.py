"""A client of the Language Server Protocol over standard input and output, as an editor is one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from queue import Empty, Queue
from typing import Any

PATIENCE = 60
"""Seconds to wait for an answer."""


class Client:
    """A server of its own, and what has come from it."""

    def __init__(self, program: Sequence[str] = ("-m", "ptosim", "lsp"), **options: Any) -> None:
        command = [sys.executable, *program]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ})
        self._came: Queue[dict[str, Any]] = Queue()
        self._kept: list[dict[str, Any]] = []
        self._number = 0
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        workspace = {"inlayHint": {"refreshSupport": False}}
        params = {"processId": None, "rootUri": None, "capabilities": {"workspace": workspace}, **options}
        self.capabilities = self.ask("initialize", params)["capabilities"]
        self.tell("initialized", {})

    def _listen(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            length = int(header.split(b":")[1])
            while out.readline().strip():
                pass
            self._came.put(json.loads(out.read(length)))

    def raw(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, params: Any) -> Any:
        """The result; an error is returned as it is."""
        self._number += 1
        number = self._number
        self.raw(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
        answer = self.wait(lambda message: message.get("id") == number and "method" not in message)
        return answer["error"] if "error" in answer else answer["result"]

    def wait(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = PATIENCE) -> dict[str, Any]:
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while True:
            try:
                message = self._came.get(timeout=seconds)
            except Empty:
                raise AssertionError(f"no answer within {seconds} s") from None
            if wanted(message):
                return message
            self._kept.append(message)

    # --- files --------------------------------------------------------------------------------------------------------

    def open(self, uri: str, text: str, language: str = "pto") -> None:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        known = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": known, "contentChanges": list(changes)})

    def shut(self, uri: str) -> None:
        """Close a file, and forget what is still said of its versions."""
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

        def is_published(message: dict[str, Any]) -> bool:
            return message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri

        self.wait(lambda message: is_published(message) and message["params"].get("version") is None)
        self._kept = [message for message in self._kept if not is_published(message)]

    def published(self, uri: str, version: int) -> list[dict[str, Any]]:
        """The diagnostics of a version."""

        def is_it(message: dict[str, Any]) -> bool:
            params = message.get("params", {})
            is_of = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            assert not is_of or params.get("version") is None or params["version"] <= version, "a version of the future"
            return is_of and params.get("version") == version

        return self.wait(is_it)["params"]["diagnostics"]

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        place = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": place, **more})

    def of(self, method: str, uri: str, **more: Any) -> Any:
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, **more})

    def close(self) -> int:
        self.ask("shutdown", None)
        self.tell("exit", None)
        with self.process:
            code = self.process.wait(PATIENCE)
            self._listening.join(PATIENCE)
        return code
