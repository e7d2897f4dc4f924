"""The proof of written order: for every number of iterations and every branch, or what stands in its way.

Sound, not complete: what the analysis cannot tell apart it calls undecided and names. What a kernel takes for granted
it has to take for granted too, and says so: that different arguments do not overlap, and that a copy whose length only
the run knows ends before the next buffer begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import cast

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic, Related
from ptosim.effects.names import PIPES_OF, SERIAL_PIPES, CoreKind, Pipe, Space
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.sim_signal import SimNotify, SimTestWords, SimWaitWords
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.structure.function import Function, reached
from ptosim.order.assumptions import WORKITEMS_APART, confine
from ptosim.order.blocks_apart import are_apart
from ptosim.order.brackets import misused
from ptosim.order.branches import both_run
from ptosim.order.cluster import CUBE, Unfollowed, is_cluster, read_cluster
from ptosim.order.conflict import Conflicts, distance, meets
from ptosim.order.counterexamples import ReplayTrials
from ptosim.order.exploration import explorer
from ptosim.order.model import (
    ByteRange,
    EntryNode,
    EntryTouch,
    Flag,
    GetBuffer,
    LoopNode,
    Node,
    Opaque,
    OrderProgram,
    ReleaseBuffer,
)
from ptosim.order.number import Periodic
from ptosim.order.read_program import SIGNALS, read, serial_of
from ptosim.order.rotating_ids import family_of
from ptosim.order.rounds import EarlyStart
from ptosim.order.signals import MOST_SIGNALS, SignalWalker, one_pipe
from ptosim.order.state import State
from ptosim.order.stuck_waits import is_stuck
from ptosim.order.unit_flags import without_unit_flags
from ptosim.order.unknown_ids import EXISTING, is_named, unfollowed
from ptosim.order.values import ANYWHERE
from ptosim.order.walk import Walker
from ptosim.order.written_walk import Times, TurnWalker

DIFFERENT_ARGUMENTS = "different arguments do not overlap"
UNKNOWN_BYTES = "the bytes depend on values that only the run knows"
BOTH_BRANCHES = "it shows only if both branches are taken"
DIFFERENT_BLOCKS = "no block reads or writes bytes of GM that another one writes"
WORDS = "signals between ranks and blocks by words in GM are not followed"
DIFFERENT_VECTORS = "the vector cores of a cluster do not write the same bytes of GM"


@dataclass(frozen=True)
class Verdict:
    """The result of the analysis: nothing found is a proof."""

    broken: tuple[Diagnostic, ...]
    """The errors, each with the least number of iterations that shows it."""
    undecided: tuple[Diagnostic, ...]
    assumptions: tuple[str, ...]
    unbalanced: bool = False
    """Whether flags or signals may not balance on ways that perhaps no run takes."""
    is_stopped: bool = False
    """Whether the signals of a cluster cannot be followed."""
    is_unfollowed: bool = False
    """Whether something cannot be followed, so that nothing is said which rests on it."""
    states: int = 0
    """In how many steps all states were seen, where that has decided it."""

    @property
    def proven(self) -> bool:
        return not self.broken and not self.undecided


def prove(module: VerifiedModule, entries: dict[CoreKind, Function]) -> Verdict:
    """Judge the programs of a kernel; what goes wrong shows in a replay."""
    return without_unit_flags(module, entries, _proven_or_not(module, entries))


def _proven_or_not(module: VerifiedModule, entries: dict[CoreKind, Function]) -> Verdict:
    verdict = suspected(module, entries)
    trials = ReplayTrials(module, entries)
    suspicious = bool(verdict.broken) or verdict.unbalanced
    if suspicious:
        late = tuple(each for each in verdict.broken if each.hint)  # operations that overlap on other machines
        tried = trials.confirm([each for each in verdict.broken if not each.hint], verdict.unbalanced)
        broken, unshown = (*tried.shown, *late), tried.unshown  # which may follow from what does show
        verdict = replace(verdict, broken=broken, undecided=(*verdict.undecided, *(() if broken else unshown)))
    elif verdict.is_stopped and (found := trials.inevitable()) is not None:
        return replace(verdict, broken=(found,), undecided=())
    is_open = not verdict.broken and (verdict.undecided or verdict.unbalanced)
    if is_open and (states := explored(module, entries)):
        verdict = replace(verdict, undecided=(), unbalanced=False, states=states)
    elif verdict.undecided and not suspicious and not verdict.is_unfollowed:
        verdict = replace(verdict, broken=trials.confirm([], unbalanced=True).shown)
    if not verdict.broken and (between := trials.between_blocks()) is not None:
        return replace(verdict, broken=(between,), undecided=())
    if verdict.proven and are_apart(module, entries):
        verdict = replace(verdict, assumptions=tuple(each for each in verdict.assumptions if each != DIFFERENT_BLOCKS))
    assumed = set(verdict.assumptions) - {DIFFERENT_ARGUMENTS, DIFFERENT_BLOCKS, WORKITEMS_APART}
    if verdict.broken or verdict.undecided or assumed:
        return verdict
    contradicted = trials.contradict()
    return verdict if contradicted is None else replace(verdict, broken=(contradicted,))


def explored(module: VerifiedModule, entries: dict[CoreKind, Function]) -> int:
    """In how many steps all states of the kernel were seen, if all are in order, else 0: asked where the walk cannot
    tell."""
    if len(entries) != 1:
        return 0
    ((kind, function),) = entries.items()
    program = read(module, function, kind, serial_of(module, function))
    confine(program)
    return explorer.explored(module, function, kind, program)


def suspected(module: VerifiedModule, entries: dict[CoreKind, Function]) -> Verdict:
    """The verdict of the analysis of a kernel, before anything is replayed."""
    broken: list[Diagnostic] = []
    undecided: list[Diagnostic] = []
    assumptions = {DIFFERENT_ARGUMENTS: None, DIFFERENT_BLOCKS: None}
    if any(isinstance(op, SimtLaunch) for op in reached(*entries.values())):
        assumptions[WORKITEMS_APART] = None
    unbalanced = is_unfollowed = False
    programs, stopped = _programs(module, entries)
    undecided += _told(module, entries)
    for program in programs:
        confined = confine(program)
        judged = _Judge(module, program, confined.ranges, stopped)
        judged.walk()
        assumptions |= confined.assumptions | judged.assumptions
        broken += judged.broken.values()
        undecided += judged.undecided.values()
        unbalanced |= judged.unbalanced and not judged.unknown
        is_unfollowed |= bool(judged.unknown)
    is_stopped, kept = stopped is not None, tuple(dict.fromkeys(undecided))
    return Verdict(tuple(broken), kept, tuple(assumptions), unbalanced, is_stopped, is_unfollowed)


def _told(module: VerifiedModule, entries: dict[CoreKind, Function]) -> Iterator[Diagnostic]:
    """Notes once that signals between ranks and blocks are unknown: only a run knows whose words are meant and which
    entries they cover.
    """
    told = (op for op in reached(*entries.values()) if isinstance(op, SimNotify | SimWaitWords | SimTestWords))
    for op in islice(told, 1):
        yield Diagnostic("lint", "warning", WORDS, module.parsed.location(op))


def dependent(module: VerifiedModule, entries: dict[CoreKind, Function]) -> tuple[Diagnostic, ...]:
    """Tile operations on one pipe that depend on each other, where the machine lets them overlap and nothing holds the
    later one back. A run cannot show that: it is reported as a warning."""
    if all(serial_of(module, function) == SERIAL_PIPES for function in entries.values()):
        return ()
    return tuple(found for found in suspected(module, entries).broken if found.hint and found.kind == "race")


def _programs(
    module: VerifiedModule, entries: dict[CoreKind, Function]
) -> tuple[Iterator[OrderProgram], Unfollowed | None]:
    """The programs that are judged each for itself: those of the cores of a cluster are one, unless something stands in
    the way of that."""
    alone = (read(module, function, core, serial_of(module, function)) for core, function in entries.items())
    if not is_cluster(entries):
        return alone, None
    try:
        return iter([read_cluster(module, entries)]), None
    except Unfollowed as unfollowed:
        return alone, unfollowed


# --- judgement --------------------------------------------------------------------------------------------------------


class _Judge:
    def __init__(
        self, module: VerifiedModule, program: OrderProgram, confined: set[ByteRange], stopped: Unfollowed | None
    ) -> None:
        self.parsed = module.parsed
        self.confined = confined
        self.program = program
        self.broken: dict[tuple[object, ...], Diagnostic] = {}
        self.undecided: dict[tuple[object, ...], Diagnostic] = {}
        self.unknown: list[Operation] = []
        """The parts that cannot be followed; they may order entries that seem unordered."""
        self.assumptions: dict[str, None] = {}
        self.unbalanced = False
        """Whether something may be wrong on ways that no run takes."""
        self.stopped = stopped
        if stopped is not None:
            self.doubt(stopped.reason, stopped.op)

    def walk(self) -> None:
        nodes = list(self.program.body.walk())
        for node in nodes:
            reason = _reason(node)
            if reason is not None and (self.stopped is None or node.op.name not in SIGNALS):
                self.doubt(reason, node.op)
        walker = self._walked()
        lost = [node for node in nodes if isinstance(node, Flag | GetBuffer | ReleaseBuffer) and not _is_followed(node)]
        changing = {str(node.id) for node in walker.crossing}
        lost += [node for node in self._flags() if isinstance(node.id, str) and node.id in changing]
        for op, message, hint in unfollowed(self.parsed, lost):
            self.doubt(message, op, hint)
        if not lost and any(is_named(node.id) for node in nodes if isinstance(node, Flag | GetBuffer)):
            self.assumptions[EXISTING] = None
        for node in self._flags():
            if not any({node.source, node.destination} <= set(pipes) for pipes in PIPES_OF.values()):
                self._note("wrong-pipe", f"no core has both {node.source} and {node.destination}", node)
        for node in walker.unmatched:
            if is_stuck(self.program, node):
                message = f"{node.op.name} may wait for a set that never comes"
                self._note("unmatched-wait", message, node, walker.unreleased[node])
            else:
                self.wonder(f"{node.op.name} stands in front of the set that it waits for", node.op)
        for node, times in walker.doubled.items():
            message = f"{node.op.name} may come before the flag of the last one was taken"
            self._note("double-set", message, node, times)
        for found in misused(self.program, walker.periods):
            self._add(not found.certain, self._found("buffer-misuse", found.message, found.node, found.times))
        for node in walker.unbalanced:
            message = "not every way through here takes as many flags as it sets"
            if isinstance(node, LoopNode) and node.most is None:
                self._note("undrained", message, node)
            else:  # conditions may depend on each other, and some loops never run otherwise
                self.wonder(message, node.op)
        for key in walker.end.counts():
            source, destination, *_ = cast("tuple[object, ...]", key)
            if isinstance(source, Pipe):
                ends = (source, destination)
                node = next((node for node in self._flags() if (node.source, node.destination) == ends), None)
                self._note("undrained", f"a flag from {source} to {destination} is left over at the end", node)
        if self.unknown:  # nothing that rests on it is said
            self.broken = {}
            self.undecided = {places: found for places, found in self.undecided.items() if found.kind == "lint"}

    def _walked(self) -> TurnWalker:
        """The program is followed to its end."""
        kind = TurnWalker if self.program.cores == 1 else SignalWalker
        walker = kind(self.program, Conflicts(self.program), self._missing)
        walker.walk()
        if not isinstance(walker, SignalWalker):
            return walker
        if (other := one_pipe(self.program)) is not None:
            self.wonder(f"{other.op.name} is on another pipe than the rest of its semaphore", other.op)
        for node in walker.lacking:
            self.wonder(f"{node.op.name} may wait for a signal that never comes", node.op)
        for node in walker.overtaking():
            self.wonder(f"nothing keeps {node.op.name} from counting its semaphore beyond {MOST_SIGNALS}", node.op)
        for node in walker.left_over():
            self.wonder(f"not every signal of {node.op.name} is waited for", node.op)
        return walker

    def _flags(self) -> Iterator[Flag]:
        return (node for node in self.program.body.walk() if isinstance(node, Flag))

    def _note(self, kind: str, message: str, node: Node | None, times: Times | None = None) -> None:
        self._add(False, self._found(kind, message, node, times))

    def _found(self, kind: str, message: str, node: Node | None, times: Times | None) -> Diagnostic:
        place = self.parsed.location(node.op) if node is not None else None
        severity = "warning" if kind in ("double-set", "undrained") else "error"
        return Diagnostic(kind, severity, message, place, notes=tuple(self._shown(times or {})))

    def _shown(self, times: Times) -> Iterator[str]:
        """The numbers of iterations with which it shows."""
        for name, least in times.items():
            place = self.parsed.location(self.program.loops[name].op)
            line = place.shown.line if place else "?"
            yield f"it shows when the loop at line {line} runs {least} time{'s' * (least > 1)}"

    def doubt(self, message: str, op: Operation, hint: str | None = None) -> None:
        """Something cannot be followed: whatever seems to be wrong may be right."""
        self.unknown.append(op)
        self.wonder(message, op, hint)

    def wonder(self, message: str, op: Operation, hint: str | None = None) -> None:
        """Something may be wrong on ways that no run takes."""
        self.unbalanced = True
        self._add(True, Diagnostic("lint", "warning", message, self.parsed.location(op), hint=hint))

    def _missing(self, walker: Walker, state: State, meeting: EarlyStart, open_: int) -> None:
        later = meeting.later
        for entry in [each for each in self.program.entries if open_ >> each.number & 1]:
            runs = both_run(walker.places, entry, later, meeting.distance)
            times = walker.times(later) if isinstance(walker, TurnWalker) else {}
            if runs is not False and self._race(entry, meeting, times, bool(runs)):
                # the barrier that would hold it back does so for all of its pipe
                open_ |= walker.own[later.core][later.pipe] if self._overlaps(entry, later) else 0
        state.open[later.pipe] &= ~open_

    def _race(self, earlier: EntryNode, meeting: EarlyStart, times: Times, runs: bool) -> bool:
        """Note it, unless it is none."""
        later, loop = meeting.later, meeting.rounds[-1].loop if meeting.distance else None
        overlaps = self._overlaps(earlier, later)
        if overlaps and not meeting.distance and self.parsed.origin(earlier.op) is self.parsed.origin(later.op):
            return False  # what is inside of one operation belongs to its lowering
        met = list(_meeting(earlier, later, loop, meeting.distance))
        sure = [each for each in met if self._is_certain(each[0].range, each[1].range, meeting.distance)]
        touches = next(iter(sure or met), None)
        certain = bool(sure) and (runs or not overlaps)
        if not sure and self._is_of_both(earlier, later, met):
            self.assumptions[DIFFERENT_VECTORS] = None
            return False
        space = touches[1].range.space if touches is not None else Space.GM
        message = f"{later.pipe} may access {space} before {earlier.pipe} has ended its own access"
        if not certain:
            message = f"{later.pipe} and {earlier.pipe} may touch the same bytes of {space}, and nothing orders them"
        roles = {True: "writes", False: "reads"}
        writes = [touch.writes for touch in touches] if touches is not None else [True, True]
        related = self.parsed.location(earlier.op)
        found = Diagnostic(
            "race",
            "error" if certain and not overlaps else "warning",
            message,
            self.parsed.location(later.op),
            label=f"{later.pipe} {roles[writes[1]]} here",
            related=(Related(related, f"{earlier.pipe} {roles[writes[0]]} here"),) if related is not None else (),
            notes=(*self._shown(times), *(() if sure and runs else (BOTH_BRANCHES if sure else UNKNOWN_BYTES,))),
            hint=f"add pto.barrier #pto.pipe<PIPE_{later.pipe}> before this line" if overlaps else None,
            pipe=later.pipe,
        )
        self._add(not certain, found)
        return True

    def _overlaps(self, earlier: EntryNode, later: EntryNode) -> bool:
        """Whether two entries are on one pipe that is serial on other machines."""
        return (earlier.pipe, earlier.core) == (later.pipe, later.core) and later.pipe in SERIAL_PIPES

    def _is_of_both(self, earlier: EntryNode, later: EntryNode, met: list[tuple[EntryTouch, EntryTouch]]) -> bool:
        """Whether it is the two vector cores that may write the same bytes of GM."""
        cores = {earlier.core, later.core}
        both = all(a.writes and b.writes and a.range.space is Space.GM for a, b in met)
        return len(cores) == 2 and CUBE not in cores and both

    def _is_certain(self, earlier: ByteRange, later: ByteRange, apart: int) -> bool:
        """Whether two ranges meet for sure: their bytes are known and without gaps, or they begin at the same one."""
        if self._is_exact(earlier) and self._is_exact(later) and not (earlier.has_gaps or later.has_gaps):
            return True
        turns = range(max(len(earlier.spans), len(later.spans)))
        pairs = [
            (earlier.spans[(turn - apart) % len(earlier.spans)], later.spans[turn % len(later.spans)]) for turn in turns
        ]
        starts = [(a[0], b[0]) for a, b in pairs if a is not None and b is not None]
        return any(isinstance(a, int) and isinstance(b, int) and a == b for a, b in starts)

    def _is_exact(self, range_: ByteRange) -> bool:
        """Whether the bytes are known to the last."""
        return bool(range_.ends) and range_.origin != ANYWHERE and range_ not in self.confined

    def _add(self, undecided: bool, found: Diagnostic) -> None:
        places = (found.kind, found.location, *(other.location for other in found.related))
        (self.undecided if undecided else self.broken).setdefault(places, found)


def _reason(node: Node) -> str | None:
    """Why a node cannot be followed, or None."""
    match node:
        case Opaque():
            return f"{node.op.name} cannot be looked into"
        case EntryNode(is_signal=True):
            return f"{node.op.name} waits for or signals another core, whose program decides the order"
        case _:
            return None


def _is_followed(node: Flag | GetBuffer | ReleaseBuffer) -> bool:
    """Whether the analysis knows which one is meant: an id that is known, comes in turns or, of a flag, goes round."""
    in_turns = isinstance(node.id, Periodic) and node.id.is_by_turns
    goes_round = isinstance(node, Flag) and family_of(node) is not None
    return isinstance(node.id, int | str) or in_turns or goes_round


def _meeting(
    earlier: EntryNode, later: EntryNode, loop: LoopNode | None, apart: int
) -> Iterator[tuple[EntryTouch, EntryTouch]]:
    """The accesses of two entries that meet so many iterations of a loop apart."""
    name = None if loop is None else loop.name
    for a, b in product(earlier.touches, later.touches):
        near = (a.writes or b.writes) and a.range.space is b.range.space
        near = near and distance(a.range, b.range, name) is not None
        if near and (name is None or meets(a.range, b.range, name, apart)):
            yield a, b
