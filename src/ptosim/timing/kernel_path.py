"""The critical path of a kernel: a chain of work, signals and scalar code from its last cycle back to its first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ptosim.timing.recording import NOTHING, Recording, RowKind, WaitCause

Activity = Literal["work", "sync", "scalar", "unrecorded"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the chain."""

    activity: Activity
    core: int
    pipe: int
    site: int
    """NOTHING where the scalar code before the first or after the last instruction is meant."""
    start: int
    end: int
    row: int = NOTHING


def kernel_path(recording: Recording) -> list[Stretch]:
    """The chain from cycle 0 to the end."""
    return [link for link in _backwards(recording) if link.end > link.start][::-1]


def _backwards(recording: Recording) -> Iterator[Stretch]:
    if not recording.cores:
        return
    core = max(range(len(recording.cores)), key=lambda index: recording.cores[index].end)
    while True:
        yield from _block(recording, core)
        after = recording.cores[core].after
        if after is None:
            return
        begin = recording.cores[core].begin
        members = (index for index, other in enumerate(recording.cores) if other.block == after)
        core = next(index for index in members if recording.cores[index].end == begin)


def _block(recording: Recording, core: int) -> Iterator[Stretch]:
    """From the end of a core back to the begin of its block."""
    rows, run = recording.rows, recording.cores[core]
    if run.recorded is not None:
        row = run.last
        yield Stretch("unrecorded", core, 0, NOTHING, run.recorded, run.end)
    elif run.last == NOTHING:
        row = run.scalar_last
        yield Stretch("scalar", core, 0, NOTHING, _end(recording, row, run.begin), run.end)
    else:
        row = run.last
        yield Stretch("sync", core, rows.pipe[row], rows.site[row], rows.end[row], run.end)
    while row != NOTHING:
        yield from _row(recording, row, run.begin)
        row = rows.before[row]


def _row(recording: Recording, row: int, begin: int) -> Iterator[Stretch]:
    """A row, and the gap between it and the row before."""
    rows = recording.rows
    core, pipe, site = rows.core[row], rows.pipe[row], rows.site[row]
    start, end = rows.start[row], rows.end[row]
    before = _end(recording, rows.before[row], begin)
    if rows.kind[row] == RowKind.WORK:
        yield Stretch("work", core, pipe, site, start, end, row)
        if rows.link[row] == WaitCause.PIPE:  # a barrier of the pipe may lie between
            yield Stretch("sync", core, pipe, site, before, start)
        else:
            yield Stretch("scalar", core, 0, site, before, start)
        return
    cause = recording.causes[rows.detail[row]]
    setter = core if rows.before[row] == NOTHING else rows.core[rows.before[row]]
    yield Stretch("sync", core, pipe, site, end - cause.hop, end, row)
    yield Stretch("scalar", setter, 0, cause.site, before, end - cause.hop)


def _end(recording: Recording, row: int, begin: int) -> int:
    return begin if row == NOTHING else recording.rows.end[row]
