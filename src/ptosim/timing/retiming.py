"""A run timed again from its steps, with one thing changed: a wait moved, a barrier taken away, copies joined.

The rules are those of the timer (pipe_timer.py). What takes the place of a wait or barrier is what the bytes demand:
an entry waits for the entries of other pipes that touched the same bytes before, where one of the two writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

from ptosim.machine.entry import EntryKind
from ptosim.target import Target
from ptosim.timing.recording import PIPES
from ptosim.timing.step_log import Step, StepLog

_S = 0
_ALL_PIPES = 0
_NEAR = 192
"""The number of accesses back in which bytes that were touched before are looked for."""


@dataclass(frozen=True)
class RetimedChange:
    """The changes of a run that is timed again."""

    shifted: Collection[Any] = ()
    """Keys whose waits are satisfied one turn earlier, as with one more buffer."""
    freed: Collection[Any] = ()
    """Sites of waits and barriers that do not hold; bytes do."""
    cycles: Mapping[Step, int] = field(default_factory=dict[Step, int])
    """The new cycles of entries."""


@dataclass
class _Core:
    """The times of a core."""

    scalar: int = 0
    free: list[int] = field(default_factory=lambda: [0] * len(PIPES))


class Retiming:
    """Times the steps of a launch again."""

    def __init__(self, log: StepLog, target: Target, hardware_cores: int, together: bool) -> None:
        self.log, self.target, self.hardware, self.together = log, target, hardware_cores, together

    @cached_property
    def base(self) -> int:
        """Cycles without a change."""
        return self.cycles(RetimedChange())

    def cycles(self, change: RetimedChange) -> int:
        cores = [_Core() for _ in self.log.blocks]
        latency, issued, times = self.target.latency, dict[Step, int](), dict[Step, int]()
        by_bytes = self.conflicts if change.freed else dict[Step, list[Step]]()
        for step, starts in self.log.events:
            core = cores[step.core]
            if not starts:
                core.scalar += step.operations * latency.scalar
                issued[step] = core.scalar
                continue
            pipe, now = step.pipe, issued[step]
            free = core.scalar if pipe == _S else core.free[pipe]
            reached = max(free, now)
            match step.kind:
                case EntryKind.WORK:
                    for other in by_bytes.get(step, ()):
                        reached = max(reached, times.get(other, 0) + latency.flag)
                    core.free[pipe] = times[step] = reached + change.cycles.get(step, step.cycles)
                case EntryKind.SET | EntryKind.RELEASE:
                    times[step] = max([reached, *(times.get(other, 0) for other in step.sources)])
                case EntryKind.WAIT | EntryKind.GET:
                    over = reached if step.site in change.freed else self._heard(step, reached, times, change)
                    if over > reached and pipe == _S:
                        core.scalar = over
                    elif over > reached:
                        core.free[pipe] = over
                case EntryKind.BARRIER:
                    self._barrier(step, core, reached, change)
                case _:
                    pass
        return self._placed(cores)

    def _heard(self, step: Step, reached: int, times: Mapping[Step, int], change: RetimedChange) -> int:
        """The time when a wait is over."""
        sources = self._earlier.get(step, ()) if step.key in change.shifted else step.sources
        latency = self.target.latency
        hops = (latency.flag if source.core == step.core else latency.inter_core for source in sources)
        return max([reached, *(times.get(source, 0) + hop for source, hop in zip(sources, hops, strict=True))])

    def _barrier(self, step: Step, core: _Core, reached: int, change: RetimedChange) -> None:
        cost = self.target.latency.barrier
        if step.site in change.freed:
            return
        if step.pipe != _ALL_PIPES:
            core.free[step.pipe] = reached + cost
            return
        final = max(core.free[_S + 1 :])
        core.scalar = final + cost if final > core.scalar else reached + cost

    def _placed(self, cores: list[_Core]) -> int:
        """The end of the last block, where a block begins when a core of the chip is free."""
        lengths: dict[int, int] = defaultdict(int)
        for core, block, rest in zip(cores, self.log.blocks, self.log.rest, strict=True):
            end = max(core.scalar + rest * self.target.latency.scalar, *core.free)
            lengths[block] = max(lengths[block], end)
        if self.together:
            return max(lengths.values(), default=0)
        free = [0] * self.hardware
        for _, length in sorted(lengths.items()):
            heappush(free, heappop(free) + length)
        return max(free)

    # --- what follows what --------------------------------------------------------------------------------------------

    @cached_property
    def carried(self) -> Mapping[Any, list[Step]]:
        """By key the waits for something of an earlier turn of a loop."""
        found: dict[Any, list[Step]] = defaultdict(list)
        for step, starts in self.log.events:
            if starts and step.kind in (EntryKind.WAIT, EntryKind.GET) and step.key is not None:
                shared = [source for source in step.sources if _is_earlier(source, step)]
                if shared:
                    found[step.key].append(step)
        return found

    @cached_property
    def _earlier(self) -> Mapping[Step, tuple[Step, ...]]:
        """The signals that satisfied the wait before with the same key, on the same core."""
        before: dict[tuple[int, Any], tuple[Step, ...]] = {}
        found: dict[Step, tuple[Step, ...]] = {}
        for step, starts in self.log.events:
            if starts and step.kind in (EntryKind.WAIT, EntryKind.GET):
                place = step.core, step.key
                found[step] = before.get(place, ())
                before[place] = step.sources
        return found

    @cached_property
    def conflicts(self) -> Mapping[Step, list[Step]]:
        """The last entry of each other pipe that touched the same bytes, where one of the two writes."""
        recent: dict[tuple[Any, Any], list[tuple[int, int, bool, int, Step]]] = defaultdict(list)
        found: dict[Step, list[Step]] = {}
        for number, (step, starts) in enumerate(self.log.events):
            if not starts or step.kind is not EntryKind.WORK:
                continue
            last: dict[tuple[int, int], tuple[int, Step]] = {}
            for space, owner, low, high, writes in step.touched:
                for first, end, written, when, other in recent[space, owner]:
                    if first < high and low < end and (writes or written):
                        place = other.core, other.pipe
                        last[place] = max(last.get(place, (when, other)), (when, other), key=lambda each: each[0])
            last.pop((step.core, step.pipe), None)
            found[step] = [other for _, other in last.values()]
            for space, owner, low, high, writes in step.touched:
                known = recent[space, owner]
                known.append((low, high, writes, number, step))
                del known[:-_NEAR]
        return found


def _is_earlier(source: Step, step: Step) -> bool:
    """Whether a set stands behind the wait in the text, so that it was made in an earlier turn of a loop."""
    return source.core == step.core and source.site.number > step.site.number
