"""Which figures of the target a profile rests on, and which of them nobody has measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ptosim.target import COPY_CLASSES, OPERATION_CLASSES, Target
from ptosim.target.profile import IssueUnit
from ptosim.timing.recording import Recording

WEAK = {
    "GUESS": "published without explanation",
    "R": "recommended here, nothing is published",
    "FIT": "fitted here to published cycles",
    "user": "set by you",
}
"""The origins that a report names, and what they mean."""


class UsedFigure(NamedTuple):
    path: str
    value: object
    origin: str


def weak_figures(recording: Recording, target: Target) -> list[UsedFigure]:
    """The figures behind a run whose origin is weak, in the order of the target file."""
    prefixes = tuple(_prefixes(recording, target))
    return [
        UsedFigure(path, figure.value, figure.origin)
        for path, figure in target.figures.items()
        if figure.origin in WEAK and path.startswith(prefixes)
    ]


def by_origin(figures: list[UsedFigure], target: Target) -> dict[str, list[str]]:
    """Their paths by origin; a row of which all figures have the same weak origin is named once."""
    grouped: dict[str, list[str]] = {}
    for figure in figures:
        row, _, _ = figure.path.rpartition(".")
        whole = row.count(".") == 1 and all(
            other.origin == figure.origin for path, other in target.figures.items() if path.startswith(f"{row}.")
        )
        name = row if whole else figure.path
        names = grouped.setdefault(figure.origin, [])
        if name not in names:
            names.append(name)
    return grouped


def _prefixes(recording: Recording, target: Target) -> Iterator[str]:
    yield "latency.scalar"
    yield from _latencies(recording)
    for timing_class in {name for name in recording.classes if name}:
        if timing_class in COPY_CLASSES:
            yield f"dma.{timing_class}."
        elif timing_class in OPERATION_CLASSES:
            yield f"operation.{timing_class}."
    classes = {name for timing in recording.functions for name in timing.classes}
    for timing_class in classes:
        yield f"class.{timing_class}."
        yield f"forward.{timing_class}."
    if recording.functions and isinstance(target.vector, IssueUnit):
        yield "vector."
    if len({core.block for core in recording.cores}) > recording.hardware_cores:
        yield "chip.vector_cores"
        yield "chip.cube_cores"


def _latencies(recording: Recording) -> Iterator[str]:
    signals = recording.signals
    near = np.asarray(signals.set_core) == np.asarray(signals.wait_core)
    if near.any():
        yield "latency.flag"
    if not near.all():
        yield "latency.inter_core"
    if any(site.name == "pto.barrier" for site in recording.sites):
        yield "latency.barrier"
