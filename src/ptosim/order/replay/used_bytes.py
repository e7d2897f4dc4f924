"""Loaded values in a replay: a vector load counts only if its value reaches GM, a scalar or a matrix product.

Values that are stored to UB and overwritten there have done no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ptosim.effects.names import Pipe, Space
from ptosim.machine.entry import Entry
from ptosim.order.replay.touched_bytes import Pieces, Touched, meeting

_ON_CHIP = frozenset((Space.UB, Space.L1))
"""Memories from which values go on."""


@dataclass(eq=False, slots=True)
class LoadUse:
    """One load of a vector scope: what it was computed from, and whether it has been used."""

    parents: list[LoadUse] = field(default_factory=list["LoadUse"])
    is_used: bool = False

    def use(self) -> None:
        """It is used, and with it what it was computed from."""
        pending = [self]
        while pending:
            one = pending.pop()
            if not one.is_used:
                one.is_used = True
                pending += one.parents


@dataclass(frozen=True, slots=True)
class _Kept:
    low: int
    high: int
    origin: LoadUse


class UsedBytes:
    """The loads that each byte of the memories on the chip was computed from, as far as that is sure."""

    def __init__(self, spend: Callable[[int], None]) -> None:
        """`spend` is told what it takes."""
        self._kept: dict[Hashable, list[_Kept]] = {}
        self._spend = spend

    def entry(self, entry: Entry, touched: Sequence[tuple[Hashable, Touched]]) -> list[LoadUse | None]:
        """An entry executes, which touches bytes of these memories; gives the load behind each access, if it is one
        that counts by use."""
        uses = [self._load(memory, each) if each.by_use else None for memory, each in touched]
        taken = [one for memory, each in touched if not each.by_use for one in self._read(memory, each)]
        if entry.pipe in (Pipe.S, Pipe.M) or any(each.writes and each.space not in _ON_CHIP for _, each in touched):
            for one in taken:
                one.use()
        goes_on = () if entry.pipe is Pipe.V else taken
        for memory, each in touched:
            if each.writes and each.space in _ON_CHIP:
                self._write(memory, each.sure, goes_on)
        for (memory, each), use in zip(touched, uses, strict=True):
            if use is not None:
                self._keep(memory, each.into, (use,))
        return uses

    def _load(self, memory: Hashable, touched: Touched) -> LoadUse:
        return LoadUse(self._read(memory, touched))

    def _read(self, memory: Hashable, touched: Touched) -> list[LoadUse]:
        if touched.writes or not touched.sure:
            return []
        kept = self._kept.get(memory, ())
        self._spend(len(kept) >> 4)
        return [each.origin for each in kept if meeting(((each.low, each.high),), touched.sure)]

    def _write(self, memory: Hashable, pieces: Pieces, origins: Iterable[LoadUse]) -> None:
        kept = self._kept.get(memory, [])
        for low, high in pieces:
            kept = [part for each in kept for part in _without(each, low, high)]
        self._kept[memory] = kept
        self._keep(memory, pieces, origins)

    def _keep(self, memory: Hashable, pieces: Pieces, origins: Iterable[LoadUse]) -> None:
        kept = self._kept.setdefault(memory, [])
        kept += [_Kept(low, high, origin) for origin in origins for low, high in pieces]


def _without(kept: _Kept, low: int, high: int) -> Iterator[_Kept]:
    """The parts that are left of it when some bytes are overwritten."""
    if kept.high <= low or high <= kept.low:
        yield kept
        return
    if kept.low < low:
        yield _Kept(kept.low, low, kept.origin)
    if high < kept.high:
        yield _Kept(high, kept.high, kept.origin)
