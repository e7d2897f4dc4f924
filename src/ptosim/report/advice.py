"""Advice: changes of a kernel that were tried by timing its run again, those that save most first."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from ptosim.diagnostics import Location
from ptosim.machine.entry import EntryKind, Site
from ptosim.reference.observed.lane_count import ExecutedLanes
from ptosim.target import Target
from ptosim.target.tables import WorkitemPrice
from ptosim.timing.recording import PIPES
from ptosim.timing.retiming import RetimedChange, Retiming
from ptosim.timing.step_log import Step
from ptosim.timing.workitems import launch_cycles

MOST_ADVICE = 5
LEAST_SHARE = 0.02
"""The least share of all cycles: smaller savings are not mentioned."""
MENTIONED_SHARE = 0.1
"""The least share of a line in conflicts or idle lanes that is mentioned."""
CLOSENESS = 0.01
"""The least agreement of the steps with the cycles of the run before anything is said of them."""


@dataclass(frozen=True)
class Advice:
    """A change of the kernel and what it saves."""

    kind: str
    """second-buffer, later-wait, narrower-barrier, joined-rows, fused-scopes, wasted-lanes, bank-conflicts or
    divergence"""
    message: str
    lines: tuple[int, ...]
    cycles: int
    share: float

    def __str__(self) -> str:
        return f"{self.message}: saves {self.cycles:,} cycles ({100 * self.share:.0f} %)"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "message": self.message,
            "lines": list(self.lines),
            "cycles": self.cycles,
            "share": round(self.share, 4),
        }


@dataclass(frozen=True)
class _Trial:
    kind: str
    message: Callable[[str], str]
    lines: tuple[int, ...]
    change: RetimedChange


@dataclass(frozen=True)
class SecondRun:
    """Results of a run of the reference engine besides times: its steps and the lanes of its vector instructions."""

    retiming: Retiming
    lanes: Sequence[ExecutedLanes]


def advice(run: SecondRun, cycles: int, target: Target) -> tuple[Advice, ...]:
    """Trials that are worth while."""
    retiming = run.retiming
    base = retiming.base
    if not cycles or abs(base - cycles) > CLOSENESS * cycles:
        return ()
    found: list[Advice] = []
    for trial in _trials(run, target):
        gain = base - retiming.cycles(trial.change)
        if gain >= LEAST_SHARE * base and trial.lines:
            message = trial.message(_named(trial.lines))
            found.append(Advice(trial.kind, message, trial.lines, gain, gain / base))
    found.sort(key=lambda each: (-each.cycles, len(each.lines), each.lines))
    return tuple(_distinct(found))[:MOST_ADVICE]


def _distinct(found: Iterable[Advice]) -> Iterator[Advice]:
    """One of each kind at each line, and of changes that save the same the one of fewest lines."""
    seen: list[Advice] = []
    for each in found:
        inside = any(
            other.kind == each.kind and (set(each.lines) <= set(other.lines) or set(other.lines) <= set(each.lines))
            for other in seen
        )
        if not inside:
            seen.append(each)
            yield each


def _trials(run: SecondRun, target: Target) -> Iterator[_Trial]:
    retiming = run.retiming
    yield from _buffers(retiming)
    yield from _waits(retiming)
    yield from _rows(retiming, target)
    yield from _scopes(retiming)
    yield from _lanes(run)
    if target.simt is not None:
        yield from _workitems(retiming, target.simt)


# --- buffers ----------------------------------------------------------------------------------------------------------


def _buffers(retiming: Retiming) -> Iterator[_Trial]:
    """One more buffer for what is used again in each turn."""
    keys = list(retiming.carried)
    groups = [[key] for key in keys] + ([keys] if len(keys) > 1 else [])
    for group in groups:
        waits = [step for key in group for step in retiming.carried[key]]
        lines = _lines(step for wait in waits for step in (wait, *wait.sources))
        yield _Trial("second-buffer", _second_buffer, lines, RetimedChange(shifted=frozenset(group)))


def _second_buffer(lines: str) -> str:
    return f"give what {lines} share one more buffer, so that a turn need not wait for the one before"


# --- synchronisation --------------------------------------------------------------------------------------------------


def _waits(retiming: Retiming) -> Iterator[_Trial]:
    """Waits and barriers that hold more than the bytes demand."""
    sites: dict[Any, Step] = {}
    elsewhere: set[Any] = set()
    for step, starts in retiming.log.events:
        if starts and step.kind in (EntryKind.WAIT, EntryKind.GET, EntryKind.BARRIER) and not step.of_ranges:
            sites.setdefault(step.site, step)
            if any(source.core != step.core for source in step.sources):
                elsewhere.add(step.site)  # what other cores touch is not followed
    barriers = [step for step in sites.values() if step.kind is EntryKind.BARRIER]
    for step in (each for each in sites.values() if each.site not in elsewhere):
        kind, message = _KINDS[step.kind is EntryKind.BARRIER]
        yield _Trial(kind, message, _lines([step]), RetimedChange(freed={step.site}))
    if len(barriers) > 1:
        change = RetimedChange(freed={step.site for step in barriers})
        yield _Trial("narrower-barrier", _barrier, _lines(barriers), change)


def _later(lines: str) -> str:
    return f"wait later at {lines}: what follows there does not need it yet"


def _barrier(lines: str) -> str:
    return f"replace the barrier at {lines} by set_flag and wait_flag between the pipes that share bytes"


_KINDS = {False: ("later-wait", _later), True: ("narrower-barrier", _barrier)}


# --- copies and scopes ------------------------------------------------------------------------------------------------


def _neighbours(retiming: Retiming) -> Iterator[tuple[Step, Step]]:
    """Entries that follow each other on a pipe of a core without a wait or a set between."""
    last: dict[tuple[int, int], Step] = {}
    for step, starts in retiming.log.events:
        if not starts or step.pipe == 0:
            continue
        place = step.core, step.pipe
        if step.kind is EntryKind.WORK:
            if place in last:
                yield last[place], step
            last[place] = step
        else:
            last.pop(place, None)


def _rows(retiming: Retiming, target: Target) -> Iterator[_Trial]:
    """Copies of one line that follow each other, as one."""
    runs: dict[Any, list[list[Step]]] = defaultdict(list)
    ends: dict[Step, list[Step]] = {}
    for before, step in _neighbours(retiming):
        if before.site is not step.site or step.timing_class not in target.dma:
            continue
        run = ends.pop(before, None)
        if run is None:
            run = [before]
            runs[step.site].append(run)
        run.append(step)
        ends[step] = run
    for several in runs.values():
        cycles: dict[Step, int] = {}
        even = [run for run in several if _is_even(run)]
        for run in even:
            cycles |= dict.fromkeys(run, 0)
            cycles[run[0]] = target.dma[run[0].timing_class].cycles(sum(step.bytes for step in run))
        if even:
            yield _Trial("joined-rows", _join, _lines([several[0][0]]), RetimedChange(cycles=cycles))


def _is_even(run: Sequence[Step]) -> bool:
    """Whether rows lie at equal distances on both sides, as those of one copy do."""
    for writes in (False, True):
        lows = [min((low for _, _, low, _, written in step.touched if written is writes), default=0) for step in run]
        if len({after - before for before, after in pairwise(lows)}) > 1:
            return False
    return True


def _join(lines: str) -> str:
    return f"join the copies that {lines} makes one after the other into one of several rows"


def _scopes(retiming: Retiming) -> Iterator[_Trial]:
    """Vector scopes that follow each other, as one: one start-up and one drain less."""
    pairs: dict[tuple[Any, Any], list[Step]] = defaultdict(list)
    vector = PIPES.index("V")
    for before, step in _neighbours(retiming):
        if step.pipe == vector and step.steady and before.steady and not step.site.served:
            pairs[before.site, step.site].append(step)
    for (one, other), steps in pairs.items():
        cycles = {step: min(step.cycles, round(step.steady)) for step in steps}
        lines = tuple(sorted({line for line in (one.line, other.line) if line is not None}))
        yield _Trial("fused-scopes", _fuse, lines, RetimedChange(cycles=cycles))


def _fuse(lines: str) -> str:
    return f"fuse the vector scopes of {lines}: each has a start-up of its own"


def _lanes(run: SecondRun) -> Iterator[_Trial]:
    """Scopes that would execute fewer instructions if every lane of each took part."""
    scopes: dict[Location, list[Step]] = defaultdict(list)
    for step, starts in run.retiming.log.events:
        if starts and step.steady and step.site.location is not None:
            scopes[step.site.location].append(step)
    counted: dict[Location, list[ExecutedLanes]] = defaultdict(list)
    for each in run.lanes:
        is_wide = each.active > each.times  # one lane is the result of a reduction
        if each.is_masked and is_wide and each.site.scope is not None:
            counted[each.site.scope].append(each)
    for scope, steps in scopes.items():
        executed = sum(each.times for each in counted[scope])
        needed = sum(_needed(each, len(steps)) for each in counted[scope])
        active = sum(each.active / each.lanes for each in counted[scope])
        if needed < executed:
            saved = 1 - needed / executed
            cycles = {step: round(step.cycles - step.steady * saved) for step in steps}
            message = partial(_fill, idle=1 - active / executed)
            yield _Trial("wasted-lanes", message, _lines(steps), RetimedChange(cycles=cycles))


def _needed(each: ExecutedLanes, runs: int) -> float:
    """Executions in so many runs of a scope if no lane were idle; each run has its last one."""
    return min(each.times, runs * math.ceil(each.active / runs / each.lanes))


def _fill(lines: str, idle: float) -> str:
    share = f"{100 * idle:.0f} % of them are idle"
    return f"fill the lanes at {lines}, {share}: take rows that lie one behind the other as one"


# --- workitems --------------------------------------------------------------------------------------------------------


def _workitems(retiming: Retiming, price: WorkitemPrice) -> Iterator[_Trial]:
    """Launches whose warps reach different banks, and whose workitems go one way."""
    launches: dict[Site, list[Step]] = defaultdict(list)
    for step, starts in retiming.log.events:
        if starts and step.counts is not None:
            launches[step.site].append(step)
    for steps in launches.values():
        spread = {step: launch_cycles(step.counts.without_conflicts(), price) for step in steps}
        crowded = _most(((line, cycles) for step in steps for (_, line), cycles in step.counts.crowded.items()))
        yield _Trial("bank-conflicts", _spread, crowded, RetimedChange(cycles=spread))
        parted = {step: launch_cycles(step.counts.without_divergence(), price) for step in steps}
        around = _most(((line, lanes) for step in steps for (_, _, line), lanes in step.counts.idle.items()))
        yield _Trial("divergence", _part, around, RetimedChange(cycles=parted))


def _most(counted: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """The lines that have a share worth a word."""
    total: Counter[int] = Counter()
    for line, count in counted:
        total[line] += count
    least = MENTIONED_SHARE * sum(total.values())
    return tuple(sorted(line for line, count in total.items() if count > least))


def _spread(lines: str) -> str:
    return f"spread the words of UB that a warp reaches at {lines} over its banks: add 8 bytes to the length of a row"


def _part(lines: str) -> str:
    return f"let the workitems of a warp go one way at {lines}: branch by warp, or give lanes equal numbers of turns"


def _lines(steps: Iterable[Step]) -> tuple[int, ...]:
    return tuple(sorted({step.site.line for step in steps if step.site.line is not None}))


def _named(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
