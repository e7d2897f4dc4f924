"""Flags, tokens and buffers of one core: what a wait learns of a set, and what the protocol forbids, by the rules of
machine/tracking.py."""

from __future__ import annotations

from ptosim.effects.names import PIPES_OF, CoreKind, Pipe
from ptosim.effects.sync import ALL_WRITES, FenceReach
from ptosim.machine.sync import BUFFER_IDS, OPEN, PIPES, SLOT
from ptosim.machine.sync_operand_rules import FLAG_BASES
from ptosim.native.build.core import Core, FlagStep
from ptosim.native.build.issue import core_word
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, Value
from ptosim.native.observe import clocks, layout
from ptosim.native.observe.clocks import ClockEmitter
from ptosim.native.observe.hooks import FlagHooks, Number
from ptosim.native.observe.layout import PIECE, STEPS
from ptosim.native.observe.rows import Suspect


class SignalEmitter(FlagHooks):
    """Emits what sets and waits, gets and releases do."""

    def __init__(self, clocks: ClockEmitter, suspect: Suspect) -> None:
        self.clocks = clocks
        self.suspect = suspect
        self.left: dict[CoreKind, dict[int, int]] = {kind: {} for kind in CoreKind}
        """Sync words that cores of a kind may leave set: the first, and how many."""

    def flag(self, step: FlagStep, word: Value, number: Number) -> None:
        left = self.left[step.core.kind]
        if isinstance(number, int):
            left.setdefault(number, 1)
        else:
            left[FLAG_BASES[step.core.kind][step.pipes]] = step.core.target.sync.event_ids
        if step.step > 0:
            self._set(step, number, word.load(I64, WORD_BYTES) != 0)
        else:
            self._wait(step, number)

    def _set(self, step: FlagStep, word: Number, again: Value) -> None:
        """A flag must not be set again before it was waited for; of a token the first set is remembered."""
        f, (source, destination) = step.core.f, step.pipes
        clock = self.clocks.told(f, step.core.kind, source)
        if source is Pipe.S:
            clocks.step(f)
        self._signalled(f, SLOT[source])
        token = self.clocks.token(f, word)
        if step.private:
            token.store(again.select(self.clocks.load(token), clock), PIECE)
            return
        waited = self.clocks.last_wait(f, word).load(I32, 4)
        self.suspect(f, again | waited.compare("ugt", clocks.of(clock, SLOT[destination])))
        token.store(clock, PIECE)

    def _wait(self, step: FlagStep, word: Number) -> None:
        f, (_, destination) = step.core.f, step.pipes
        stamp = self.clocks.hear(f, SLOT[destination], self.clocks.load(self.clocks.token(f, word)))
        self.clocks.last_wait(f, word).store(stamp, 4)

    def got_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        f, slot = core.f, SLOT[pipe]
        left = self.left[core.kind]
        if isinstance(buffer, int):
            left[OPEN + buffer * PIPES + slot] = 1
        else:
            left[OPEN] = BUFFER_IDS * PIPES
        for other in range(PIPES):
            word = core_word(f, buffer * PIPES + (OPEN + other)).load(I64, WORD_BYTES)
            self.suspect(f, word != 0)
        clock = self._if_mode(0, core, pipe, buffer, mode, self.clocks.known(f, slot))
        if slot == STEPS:
            self.clocks.hear(f, slot, clock)
        else:
            self.clocks.learn(f, slot, clock)
        self._signalled(f, slot)

    def _heard(self, core: Core, pipe: Pipe, buffer: Number, clock: Value) -> Value:
        """The clocks that releases of a buffer by other pipes have told."""
        f = core.f
        for other in (SLOT[each] for each in PIPES_OF[core.kind] if each is not pipe):
            clock = self.clocks.joined(f, clock, self.clocks.load(self.clocks.release(f, buffer, other)))
        return clock

    def _if_mode(self, wanted: int, core: Core, pipe: Pipe, buffer: Number, mode: Number, clock: Value) -> Value:
        """A clock, where the mode is this one with what releases have told."""
        if isinstance(mode, int) and mode != wanted:
            return clock
        heard = self._heard(core, pipe, buffer, clock)
        return heard if isinstance(mode, int) else (mode == wanted).select(heard, clock)

    def released_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        f, slot = core.f, SLOT[pipe]
        word = core_word(f, buffer * PIPES + (OPEN + slot)).load(I64, WORD_BYTES)
        self.suspect(f, word != mode + 1)
        # in mode 1 it speaks for all pipes that had the buffer
        clock = self._if_mode(1, core, pipe, buffer, mode, self.clocks.told(f, core.kind, pipe))
        self.clocks.release(f, buffer, slot).store(clock, PIECE)
        self._signalled(f, slot)

    def barrier(self, core: Core, pipe: Pipe, reach: FenceReach = ALL_WRITES) -> None:
        self.clocks.barrier(core.f, core.kind, pipe, reach)
        if pipe is not Pipe.ALL:
            self._signalled(core.f, SLOT[pipe])

    def _signalled(self, f: FunctionBuilder, slot: int) -> None:
        """A pipe has come to what is no entry that counts."""
        if self.clocks.layout.waits_for_bytes:
            clocks.at(f, layout.SIGNALLED + 4 * slot).store(clocks.count(f, slot), 4)
