"""Commands of ptosim in processes of their own, and what they say: the one JSON object of `--json`.

A kernel runs in such a process, and what takes long: it is ended when the text changes, or when its time is over.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any


class WaitingProcess:
    """A process that has imported everything, so that a command is done sooner; it does one."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def started(cls, folder: str | None = None) -> WaitingProcess:
        command = (sys.executable, "-m", "ptosim.cli.waiting")
        return cls(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=folder))

    async def said(self, words: Sequence[str], text: str | None, seconds: float) -> dict[str, Any] | None:
        """The output of a command with a text at its standard input; None if it takes too long."""
        given = json.dumps([*words, "--json"]).encode() + b"\n" + (text or "").encode()
        try:
            output, _ = await asyncio.wait_for(self._process.communicate(given), seconds)
        except TimeoutError:
            return None
        finally:  # at the end of the time, and when the task is cancelled
            await self.end()
        try:
            return json.loads(output)
        except ValueError:
            return None

    async def end(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


async def said_by(words: Sequence[str], text: str | None, seconds: float, folder: str | None) -> dict[str, Any] | None:
    """The output of a command that is started for it."""
    return await (await WaitingProcess.started(folder)).said(words, text, seconds)
