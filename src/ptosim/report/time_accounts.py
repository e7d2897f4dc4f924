"""Sums over a timed run: what each pipe, each line, each path between memories took, and what the end waited for.

Plain values, computed from a recording. How they are shown is for the forms beside this module.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Location, Source
from ptosim.effects.sim_signal import SIGNALS
from ptosim.machine.entry import Site
from ptosim.timing.fifo_occupancy import Fifo
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.kernel_path import Stretch
from ptosim.timing.recording import NOTHING, PIPES, SDMA, Cause, Recording, RowKind

Ints = NDArray[np.int64]

_MEMORY_IN, _MEMORY_OUT = "memory in", "memory out"
BOUNDS_OF_COPIES = {
    "gm_ub": _MEMORY_IN,
    "gm_l1": _MEMORY_IN,
    "ub_gm": _MEMORY_OUT,
    "l0c_gm": _MEMORY_OUT,
    "transfer": "communication",
}
_BOUNDS_OF_OPERATIONS = {"mad": "cube", "sort": "vector issue", "merge_sort": "vector issue", "launch": "workitems"}
_UNITS = ("SFU", "reduction port")
COMMUNICATION = "communication"
"""Copies between ranks, transfers, and words on their way."""


@dataclass(frozen=True, slots=True)
class PipeTime:
    """The cycles of a pipe. `waiting`: it stood at an unsatisfied wait. `idle`: it had nothing to do."""

    busy: int
    waiting: int
    idle: int

    @property
    def total(self) -> int:
        return self.busy + self.waiting + self.idle

    def __add__(self, other: PipeTime) -> PipeTime:
        return PipeTime(self.busy + other.busy, self.waiting + other.waiting, self.idle + other.idle)


@dataclass(frozen=True, slots=True)
class CoreTime:
    """One core for the length of one block."""

    name: str
    begin: int
    end: int
    pipes: Mapping[str, PipeTime]


@dataclass(frozen=True, slots=True)
class Waiting:
    """The cycles that a pipe stood at one wait of the source, for one reason."""

    pipe: str
    line: int | None
    name: str
    cause: str
    set_line: int | None
    """The source of the signal that ended it."""
    cycles: int
    count: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes along a path between two memories."""

    path: str
    bytes: int
    copies: int
    busy: int
    """Cycles in which a copy of this path kept a pipe."""
    achieved: float
    """Bytes per cycle of the kernel and hardware core."""
    limit: float
    """Bytes per cycle that the target allows."""

    @property
    def rate(self) -> float:
        """Bytes per busy cycle, start-up included."""
        return self.bytes / self.busy if self.busy else 0.0


@dataclass(frozen=True, slots=True)
class FifoUse:
    """One way of a FIFO between cores, over all blocks."""

    name: str
    """The operation that fills its slots."""
    line: int | None
    source: str
    dest: str
    entries: int
    most: int
    """Slots that were filled and not yet given back."""
    mean: float
    """Their mean number, over the time that its consumers ran."""


@dataclass(frozen=True, slots=True)
class LineTime:
    """The cycles of one line of the source."""

    line: int
    busy: int
    """The busy cycles of its pipes, summed over cores; for a line of a vector function its part of the chain that
    decides.
    """
    critical: int
    """On the critical path."""
    waiting: int
    count: int
    """Entries that it made."""
    location: Location | None = None

    def to_json(self, source: Source | None = None) -> dict[str, object]:
        """Plain data; of a source the text of the line, or the file of one that stands elsewhere."""
        place = self.location
        known: dict[str, object] = {
            "line": self.line,
            "busy": self.busy,
            "critical": self.critical,
            "waiting": self.waiting,
            "count": self.count,
        }
        if source is None:
            return known
        if place is not None and place.file != source.name:
            return known | {"file": place.file}
        return known | {"text": source.line(self.line).strip()}


@dataclass(frozen=True, slots=True)
class PathStep:
    """A stretch of the critical path: an operation, or equal ones in a row."""

    line: int | None
    name: str
    core: str
    pipe: str
    activity: str
    """"work", "sync" (a signal on its way, a barrier), "scalar" (the scalar unit had not got there), or "unrecorded"
    where a run was too long to keep all of it."""
    start: int
    end: int
    count: int

    @property
    def cycles(self) -> int:
        return self.end - self.start


