"""A bar over the blocks of a run, for those who wait for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0  # seconds before the bar appears


@contextmanager
def progress(blocks: int, quiet: bool = False) -> Generator[Callable[[], None]]:
    """A bar on standard error, if that is a terminal and the run takes long; gives what to call after each block."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    done = 0
    lock = threading.Lock()  # blocks end on several threads
    bar: Any = None

    def appear() -> None:
        nonlocal bar
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("running"), BarColumn(), MofNCompleteColumn(), TextColumn("blocks"), TimeElapsedColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task("", total=blocks, completed=done)
        bar.start()

    def block_done() -> None:
        nonlocal done
        with lock:
            done += 1
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done)

    timer = threading.Timer(PATIENCE, appear)
    timer.daemon = True
    timer.start()
    try:
        yield block_done
    finally:
        timer.cancel()
        timer.join()
        if bar is not None:
            bar.stop()
