"""A map of GM: which bytes of each argument every block read and wrote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ptosim.effects.names import Pipe
from ptosim.machine.memory import decode
from ptosim.timing.recording import PIPES, RowKind

if TYPE_CHECKING:
    from ptosim.report.profile import Profile

MOST_BLOCKS = 64
MOST_STRETCHES = 48
"""The most stretches of a block in one argument; neighbours are joined beyond it."""
_WRITING = frozenset({Pipe.MTE3, Pipe.FIX})


class AccessStretch(NamedTuple):
    """Bytes of an argument that a block read or wrote."""

    argument: str
    block: int
    writes: bool
    low: int
    high: int


def access_map(profile: Profile) -> Sequence[AccessStretch]:
    """The accesses that copies tell: each from where it begins, with as many bytes as it moved."""
    recording = profile.recording
    rows = recording.rows
    found: dict[tuple[str, int, bool], list[tuple[int, int]]] = defaultdict(list)
    for row, kind in enumerate(rows.kind):
        pointers = recording.issued[rows.site[row]].pointers
        block = recording.cores[rows.core[row]].block
        if kind != RowKind.WORK or not pointers or block >= MOST_BLOCKS:
            continue
        writes = PIPES[rows.pipe[row]] in _WRITING
        for name, value in recording.arguments(row):
            if name in pointers:
                argument, offset = decode(value)
                label = str(profile.parameters.get(argument, argument))
                found[label, block, writes].append((offset, offset + max(1, rows.bytes[row])))
    return [
        AccessStretch(*place, low, high)
        for place, stretches in sorted(found.items())
        for low, high in _joined(sorted(stretches))
    ]


def _joined(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches that meet are joined; among too many the nearest are joined."""
    joined: list[tuple[int, int]] = []
    for low, high in stretches:
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    while len(joined) > MOST_STRETCHES:
        joined = [(joined[at][0], joined[min(at + 1, len(joined) - 1)][1]) for at in range(0, len(joined), 2)]
    return joined
