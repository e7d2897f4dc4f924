"""Clocks of pipes in compiled code, by the rules of machine/clock.py.

Everything issued has ended by the time the next instruction runs, so a clock changes only where the kernel
synchronises. A wait that is not satisfied never comes here: what the scheduler is asked for either has happened when it
answers, or ends the block.
"""

from __future__ import annotations

from ptosim.effects.names import PIPES_OF, SERIAL_PIPES, CoreKind, Pipe
from ptosim.effects.sync import ALL_WRITES, FenceReach
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, Value
from ptosim.native.observe import layout
from ptosim.native.observe.layout import LOCAL_STORES, PIECE, STEPS, STORES, Layout
from ptosim.native.vector.registers import extract, insert, shuffle

COUNTS = I32.vector(PIPES)
SERIAL = frozenset(SLOT[pipe] for pipe in SERIAL_PIPES)
MOST_ENTRIES = 1 << 31
"""The number of entries after which the counts may soon be used up."""


def at(f: FunctionBuilder, offset: int | Value) -> Value:
    """An address in what is kept for this core."""
    return f.base(ContextWord.OBSERVED).at(offset)


def counts(f: FunctionBuilder) -> Value:
    """The number of entries of each pipe that have begun."""
    return at(f, layout.COUNT).load(COUNTS, PIECE)


def count(f: FunctionBuilder, slot: int) -> Value:
    return at(f, layout.COUNT + 4 * slot).load(I32, 4)


def counted(f: FunctionBuilder, slot: int) -> Value:
    """One more entry; gives its stamp."""
    stamp = count(f, slot) + 1
    at(f, layout.COUNT + 4 * slot).store(stamp, 4)
    return stamp


def step(f: FunctionBuilder, slot: int = STEPS) -> Value:
    """A step of the scalar unit, or a store of its; gives its stamp. It knows of its own steps."""
    stamp = counted(f, slot)
    if slot == STEPS:
        at(f, layout.KNOWN + 4 * STEPS).store(stamp, 4)
    return stamp


def subblock(f: FunctionBuilder) -> Value:
    """0 on the first vector core of a cluster, 1 on the second."""
    return f.word(ContextWord.SUBBLOCK).load(I64, WORD_BYTES)


def place(f: FunctionBuilder, kind: CoreKind, is_mixed: bool) -> int | Value:
    """The place of the core in its cluster: 0 for the cube core, or one that is alone."""
    return subblock(f) + 1 if is_mixed and kind is CoreKind.AIV else 0


def positions(f: FunctionBuilder, kind: CoreKind) -> list[int | Value]:
    """The places in the cluster of the cores that the pieces of a clock are about: the core itself, the cube core and
    the other vector core, or, on the cube core, all as they are."""
    if kind is CoreKind.AIC:
        return [0, 1, 2]
    own = subblock(f)
    return [own + 1, 0, 2 - own]


def stores(kind: CoreKind) -> dict[FenceReach, int]:
    """The slots of stores of the scalar unit."""
    return {FenceReach.GM: STORES, FenceReach.LOCAL: LOCAL_STORES[kind]}


