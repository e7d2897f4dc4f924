"""Signals between the cores of a cluster: what a wait learns of a set, and what the protocol forbids, by the rules of
machine/tracking.py.

What is kept of a counter lies with the cluster. Clocks are told by places in the cluster, since each core has the piece
about itself first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ptosim.effects.names import CoreKind, Pipe
from ptosim.machine.sync import PIPES, SEMAPHORE_IDS, SLOT, TO_AIC, TO_AIV
from ptosim.native.build.core import Core
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Value
from ptosim.native.observe import clocks, layout
from ptosim.native.observe.clocks import COUNTS, ClockEmitter
from ptosim.native.observe.hooks import CounterHooks, Number
from ptosim.native.observe.layout import PAIRS, PIECE, PLACES, STEPS, Semaphore
from ptosim.native.observe.rows import Suspect
from ptosim.native.vector.registers import extract, shuffle
from ptosim.target.profile import Target

_JOINT = -1
"""In place of a stamp: of a set that waited for all pipes no other pipe knows that it has ended."""
_LAST = Semaphore.RING - 1


class Semaphores(CounterHooks):
    """Emits what sets and waits do."""

    def __init__(self, clocks: ClockEmitter, target: Target, suspect: Suspect) -> None:
        self.clocks = clocks
        self.target = target
        self.suspect = suspect

    def set(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        if not self.clocks.layout.is_mixed:
            # No other core waits for the signals of a core that is alone, and no place is kept for their counters.
            self.suspect(core.f, core.f.constant(I1, 1))
            return
        routine = core.unit.routine(f"semaphore_set_{core.kind}_{pipe}", [I64], lambda f: self._set(f, core.kind, pipe))
        for number in counters:
            core.f.call(routine, core.f.as_i64(number))
        clocks.step(core.f) if pipe is Pipe.ALL else clocks.counted(core.f, SLOT[pipe])

    def waited(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        slot, stamp = self._stamp(core, pipe)

        def fill(f: FunctionBuilder) -> None:
            place = _counter(f, f.parameters[0])
            self._wait(f, core.kind, slot, place, [place])

        routine = core.unit.routine(f"semaphore_wait_{core.kind}_{slot}", [I64, I32], fill)
        for number in counters:
            core.f.call(routine, core.f.as_i64(number), stamp)

    def _stamp(self, core: Core, pipe: Pipe) -> tuple[int, Value]:
        """The slot and the stamp of a wait."""
        whole_core = pipe is Pipe.ALL or self.target.sync.inter_core_wait == "core"
        slot = STEPS if whole_core else SLOT[pipe]
        return slot, clocks.step(core.f) if slot == STEPS else clocks.counted(core.f, slot)

    # --- meetings of the two vector cores -----------------------------------------------------------------------------

    def set_meeting(self, core: Core, pipe: Pipe, number: Number) -> None:
        if not self.clocks.layout.is_mixed:
            self.suspect(core.f, core.f.constant(I1, 1))  # there is no second one
            return
        routine = core.unit.routine(f"meeting_set_{pipe}", [I64], lambda f: self._set_meeting(f, pipe))
        core.f.call(routine, core.f.as_i64(number))
        clocks.step(core.f) if pipe is Pipe.ALL else clocks.counted(core.f, SLOT[pipe])

    def waited_meeting(self, core: Core, pipe: Pipe, number: Number) -> None:
        if not self.clocks.layout.is_mixed:
            return
        slot, stamp = self._stamp(core, pipe)

        def fill(f: FunctionBuilder) -> None:
            own, other = self._members(f)
            self._wait(f, CoreKind.AIV, slot, own, [own, other])

        routine = core.unit.routine(f"meeting_wait_{slot}", [I64, I32], fill)
        core.f.call(routine, core.f.as_i64(number), stamp)

    def _members(self, f: FunctionBuilder) -> tuple[Value, Value]:
        """The record of a meeting for this core, and for the other one."""
        own = clocks.subblock(f)
        return _pair(f, own, f.parameters[0]), _pair(f, 1 - own, f.parameters[0])

    def _set_meeting(self, f: FunctionBuilder, pipe: Pipe) -> None:
        """One that comes last tells all, and both may wait once more."""
        own, other = self._members(f)
        slot = STEPS if pipe is Pipe.ALL else SLOT[pipe]
        clock = self.clocks.told(f, CoreKind.AIV, pipe)
        sets, theirs = (place.at(Semaphore.SETS).load(I32, 4) for place in (own, other))
        self._in_order(f, own, sets != 0, slot, clock)
        alone = theirs.compare("ugt", sets).select(sets.like(0), sets - theirs)
        self.suspect(f, alone.compare("uge", self.target.sync.semaphore_limit))
        self._tell(f, CoreKind.AIV, own, sets, pipe, clock)

        def meet() -> Sequence[Value]:
            told = [self.clocks.load(_token(place, sets)) for place in (own, other)]
            for member in (0, 1):
                place = _pair(f, f.constant(I64, member), f.parameters[0])
                waits = place.at(Semaphore.WAITS).load(I32, 4)
                waiter = f.constant(I32, (member + 1) * PIPES)
                self._overflow(f, place, sets, waits, self.clocks.joined(f, *told), waiter)
            return ()

        f.settle()
        f.choose(theirs.compare("ugt", sets), meet)

    # --- sets ---------------------------------------------------------------------------------------------------------

    def _set(self, f: FunctionBuilder, kind: CoreKind, pipe: Pipe) -> None:
        """A set of the counter with this number."""
        (number,) = f.parameters
        waiter = _waiter(kind, number)
        place = _counter(f, number)
        slot = STEPS if pipe is Pipe.ALL else SLOT[pipe]
        clock = self.clocks.told(f, kind, pipe)
        sets, waits = (place.at(offset).load(I32, 4) for offset in (Semaphore.SETS, Semaphore.WAITS))
        self._in_order(f, place, sets != 0, slot, clock)
        self._overflow(f, place, sets, waits, clock, waiter)
        if self.target.sync.inter_core_signal == "direct":
            self._both_ways(f, _counter(f, number + (TO_AIC - TO_AIV) * (1 if kind is CoreKind.AIC else -1)), clock)
        self._tell(f, kind, place, sets, pipe, clock)

    def _tell(self, f: FunctionBuilder, kind: CoreKind, place: Value, sets: Value, pipe: Pipe, clock: Value) -> None:
        """Leave the clock of a set, by places in the cluster."""
        token, slot = _token(place, sets), STEPS if pipe is Pipe.ALL else SLOT[pipe]
        for piece, position in enumerate(clocks.positions(f, kind)):
            part = shuffle(f, range(piece * PIPES, (piece + 1) * PIPES), clock)
            token.at(position * PIECE).store(part, 4)
        place.at(Semaphore.SETS).store(sets + 1, 4)
        place.at(Semaphore.LAST_SLOT).store(f.constant(I32, slot), 4)
        stamp = f.constant(I32, _JOINT) if pipe is Pipe.ALL else clocks.count(f, slot) + 1
        place.at(Semaphore.LAST_STAMP).store(stamp, 4)

    def _in_order(self, f: FunctionBuilder, place: Value, before: Value, slot: int, clock: Value) -> None:
        """Sets of two pipes are in an order."""
        last, stamp = (place.at(offset).load(I32, 4) for offset in (Semaphore.LAST_SLOT, Semaphore.LAST_STAMP))
        known = extract(clock, last & (PIPES - 1)).compare("uge", stamp)
        self.suspect(f, before & (last != slot) & (known ^ True))

    def _overflow(
        self, f: FunctionBuilder, place: Value, sets: Value, waits: Value, clock: Value, waiter: Value
    ) -> None:
        """Sets that are not consumed, and those of which the wait may not have ended yet, fit the counter."""
        limit = self.target.sync.semaphore_limit
        first = place.at(Semaphore.HEAD).load(I32, 4)
        oldest = waits - limit
        first = (waits - first).compare("ugt", limit).select(oldest, first)

        def is_known(carried: list[Value]) -> tuple[Value, Sequence[Value]]:
            (head,) = carried
            slot, stamp = self._wait_at(place, head)
            known = extract(clock, slot + waiter).compare("uge", stamp)
            return (head != waits) & known, carried

        (head,) = f.while_loop([first], is_known, lambda carried: [carried[0] + 1])
        place.at(Semaphore.HEAD).store(head, 4)
        self.suspect(f, (sets - head).compare("uge", limit))

    def _both_ways(self, f: FunctionBuilder, reverse: Value, clock: Value) -> None:
        """Nothing is set in the other direction, nor may its wait be under way."""
        sets, waits = (reverse.at(offset).load(I32, 4) for offset in (Semaphore.SETS, Semaphore.WAITS))
        slot, stamp = self._wait_at(reverse, waits - 1)
        known = extract(clock, slot).compare("uge", stamp)
        self.suspect(f, (sets != waits) | ((waits != 0) & (known ^ True)))

    # --- waits --------------------------------------------------------------------------------------------------------

    def _wait(self, f: FunctionBuilder, kind: CoreKind, slot: int, place: Value, tellers: Sequence[Value]) -> None:
        """It learns what these have told."""
        _, stamp = f.parameters
        waits = place.at(Semaphore.WAITS).load(I32, 4)
        earlier, its_stamp = self._wait_at(place, waits - 1)
        reached = self.clocks.joined(f, self.clocks.known(f, slot), self.clocks.known(f, STEPS))
        known = extract(reached, earlier).compare("uge", its_stamp)
        self.suspect(f, (waits != 0) & (earlier != slot) & (known ^ True))
        for token, (piece, position) in product(
            [_token(teller, waits) for teller in tellers], enumerate(clocks.positions(f, kind))
        ):
            told = token.at(position * PIECE).load(COUNTS, 4)
            own = clocks.at(f, layout.KNOWN + slot * self.clocks.layout.row + piece * PIECE)
            own.store(f.intrinsic("llvm.umax", COUNTS, own.load(COUNTS, PIECE), told), PIECE)
        if slot == STEPS:
            clocks.at(f, layout.KNOWN + 4 * STEPS).store(stamp, 4)
        noted = self._waited(place, waits)
        noted.store(f.constant(I32, slot), 4)
        noted.at(4).store(stamp, 4)
        place.at(Semaphore.WAITS).store(waits + 1, 4)

    def _waited(self, place: Value, wait: Value) -> Value:
        return place.at(Semaphore.WAITED).at((wait & _LAST).zext(I64) << 3)

    def _wait_at(self, place: Value, wait: Value) -> tuple[Value, Value]:
        """The slot and the stamp of one of the last waits."""
        noted = self._waited(place, wait)
        return noted.load(I32, 4) & (PIPES - 1), noted.at(4).load(I32, 4)


def _counter(f: FunctionBuilder, number: Value) -> Value:
    return f.base(ContextWord.OBSERVED_CLUSTER).at(number * Semaphore.BYTES)


def _pair(f: FunctionBuilder, member: Value, number: Value) -> Value:
    """The record of a meeting for one of the vector cores."""
    return _counter(f, member * SEMAPHORE_IDS + number + PAIRS)


def _token(place: Value, number: Value) -> Value:
    """The place of the clock of a set, of the last ones."""
    return place.at(Semaphore.TOKENS).at((number & _LAST).zext(I64) * (PLACES * PIECE))


def _waiter(kind: CoreKind, number: Value) -> Value:
    """The start of the piece of a clock about the core that waits for a counter: the cube core, or the vector core
    of its number."""
    if kind is CoreKind.AIV:
        return number.like(PIPES).trunc(I32)
    return (((number - TO_AIV).lshr(SEMAPHORE_IDS.bit_length() - 1) + 1) * PIPES).trunc(I32)