def column(values: Sequence[int]) -> Ints:
    """A column of a recording as a NumPy array."""
    return np.asarray(values, np.int64)


def path_text(path: Sequence[int]) -> str:
    """The first trip counts and branches of a path."""
    return ", ".join(map(str, path[:8])) + (", ..." if len(path) > 8 else "")


def reason(recording: Recording, cause: Cause) -> Iterator[tuple[str, str | int]]:
    """The cause of a wait, in words."""
    yield "for", cause.text
    if line := recording.sites[cause.site].line:
        yield "released at line", line


# --- FIFOs ------------------------------------------------------------------------------------------------------------


def fifo_uses(recording: Recording, fifos: Sequence[Fifo]) -> list[FifoUse]:
    """The FIFOs of all blocks, by the operation that fills them and the cores that they join."""
    alike: dict[tuple[str, int | None, str, str], list[Fifo]] = {}
    for fifo in fifos:
        assert fifo.push is not None
        source, dest = (recording.cores[core].role for core in (fifo.source, fifo.dest))
        alike.setdefault((fifo.push.title, fifo.push.line, source, dest), []).append(fifo)
    return [_fifo_use(recording, *key, same) for key, same in alike.items()]


def _fifo_use(
    recording: Recording, name: str, line: int | None, source: str, dest: str, fifos: Sequence[Fifo]
) -> FifoUse:
    most = total = time = 0
    for fifo in fifos:
        since, level = recording.cores[fifo.dest].begin, 0
        time += fifo.end - since
        for moment, next_level in fifo.levels():
            total += level * (moment - since)
            since, level = moment, next_level
            most = max(most, level)
    return FifoUse(name, line, source, dest, sum(len(fifo.filled) for fifo in fifos), most, total / max(1, time))


# --- pipes ------------------------------------------------------------------------------------------------------------


def core_times(recording: Recording) -> dict[str, CoreTime]:
    times: dict[str, CoreTime] = {}
    for core in recording.cores:
        length = core.window - core.begin
        pipes = {
            str(pipe): PipeTime(spent.busy, spent.waiting, length - spent.busy - spent.waiting)
            for pipe, spent in core.pipes.items()
        }
        times[core.name] = CoreTime(core.name, core.begin, core.end, pipes)
    return times


def pipe_times(cores: Mapping[str, CoreTime]) -> dict[str, PipeTime]:
    """Summed over cores, in the order of the data."""
    sums: dict[str, PipeTime] = {}
    for pipe in map(str, PIPES):
        parts = [core.pipes[pipe] for core in cores.values() if pipe in core.pipes]
        if parts:
            sums[pipe] = sum(parts, PipeTime(0, 0, 0))
    return sums


