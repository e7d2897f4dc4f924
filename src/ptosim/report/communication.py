"""What ranks did with each other in a timed run: who waited, what went over which link, how much of it was hidden.

A rank computes while one of its V, M, MTE1 or FIX pipes works, and communicates while a copy of one of its cores to or
from another rank, or a transfer, is under way. Times are counted once, however many cores are busy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ptosim.effects.sim_signal import SIGNALS
from ptosim.report.accounts import CoreTime, column
from ptosim.target import Target
from ptosim.timing.recording import NOTHING, PIPES, SDMA, Kind, Recording

COMPUTING = frozenset(PIPES.index(pipe) for pipe in ("V", "M", "MTE1", "FIX"))
_SDMA = PIPES.index(SDMA)

COLLECTIVES: Mapping[str, int] = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}
"""How often, by the best algorithms, each rank sends its part of the data to N - 1 others: what the bus bandwidth
counts."""

Spans = list[tuple[int, int]]
"""Stretches of time."""


@dataclass(frozen=True, slots=True)
class RankTime:
    """One rank. Of its cycles, `compute` and `communication` are those in which it does the one and the other."""

    cores: Mapping[str, CoreTime]
    cycles: int
    """When the last of its cores has ended."""
    compute: int
    communication: int
    waiting: int
    """Cycles that its scalar units stood waiting for words in GM, summed over cores."""
    exposed: int
    """Cycles in which it communicates, or a scalar unit stands waiting for a word, and it does not compute."""
    overlap: float | None
    """How much of the shorter of compute and communication the other one hides: (compute + communication - both
    together) / the shorter. None where there is nothing to hide."""
    sent: int
    """Bytes that went from it to other ranks,"""
    received: int
    """and that came from them, whoever copied them."""
    bandwidth: float
    """GB/s: what it sent or received, whichever is more, over the cycles of the whole run."""


@dataclass(frozen=True, slots=True)
class LinkUse:
    """The way from one rank to another."""

    source: int
    dest: int
    bytes: int
    copies: int
    busy: int
    """Cycles in which something was on its way."""
    rate: float
    """GB/s over these cycles."""
    limit: float
    """GB/s that the target allows between two ranks."""
    delayed: int
    """Cycles that its copies took longer because others were on the links, summed over copies."""


@dataclass(frozen=True, slots=True)
class WaitSkew:
    """A wait for words in the source: how far apart ranks came to it."""

    line: int | None
    name: str
    count: int
    waiting: int
    """Cycles that scalar units stood at it."""
    skew: int
    """At most so many cycles lay between the first rank to come to it and the last, of equal blocks and turns."""
    last: int | None
    """The rank whose notices were waited for most often."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """GB/s of a collective: of the data that it is about, and of what its best algorithm sends over each link."""

    algorithm: float
    bus: float


def bandwidth(cycles: int, bytes: int, collective: str, ranks: int, target: Target) -> Bandwidth:
    """Of a collective that is about so many bytes: of an all-reduce or reduce-scatter what each rank puts in, of an
    all-gather what each rank gets out, of an all-to-all either."""
    algorithm = bytes * target.chip.clock_ghz / cycles if cycles else 0.0
    return Bandwidth(algorithm, algorithm * COLLECTIVES[collective] * (ranks - 1) / ranks)


# --- ranks ------------------------------------------------------------------------------------------------------------


def rank_times(recording: Recording, cores: Mapping[str, CoreTime], target: Target) -> Mapping[int, RankTime]:
    """By rank; empty where there is one rank only."""
    ranks = sorted({core.rank for core in recording.cores if core.rank is not None})
    if not ranks:
        return {}
    computing, crossing, standing = _computing(recording), _crossing(recording), _standing(recording)
    return {
        rank: _rank(rank, recording, cores, target, computing[rank], crossing[rank], standing[rank]) for rank in ranks
    }


def _rank(
    rank: int,
    recording: Recording,
    cores: Mapping[str, CoreTime],
    target: Target,
    computing: Spans,
    crossing: Spans,
    standing: Spans,
) -> RankTime:
    mine = {core.name: cores[core.name] for core in recording.cores if core.rank == rank}
    compute, communication, both = _covered(computing), _covered(crossing), _covered(computing, crossing)
    least = min(compute, communication)
    sent, received = _moved(recording, rank)
    return RankTime(
        cores=mine,
        cycles=max(core.end for core in mine.values()),
        compute=compute,
        communication=communication,
        waiting=sum(end - start for start, end in standing),
        exposed=_covered(computing, crossing, standing) - compute,
        overlap=(compute + communication - both) / least if least else None,
        sent=sent,
        received=received,
        bandwidth=_gb_s(max(sent, received), recording.cycles, target),
    )


def _moved(recording: Recording, rank: int) -> tuple[int, int]:
    crossings = recording.crossings
    moved = column(recording.rows.bytes)[column(crossings.row)]
    return int(moved[column(crossings.source) == rank].sum()), int(moved[column(crossings.dest) == rank].sum())


def _by_rank(recording: Recording, rows: Iterable[int]) -> dict[int, Spans]:
    """When they were going on, by the rank of their core."""
    table = recording.rows
    found: dict[int, Spans] = {core.rank: [] for core in recording.cores if core.rank is not None}
    for row in rows:
        rank = recording.cores[table.core[row]].rank
        assert rank is not None
        found[rank].append((table.start[row], table.end[row]))
    return found


def _computing(recording: Recording) -> dict[int, Spans]:
    rows = recording.rows
    chosen = (column(rows.kind) == Kind.WORK) & np.isin(column(rows.pipe), list(COMPUTING))
    return _by_rank(recording, np.flatnonzero(chosen).tolist())


def _crossing(recording: Recording) -> dict[int, Spans]:
    rows = recording.rows
    transfers = np.flatnonzero((column(rows.pipe) == _SDMA) & (column(rows.kind) == Kind.WORK)).tolist()
    return _by_rank(recording, {*recording.crossings.row, *transfers})


def _standing(recording: Recording) -> dict[int, Spans]:
    rows, sites = recording.rows, recording.sites
    waits = np.flatnonzero(column(rows.kind) == Kind.WAIT).tolist()
    return _by_rank(recording, (row for row in waits if sites[rows.site[row]].name in SIGNALS))


def _covered(*spans: Spans) -> int:
    """The cycles that belong to some of these stretches."""
    cycles = until = 0
    for start, end in sorted(chain(*spans)):
        cycles += max(0, end - max(start, until))
        until = max(until, end)
    return cycles


def _gb_s(moved: int, cycles: int, target: Target) -> float:
    """Bytes in a cycle, times 10^9 cycles in a second."""
    return moved * target.chip.clock_ghz / cycles if cycles else 0.0


# --- links and waits --------------------------------------------------------------------------------------------------


def link_uses(recording: Recording, target: Target) -> list[LinkUse]:
    """The ways between ranks that bytes went, by rank."""
    rows, crossings = recording.rows, recording.crossings
    ways: dict[tuple[int, int], list[int]] = {}
    for number, way in enumerate(zip(crossings.source, crossings.dest, strict=True)):
        ways.setdefault(way, []).append(number)
    found: list[LinkUse] = []
    for (source, dest), numbers in sorted(ways.items()):
        chosen = [crossings.row[number] for number in numbers]
        moved = sum(rows.bytes[row] for row in chosen)
        busy = _covered([(rows.start[row], rows.end[row]) for row in chosen])
        taken = sum(rows.end[row] - rows.start[row] for row in chosen)
        delayed = taken - sum(crossings.alone[number] for number in numbers)
        rate, limit = _gb_s(moved, busy, target), target.link.peer_gb_s
        found.append(LinkUse(source, dest, moved, len(chosen), busy, rate, limit, delayed))
    return found


def link_levels(recording: Recording) -> dict[tuple[int, int], list[tuple[int, float]]]:
    """Of each way between ranks, the bytes per cycle from which moment on."""
    rows, crossings = recording.rows, recording.crossings
    changes: dict[tuple[int, int], dict[int, float]] = {}
    for row, *way in zip(crossings.row, crossings.source, crossings.dest, strict=True):
        start, end = rows.start[row], rows.end[row]
        if end > start:
            rate = rows.bytes[row] / (end - start)
            of_way = changes.setdefault((way[0], way[1]), {})
            of_way[start] = of_way.get(start, 0.0) + rate
            of_way[end] = of_way.get(end, 0.0) - rate
    return {way: _levels(of_way) for way, of_way in sorted(changes.items())}


def _levels(changes: Mapping[int, float]) -> list[tuple[int, float]]:
    level, found = 0.0, list[tuple[int, float]]()
    for moment, change in sorted(changes.items()):
        level += change
        found.append((moment, max(0.0, round(level, 3))))
    return found


def wait_skews(recording: Recording) -> list[WaitSkew]:
    """The waits for words, those that ranks came to furthest apart first."""
    table = recording.watches
    visits: dict[int, list[int]] = {}
    for number, site in enumerate(table.site):
        visits.setdefault(site, []).append(number)
    found: list[WaitSkew] = []
    for site, numbers in visits.items():
        came: dict[tuple[int, str, int], list[int]] = {}  # by block, core and turn: when each rank came
        turns: dict[int, int] = {}
        for number in numbers:
            core = table.core[number]
            turn = turns[core] = turns.get(core, -1) + 1
            run = recording.cores[core]
            came.setdefault((run.block, run.role, turn), []).append(table.since[number])
        skew = max(max(times) - min(times) for times in came.values())
        waiting = sum(table.over[number] - table.since[number] for number in numbers)
        late = [recording.cores[table.by[number]].rank for number in numbers if table.by[number] != NOTHING]
        last = max(sorted(set(late), key=str), key=late.count, default=None)
        place = recording.sites[site]
        found.append(WaitSkew(place.line, place.title, len(numbers), waiting, skew, last))
    return sorted(found, key=lambda each: -each.skew)