class ClockEmitter:
    """Emits what happens to the clocks of a core."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.kind = I32.vector(layout.row // 4)

    def load(self, place: Value) -> Value:
        return place.load(self.kind, PIECE)

    def known(self, f: FunctionBuilder, slot: int) -> Value:
        """The clock of a pipe."""
        return self.load(at(f, layout.KNOWN + slot * self.layout.row))

    def learn(self, f: FunctionBuilder, slot: int, clock: Value) -> None:
        at(f, layout.KNOWN + slot * self.layout.row).store(clock, PIECE)

    def joined(self, f: FunctionBuilder, clock: Value, other: Value) -> Value:
        return f.intrinsic("llvm.umax", self.kind, clock, other)

    def begin_block(self, f: FunctionBuilder) -> None:
        """Everything that an earlier block did has ended. (Where there are several cores, that is said before any of
        them begins.)"""
        for slot in range(PIPES):
            self.learn(f, slot, counts(f))
        at(f, layout.LAST_STORE).store(f.constant(COUNTS, 0), PIECE)
        at(f, layout.FRESH).store(f.constant(I32.vector(4), 0), 4)

    def begin_entry(self, f: FunctionBuilder, slot: int) -> tuple[Value, Value]:
        """An entry of a pipe starts; gives its clock and its stamp. Serial pipes know that what came before has
        ended."""
        stamp = counted(f, slot)
        clock = self.joined(f, self.known(f, slot), self.known(f, STEPS))
        if slot in SERIAL:
            clock = insert(clock, slot, stamp - 1)
        self.learn(f, slot, clock)
        return clock, stamp

    def told(self, f: FunctionBuilder, kind: CoreKind, pipe: Pipe) -> Value:
        """The clock that a set or release of a pipe, or of all, tells: all that it knows, and that its own entries have
        ended."""
        if pipe is Pipe.ALL:
            return self._told_by_all(f, kind)
        slot = SLOT[pipe]
        clock = self.known(f, slot)
        if slot == STEPS:
            return self._stored(f, kind, insert(clock, STEPS, count(f, STEPS)), ALL_WRITES)
        return insert(self.joined(f, clock, self.known(f, STEPS)), slot, count(f, slot))

    def _told_by_all(self, f: FunctionBuilder, kind: CoreKind) -> Value:
        clock = self.told(f, kind, Pipe.S)
        for pipe in PIPES_OF[kind]:
            if pipe is not Pipe.S:
                clock = self.joined(f, clock, self.known(f, SLOT[pipe]))
                clock = insert(clock, SLOT[pipe], count(f, SLOT[pipe]))
        return clock

    def hear(self, f: FunctionBuilder, slot: int, token: Value) -> Value:
        """A pipe waits and learns; gives the stamp of the wait."""
        stamp = counted(f, slot)
        clock = self.joined(f, self.known(f, slot), token)
        self.learn(f, slot, insert(clock, STEPS, stamp) if slot == STEPS else clock)
        return stamp

    def barrier(self, f: FunctionBuilder, kind: CoreKind, pipe: Pipe, reach: FenceReach) -> None:
        """Entries of a pipe, or of all of them, have ended before what follows; with all of them the stores of the
        scalar unit that it reaches."""
        if pipe is Pipe.ALL:
            step(f)
            before, clock = self.known(f, STEPS), self._all_ended(f, kind)
            for each, slot in stores(kind).items():
                clock = clock if each in reach else insert(clock, slot, extract(before, slot))
            self.learn(f, STEPS, clock)
            return
        slot = SLOT[pipe]
        if slot != STEPS:
            self.learn(f, slot, insert(self.known(f, slot), slot, count(f, slot)))

    def _all_ended(self, f: FunctionBuilder, kind: CoreKind) -> Value:
        if not self.layout.is_mixed:
            return counts(f)
        clock = self.known(f, STEPS)
        for pipe in PIPES_OF[kind]:
            clock = self.joined(f, clock, self.known(f, SLOT[pipe]))
        lanes = self.kind.lanes
        own = shuffle(f, [*range(PIPES), *[-1] * (lanes - PIPES)], counts(f))
        return shuffle(f, [*range(lanes, lanes + PIPES), *range(PIPES, lanes)], clock, own)

    def stores_ended(self, f: FunctionBuilder, kind: CoreKind, reach: FenceReach) -> None:
        """Stores of the scalar unit have ended, and everybody may know it."""
        self.learn(f, STEPS, self._stored(f, kind, self.known(f, STEPS), reach))

    def _stored(self, f: FunctionBuilder, kind: CoreKind, clock: Value, reach: FenceReach) -> Value:
        """A clock that knows of the end of all stores of the scalar unit that a fence reaches."""
        for each, slot in stores(kind).items():
            clock = insert(clock, slot, count(f, slot)) if each in reach else clock
        return clock

    def token(self, f: FunctionBuilder, word: int | Value) -> Value:
        """The place of the clock of a sync word, by the number of the word."""
        return at(f, self.layout.token).at(word * self.layout.row)

    def last_wait(self, f: FunctionBuilder, word: int | Value) -> Value:
        return at(f, self.layout.last_wait).at(word * 4)

    def release(self, f: FunctionBuilder, buffer: int | Value, slot: int) -> Value:
        """The place of the clock of the last release of a buffer on a pipe."""
        return at(f, self.layout.release + slot * self.layout.row).at(buffer * (PIPES * self.layout.row))


def of(clock: Value, slot: int) -> Value:
    """The number of entries of a pipe of this core that a clock knows to have ended."""
    return extract(clock, slot)