def least_cycles(recording: Recording) -> int:
    """Cycles of the busiest pipe of a core if all pipes overlap and all hardware cores have their share."""
    busy: Counter[tuple[str, str]] = Counter()
    for core in recording.cores:
        for pipe, spent in core.pipes.items():
            busy[core.role, pipe] += spent.busy
    return -(-max(busy.values(), default=0) // max(1, recording.hardware_cores))


# --- waits and copies -------------------------------------------------------------------------------------------------


def waitings(recording: Recording) -> list[Waiting]:
    """The waits of pipes, the longest first."""
    rows = recording.rows
    waits: list[int] = np.flatnonzero(column(rows.kind) == RowKind.WAIT).tolist()
    sums: dict[tuple[int, int, int], list[int]] = {}
    for row in waits:
        entry = sums.setdefault((rows.pipe[row], rows.site[row], rows.detail[row]), [0, 0])
        entry[0] += rows.end[row] - rows.start[row]
        entry[1] += 1
    found: list[Waiting] = []
    for (pipe, site, cause), (cycles, count) in sums.items():
        held, reason = recording.sites[site], recording.causes[cause]
        set_line = recording.sites[reason.site].line if reason.site != site else None
        found.append(Waiting(str(PIPES[pipe]), held.line, held.name, reason.text, set_line, cycles, count))
    return sorted(found, key=lambda waiting: -waiting.cycles)


def transfers(recording: Recording, limits: Mapping[str, float]) -> list[Transfer]:
    """Transfers between memories, in the order in which the target lists the paths."""
    rows = recording.rows
    sites = column(rows.site)
    spent = column(rows.end) - column(rows.start)
    work = column(rows.kind) == RowKind.WORK
    moved = column(rows.bytes)
    crossing = np.zeros(len(rows), bool)
    crossing[column(recording.crossings.row)] = True
    crossing &= column(rows.pipe) != PIPES.index(SDMA)
    found: list[Transfer] = []
    for path, limit in limits.items():
        members = [number for number, issued in enumerate(recording.issued) if issued.timing_class == path]
        chosen = crossing if path == "link" else work & np.isin(sites, members) & ~crossing
        if not chosen.any():
            continue
        total = int(moved[chosen].sum())
        possible = recording.cycles * max(1, recording.hardware_cores)
        achieved = total / possible if possible else 0.0
        found.append(Transfer(path, total, int(chosen.sum()), int(spent[chosen].sum()), achieved, limit))
    return found


# --- lines ------------------------------------------------------------------------------------------------------------


def function_lines(timing: VectorFunctionTiming, scope: int) -> Iterator[tuple[int, float]]:
    """The cycles of a vector function by line; its start-up and drain belong to the line of the scope."""
    yield scope, timing.startup + timing.drain
    yield from timing.lines.items()


def function_facts(timing: VectorFunctionTiming, path: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The label of a vector function in a timeline: the path through it or, of a tile operation on A2/A3, what it
    consists of, and what limits it."""
    if timing.instructions:
        yield "consists of", timing.sum
    else:
        yield "path", path_text(path)
    yield "limit", timing.limit
    if timing.lane_use is not None:
        yield "lanes used", f"{100 * timing.lane_use:.0f} %"


def line_times(recording: Recording, path: Sequence[Stretch], source: Source) -> list[LineTime]:
    """The lines of a source that took time, the most critical first: several may have run together."""
    busy, critical, waiting, count = (defaultdict[int, float](float) for _ in range(4))
    rows = recording.rows
    kinds, sites, details = column(rows.kind), column(rows.site), column(rows.detail)
    spent = column(rows.end) - column(rows.start)
    for number, site in enumerate(recording.sites):
        line = _line_in(site, source)
        mine = sites == number
        work = mine & (kinds == RowKind.WORK)
        waiting[line] += int(spent[mine & ~work].sum())
        count[line] += int(work.sum())
        functions, times = np.unique(details[work], return_counts=True)
        pairs: list[tuple[int, int]] = list(zip(functions.tolist(), times.tolist(), strict=True))
        for function, repeats in pairs:
            if function == NOTHING:
                busy[line] += int(spent[work].sum())
                continue
            for inner, cycles in function_lines(recording.functions[function], line) if line else ():
                busy[inner] += cycles * repeats
    for stretch in path:
        for line, cycles in _stretch_lines(recording, stretch, source):
            critical[line] += cycles
    lines = sorted({line for sums in (busy, critical, waiting) for line, cycles in sums.items() if line and cycles})
    found = _shown(((line, busy[line], critical[line], waiting[line], count[line]) for line in lines), source)
    return sorted(found, key=lambda entry: (-entry.critical, -entry.busy, -entry.waiting))


def _shown(rows: Iterable[Sequence[float]], source: Source) -> Iterator[LineTime]:
    """The lines as their author knows them, from lines of the text, each with its busy, critical and waiting cycles and
    its entries."""
    sums: dict[tuple[str, int], list[float]] = {}
    places: dict[tuple[str, int], Location] = {}
    for line, *figures in rows:
        place = source.shown(int(line))
        key = place.file, place.line
        places.setdefault(key, place)
        sums[key] = [one + other for one, other in zip(sums.get(key, [0.0] * 4), figures, strict=True)]
    for key, (busy, critical, waiting, count) in sums.items():
        yield LineTime(key[1], round(busy), round(critical), round(waiting), round(count), places[key])


def _function(recording: Recording, stretch: Stretch) -> VectorFunctionTiming | None:
    if stretch.activity != "work":
        return None
    number = recording.rows.detail[stretch.row]
    return None if number == NOTHING else recording.functions[number]


def _line_in(site: Site, source: Source) -> int:
    """Its line, 0 where it stands in another source."""
    known = site.location.source if site.location else None
    return site.location.line if site.location and (known is None or known == source) else 0


def _stretch_lines(recording: Recording, stretch: Stretch, source: Source) -> Iterator[tuple[int, float]]:
    line = _line_in(recording.sites[stretch.site], source) if stretch.site != NOTHING else 0
    function = _function(recording, stretch)
    if function is None or not line:
        yield line, stretch.end - stretch.start
    else:
        yield from function_lines(function, line)


# --- the critical path ------------------------------------------------------------------------------------------------


def path_steps(recording: Recording, path: Sequence[Stretch]) -> Iterator[PathStep]:
    """The path in words; what repeats in a row is one step."""
    steps = (_step(recording, stretch) for stretch in path)
    for _, alike in groupby(steps, key=lambda step: (step.line, step.core, step.pipe, step.activity)):
        first, *others = alike
        yield replace(first, end=others[-1].end, count=1 + len(others)) if others else first


def _step(recording: Recording, stretch: Stretch) -> PathStep:
    site = recording.sites[stretch.site] if stretch.site != NOTHING else None
    core, pipe = recording.cores[stretch.core].name, str(PIPES[stretch.pipe])
    name = site.title if site else "not recorded" if stretch.activity == "unrecorded" else "scalar code"
    return PathStep(site.line if site else None, name, core, pipe, stretch.activity, stretch.start, stretch.end, 1)


def bounds(recording: Recording, path: Sequence[Stretch]) -> dict[str, int]:
    """The cycles of the critical path by what they were spent on, the most first."""
    sums: defaultdict[str, float] = defaultdict(float)
    crossing = set(recording.crossings.row)
    for stretch in path:
        if stretch.activity == "unrecorded":
            continue
        for bound, cycles in _stretch_bounds(recording, stretch, crossing):
            sums[bound] += cycles
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return {bound: round(cycles) for bound, cycles in ordered if cycles}


def bound(bounds: Mapping[str, int]) -> tuple[str, int]:
    """The largest part of the critical path, and its cycles: copies from and to GM together are `memory`."""
    sums: Counter[str] = Counter()
    for name, cycles in bounds.items():
        sums["memory" if name in (_MEMORY_IN, _MEMORY_OUT) else name] += cycles
    return max(sums.items(), key=lambda item: item[1], default=("launch", 0))


def _stretch_bounds(recording: Recording, stretch: Stretch, crossing: Set[int]) -> Iterator[tuple[str, float]]:
    cycles = stretch.end - stretch.start
    function = _function(recording, stretch)
    if function is not None:
        yield from function_bounds(function)
    elif stretch.row in crossing or _is_word(recording, stretch):
        yield COMMUNICATION, cycles
    elif stretch.activity == "work":
        yield work_bound(recording.issued[stretch.site].timing_class), cycles
    else:
        yield stretch.activity, cycles


def _is_word(recording: Recording, stretch: Stretch) -> bool:
    """A word on its way to who waits for it."""
    return stretch.activity == "sync" and stretch.row != NOTHING and recording.sites[stretch.site].name in SIGNALS


def work_bound(timing_class: str) -> str:
    """The bound of a copy or an operation of this class."""
    return BOUNDS_OF_COPIES.get(timing_class) or _BOUNDS_OF_OPERATIONS.get(timing_class, "on-chip copies")


def function_bounds(timing: VectorFunctionTiming) -> Iterator[tuple[str, float]]:
    """The cycles of a vector function by bound. A unit that limits the whole of it has all but the launch."""
    launch = timing.startup + timing.drain
    yield "launch", launch
    if timing.limit in _UNITS:
        yield timing.limit, timing.cycles - launch
        return
    for cause, cycles in timing.causes.items():
        if cause != "launch":
            yield cause if cause in _UNITS else "vector issue", cycles
