"""Stamps: who touched a byte last, in one 64-bit number that grows with time.

A stamp holds, from its high bits down, the number of the entry on its pipe, how many fences its vector scope had
passed, and the number of the instruction. Of two stamps of one pipe the later is the larger, and all entries that a
clock knows to have ended lie below a threshold: one comparison per byte decides whether an access is ordered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import error
from ptosim.machine.entry import Site

SITE_BITS = 14
FENCE_BITS = 20
ENTRY_BITS = 63 - SITE_BITS - FENCE_BITS

FENCE_ONE = 1 << SITE_BITS
ENTRY_ONE = 1 << (SITE_BITS + FENCE_BITS)
MOST_FENCES = (1 << FENCE_BITS) - 1
MOST_ENTRIES = 1 << (ENTRY_BITS - 1)
"""Half of the room, so that the entries of a block never wrap around those of the block before."""

_SITE_MASK = FENCE_ONE - 1


def first_stamp(number: int) -> int:
    """The lowest stamp of the entry with this number; numbers count from 1, so that 0 means never."""
    if number >= 2 * MOST_ENTRIES:
        raise error("limit", f"more than {MOST_ENTRIES} instructions on one pipe of a block: too many to keep track of")
    return number * ENTRY_ONE


def entry_of(stamp: int) -> int:
    return stamp // ENTRY_ONE


def fences_of(stamp: int) -> int:
    """The number of fences of its scope before the access."""
    return (stamp % ENTRY_ONE) // FENCE_ONE


class Sites:
    """Numbers for instructions, from 1 on."""

    def __init__(self) -> None:
        self._numbers: dict[Site, int] = {}
        self._sites: list[Site] = []

    def number(self, site: Site) -> int:
        found = self._numbers.get(site)
        if found is None:
            # A module has far fewer instructions that touch memory; should it have more, the last ones share a number.
            found = self._numbers[site] = min(len(self._sites) + 1, _SITE_MASK)
            if found > len(self._sites):
                self._sites.append(site)
        return found

    def numbers(self, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers in stamps."""
        return stamps & _SITE_MASK

    def of(self, stamp: int) -> Site:
        """The instruction behind a stamp."""
        return self._sites[(stamp & _SITE_MASK) - 1]
