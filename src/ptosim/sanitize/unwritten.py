"""Bytes of an argument that no block writes, although something of the argument is written.

What was written comes from two sides: from the records of compiled code, for blocks that it has passed, and from the
shadow of GM, for blocks that were judged. No block is judged for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ptosim.diagnostics import Diagnostic, Severity
from ptosim.machine.memory import Region
from ptosim.sanitize.window import Places

Stretches = tuple[Places, Places]
"""Bytes in a row, from and up to these offsets."""
Written = Mapping[int, Iterable[Stretches]]
"""By the number of a region: what was written of it, in any order, and more than once where it was."""


def unwritten(regions: Mapping[int, Region], sides: Iterable[Written], severity: Severity) -> Iterator[Diagnostic]:
    """One for each region of which something was written, and not all."""
    told = list(sides)
    for number, region in regions.items():
        parts = [part for side in told for part in side.get(number, ()) if len(part[0])]
        if parts:
            lows, highs = (np.concatenate(column) for column in zip(*parts, strict=True))
            gaps = _gaps(lows.clip(0, region.size), highs.clip(0, region.size), region.size)
            yield from _left(region, gaps, severity)


def _gaps(lows: Places, highs: Places, size: int) -> Stretches:
    """The gaps between the stretches, before the first and behind the last."""
    order = np.argsort(lows, kind="stable")
    begins = np.concatenate((lows[order], [size]))
    ends = np.concatenate(([0], np.maximum.accumulate(highs[order])))
    is_gap = ends < begins
    return ends[is_gap], begins[is_gap]


def _left(region: Region, gaps: Stretches, severity: Severity) -> Iterator[Diagnostic]:
    lows, highs = gaps
    if not len(lows):
        return
    count, more = int((highs - lows).sum()), len(lows) - 1
    first, last = int(lows[0]), int(highs[0])
    others = f" (and {more} more stretch{'es' * (more > 1)})" if more else ""
    name = region.label
    message = f"no block writes {count} of the {region.size} bytes of {name}, first {name}[{first}:{last}]{others}"
    yield Diagnostic("lint", severity, message, bytes=(first, last))
