"""The shadow of a replay: the entries that touched each byte, races by the clocks of the machine, and its reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ptosim.diagnostics import Diagnostic, Location, Related
from ptosim.effects.names import Pipe, Space
from ptosim.machine.clock import clock_index, ordered
from ptosim.machine.core import Core
from ptosim.machine.deadlock import Deadlock, diagnostics
from ptosim.machine.entry import Clock, Entry, EntryKind
from ptosim.machine.observer import Footprint, Observer
from ptosim.order.replay.scalar_run import Trail, Unreplayable
from ptosim.order.replay.touched_bytes import Touched, covers, meeting
from ptosim.order.replay.used_bytes import LoadUse, UsedBytes

FEW_RECORDS = 3000
"""Accesses that a replay remembers in one memory."""
_LOOKED_AT = 16
"""To look at so many of them takes as long as to issue an entry."""
_Memory = tuple[Space, str]


@dataclass(frozen=True)
class Shown:
    """Something that goes wrong in a replay."""

    diagnostic: Diagnostic
    trails: tuple[Trail, ...]
    """The loops and branches around what it happens at."""
    certain: bool = True
    """Whether the bytes are sure to be touched."""
    use: LoadUse | None = None
    """The load, where it counts only if its value is used in the end."""
    is_between_blocks: bool = False

    @property
    def kind(self) -> str:
        return self.diagnostic.kind

    @property
    def places(self) -> tuple[Location | None, ...]:
        """The operations at which it shows, and those that it has to do with."""
        return (self.diagnostic.location, *(related.location for related in self.diagnostic.related[:1]))


@dataclass(slots=True)
class _Record:
    entry: Entry
    touched: Touched
    trail: Trail
    use: LoadUse | None


class ByteShadow(Observer):
    """Watches a replay."""

    wants_clocks = True

    def __init__(self, trail: Callable[[Core], Trail], effort: int) -> None:
        """`effort`: as many entries may be issued."""
        self.effort = effort
        self._shown: dict[tuple[object, ...], Shown] = {}
        self._is_stuck = False
        self._trail = trail
        self._used = UsedBytes(self._spend)
        self._records: dict[_Memory, list[_Record]] = {}

    @property
    def shown(self) -> tuple[Shown, ...]:
        """All that went wrong; a load whose value was not used, or of a run that never ended, is not certain."""
        return tuple(
            replace(each, certain=False) if each.use is not None and (self._is_stuck or not each.use.is_used) else each
            for each in self._shown.values()
        )

    # --- from the machine ---------------------------------------------------------------------------------------------

    def issue(self, entry: Entry) -> None:
        entry.data = self._trail(entry.core)
        self._spend(1)

    def _spend(self, effort: int) -> None:
        self.effort -= effort
        if self.effort < 0:
            raise Unreplayable("it is too long")

    def start(self, entry: Entry) -> None:
        if entry.kind is EntryKind.WORK:
            self.touch(entry, entry.facts)

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        self._show(Shown(diagnostic, (entry.data if entry.data is not None else self._trail(entry.core),)))

    def deadlock(self, deadlock: Deadlock) -> None:
        self._is_stuck = True
        trails = tuple(head.entry.data or () for root in deadlock.roots for head in root.heads)
        for diagnostic in diagnostics(deadlock):
            self._show(Shown(diagnostic, trails))

    def touched(self, core: Core, footprint: Footprint) -> Clock:
        found: Clock = {}
        pieces = ((footprint.starts, footprint.starts + footprint.width),)
        for record in self._records.get((footprint.space, f"{core.block} {core.role}"), ()):
            if meeting(record.touched.may, pieces) and record.entry.core is core:
                index = clock_index(core, record.entry.pipe)
                found[index] = max(found.get(index, 0), record.entry.n + 1)
        return found

    # --- accesses -----------------------------------------------------------------------------------------------------

    def touch(self, entry: Entry, touched: Sequence[Touched]) -> None:
        trail = entry.data or ()
        places = [(_memory(entry.core, each), each) for each in touched]
        for (memory, each), use in zip(places, self._used.entry(entry, places), strict=True):
            records = self._records.setdefault(memory, [])
            if len(records) > FEW_RECORDS:
                raise Unreplayable("it is too long")
            self._spend(len(records) // _LOOKED_AT)
            self._compare(_Record(entry, each, trail, use), records)

    def _compare(self, now: _Record, records: list[_Record]) -> None:
        entry, touched = now.entry, now.touched
        kept: list[_Record] = []
        for record in records:
            other = record.touched
            is_apart = other.high <= touched.low or touched.high <= other.low
            if is_apart or record.entry is entry or not meeting(other.may, touched.may):
                kept.append(record)
                continue
            known = _is_ordered(record.entry, entry)
            if not known and (other.writes or touched.writes) and not (other.atomic and other.atomic == touched.atomic):
                self._race(record, now)
            is_done = known and (touched.writes or not other.writes) and record.entry.pipe is entry.pipe
            if not (is_done and record.entry.core is entry.core and covers(touched.sure, other.may)):
                kept.append(record)
        records[:] = [*kept, now]

    def _race(self, record: _Record, now: _Record) -> None:
        entry, touched = now.entry, now.touched
        certain = meeting(record.touched.sure, touched.sure) if record.touched.sure and touched.sure else False
        verbs = {True: "writes", False: "reads"}
        blocks = record.entry.core.block, entry.core.block
        between = f"block {blocks[1]} {verbs[touched.writes]} {touched.space}, which block {blocks[0]} "
        inside = f"{entry.pipe} may access {touched.space} before {record.entry.pipe} has ended its own access"
        diagnostic = Diagnostic(
            "race",
            "error",
            inside if len({*blocks}) == 1 else f"{between}{verbs[record.touched.writes]}, in no order",
            entry.site.location,
            label=f"{entry.pipe} {verbs[touched.writes]} here",
            related=_related(record, verbs[record.touched.writes]),
            pipe=entry.pipe,
        )
        use = record.use or now.use
        self._show(Shown(diagnostic, (record.trail, now.trail), certain, use, len({*blocks}) > 1))

    def _show(self, shown: Shown) -> None:
        """The first of each kind and place that is sure to count, and each that does if it is used."""
        key = (shown.kind, shown.certain, shown.is_between_blocks, *shown.places, shown.use)
        self._shown.setdefault(key, shown)


def _related(record: _Record, verb: str) -> tuple[Related, ...]:
    location = record.entry.site.location
    return () if location is None else (Related(location, f"{record.entry.pipe} {verb} here"),)


def _memory(core: Core, touched: Touched) -> _Memory:
    """GM and L1 are shared by all cores; every other memory has one owner."""
    if touched.space is Space.GM:
        return touched.space, ""
    owner = touched.core or core.role
    return touched.space, f"{core.block}" if touched.space is Space.L1 else f"{core.block} {owner}"


def _is_ordered(first: Entry, second: Entry) -> bool:
    """The scalar unit sees what it has stored itself."""
    is_own = first.pipe is second.pipe is Pipe.S and first.core is second.core
    return is_own or ordered(first, second)
