"""Pairs of flags where nothing but pairs is missing: fewer lines than order would write anew.

A pair within an iteration takes the ids that other flags of its block take in turn, if they do; one that leads into the
next iteration is primed before all loops and drained behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from ptosim.effects.names import Pipe
from ptosim.language.micro.sync import SetFlag, SetFlagDyn, WaitFlag, WaitFlagDyn
from ptosim.repair.balance import Balance
from ptosim.repair.free_ids import Taken, UsedIds
from ptosim.repair.possible_values import possible
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import flag_words
from ptosim.sanitize.program import outermost_loop


@dataclass(frozen=True)
class CommonBlock:
    """The innermost block around two accesses, and what stands in it for each of them."""

    block: Block
    first: Operation
    second: Operation


class FlagPairs:
    """Proposes sets together with their waits."""

    def __init__(self, balance: Balance, used: UsedIds) -> None:
        self.balance = balance
        self.program = balance.program
        self.used = used

    def added(self, source: Pipe, destination: Pipe, meeting: CommonBlock, event: int) -> Proposal:
        """A new pair, with prime and drain where it leads into the next iteration."""
        put, take = flag_words(source, destination, event)
        edits = [self.program.after(meeting.first, put), self.program.before(meeting.second, take)]
        loop = None if meeting.first.is_before_in_block(meeting.second) else outermost_loop(meeting.first)
        if loop is not None:
            edits = [
                self.program.before(loop, f"{put}  // prime"),
                *edits[::-1],
                self.program.after(loop, f"{take}  // drain"),
            ]
        return Proposal(tuple(edits), takes=frozenset({("flag", source, destination, event)}))

    def in_turn(self, source: Pipe, destination: Pipe, meeting: CommonBlock) -> Iterator[Proposal]:
        """A new pair with an id that other flags of the block compute."""
        for (put, take), taken in self._computed(source, destination, meeting):
            edits = self.program.after(meeting.first, put), self.program.before(meeting.second, take)
            yield Proposal(edits, takes=taken)

    def _computed(
        self, source: Pipe, destination: Pipe, meeting: CommonBlock
    ) -> Iterator[tuple[tuple[str, str], Taken]]:
        """The words of pairs with ids that other flags of the block compute: of several buffers each has its own."""
        flags = [op for op in meeting.block.ops if isinstance(op, SetFlagDyn | WaitFlagDyn)]
        for value in dict.fromkeys(op.event for op in flags if meeting.first.is_before_in_block(meeting.second)):
            words = next((self.balance.written.get(op) for op in flags if op.event is value), None)
            taken = {(source, destination, id_) for id_ in possible(value) or ()}
            if words is not None and taken and not taken & self.used.flags:
                operands = f'_dyn["PIPE_{source}", "PIPE_{destination}", {words.id}]'
                put, take = f"{SetFlag.name}{operands}", f"{WaitFlag.name}{operands}"
                yield (put, take), frozenset(("flag", *each) for each in taken)
