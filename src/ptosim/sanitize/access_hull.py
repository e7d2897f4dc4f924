"""Hulls: from which byte to which a track's latest entries went. Most accesses meet none of them, and need no closer
look."""

from __future__ import annotations

REMEMBERED = 4
"""Entries of a track that have a hull of their own. Buffers that take turns have two or three in flight."""


class Hull:
    """The lowest byte that an entry touched, and one past the highest; `stamp` is the lowest stamp of the entry."""

    __slots__ = ("high", "low", "stamp")

    def __init__(self, stamp: int, low: int, high: int) -> None:
        self.stamp, self.low, self.high = stamp, low, high

    def widen(self, low: int, high: int) -> None:
        if low < self.low:
            self.low = low
        if high > self.high:
            self.high = high


class Hulls:
    """The hulls of one track."""

    __slots__ = ("_size", "before", "latest")

    def __init__(self, size: int) -> None:
        self._size = size
        self.latest: list[Hull] = []
        self.before = Hull(0, size, 0)
        """The hull of all entries before the latest ones; the stamp is the highest of theirs."""

    def of(self, stamp: int) -> Hull:
        """The hull of the entry with this lowest stamp; empty when it is new."""
        latest = self.latest
        if latest and latest[-1].stamp == stamp:
            return latest[-1]
        if len(latest) == REMEMBERED:
            oldest = latest.pop(0)
            self.before.widen(oldest.low, oldest.high)
            self.before.stamp = oldest.stamp
        latest.append(Hull(stamp, self._size, 0))
        return latest[-1]

    def meets(self, threshold: int, low: int, high: int) -> bool:
        """Whether an entry from this stamp on may have touched some of these bytes."""
        for hull in reversed(self.latest):  # stamps grow, so those before one that is too old are as well
            if hull.stamp < threshold:
                return False
            if hull.low < high and low < hull.high:
                return True
        before = self.before
        return before.stamp >= threshold and before.low < high and low < before.high

    def meets_earlier(self, limit: int, low: int, high: int) -> bool:
        """Whether an entry below this stamp may have touched some of these bytes."""
        if self.before.low < high and low < self.before.high:
            return True
        for hull in self.latest:
            if hull.stamp >= limit:
                return False
            if hull.low < high and low < hull.high:
                return True
        return False
