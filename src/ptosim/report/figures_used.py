"""Figures of the target that a profile rests on, with those that are not measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ptosim.target import Target
from ptosim.target.classes import COPY_CLASSES
from ptosim.timing.recording import Recording

WEAK = {
    "GUESS": "published without explanation",
    "R": "recommended here, nothing is published",
    "FIT": "fitted to published or measured cycles",
    "user": "set by you",
}
"""The origins that a report names, and what they mean."""

CAVEAT = (
    "These cycles rank variants of a kernel; they do not predict wall time. The figures come from simulators, "
    "documents and a few boards; in the one public case where both are known, simulator and board differ by a "
    "factor of five."
)


class UsedFigure(NamedTuple):
    path: str
    value: object
    origin: str


def weak_figures(recording: Recording, target: Target) -> list[UsedFigure]:
    """The figures behind a run whose origin is weak, in the order of the target file."""
    used = set(_used(recording, target))
    return [
        UsedFigure(path, figure.value, figure.origin)
        for path, figure in target.figures.items()
        if figure.origin in WEAK and path in used
    ]


def idle_figures(used: Sequence[UsedFigure], target: Target) -> list[str]:
    """The prices that the user set and that play no part; not forwarding distances, which may just follow a latency."""
    paths = {figure.path for figure in used}
    tables = ("vector", "class", "instruction", "tile", "dma", "operation", "latency")
    return [
        path
        for path, figure in target.figures.items()
        if figure.origin == "user" and path not in paths and path.startswith(tables)
    ]


def by_origin(figures: Sequence[UsedFigure], target: Target) -> dict[str, list[str]]:
    """Their paths by origin; a row of which all figures are among them, with the same origin, is named once."""
    origins = {figure.path: figure.origin for figure in figures}
    grouped: dict[str, list[str]] = {}
    for figure in figures:
        row, _, _ = figure.path.rpartition(".")
        whole = row.count(".") == 1 and all(
            origins.get(path) == figure.origin for path in target.figures if path.startswith(f"{row}.")
        )
        name = row if whole else figure.path
        names = grouped.setdefault(figure.origin, [])
        if name not in names:
            names.append(name)
    return grouped


def _used(recording: Recording, target: Target) -> Iterator[str]:
    for timing in recording.functions:
        yield from timing.figures
    for timing_class in {issued.timing_class for issued in recording.issued} - {""}:
        table = "dma" if timing_class in COPY_CLASSES else "operation"
        yield from (path for path in target.figures if path.startswith(f"{table}.{timing_class}."))
    yield from (f"latency.{name}" for name in _latencies(recording))
    if len(recording.crossings):
        yield from (path for path in target.figures if path.startswith(("dma.link.", "link.")))
        yield "chip.clock_ghz"
    if len({core.block for core in recording.cores}) > recording.hardware_cores:
        cubes = {core.role == "aic" for core in recording.cores}
        yield from (f"chip.{'cube' if cube else 'vector'}_cores" for cube in cubes)


def _latencies(recording: Recording) -> Iterator[str]:
    yield "scalar"
    signals = recording.signals
    setters, waiters = np.asarray(signals.set_core), np.asarray(signals.wait_core)
    near = setters == waiters
    if near.any():
        yield "flag"
    ranks = np.array([-1 if core.rank is None else core.rank for core in recording.cores], np.int64)
    apart = ranks[setters.astype(np.int64)] != ranks[waiters.astype(np.int64)]
    if (~near & ~apart).any():
        yield "inter_core"
    if apart.any():
        yield "notify"
    if recording.barriers:
        yield "barrier"
