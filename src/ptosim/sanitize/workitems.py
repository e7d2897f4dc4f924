"""Races among the workitems of a launch: accesses between two barriers are in no order, but for chains of fences and
atomics. Judged when the barrier is reached or the launch ends, on arrays of all accesses since the last one.

Against other entries a launch is one entry of V: the shadows of memories see to that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic, Related, Severity, Workitem
from ptosim.effects.names import GM, Space
from ptosim.effects.simt import WARP
from ptosim.machine.entry import Entry, Site
from ptosim.machine.memory import Region, decode
from ptosim.machine.observer import WorkitemAccess
from ptosim.sanitize.conflict import Conflict, Findings, MemoryPlace
from ptosim.sanitize.fences import FenceClocks

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_COMMUTING = ({"add", "sub"},)
_LOOKS = ("add", "sub", "or", "xor")
"""Atomic updates that change nothing if their operand is 0."""
_VERBS = {"read": ("reads", "read"), "write": ("writes", "written")}


def commute(first: str, second: str) -> bool:
    """Whether two atomic updates give the same in either order."""
    a, b = first.partition(" ")[0], second.partition(" ")[0]
    return first == second or (any({a, b} <= group for group in _COMMUTING) and first.split()[1] == second.split()[1])


class TouchedCells(NamedTuple):
    """Bytes that accesses touch, a row for each byte and workitem."""

    cells: Ints
    workitems: Ints
    numbers: Ints
    """The numbers of the accesses in the epoch."""
    data: Ints
    starts: Ints

    def chosen(self, which: Any) -> TouchedCells:
        return TouchedCells(*(column[which] for column in self))

    def rows(self, cell: int) -> Ints:
        """Accesses of a byte; rows are in the order of bytes."""
        low, high = np.searchsorted(self.cells, [cell, cell + 1])
        return np.arange(int(low), int(high))


def distinct_numbers(numbers: Ints) -> list[int]:
    """In ascending order."""
    return [int(number) for number in sorted(set(numbers.tolist()))]


@dataclass
class Epoch:
    """A launch of a core, and its accesses since the last barrier."""

    core: int
    launch: Site
    sizes: tuple[int, int, int]
    clocks: FenceClocks
    accesses: list[WorkitemAccess] = field(default_factory=list[WorkitemAccess])

    def workitem(self, number: int) -> Workitem:
        x, y, _ = self.sizes
        return Workitem(number, number % x, number // x % y, number // (x * y))

    def orders(self, one: WorkitemAccess, first: int, other: WorkitemAccess, second: int) -> bool:
        """Whether a chain of fences and atomics orders the accesses of two workitems."""
        return self.clocks.orders(one, (self.core, first), other, (self.core, second))


class MeetingPair(NamedTuple):
    """Two instructions that touch a byte in no order; of each the workitem that is named."""

    severity: Severity
    kind: str
    first: WorkitemAccess
    second: WorkitemAccess
    workitems: tuple[int, int]
    place: tuple[int, int]
    bytes: int
    note: str


class WorkitemRaces:
    """Judges the launches of a run."""

    def __init__(self, findings: Findings, regions: Mapping[int, Region], together: bool) -> None:
        self.findings = findings
        self.regions = regions
        self.together = together
        """Whether all blocks run at once."""
        self.clocks = FenceClocks()
        self._epochs: dict[int, Epoch] = {}
        """By the index of the core: launches of several may let each other go first."""
        self._launched: dict[Site, Site] = {}
        """The launch behind each instruction of workitems that has accessed memory."""
        self._kept: dict[tuple[int, Site], list[WorkitemAccess]] = {}
        """Accesses to GM of cores that run at once, by the index of the core and the instruction."""
        self._latest: dict[tuple[int, Site], deque[WorkitemAccess]] = {}
        """The last accesses of the last launch with an instruction, likewise."""

    def begin(self, entry: Entry, sizes: tuple[int, int, int]) -> None:
        core = entry.core.index
        self._latest = {key: found for key, found in self._latest.items() if key[0] != core}
        self._epochs[core] = Epoch(core, entry.site, sizes, self.clocks)

    def are_workitems(self, *sites: Site) -> bool:
        """Whether these are instructions of workitems that have accessed memory."""
        return all(site in self._launched for site in sites)

    def is_chained(self, entry: Entry, first: tuple[int, Site], addresses: Ints) -> bool:
        """Whether chains of fences and atomics order the last instruction, at these addresses, behind another one of
        another core."""
        epoch = self._epochs.get(entry.core.index)
        if epoch is None or not epoch.accesses or first not in self._kept:
            return False
        latest = epoch.accesses[-1]
        return all(
            epoch.clocks.orders(before, (first[0], earlier), latest, (epoch.core, later))
            for address in addresses.tolist()
            for later in _touching(latest, address)
            for before in self._kept[first]
            for earlier in _touching(before, address)
        )

    def only_looks(self, core: int, site: Site) -> bool:
        """Whether an atomic update to GM of a core has changed nothing so far."""
        return all(_leaves(access.kind, access.data) for access in self._kept.get((core, site), ()))

    def named(self, entry: Entry, conflict: Conflict, low: int) -> Conflict:
        """A conflict with something else, with the lowest workitem that touches these bytes, from address `low` on,
        and its launch."""
        first = conflict.first
        if first is not None and first.site in self._launched:
            conflict.launch = self._launched[first.site]
            if (first.block, first.role) == (entry.core.block, entry.core.role):
                conflict.workitem = self._earlier(entry.core.index, first.site, low, low + len(conflict.place))
        epoch = self._epochs.get(entry.core.index)
        latest = epoch.accesses[-1] if epoch is not None and epoch.accesses else None
        if epoch is None or latest is None or conflict.second.site is not latest.site:
            return conflict
        if (who := _lowest(latest, low, low + len(conflict.place))) is not None:
            conflict.workitem = epoch.workitem(who)
            conflict.launch = epoch.launch
        return conflict

    def _earlier(self, core: int, site: Site, low: int, high: int) -> Workitem | None:
        """The lowest workitem that has touched these bytes by an instruction of the last launch of a core."""
        found = [
            who for access in self._latest.get((core, site), ()) if (who := _lowest(access, low, high)) is not None
        ]
        return self._epochs[core].workitem(min(found)) if found else None

    def note(self, entry: Entry, access: WorkitemAccess) -> None:
        epoch = self._epochs[entry.core.index]
        self._launched[access.site] = epoch.launch
        self.clocks.note(epoch.core, access)
        epoch.accesses.append(access)
        self._latest.setdefault((epoch.core, access.site), deque(maxlen=MOST_KEPT)).append(access)
        if self.together and access.space is GM:
            self._kept.setdefault((epoch.core, access.site), []).append(access)

    def fence(self, entry: Entry, workitems: Ints) -> None:
        self.clocks.fence(entry.core.index, workitems)

    def end(self, entry: Entry) -> None:
        """All have met at a barrier, or the launch has ended."""
        epoch = self._epochs[entry.core.index]
        self._epochs[epoch.core] = Epoch(epoch.core, epoch.launch, epoch.sizes, self.clocks)
        self._judge_all(entry, epoch)
        self.clocks.barrier(epoch.core)
        for access in epoch.accesses:
            if not self.together or access.space is not GM:
                self.clocks.forget(access)

    def _judge_all(self, entry: Entry, epoch: Epoch) -> None:
        memories: dict[tuple[Space, int], list[WorkitemAccess]] = {}
        for access in epoch.accesses:
            number = decode(int(access.starts[0]))[0] if access.space is GM else 0
            memories.setdefault((access.space, number), []).append(access)
        for mine in memories.values():
            if any(access.kind != "read" for access in mine):
                self._judge(entry, mine, epoch)

    # --- which bytes --------------------------------------------------------------------------------------------------

    def _judge(self, entry: Entry, accesses: Sequence[WorkitemAccess], epoch: Epoch) -> None:
        touched = _suspicious(_touched(accesses), accesses)
        if not len(touched.cells):
            return
        groups: dict[tuple[Site, str], list[int]] = {}
        for number in distinct_numbers(touched.numbers):
            access = accesses[number]
            groups.setdefault((access.site, access.kind), []).append(number)
        parts = [(key, touched.chosen(np.isin(touched.numbers, numbers))) for key, numbers in groups.items()]
        for (one, first), (other, second) in combinations_with_replacement(parts, 2):
            if one[1] == other[1] == "read":
                continue
            pair = _meeting(accesses, one[1], other[1], first, second, epoch)
            if pair is not None:
                self._tell(entry, pair, epoch)

    # --- findings -----------------------------------------------------------------------------------------------------

    def _tell(self, entry: Entry, pair: MeetingPair, epoch: Epoch) -> None:
        first, second = pair.first, pair.second
        named = tuple(epoch.workitem(number) for number in pair.workitems)
        place = self._place(first.space, pair.place)
        message = _message(pair, named, place)
        found = Diagnostic(
            pair.kind,
            pair.severity,
            message,
            second.site.location,
            label=f"{named[1]} {_verb(second.kind)} here",
            related=tuple(_related(pair, named[0], epoch.launch)),
            notes=(pair.note,),
            core=entry.core.name,
            pipe=str(entry.pipe),
            bytes=(place.low, place.high),
            block=entry.core.block,
            loops=entry.loops,
            count=pair.bytes,
            workitem=named[1],
            lanes=(named[1].number % WARP,),
        )
        key = ("workitems", pair.kind, *sorted(map(str, (first.site.location, second.site.location))))
        known = self.findings.found.get(key)
        if isinstance(known, Diagnostic) and (known.severity == "error" or found.severity != "error"):
            return
        self.findings.found[key] = found

    def _place(self, space: Space, span: tuple[int, int]) -> MemoryPlace:
        low, high = span
        if space is not GM:
            return MemoryPlace(str(space), low, high)
        number, offset = decode(low)
        region = self.regions.get(number)
        name = "gm" if region is None else region.label
        return MemoryPlace(name, offset, offset + high - low)


def _related(pair: MeetingPair, workitem: Workitem, launch: Site) -> Iterator[Related]:
    if pair.first.site.location is not None:
        yield Related(pair.first.site.location, f"{workitem} {_verb(pair.first.kind)} here")
    if launch.location is not None:
        yield Related(launch.location, "launched here")


def _lowest(access: WorkitemAccess, low: int, high: int) -> int | None:
    """The lowest workitem that touches some of these bytes."""
    starts = np.asarray(access.starts)
    hit = (starts < high) & (starts + access.width > low)
    return int(np.min(np.asarray(access.workitems)[hit])) if hit.any() else None


def _touching(access: WorkitemAccess, address: int) -> list[int]:
    """The workitems that touch a byte."""
    starts = np.asarray(access.starts)
    hit = (starts <= address) & (address < starts + access.width)
    return np.asarray(access.workitems)[hit].tolist()


def _verb(kind: str) -> str:
    return _VERBS[kind][0] if kind in _VERBS else "updates"


def _message(pair: MeetingPair, named: Sequence[Workitem], place: MemoryPlace) -> str:
    first, second = pair.first, pair.second
    if pair.kind == "lint":
        return (
            f"{named[1]} updates {place} ({second.kind}) and {named[0]} does ({first.kind}), in no order: what is left "
            "depends on it"
        )
    if first.site is second.site:
        both = "write" if second.kind == "write" else "update" if second.kind == first.kind else "access"
        return f"{named[0]} and {named[1]} {both} {place} in no order"
    return f"{named[1]} {_verb(second.kind)} {place}, which {named[0]} {_verb(first.kind)}, in no order"


# --- arrays -----------------------------------------------------------------------------------------------------------


def _touched(accesses: Sequence[WorkitemAccess]) -> TouchedCells:
    """A row for every byte of every access; for every element, where all are as long and aligned."""
    columns: list[TouchedCells] = []
    widths = {access.width for access in accesses}
    size = min(widths)
    if len(widths) == 1 and size <= _LONGEST and not any((np.asarray(each.starts) % size).any() for each in accesses):
        columns = [_elements(number, access) for number, access in enumerate(accesses)]
        return TouchedCells(*(np.concatenate([column[index] for column in columns]) for index in range(5)))
    for number, access in enumerate(accesses):
        width, count = access.width, len(access.starts)
        cells = (np.asarray(access.starts)[:, np.newaxis] + np.arange(width)).reshape(-1)
        data = np.full(count * width, -1) if access.data is None else access.data.reshape(-1).astype(np.int64)
        columns.append(
            TouchedCells(
                cells,
                np.repeat(access.workitems, width),
                np.full(count * width, number),
                data,
                np.repeat(access.starts, width),
            )
        )
    return TouchedCells(*(np.concatenate([column[index] for column in columns]) for index in range(5)))


_LONGEST = 8
"""Bytes of an element that one number holds."""


def _elements(number: int, access: WorkitemAccess) -> TouchedCells:
    """A row for each element."""
    count = len(access.starts)
    if access.data is None:
        data = np.full(count, -1)
    else:
        wide = np.zeros((count, _LONGEST), np.uint8)
        wide[:, : access.width] = access.data
        data = wide.view(np.int64)[:, 0]
    starts = np.asarray(access.starts)
    return TouchedCells(starts, np.asarray(access.workitems), np.full(count, number), data, starts)


def _suspicious(touched: TouchedCells, accesses: Sequence[WorkitemAccess]) -> TouchedCells:
    """The rows of bytes that two workitems touch, at least one of them to write: not all by the same atomic update."""
    order = np.argsort(touched.cells, kind="stable")
    rows = touched.chosen(order)
    heads = np.flatnonzero(np.concatenate(([True], rows.cells[1:] != rows.cells[:-1])))
    writes = np.array([access.kind != "read" for access in accesses])[rows.numbers]
    several = np.minimum.reduceat(rows.workitems, heads) != np.maximum.reduceat(rows.workitems, heads)
    hit = several & np.logical_or.reduceat(writes, heads)
    kinds = list(dict.fromkeys(access.kind for access in accesses))
    harmless = [kind not in _VERBS and not _order_matters(kind) for kind in kinds]
    codes = np.array([kinds.index(access.kind) for access in accesses])[rows.numbers]
    alike = np.minimum.reduceat(codes, heads) == np.maximum.reduceat(codes, heads)
    alike &= np.minimum.reduceat(rows.starts, heads) == np.maximum.reduceat(rows.starts, heads)
    hit &= ~(alike & np.array(harmless)[codes[heads]])
    if not hit.any():
        return rows.chosen(slice(0, 0))
    sizes = np.diff(np.append(heads, len(rows.cells)))
    return rows.chosen(np.repeat(hit, sizes))


def _meeting(
    accesses: Sequence[WorkitemAccess], kind: str, other: str, first: TouchedCells, second: TouchedCells, epoch: Epoch
) -> MeetingPair | None:
    """The gravest way in which two instructions meet, which may be one and the same."""
    common = np.intersect1d(first.cells, second.cells)
    if not len(common):
        return None
    grave = _grave(
        kind, other, first.chosen(np.isin(first.cells, common)), second.chosen(np.isin(second.cells, common))
    )
    atomic = kind not in _VERBS and other not in _VERBS
    best: tuple[int, int, int] | None = None
    for cell in distinct_numbers(np.concatenate([common[grave][:MOST_CELLS], common[~grave][:1]])):
        rows, others = first.rows(cell), second.rows(cell)
        for a in distinct_numbers(rows[:MOST_ROWS]):
            for b in distinct_numbers(others[second.workitems[others] != first.workitems[a]][:MOST_ROWS]):
                grade = _grade(accesses, atomic, kind, other, first, second, a, b, epoch)
                if grade and (best is None or grade > best[0]):
                    best = grade, a, b
            if best is not None and best[0] == WORST:
                return _pair(accesses, kind, other, first, second, best, common)
    return None if best is None else _pair(accesses, kind, other, first, second, best, common)


def _grave(kind: str, other: str, first: TouchedCells, second: TouchedCells) -> Bools:
    """The bytes touched by both at which two workitems meet without an excuse."""
    heads, rest = (np.unique(each.cells, return_index=True)[1] for each in (first, second))

    def spans(one: Ints, two: Ints) -> Bools:
        low = np.minimum(np.minimum.reduceat(one, heads), np.minimum.reduceat(two, rest))
        return low != np.maximum(np.maximum.reduceat(one, heads), np.maximum.reduceat(two, rest))

    if kind not in _VERBS and other not in _VERBS:
        return spans(first.starts, second.starts)
    apart = spans(first.workitems // WARP, second.workitems // WARP)
    if kind not in _VERBS or other not in _VERBS:
        return np.ones(len(apart), np.bool_)
    unequal = spans(first.data, second.data) | (kind != other)
    repeated = np.diff(np.append(heads, len(first.cells))) > 1
    return (apart | (repeated & (kind == other))) & unequal


MOST_CELLS, MOST_ROWS = 4096, 64
MOST_KEPT = 2048
"""Accesses of an instruction that are kept to name a workitem after its launch."""
WORST, LIGHT, HINT = 3, 2, 1
"""Grades: error, warning, lint."""


def _grade(
    accesses: Sequence[WorkitemAccess],
    atomic: bool,
    kind: str,
    other: str,
    first: TouchedCells,
    second: TouchedCells,
    a: int,
    b: int,
    epoch: Epoch,
) -> int:
    """The gravity of two rows that meet; 0: none."""
    one, two = accesses[int(first.numbers[a])], accesses[int(second.numbers[b])]
    if epoch.orders(one, int(first.workitems[a]), two, int(second.workitems[b])):
        return 0
    if atomic:
        if first.starts[a] != second.starts[b] or one.width != two.width:
            return WORST
        looks = _leaves(kind, first.data[a]) or _leaves(other, second.data[b])
        return HINT if not looks and (not commute(kind, other) or _order_matters(kind)) else 0
    equal = kind == other == "write" and first.data[a] == second.data[b]
    same_warp = first.workitems[a] // WARP == second.workitems[b] // WARP
    if equal:
        return LIGHT
    if same_warp and one is not two and kind in _VERBS and other in _VERBS:
        return LIGHT
    return WORST


def _leaves(kind: str, data: Any) -> bool:
    """Whether an atomic update with these bytes changes nothing: it only looks."""
    return kind.partition(" ")[0] in _LOOKS and not np.any(data)


def _order_matters(kind: str) -> bool:
    """Sums of floats."""
    return kind[:3] in ("add", "sub") and kind.partition(" ")[2].startswith(("f", "bf", "vector"))


def _pair(
    accesses: Sequence[WorkitemAccess],
    kind: str,
    other: str,
    first: TouchedCells,
    second: TouchedCells,
    best: tuple[int, int, int],
    common: Ints,
) -> MeetingPair:
    grade, a, b = best
    one, two = accesses[int(first.numbers[a])], accesses[int(second.numbers[b])]
    who = int(first.workitems[a]), int(second.workitems[b])
    if first.numbers[a] > second.numbers[b]:
        one, two, who = two, one, (who[1], who[0])
    cell = int(first.cells[a])
    low = int(first.starts[a]) if one.starts is not None else cell
    span = (min(low, cell), max(cell + 1, low + accesses[int(first.numbers[a])].width))
    if grade == HINT:
        return MeetingPair(
            "warning", "lint", one, two, who, span, len(common), "no pto.syncthreads lies between the two"
        )
    if grade == WORST:
        note = "no pto.syncthreads lies between the two, and no chain of fence and atomic"
    elif kind == other == "write" and first.data[a] == second.data[b]:
        note = "both write the same bytes"
    else:
        note = "both belong to one warp: it works because a warp runs in step, which is not promised"
    return MeetingPair("error" if grade == WORST else "warning", "race", one, two, who, span, len(common), note)
