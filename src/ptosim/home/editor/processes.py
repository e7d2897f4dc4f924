"""Commands of ptosim in processes of their own: what they say, as the one JSON object of `--json`.

What runs a kernel or takes long is never done by the server itself: such a process is ended when the text changes, or
when its time is over.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

PROOF_SECONDS = 10
COMMAND_SECONDS = 120


async def said_by(
    words: Sequence[str], text: str | None, seconds: float, folder: str | None = None
) -> dict[str, Any] | None:
    """What a command says, given a text at its standard input; None where it says nothing in time."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ptosim", *words, "--json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        given = None if text is None else text.encode()
        output, _ = await asyncio.wait_for(process.communicate(given), seconds)
    except TimeoutError:
        return None
    finally:  # at the end of the time, and when the task is cancelled
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        return json.loads(output)
    except ValueError:
        return None
