"""Placement of blocks: the cores of the chip take them in order, each the next one when it is free."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ptosim.target import Target
from ptosim.timing.recording import Recording


def hardware_cores(kind: str, target: Target) -> int:
    """The number of blocks of this kind of kernel that the chip runs at a time."""
    chip = target.chip
    if kind == "vector":
        return chip.vector_cores
    return chip.cube_cores if kind == "cube" else min(chip.cube_cores, chip.vector_cores // 2)


def place_blocks(recording: Recording, places: int, together: bool) -> None:
    """Give every block its time. Blocks that wait for each other all begin at once, however many they are."""
    blocks: dict[int, list[int]] = {}
    for index, core in enumerate(recording.cores):
        blocks.setdefault(core.block, []).append(index)
    lengths = {block: max(recording.cores[i].end for i in members) for block, members in blocks.items()}
    places = len(blocks) if together else min(places, len(blocks))
    free: list[tuple[int, int]] = [(0, place) for place in range(places)]
    last: dict[int, int] = {}  # the latest block on each place
    for block in sorted(blocks):
        begin, place = heappop(free)
        for index in blocks[block]:
            _move(recording, index, begin, last.get(place))
        last[place] = block
        heappush(free, (begin + lengths[block], place))
    recording.cycles = max((core.end for core in recording.cores), default=0)
    members = {(core.rank, core.block) for core in recording.cores}
    recording.hardware_cores = len(members) if together else places
    _windows(recording, blocks)
    _shift(recording)


def _move(recording: Recording, index: int, begin: int, after: int | None) -> None:
    core = recording.cores[index]
    core.begin, core.after = begin + core.since, after
    core.end += begin
    if core.recorded is not None:
        core.recorded += core.begin


def _windows(recording: Recording, blocks: dict[int, list[int]]) -> None:
    """A hardware core belongs to a block until the next one begins on it, or until the kernel ends."""
    for core in recording.cores:
        core.window = recording.cycles
    for core in recording.cores:
        for index in blocks.get(core.after, ()) if core.after is not None else ():
            recording.cores[index].window = core.begin


def _shift(recording: Recording) -> None:
    """From cycles of the block to cycles of the kernel."""
    begins = np.array([core.begin - core.since for core in recording.cores], np.int64)
    if not begins.any():
        return
    rows, signals, watches = recording.rows, recording.signals, recording.watches
    for times, cores in (
        (rows.start, rows.core),
        (rows.end, rows.core),
        (signals.set_time, signals.set_core),
        (signals.wait_time, signals.wait_core),
        (watches.since, watches.core),
        (watches.over, watches.core),
    ):
        view = np.frombuffer(times, np.int64)
        view += begins[np.frombuffer(cores, np.int32)]
