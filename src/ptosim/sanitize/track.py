"""A track: what one pipe has done to one memory, as a stamp per byte that grows with time.

Blocks reuse the tracks of those before them: instead of being cleared, a track counts on, and what lies below its floor
belongs to an earlier block.
"""

from __future__ import annotations

from ptosim.machine.clock import entry_index
from ptosim.machine.entry import Entry
from ptosim.sanitize.access_hull import Hulls
from ptosim.sanitize.granules import Granules
from ptosim.sanitize.stamp import ENTRY_ONE, entry_of, first_stamp


class AccessHistory:
    """The common part of tracks of on-chip memories (shadow.py) and of GM (global_shadow.py)."""

    __slots__ = ("floor", "hulls", "index", "newest", "pipe", "role", "table")

    def __init__(self, size: int, entry: Entry) -> None:
        self.table = Granules(size)
        self.hulls = Hulls(size)
        self.role = entry.core.role
        self.pipe = entry.pipe
        self.index = entry_index(entry)  # of its pipe in the clocks of the present block
        self.floor = 0  # entries up to this number belong to earlier blocks
        self.newest = 0  # stamp

    def stamp(self, entry: Entry) -> int:
        """The lowest stamp of an entry."""
        return first_stamp(self.floor + entry.n + 1)

    def entry_number(self, stamp: int) -> int:
        """The number of an entry of the present block on its pipe."""
        return entry_of(stamp) - self.floor - 1

    def threshold(self, entry: Entry) -> int:
        """Stamps from here on are not known to have ended when the entry starts."""
        clock = entry.clock or {}
        return (self.floor + clock.get(self.index, 0) + 1) * ENTRY_ONE
