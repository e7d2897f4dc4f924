"""A bar over the blocks of a run, for those who wait for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ptosim.diagnostics import Location

PATIENCE = 2.0  # seconds before the bar appears


class ProgressShown:
    """Nothing is shown. Call it after each block."""

    def __call__(self) -> None: ...

    def found(self, severity: str, kind: str, place: Location | None) -> None:
        """A finding was judged; its words follow when the check has ended."""


class _Bar(ProgressShown):
    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.done = 0
        self._lock = threading.Lock()  # blocks end on several threads
        self._bar: Any = None

    def appear(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("running"), BarColumn(), MofNCompleteColumn(), TextColumn("blocks"), TimeElapsedColumn()
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task("", total=self.blocks, completed=self.done)
        self._bar.start()

    def __call__(self) -> None:
        with self._lock:
            self.done += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.done)

    def found(self, severity: str, kind: str, place: Location | None) -> None:
        line = f"{place.shown}: {severity}: {kind}" if place is not None else f"{severity}: {kind}"
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)  # noqa: T201

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress(blocks: int, quiet: bool = False) -> Generator[ProgressShown]:
    """A bar on standard error, if that is a terminal and the run takes long, and what is found meanwhile."""
    if quiet or not sys.stderr.isatty():
        yield ProgressShown()
        return
    bar = _Bar(blocks)
    timer = threading.Timer(PATIENCE, bar.appear)
    timer.daemon = True
    timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
