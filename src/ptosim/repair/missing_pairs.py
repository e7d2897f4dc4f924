"""Pairs of flags that may repair an order: one that is added, one that is written for other pipes, or with an id that
it cannot share.

A pair within an iteration takes the ids that other flags of its block take in turn, if they do; one that leads into the
next iteration is primed before all loops and drained behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

from xdsl.ir import Block, Operation

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import Pipe
from ptosim.language.micro.sync import SetFlag, SetFlagDyn, WaitFlag, WaitFlagDyn
from ptosim.repair.balance import Balance
from ptosim.repair.free_ids import Taken, UsedIds
from ptosim.repair.possible_values import possible
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import WrittenSync, flag_words
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

    def redirected(self, source: Pipe, destination: Pipe, meeting: CommonBlock, event: int) -> Iterator[Proposal]:
        """A pair that stands between the two and is for other pipes: the other way round, or wrong at one end."""
        between = [
            (op, words)
            for op, words in self._written()
            if op.parent_block() is meeting.block
            if meeting.first.is_before_in_block(op) and op.is_before_in_block(meeting.second)
        ]
        plain = flag_words(source, destination, event), frozenset({("flag", source, destination, event)})
        choices = (*self._computed(source, destination, meeting), plain)
        for (put, take), (words, taken) in product(_pairs(between), choices):
            if put.is_before_in_block(take):
                yield self._instead(put, take, words, taken)

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

    def told_apart(self, found: Diagnostic, taken: Taken) -> Iterator[Proposal]:
        """Another id for one pair of a flag that is set again too early, or a pair from its wait back to its set."""
        places = (found.location, *(other.location for other in found.related))
        ops = [op for place in places for op in self.program.placed(place)]
        flags = [(op, words) for op, words in self._written() if op in ops]
        for put, words in flags:
            source, destination = map(Pipe, words.pipes)
            event = self.used.free_event(source, destination, taken)
            for take, other in self._written() if words.sign > 0 and words.number is not None else ():
                if event is not None and other == words.partner():
                    id_ = re.sub(r"\d+(?=\W*$)", str(event), words.id)
                    renamed = str(words.with_id(id_)), str(other.with_id(id_))
                    yield self._instead(put, take, renamed, frozenset({("flag", source, destination, event)}))
        for put, take in _pairs(flags):
            destination, source = map(Pipe, dict(flags)[put].pipes)
            event, block = self.used.free_event(source, destination, taken), put.parent_block()
            if event is not None and block is not None and block is take.parent_block():
                yield self.added(source, destination, CommonBlock(block, take, put), event)

    def _written(self) -> list[tuple[Operation, WrittenSync]]:
        return [(op, words) for op, words in self.balance.written.items() if words.mechanism == "flag"]

    def _instead(self, put: Operation, take: Operation, words: tuple[str, str], taken: Taken) -> Proposal:
        """Other words for a pair that is written."""
        edits = (self.program.instead(op, text) for op, text in zip((put, take), words, strict=True))
        return Proposal(tuple(edits), takes=taken)


def _pairs(flags: list[tuple[Operation, WrittenSync]]) -> Iterator[tuple[Operation, Operation]]:
    """Sets, each with a wait in the same words."""
    for (put, told), (take, awaited) in permutations(flags, 2):
        if told.sign > 0 and told.partner() == awaited:
            yield put, take
