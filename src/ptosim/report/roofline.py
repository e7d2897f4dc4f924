"""A roofline of a profile: how much of the peak is reached, over how much is computed for each byte from or to GM.

Computation is counted in cycles that the vector unit issues, or that the cube multiplies: the peak is one for each
cycle of a core. The slope is what copies between GM and the chip move at most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptosim.effects.names import Space
from ptosim.machine.moments import MEMORIES
from ptosim.timing.recording import NOTHING, PIPES, RowKind

if TYPE_CHECKING:
    from ptosim.report.profile import Profile

MOST_POINTS = 12
GM_PATHS = ("gm_ub", "ub_gm", "gm_l1", "l0c_gm")
"""Copies between GM and the chip."""
_V, _M = PIPES.index("V"), PIPES.index("M")


@dataclass(frozen=True)
class RooflinePoint:
    """The kernel, a scope or a tile operation on the vector unit or the cube."""

    name: str
    line: int | None
    pipe: str
    intensity: float
    """Cycles of computation for each byte that moves."""
    share: float
    """The share of the peak of the cores that ran."""


@dataclass(frozen=True)
class Roofline:
    points: tuple[RooflinePoint, ...]
    bandwidth: float
    """Bytes per cycle and core between GM and the chip."""


def roofline(profile: Profile) -> Roofline:
    """The rooflines of the whole kernel, and of the lines that compute most."""
    return Roofline(tuple(_points(profile)), _bandwidth(profile))


def _bandwidth(profile: Profile) -> float:
    """The paths that were used, as quick as they are together."""
    used = {transfer.path for transfer in profile.transfers}
    paths = [path for path in GM_PATHS if path in used and path in profile.target.dma] or ["gm_ub"]
    return sum(profile.target.dma[path].bytes_per_cycle for path in paths if path in profile.target.dma)


def _points(profile: Profile) -> Iterator[RooflinePoint]:
    recording = profile.recording
    rows = recording.rows
    computed: dict[int, dict[int, float]] = {_V: defaultdict(float), _M: defaultdict(float)}
    busy: dict[int, int] = defaultdict(int)
    for row, kind in enumerate(rows.kind):
        pipe, site, detail, cycles = rows.pipe[row], rows.site[row], rows.detail[row], rows.end[row] - rows.start[row]
        if kind != RowKind.WORK or pipe not in computed:
            continue
        busy[site] += cycles
        issued = recording.functions[detail].busy.get("issue", 0.0) if detail != NOTHING else 0.0
        computed[pipe][site] += issued or cycles
    moved = sum(transfer.bytes for transfer in profile.transfers if transfer.path in GM_PATHS)
    touched = _touched(profile)
    for pipe, sites in computed.items():
        total = sum(sites.values())
        if not total or not profile.cycles:
            continue
        cores = sum(PIPES[pipe] in core.pipes for core in recording.cores)
        places = min(cores, max(1, recording.hardware_cores) * max(1, cores // max(1, profile.grid)))
        whole = total / (profile.cycles * max(1, places))
        yield RooflinePoint(profile.kernel, None, str(PIPES[pipe]), total / max(1, moved), min(1.0, whole))
        hottest = sorted(sites, key=lambda site: -busy[site])[:MOST_POINTS]
        for site in hottest:
            where = recording.sites[site]
            share = min(1.0, sites[site] / max(1, busy[site]))
            intensity = sites[site] / max(1, touched.get(site, 0) or moved)
            yield RooflinePoint(where.title, where.line, str(PIPES[pipe]), intensity, share)


def _touched(profile: Profile) -> dict[int, int]:
    """Bytes of UB that the entries of each site touch."""
    recording = profile.recording
    found: dict[int, int] = defaultdict(int)
    for row, _, space, _, low, high in recording.touches:
        if MEMORIES[space] is Space.UB:
            found[recording.rows.site[row]] += high - low
    return found
