"""Communication of ranks in a timed run: waits, traffic by link, and the part that was hidden.

A rank computes while one of its V, M, MTE1 or FIX pipes works, and communicates while a copy of one of its cores to or
from another rank, or a transfer, is under way. Times are counted once, however many cores are busy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ptosim.effects.sim_signal import SIGNALS
from ptosim.report.time_accounts import CoreTime, column
from ptosim.target import Target
from ptosim.timing.recording import NOTHING, PIPES, SDMA, Recording, RowKind

COMPUTING = frozenset(PIPES.index(pipe) for pipe in ("V", "M", "MTE1", "FIX"))
_SDMA = PIPES.index(SDMA)

COLLECTIVES: Mapping[str, int] = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}
"""The times that each rank, by the best algorithms, sends its part of the data to N - 1 others: what the bus bandwidth
counts."""

Spans = list[tuple[int, int]]
"""Stretches of time."""


@dataclass(frozen=True, slots=True)
class RankTime:
    """One rank. Of its cycles, `compute` and `communication` are those in which it does the one and the other."""

    cores: Mapping[str, CoreTime]
    cycles: int
    """The end of the last of its cores."""
    compute: int
    communication: int
    waiting: int
    """Cycles that its scalar units stood waiting for words in GM, summed over cores."""
    exposed: int
    """Cycles in which it communicates, or a scalar unit stands waiting for a word, and it does not compute."""
    overlap: float | None
    """The share of the shorter of compute and communication that the other hides: (compute + communication - both
    together) / the shorter. None where there is nothing to hide."""
    sent: int
    """Bytes that went from it to other ranks,"""
    received: int
    """and that came from them, by any copy."""
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
    """GB/s of a collective: of its data, and of the data that its best algorithm sends over each link."""

    algorithm: float
    bus: float


def bandwidth(cycles: int, bytes: int, collective: str, ranks: int, target: Target) -> Bandwidth:
    """The bandwidth of a collective of so many bytes: those that each rank puts into an all-reduce or
    reduce-scatter, gets out of an all-gather, and either for an all-to-all.
    """
    algorithm = bytes * target.chip.clock_ghz / cycles if cycles else 0.0
    return Bandwidth(algorithm, algorithm * COLLECTIVES[collective] * (ranks - 1) / ranks)


# --- ranks ------------------------------------------------------------------------------------------------------------


def rank_times(recording: Recording, cores: Mapping[str, CoreTime], target: Target) -> Mapping[int, RankTime]:
    """By rank; empty where there is one rank only."""
    ranks = sorted({core.rank for core in recording.cores if core.rank is not None})
    if not ranks:
        return {}
    spans = _computing(recording), _crossing(recording), _standing(recording)
    return {rank: _rank(rank, recording, cores, target, *(each[rank] for each in spans)) for rank in ranks}


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
    """The times when they were going on, by the rank of their core."""
    table = recording.rows
    found: dict[int, Spans] = {core.rank: [] for core in recording.cores if core.rank is not None}
    for row in rows:
        rank = recording.cores[table.core[row]].rank
        assert rank is not None
        found[rank].append((table.start[row], table.end[row]))
    return found


def _computing(recording: Recording) -> dict[int, Spans]:
    rows = recording.rows
    chosen = (column(rows.kind) == RowKind.WORK) & np.isin(column(rows.pipe), list(COMPUTING))
    return _by_rank(recording, np.flatnonzero(chosen).tolist())


def _crossing(recording: Recording) -> dict[int, Spans]:
    rows = recording.rows
    transfers = np.flatnonzero((column(rows.pipe) == _SDMA) & (column(rows.kind) == RowKind.WORK)).tolist()
    return _by_rank(recording, {*recording.crossings.row, *transfers})


def _standing(recording: Recording) -> dict[int, Spans]:
    rows, sites = recording.rows, recording.sites
    waits = np.flatnonzero(column(rows.kind) == RowKind.WAIT).tolist()
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
    rows = recording.rows
    ways: dict[tuple[int, int], list[tuple[int, int]]] = {}  # of each, its copies: row, and cycles if it were alone
    for row, source, dest, alone, _ in recording.crossings:
        ways.setdefault((source, dest), []).append((row, alone))
    found: list[LinkUse] = []
    for (source, dest), copies in sorted(ways.items()):
        moved = sum(rows.bytes[row] for row, _ in copies)
        busy = _covered([(rows.start[row], rows.end[row]) for row, _ in copies])
        delayed = sum(rows.end[row] - rows.start[row] - alone for row, alone in copies)
        rate, limit = _gb_s(moved, busy, target), target.link.peer_gb_s
        found.append(LinkUse(source, dest, moved, len(copies), busy, rate, limit, delayed))
    return found


def link_levels(recording: Recording) -> dict[tuple[int, int], list[tuple[int, float]]]:
    """The bytes per cycle of each way between ranks, with the moment from which they hold."""
    rows = recording.rows
    changes: dict[tuple[int, int], defaultdict[int, float]] = {}
    for row, source, dest, _, _ in recording.crossings:
        start, end = rows.start[row], rows.end[row]
        if end > start:
            of_way = changes.setdefault((source, dest), defaultdict(float))
            of_way[start] += rows.bytes[row] / (end - start)
            of_way[end] -= rows.bytes[row] / (end - start)
    return {way: _levels(of_way) for way, of_way in sorted(changes.items())}


def _levels(changes: Mapping[int, float]) -> list[tuple[int, float]]:
    level, found = 0.0, list[tuple[int, float]]()
    for moment, change in sorted(changes.items()):
        level += change
        found.append((moment, max(0.0, round(level, 3))))
    return found


def wait_skews(recording: Recording) -> list[WaitSkew]:
    """The waits for words, those that ranks came to furthest apart first."""
    visits: dict[int, list[tuple[int, int, int, int]]] = {}  # of each site: core, since when, until when, by whom
    for core, site, since, over, by in recording.watches:
        visits.setdefault(site, []).append((core, since, over, by))
    found: list[WaitSkew] = []
    for site, visited in visits.items():
        came: dict[tuple[int, str, int], list[int]] = {}  # by block, core and turn: when each rank came
        turns: Counter[int] = Counter()
        for core, since, _, _ in visited:
            run = recording.cores[core]
            came.setdefault((run.block, run.role, turns[core]), []).append(since)
            turns[core] += 1
        skew = max(max(times) - min(times) for times in came.values())
        waiting = sum(over - since for _, since, over, _ in visited)
        late = [recording.cores[by].rank for _, _, _, by in visited if by != NOTHING]
        last = max(sorted(set(late), key=str), key=late.count, default=None)
        place = recording.sites[site]
        found.append(WaitSkew(place.line, place.title, len(visited), waiting, skew, last))
    return sorted(found, key=lambda each: -each.skew)
