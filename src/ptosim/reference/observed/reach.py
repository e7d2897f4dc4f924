"""The reach of a launch into its arguments: a run on endless GM, without the parts that cannot matter.

Copies between GM and the chip are carried out for their addresses; vector scopes, products and copies on the chip only
where data decides an address (`Probe.whole`). What instructions complain of is noted, and the run goes on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ptosim.diagnostics import PTOError
from ptosim.effects.catalogue import effects
from ptosim.effects.names import GM, CoreKind, Pipe, Space
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import enclosing_scope
from ptosim.language.structure.function import Call, Function
from ptosim.machine.entry import Site
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.memory import Region, Regions, decode
from ptosim.machine.signal import SignalledWords
from ptosim.reference.core import Core
from ptosim.reference.engine import Programs, ReferenceLaunch, Run, prepare
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.memories import NOTHING, GlobalMemory, Memories
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint
from ptosim.reference.observed.remarks import Remarks
from ptosim.reference.observed.taint import Observed
from ptosim.target.profile import Target

FARTHEST_REACH = 1 << 28
"""Bytes of an argument that a launch may reach."""
MOST_HOLES = 1 << 24
"""The longest stretch in which bytes that are left out are looked for."""
MOST_STEPS = 1_000_000
"""Loop iterations and calls of a block."""


@dataclass
class Reach:
    """The reach of accesses to one argument."""

    high: int = 0
    """One past the last byte."""
    input: bool = False
    """Some of it is read that was not written before."""
    written: tuple[int, int] | None = None
    decides: bool = False
    """The scalar unit loads from it."""
    signals: bool = False
    """It holds words that are waited for."""
    remote: bool = False
    """A rank goes to that of another."""
    rewritten: bool = False
    """Some of it is written twice."""
    stored: dict[int, NDArray[np.bool_]] = field(default_factory=dict[int, NDArray[np.bool_]])
    """The bytes that are written, by region; most pages are never touched."""

    def store(self, number: int, start: int, width: int) -> None:
        if number not in self.stored:
            self.stored[number] = np.zeros(FARTHEST_REACH, np.bool_)
        stored = self.stored[number][start : start + width]
        self.rewritten |= bool(stored.any())
        stored[:] = True

    @property
    def has_holes(self) -> bool:
        """Some bytes between others that are written are not."""
        end = min(self.high, MOST_HOLES)
        return (
            self.written is not None and not self.input and not all(each[:end].all() for each in self.stored.values())
        )

    def note(self, verb: str, low: int, high: int) -> None:
        self.high = max(self.high, high)
        if verb == "reads":
            self.input |= self.written is None or low < self.written[0] or high > self.written[1]
        else:
            before = self.written or (low, high)
            self.written = min(low, before[0]), max(high, before[1])


@dataclass(frozen=True)
class ProbedArgument:
    """An argument of a launch that is tried."""

    position: int
    """Among the pointers of the kernel."""
    data: Bytes
    is_window: bool = False


@dataclass(frozen=True)
class ProbedRank:
    """The arguments of a launch that is tried, on one rank."""

    values: Sequence[int]
    memory: Mapping[int, ProbedArgument]
    """By region."""
    name: int | None = None


@dataclass
class ReachedLaunch:
    """The reach of a launch."""

    reaches: Mapping[int, Reach]
    """By argument."""
    arguments: Mapping[int, int]
    """By region: of which argument it is a part."""
    complaints: set[tuple[str, str, int | None]] = field(default_factory=set[tuple[str, str, int | None]])
    """Kind, message and line of each thing that is wrong."""
    trips: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """The most turns of each loop."""
    steps: int = 0
    """Turns of all loops."""
    entries: int = 0
    """Entries of pipes that are carried out."""
    end: PTOError | None = None
    """With what the run has ended before its time."""

    def of_region(self, number: int) -> Reach | None:
        return self.reaches.get(self.arguments.get(number, -1))

    @property
    def repeated(self) -> int:
        """The number of loops that have run twice."""
        return sum(turns > 1 for turns in self.trips.values())


class ReachedMemories(Memories):
    """GM without end."""

    def __init__(self, core: ReachingCore, cluster: Mapping[str, Mapping[Space, Bytes]], memory: GlobalMemory) -> None:
        super().__init__(core, cluster, memory)
        self.reaching = core
        self.remarks = Remarks(self.say, lambda: core.at)

    def window(self, verb: str, place: AccessPlace) -> tuple[Bytes, int, bool]:
        if place.space is not GM or place.at is not None:
            return super().window(verb, place)
        number, offset = decode(int(place.starts))
        reach = self.reaching.findings.of_region(number)
        if reach is None or offset < 0 or offset + place.width > FARTHEST_REACH:
            message, extent = self.global_memory.regions.stray(verb, int(place.starts), place.width)
            if reach is None or offset >= 0:
                raise Fault("out-of-bounds", message, bytes=extent)
            self.say(Complaint("out-of-bounds", message, is_fatal=False))  # which no longer array mends
            return NOTHING, 0, False
        if place.width:
            reach.note(verb, offset, offset + place.width)
        reach.decides |= verb == "reads" and not self.reaching.queued
        reach.remote |= self.global_memory.regions.all[number].rank != self.global_memory.regions.rank
        return self.global_memory.buffers[number], offset, True

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        super().write(place, data, active, atomic)
        if place.space is GM and place.at is None and atomic is None:
            for start in place.starts if place.in_pieces else [place.starts]:
                number, offset = decode(int(start))
                if (reach := self.reaching.findings.of_region(number)) is not None:
                    reach.store(number, offset, place.width)

    def reached(self, verb: str, number: int, offsets: NDArray[np.int64], width: int) -> None:
        reach = self.reaching.findings.of_region(number)
        if reach is None or not len(offsets):
            return
        low, high = int(offsets.min()), int(offsets.max()) + width
        if verb != "writes":
            reach.note("reads", low, high)
            reach.decides = True  # as far as is known: a workitem is a scalar program
        if verb != "reads":
            reach.note("writes", low, high)
            for offset in offsets:
                reach.store(number, int(offset), width)

    def say(self, complaint: Complaint) -> None:
        site = complaint.site or self.reaching.at
        noted = self.reaching.findings.complaints
        noted.add((complaint.kind, complaint.message, site.line))
        if complaint.kind == "invalid" and complaint.is_fatal:
            super().say(complaint)


class ReachingCore(Core):
    """A core that notes how far it goes, and leaves out what does not go anywhere."""

    findings: ReachedLaunch
    moves: Callable[[Site], bool]
    queued = False
    at = Site("launch")
    """The instruction that is carried out."""

    def reaching(
        self, findings: ReachedLaunch, moves: Callable[[Site], bool], cluster: Mapping[str, Mapping[Space, Bytes]]
    ) -> None:
        self.findings, self.moves = findings, moves
        self.memories = ReachedMemories(self, cluster, self.memories.global_memory)
        self.use(self.memories)

    def loop(self, lower: int, upper: int, step: int) -> Any:
        indices = super().loop(lower, upper, step)
        frame = inspect.currentframe()
        caller = frame.f_back if frame is not None else None
        if caller is not None:
            place = caller.f_code.co_filename, caller.f_lineno
            turns = max(0, -((lower - upper) // step))
            self.findings.trips[place] = max(self.findings.trips.get(place, 0), turns)
            self.findings.steps += turns
        return indices

    def issue(self, what: Observed, arguments: tuple[Any, ...]) -> None:
        if self.moves(what.site):
            step = partial(what.function, *arguments)
            self.machine.work(what.site.pipe, what.site, partial(self._apart, what.site, step))

    def transfer(self, what: Observed, arguments: tuple[Any, ...]) -> None:
        if self.moves(what.site):
            half = partial(self._apart, what.site, partial(next, what.function(*arguments), None))
            self.machine.work(what.site.pipe, what.site, half, lambda _: half())

    def launch(self, site: Site, function: Callable[..., None], captured: tuple[Any, ...]) -> None:
        if self.moves(site):
            self.machine.work(site.pipe, site, partial(self._apart, site, partial(function, self, *captured)))

    def _apart(self, site: Site, step: Callable[[], Any]) -> Any:
        before = self.queued, self.at
        self.queued, self.at = True, site
        self.findings.entries += 1
        try:
            with np.errstate(all="ignore"):
                return step()
        finally:
            self.queued, self.at = before

    def signal_words(self, site: Site, verb: str, addresses: Sequence[int]) -> SignalledWords | None:
        words = super().signal_words(site, verb, addresses)
        for address in addresses:
            if (reach := self.findings.of_region(decode(address)[0])) is not None:
                reach.signals = True
        return words


class ReachRun(Run):
    """A run on such cores."""

    findings: ReachedLaunch
    moves: Callable[[Site], bool]

    def _core_of(self, *given: Any) -> Core:
        core = ReachingCore(*given)
        core.reaching(self.findings, self.moves, given[1])
        return core


class Probe:
    """Tries launches of one kernel."""

    def __init__(
        self,
        module: VerifiedModule,
        entries: Mapping[CoreKind, Function],
        kind: KernelKind,
        together: bool,
        target: Target,
    ) -> None:
        self.module, self.entries, self.kind, self.together, self.target = module, entries, kind, together, target
        self._moving: dict[Site, bool] = {}

    @cached_property
    def programs(self) -> Programs:
        return prepare(self.module, self.entries)

    @cached_property
    def operations(self) -> Mapping[Site, Operation]:
        return {site: op for program in self.programs.values() for site, op in program.operations.items()}

    @cached_property
    def whole(self) -> bool:
        """Whether data decides addresses or branches, so that all has to be carried out."""
        return any(map(self._hands_on, (op for entry in self.entries.values() for op in _reached(entry))))

    def _hands_on(self, op: Operation) -> bool:
        record = effects().get(op.name)
        if record is None:
            return False
        accesses = record.accesses(self.module.static(op))
        if any(access.reach != "exact" or callable(access.map) for access in accesses):
            return True
        if record.pipe is not Pipe.S or enclosing_scope(op) is not None:
            return False
        return "VMS4_SR" in record.reads or any(
            access.direction == "read" and access.space is not GM for access in accesses
        )

    def moves(self, site: Site) -> bool:
        """Whether something that is queued goes to GM, or decides what does."""
        if site not in self._moving:
            op = self.operations.get(site)
            self._moving[site] = self.whole or op is None or any(map(self._goes_to_gm, op.walk()))
        return self._moving[site]

    def _goes_to_gm(self, op: Operation) -> bool:
        if isinstance(op, Call):  # of a function, or a launch of workitems
            return True
        record = effects().get(op.name)
        if record is None:
            return False
        return any(access.space is GM for access in record.accesses(self.module.static(op)))

    def __call__(self, ranks: Sequence[ProbedRank], names: Sequence[str], grid: int, max_steps: int) -> ReachedLaunch:
        """Launch on these ranks. Memory that has a context beside it can be reached from all."""
        regions = {
            number: Region(argument.position, names[argument.position], FARTHEST_REACH, rank.name, argument.is_window)
            for rank in ranks
            for number, argument in rank.memory.items()
        }
        arguments = {number: argument.position for rank in ranks for number, argument in rank.memory.items()}
        findings = ReachedLaunch({position: Reach() for position in arguments.values()}, arguments)
        buffers = {number: argument.data for rank in ranks for number, argument in rank.memory.items()}
        parts: list[ReferenceLaunch] = []
        for rank in ranks:
            seen = Regions(regions, rank.name)
            visible = {number: data for number, data in buffers.items() if seen.find(number) is not None}
            geometry = LaunchGeometry(self.kind, grid, rank.name)
            parts.append(
                ReferenceLaunch(self.programs, partial(_same, rank.values), GlobalMemory(seen, visible), geometry)
            )
        run = ReachRun(parts, self.target, max_steps=max_steps, together=self.together, say=None)
        run.findings, run.moves = findings, self.moves
        try:
            run()
        except PTOError as problem:
            findings.end = problem
        return findings


def _same(values: Sequence[int], block: int) -> Sequence[int]:
    return values


def endless(held: Bytes = NOTHING) -> Bytes:
    """The bytes of an argument without end, of which the first are known: zeros take no room before they are used."""
    memory = np.zeros(FARTHEST_REACH, np.uint8)
    memory[: len(held)] = held
    return memory


def _reached(entry: Function) -> list[Operation]:
    """The operations of an entry and of the functions that it calls."""
    found: list[Operation] = []
    seen: set[Operation] = {entry}
    pending: list[Operation] = [entry]
    while pending:
        for op in pending.pop().walk():
            found.append(op)
            callee = op.function if isinstance(op, Call) else None
            if callee is not None and callee not in seen:
                seen.add(callee)
                pending.append(callee)
    return found
