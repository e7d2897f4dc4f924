"""Edits of one instruction between cores: the wait for a signal that is sent, or the signal that is waited for.

The instruction belongs to the other core, whose program names semaphores in its own way. It is written as the
semaphores of that core are, with the id of the signal or an id that is computed there, and goes in front of an access
that comes too early, next to another semaphore, or outside of the loops around one, where it primes or drains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product, zip_longest

from xdsl.ir import Operation

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.edits import Edit
from ptosim.language.operation import core_of
from ptosim.language.structure.control import For
from ptosim.machine.entry import Key
from ptosim.repair.places import work_behind
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import PARTNER, SIGNAL_WAITS, SIGNALS, WAITS
from ptosim.sanitize.observation import Imbalance, Observation
from ptosim.sanitize.program import outermost_loop

SEMAPHORES = SIGNALS | SIGNAL_WAITS
_WRITTEN = re.compile(r"(pto\.[\w.]+) <PIPE_(\w+)>, (%?\w+)")

Held = Sequence[tuple[Operation, Pipe]]


class SignalHalves:
    """Proposes what would balance the semaphores of a run."""

    def __init__(self, observation: Observation) -> None:
        self.program = observation.program
        self.imbalances = [each for each in observation.imbalances if each.key.mechanism == "semaphore"]

    def proposals(self, held: Held) -> Iterator[Proposal]:
        """Single instructions; `held`: an entry that runs too early, its pipe, and the place of a missing wait."""
        turns = zip_longest(*(self._edits(each, held) for each in self.imbalances))
        edits = dict.fromkeys(edit for turn in turns for edit in turn if edit is not None)
        yield from (Proposal((edit,)) for edit in edits)

    def _edits(self, imbalance: Imbalance, held: Held) -> Iterator[Edit]:
        own = self.program.of(imbalance.site)
        name = None if own is None else PARTNER.get(own.name)
        if own is None or name is None or not self._is_written(own):
            return
        other = imbalance.key.destination if name in SIGNAL_WAITS else imbalance.key.source
        core = CoreKind.AIC if other == "aic" else CoreKind.AIV
        signals = (op for op in self.program.operations() if op.name in SEMAPHORES and core_of(op) is core)
        neighbours = [op for op in signals if self._is_written(op)]
        words = list(self._words(own, imbalance.key, core, neighbours))
        is_wait = name in SIGNAL_WAITS
        early = [(op, pipe) for op, pipe in held if is_wait and core_of(op) is core]
        for word, (op, pipe) in product(words, early):
            yield self.program.before(op, f"{name} <PIPE_{pipe}>, {word}")
        if imbalance.is_left and not early:  # more likely a drain than a wait in a loop
            words.sort(key=lambda word: not word.isdecimal())
            neighbours.sort(key=lambda op: op.name != name or self._written(op)[2] not in words[:1])
        for word, op in product(words, neighbours):
            text = f"{name} <PIPE_{self._written(op)[1]}>, {word}"
            yield self._beside(op, text, is_wait)
            if word.isdecimal():
                yield from self._outside(op, text, is_wait)
                yield from self._among_drains(op, text) if is_wait else ()

    def _words(self, own: Operation, key: Key, core: CoreKind, neighbours: Sequence[Operation]) -> Iterator[str]:
        """The spellings of the id there: a value that is computed for nothing, the word of the partner, the number,
        the words of others."""
        blocks = dict.fromkeys(op.parent_block() for op in self.program.operations() if core_of(op) is core)
        words = [word for block in blocks if block is not None for word in self.program.unused(block)]
        words += [self._written(own)[2], *map(str, sorted({*key.written, key.id}))]
        words += [self._written(op)[2] for op in neighbours]
        yield from dict.fromkeys(word for word in words if word)

    def _is_written(self, op: Operation) -> bool:
        """Whether the text has the signal itself, rather than something that was lowered to it, such as a FIFO."""
        return self._written(op)[0] != ""

    def _written(self, op: Operation) -> tuple[str, str, str]:
        found = _WRITTEN.search(self.program.source.line(self.program.first_line(op)).partition("//")[0])
        return (found[1], found[2], found[3]) if found else ("", "", "")

    def _beside(self, op: Operation, text: str, is_wait: bool) -> Edit:
        """In front of another semaphore; a signal behind the work that follows one, or behind it."""
        if is_wait:
            return self.program.before(op, text)
        behind = work_behind(op, Pipe(self._written(op)[1])) if op.name in SIGNAL_WAITS else None
        return self.program.after(behind or op, text)

    def _outside(self, op: Operation, text: str, is_wait: bool) -> Iterator[Edit]:
        loop = outermost_loop(op)
        if loop is not None:
            yield (
                self.program.after(loop, f"{text}  // drain")
                if is_wait
                else self.program.before(loop, f"{text}  // prime")
            )

    def _among_drains(self, op: Operation, text: str) -> Iterator[Edit]:
        """Drains a signal primed in one loop in another, behind the loops that use it: next to flags that are."""
        loop = outermost_loop(op)
        follower = loop.next_op if loop is not None else None
        while follower is not None:
            inner = follower.body.block.ops if isinstance(follower, For) else ()
            yield from (self.program.before(each, f"{text}  // drain") for each in inner if each.name in WAITS)
            follower = follower.next_op
