"""`ptosim watch`: on each save a kernel is run, checked and profiled again, and what has changed is said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from watchfiles import Change, awatch  # pyright: ignore[reportUnknownVariableType]

from ptosim.home.processes import WaitingProcess

SECONDS = 30
"""A command that takes longer is stopped: its kernel may not end."""
COMMANDS = ("run", "check", "profile")
_ALSO = {".py": (".py",), ".cpp": (".cpp", ".h", ".hpp")}
"""Files beside a program that may be part of it."""
_MOST_FINDINGS = 10

Said = dict[str, Any] | None


@dataclass(frozen=True)
class Look:
    """The output of the commands for one state of a file; None for one that was stopped."""

    run: Said
    check: Said
    profile: Said

    @property
    def findings(self) -> list[dict[str, Any]]:
        known = next((each for each in (self.check, self.run, self.profile) if each is not None), None)
        return known["findings"] if known is not None else []

    @property
    def cycles(self) -> int | None:
        result = self.profile["result"] if self.profile is not None else None
        return result["cycles"] if result else None


class WatchedFile:
    """A file, and the processes that wait for its next state."""

    def __init__(self, file: str, words: Sequence[str], seconds: float = SECONDS) -> None:
        self._file = file
        self._words = words
        self._seconds = seconds
        self._waiting: list[asyncio.Task[WaitingProcess]] = []

    @property
    def path(self) -> Path:
        """The file alone, where a kernel of it is named: `script.py:kernel`."""
        path = Path(self._file)
        return path if path.exists() else Path(self._file.rpartition(":")[0] or self._file)

    def prepare(self) -> None:
        """Let processes wait, one for each command."""
        while len(self._waiting) < len(COMMANDS):
            self._waiting.append(asyncio.create_task(WaitingProcess.started()))

    async def end(self) -> None:
        for starting in self._waiting:
            await (await starting).end()

    async def look(self) -> Look:
        """Do all commands side by side on the file as it is."""
        self.prepare()
        processes, self._waiting = self._waiting, []
        said = [self._said(starting, command) for starting, command in zip(processes, COMMANDS, strict=True)]
        look = Look(*await asyncio.gather(*said))
        self.prepare()
        return look

    async def _said(self, starting: asyncio.Task[WaitingProcess], command: str) -> Said:
        own = ["--no-check"] if command == "run" else []
        return await (await starting).said([command, self._file, *self._words, *own], None, self._seconds)

    async def saves(self) -> AsyncIterator[None]:
        """The times when the file is saved, or one that may be part of it; several at once are one."""
        path = self.path.absolute()
        suffixes = next((_ALSO[suffix] for suffix in _ALSO if path.suffix in _ALSO[suffix]), ())

        def is_part(change: Change, changed: str) -> bool:
            other = Path(changed)
            return change != Change.deleted and (other == path or other.suffix in suffixes)

        async for _ in awatch(path.parent, watch_filter=is_part, debounce=50, step=20, recursive=False):
            yield None


async def watch(file: str, words: Sequence[str], say: Callable[[str], None], seconds: float = SECONDS) -> None:
    """Look at once, and again on each save, until somebody ends it."""
    watched = WatchedFile(file, words, seconds)
    before: Look | None = None
    try:
        saves = watched.saves()
        saved = asyncio.ensure_future(anext(saves))
        while True:
            began = time.perf_counter()
            look = await watched.look()
            say(f"{time.strftime('%H:%M:%S')}  {file}  ({time.perf_counter() - began:.1f} s)")
            for line in story(before, look, seconds):
                say(f"  {line}")
            before = look
            await saved
            saved = asyncio.ensure_future(anext(saves))
    finally:
        await watched.end()


# --- what has changed -------------------------------------------------------------------------------------------------


def story(before: Look | None, now: Look, seconds: float) -> Iterator[str]:
    """The output of the commands, beside their earlier output."""
    stopped = [name for name in COMMANDS if getattr(now, name) is None]
    if stopped:
        yield f"{', '.join(stopped)}: not ended within {seconds:g} s, and stopped: does a loop of the kernel end?"
    yield from _findings(before, now)
    if now.run is not None and now.run["result"] is not None:
        yield from _arrays(before, now)
    if now.cycles is not None and now.profile is not None:
        yield f"profile  {now.cycles:,} cycles{_against(before, now.cycles)}, bound by {now.profile['result']['bound']}"


def _findings(before: Look | None, now: Look) -> Iterator[str]:
    known = {_identity(each) for each in before.findings} if before is not None else set[tuple[str, str]]()
    left = {_identity(each) for each in now.findings}
    errors = sum(each["severity"] == "error" for each in now.findings)
    gone = [each for each in before.findings if _identity(each) not in left] if before is not None else []
    if now.findings:
        yield f"check    {_counted(errors, 'error')}, {_counted(len(now.findings) - errors, 'warning')}"
    elif now.check is not None:
        yield "check    no findings"
    for finding in now.findings[:_MOST_FINDINGS]:
        sign = " " if _identity(finding) in known or before is None else "+"
        yield f"  {sign} {_headline(finding)}"
        if (finding["hint"] and sign == "+") or (before is None and finding["hint"]):
            yield f"      hint: {finding['hint'].splitlines()[0]}"
    for finding in gone[:_MOST_FINDINGS]:
        yield f"  - {_headline(finding)}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _identity(finding: dict[str, Any]) -> tuple[str, str]:
    """Lines move when a text changes."""
    return finding["kind"], finding["message"]


def _headline(finding: dict[str, Any]) -> str:
    place = finding["location"]
    where = f"{place['file']}:{place['line']}: " if place else ""
    return f"{where}{finding['severity']}: {finding['kind']}: {finding['message']}"


def _arrays(before: Look | None, now: Look) -> Iterator[str]:
    """The arrays that the kernel wrote."""
    assert now.run is not None
    given = {each["index"]: each.get("sha256") for each in now.run["arguments"]}
    earlier: dict[int, dict[str, Any]] = {}
    if before is not None and before.run is not None and before.run["result"] is not None:
        earlier = {each["index"]: each for each in before.run["result"]["arrays"]}
    for array in now.run["result"]["arrays"]:
        if array["sha256"] == given.get(array["index"]) and array["index"] not in earlier:
            continue
        shape = "x".join(map(str, array["shape"]))
        same = array["index"] in earlier and earlier[array["index"]]["sha256"] == array["sha256"]
        if same and array["sha256"] == given.get(array["index"]):
            continue
        changed = "" if array["index"] not in earlier else ", as before" if same else ", changed"
        yield f"run      {array['name']}  {array['dtype']} {shape}, from {array['min']} to {array['max']}{changed}"


def _against(before: Look | None, cycles: int) -> str:
    if before is None or before.cycles is None:
        return ""
    if before.cycles == cycles:
        return ", as before"
    return f" ({100 * (cycles / before.cycles - 1):+.1f} %)" if before.cycles else ""
