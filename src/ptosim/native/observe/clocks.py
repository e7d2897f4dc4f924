"""What pipes know of each other, kept by compiled code by the rules of machine/clock.py.

Everything issued has ended by the time the next instruction runs, so a clock changes only where the kernel
synchronises. A wait that is not satisfied never comes here: it is handed to the scheduler, which ends the block.
"""

from __future__ import annotations

from ptosim.effects.names import SERIAL_PIPES, Pipe
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.context import Word
from ptosim.native.flow import Function
from ptosim.native.ir import I32, Value
from ptosim.native.observe import layout
from ptosim.native.observe.layout import ROW, STEPS, STORES
from ptosim.native.registers import extract, insert

CLOCK = I32.vector(PIPES)
SERIAL = frozenset(SLOT[pipe] for pipe in SERIAL_PIPES)
MOST_ENTRIES = 1 << 31
"""Where so many entries have begun the counts may soon be used up."""


def at(f: Function, offset: int | Value) -> Value:
    """An address in what is kept for this core."""
    return f.base(Word.OBSERVED).at(offset)


def known(f: Function, slot: int) -> Value:
    """The clock of a pipe."""
    return at(f, layout.KNOWN + slot * ROW).load(CLOCK, ROW)


def learn(f: Function, slot: int, clock: Value) -> None:
    at(f, layout.KNOWN + slot * ROW).store(clock, ROW)


def joined(f: Function, clock: Value, other: Value) -> Value:
    return f.intrinsic("llvm.umax", CLOCK, clock, other)


def count(f: Function, slot: int) -> Value:
    """How many entries of a pipe have begun."""
    return at(f, layout.COUNT + 4 * slot).load(I32, 4)


def counted(f: Function, slot: int) -> Value:
    """One more entry; gives its stamp."""
    stamp = count(f, slot) + 1
    at(f, layout.COUNT + 4 * slot).store(stamp, 4)
    return stamp


def begin_block(f: Function) -> None:
    """Everything that an earlier block did has ended."""
    counts = at(f, layout.COUNT).load(CLOCK, ROW)
    for slot in range(PIPES):
        learn(f, slot, counts)
    at(f, layout.LAST_STORE).store(f.constant(CLOCK, 0), ROW)
    at(f, layout.FRESH).store(f.constant(I32.vector(4), 0), 4)


def begin_entry(f: Function, slot: int) -> tuple[Value, Value]:
    """An entry of a pipe starts; gives its clock and its stamp. Serial pipes know that what came before has ended."""
    stamp = counted(f, slot)
    clock = joined(f, known(f, slot), known(f, STEPS))
    if slot in SERIAL:
        clock = insert(clock, slot, stamp - 1)
    learn(f, slot, clock)
    return clock, stamp


def step(f: Function, slot: int = STEPS) -> Value:
    """A step of the scalar unit, or a store of its; gives its stamp. It knows of its own steps."""
    stamp = counted(f, slot)
    if slot == STEPS:
        at(f, layout.KNOWN + 4 * STEPS).store(stamp, 4)
    return stamp


def told(f: Function, slot: int) -> Value:
    """The clock that a set or release of a pipe tells: all that it knows, and that its own entries have ended."""
    clock = known(f, slot)
    if slot == STEPS:
        return insert(insert(clock, STEPS, count(f, STEPS)), STORES, count(f, STORES))
    return insert(joined(f, clock, known(f, STEPS)), slot, count(f, slot))


def hear(f: Function, slot: int, token: Value) -> Value:
    """A pipe waits and learns; gives the stamp of the wait."""
    stamp = counted(f, slot)
    clock = joined(f, known(f, slot), token)
    learn(f, slot, insert(clock, STEPS, stamp) if slot == STEPS else clock)
    return stamp


def barrier(f: Function, pipe: Pipe) -> None:
    """Entries of a pipe, or of all of them, have ended before what follows."""
    if pipe is Pipe.ALL:
        step(f)
        learn(f, STEPS, at(f, layout.COUNT).load(CLOCK, ROW))
        return
    slot = SLOT[pipe]
    if slot != STEPS:
        learn(f, slot, insert(known(f, slot), slot, count(f, slot)))


def stores_ended(f: Function) -> None:
    """Stores of the scalar unit have ended, and everybody may know it."""
    learn(f, STEPS, insert(known(f, STEPS), STORES, count(f, STORES)))


def token(f: Function, word: int | Value) -> Value:
    """Where the clock of a sync word lies, by the number of the word."""
    return at(f, layout.TOKEN).at(word * ROW)


def last_wait(f: Function, word: int | Value) -> Value:
    return at(f, layout.LAST_WAIT).at(word * 4)


def release(f: Function, buffer: int | Value, slot: int) -> Value:
    """Where the clock of the last release of a buffer on a pipe lies."""
    return at(f, layout.RELEASE + slot * ROW).at(buffer * (PIPES * ROW))


def of(f: Function, clock: Value, slot: int) -> Value:
    """How many entries of a pipe a clock knows to have ended."""
    return extract(clock, slot)
