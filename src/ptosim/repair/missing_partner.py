"""Edits of one instruction: the half of a pair that is missing. A set without its wait, a wait without its set, a get
without its release.

The instruction is written as its partner is, so that a computed id stays the computed one. It goes next to the nearest
work of its own pipe: a wait in front of the entry that it holds, a set behind the entry that it tells of; in the block
of the partner, or at the other end of a loop around it, or outside of all loops, where it primes or drains. A trial
decides between these places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Block, Operation

from ptosim.effects.names import Pipe
from ptosim.language.edits import Edit
from ptosim.language.operation import PTOOperation
from ptosim.language.structure.control import For, While
from ptosim.machine.entry import Key
from ptosim.repair.places import works
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import GETS, PARTNER, SETS, WAITS, flag_words, written
from ptosim.sanitize.near_misses import flag_ends
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.program import ancestors, outermost_loop


class Halves:
    """Proposes what would balance a run."""

    def __init__(self, observation: Observation) -> None:
        self.program = observation.program
        self.imbalances = observation.imbalances

    def proposals(self, held: Iterable[tuple[Operation, Pipe]]) -> Iterator[Proposal]:
        """Single instructions; `held`: an entry that runs too early, its pipe, and the place of a missing wait."""
        yield from map(Proposal, dict.fromkeys(self._edits(tuple(held))))

    def _edits(self, held: tuple[tuple[Operation, Pipe], ...]) -> Iterator[tuple[Edit, ...]]:
        flags = [each for each in self.imbalances if each.key.mechanism == "flag"]
        owners = [(each, op) for each in flags if (op := self.program.of(each.site)) is not None]
        for each, op in owners:
            yield from ((place,) for place in self._places(op, each.key, held))
            yield from self._prime(op, each.key)
        yield from self._drains([(op, each.key) for each, op in owners if each.is_left])
        for each, own in owners:
            for op in self._alike(own):
                yield from ((place,) for place in self._places(op, each.key, held))
        for each, op in owners:
            yield from self._prime(op, each.key, is_drained=True)
        for each in self.imbalances:
            op = self.program.of(each.site)
            if each.key.mechanism == "buffer" and op is not None:
                yield from ((place,) for place in self._brackets(op))

    def _alike(self, own: Operation) -> list[Operation]:
        """The other instructions of the same side and pair of pipes: the partner may have been that of one of them."""
        side, pair = (SETS if own.name in SETS else WAITS), flag_ends(own)
        return [op for op in self.program.operations() if op.name in side and op is not own and flag_ends(op) == pair]

    # --- flags --------------------------------------------------------------------------------------------------------

    def _places(self, op: Operation, key: Key, held: tuple[tuple[Operation, Pipe], ...]) -> Iterator[Edit]:
        """The places for the wait of a set, before work of its pipe, or for the set of a wait, behind it."""
        text, is_set = self._partner(op), op.name in SETS
        if text is None:
            return
        pipe, put = (Pipe(key.destination), self.program.before) if is_set else (Pipe(key.source), self.program.after)
        for early, its_pipe in held:
            if is_set and its_pipe is pipe:
                yield self.program.before(early, text)
        for block, here in ancestors(op):
            found = works(block, pipe) if is_set else works(block, pipe)[::-1]
            near = [work for work in found if work is not here and here.is_before_in_block(work) is is_set]
            yield from (put(work, text) for work in near[:1])
            if _is_in_loop(block):
                yield from (put(work, text) for work in found[:1])
        yield self.program.after(op, text) if is_set else self.program.before(op, text)

    def _drains(self, left: list[tuple[Operation, Key]]) -> Iterator[tuple[Edit, ...]]:
        """Waits behind everything, for the flags of one set that are left."""
        places = {op: outermost_loop(op) or next(iter(self._loops(op)[::-1]), op) for op, _ in left}
        for place in dict.fromkeys(places.values()):
            keys = [key for op, key in left if places[op] is place]
            for pair in dict.fromkeys((key.source, key.destination) for key in keys):
                same = [key for key in keys if (key.source, key.destination) == pair]
                yield tuple(self.program.after(place, f"{_flag(key)[1]}  // drain") for key in same)

    def _prime(self, op: Operation, key: Key, is_drained: bool = False) -> Iterator[tuple[Edit, ...]]:
        """A set in front of all loops, for a wait at the head of one; alone, or with a drain behind them. Where no loop
        has got to the id, it is the drain that waits."""
        loop = outermost_loop(op) if op.name in WAITS else None
        if op.name in WAITS and loop is None and not is_drained:
            yield from ((self.program.before(each, f"{_flag(key)[0]}  // prime"),) for each in self._loops(op)[:1])
        if loop is not None:
            prime = self.program.before(loop, f"{_flag(key)[0]}  // prime")
            drain = self.program.after(loop, f"{_flag(key)[1]}  // drain")
            yield (prime, drain) if is_drained else (prime,)

    def _loops(self, op: Operation) -> list[Operation]:
        """The loops with flags of the same pair that are behind a set or in front of a wait, in its own block."""
        block = op.parent_block()
        return [
            loop
            for loop in (block.ops if block is not None else ())
            if isinstance(loop, For | While) and op.is_before_in_block(loop) == (op.name in SETS)
            if any(each.name in SETS | WAITS and flag_ends(each) == flag_ends(op) for each in loop.walk())
        ]

    # --- buffers ------------------------------------------------------------------------------------------------------

    def _brackets(self, op: Operation) -> Iterator[Edit]:
        """The places for the other end of a bracket: around the nearest work of its pipe, or the next but one."""
        text, block = self._partner(op), op.parent_block()
        if text is None or block is None or not isinstance(op, PTOOperation):
            return
        found, is_get = works(block, Pipe((op.word("pipe") or "").removeprefix("PIPE_"))), op.name in GETS
        inside = [work for work in found if op.is_before_in_block(work) is is_get]
        for work in inside[:2] if is_get else inside[:-3:-1]:
            yield self.program.after(work, text) if is_get else self.program.before(work, text)

    def _partner(self, op: Operation) -> str | None:
        """An instruction in the words of its partner, which stands on a line of its own."""
        words = written(self.program, op)
        return str(words.partner()) if words is not None and words.name in PARTNER else None


def _is_in_loop(block: Block) -> bool:
    parent = block.parent_op()
    return parent is not None and (isinstance(parent, For | While) or outermost_loop(parent) is not None)


def _flag(key: Key) -> tuple[str, str]:
    """Its set and its wait."""
    return flag_words(key.source, key.destination, key.id)
