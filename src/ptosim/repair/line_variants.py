"""Edits of one line that is there: written twice, with another id, other pipes or the other way round, or in the wrong
place.

What a line may have been is taken from the others: it gets the id or the pipes that another has, its own pipes
exchanged, or becomes its partner. It is moved past its neighbour only, into or out of a loop included. The sums of the
run (balance.py) say which of these are worth a trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from ptosim.language.edits import Edit
from ptosim.language.micro.scope import Section
from ptosim.language.micro.sync import EVENT_IDS
from ptosim.language.operation import core_of
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.repair.balance import Balance, Change
from ptosim.repair.places import ends_program, neighbour
from ptosim.repair.possible_values import possible
from ptosim.repair.proposal import Proposal
from ptosim.repair.written import BARRIERS, PARTNER, WrittenSync
from ptosim.sanitize.program import ancestors, launched

INSIDE = For | While | If | Section
"""The scopes that a line may be moved into, and out of."""
Variant = tuple[Edit, Change | None]
"""An edit, and what it changes in the sums."""

_Where = Literal["before", "after"]
_SIDES: Sequence[tuple[_Where, _Where]] = (("before", "after"), ("after", "before"))
"""The places of a line beside a neighbour, and inside of it."""


class Variants:
    """Proposes changes of the synchronisation that a text has."""

    def __init__(self, balance: Balance) -> None:
        self.balance = balance
        self.program = balance.program

    def repetitions(self) -> Iterator[Proposal]:
        """A line that stands there twice in succession, where its key has too much or too little for it."""
        for op in self.balance.written:
            following = op.next_op
            if following is not None and self.balance.written.get(following) == self.balance.written[op]:
                edit, change = self._deleted(following)
                if self.balance.rank(change) < (1 if self.balance.is_whole else 2) and any(change or ()):
                    yield Proposal((edit,))

    def computed(self) -> Iterator[Proposal]:
        """Lines whose keys are off, with an id that is computed near them: one with just the missing values, or an
        unused one."""
        fitting: list[Proposal] = []
        unused: list[Proposal] = []
        for op, own in self.balance.written.items():
            if own.mechanism is None or own.number is not None or not self.balance.of(op).keys() & self.balance.off:
                continue
            missing = self.balance.missing(op)
            for word, value in self._in_scope(op):
                if word == own.id:
                    continue
                proposal = self._instead(op, own.with_id(word))
                reached = possible(value)
                if missing and reached == missing:
                    fitting.append(proposal)
                elif not value.uses and (reached is None or max(reached) < EVENT_IDS or own.mechanism != "flag"):
                    unused.append(proposal)
        yield from (*fitting, *unused)

    def estranged(self) -> Iterator[Proposal]:
        """Flags with an id that is computed otherwise than by any partner, with that of a partner. No sum tells of them
        where all ids have their turns."""
        flags = [(op, own) for op, own in self.balance.written.items() if own.mechanism == "flag"]
        for op, own in flags:
            ids = [other.id for _, other in flags if other.pipes == own.pipes and other.sign != own.sign]
            if own.number is None and own.id not in ids:
                yield from (self._instead(op, own.with_id(word)) for word in ids if "%" in word)

    def modes(self) -> Iterator[Proposal]:
        """Ends of brackets in another mode than the other end, in its words. No sum tells of them."""
        buffers = [(op, own) for op, own in self.balance.written.items() if own.mechanism == "buffer"]
        for op, own in sorted(buffers, key=lambda each: each[1].sign):  # releases first
            ends = [other for _, other in buffers if other.sign != own.sign and other.words[:2] == own.words[:2]]
            if own.partner() not in ends:
                yield from (self._instead(op, other.partner()) for other in ends)

    def _instead(self, op: Operation, words: WrittenSync) -> Proposal:
        return Proposal((self.program.instead(op, str(words)),))

    def _in_scope(self, op: Operation) -> Iterator[tuple[str, SSAValue]]:
        """Values computed before an operation, with their names."""
        for block, step in ancestors(op):
            for each in block.ops:
                if each is step:
                    break
                if len(each.results) == 1 and isinstance(each.results[0].type, IndexType):
                    yield self.program.name_of(each), each.results[0]

    def replacements(self, rank: int) -> Iterator[Proposal]:
        """Lines written otherwise, as far as they promise so much."""
        return self._ranked(self._replaced(), rank)

    def turned(self, ops: Collection[Operation]) -> Iterator[Proposal]:
        """The flags among these lines, turned round and with partners."""
        for op in ops:
            own = self.balance.written.get(op)
            if own is not None and own.mechanism is not None:
                turned = [own.reversed()] if own.mechanism == "flag" else []
                for words in (*turned, own.partner()):
                    yield self._instead(op, words)

    def deletions(self, rank: int) -> Iterator[Proposal]:
        return self._ranked(map(self._deleted, self.balance.written), rank)

    def moves(self, concerned: Collection[Operation]) -> Iterator[Proposal]:
        """Lines moved past their neighbours, if either takes part in a finding, or sums become zero; the sums of a
        program that stopped leave out later operations, such as a set right behind its wait. Signals may take part from
        afar, since they order all that another core does."""
        near: list[Proposal] = []
        far: list[Proposal] = []
        for op, own in self.balance.written.items():
            for edit, crossed in self._moved(op) if not (op.name in BARRIERS and ends_program(op)) else ():
                change = self._change(op, own, edit.place.block)
                takes_part = op in concerned or crossed in concerned
                if self.balance.off:
                    is_cut_off = not self.balance.is_whole and change == Counter() and takes_part
                    is_worth_it = is_cut_off or self.balance.rank(change) == 0
                else:
                    is_worth_it = change == Counter() and (takes_part or own.mechanism == "semaphore")
                if is_worth_it:
                    (near if takes_part else far).append(Proposal((edit,)))
        yield from (*near, *far)

    def _ranked(self, variants: Iterable[Variant], rank: int) -> Iterator[Proposal]:
        for edit, change in variants:
            if (change is None or any(change.values())) and self.balance.rank(change) == rank:
                yield Proposal((edit,))

    def _deleted(self, op: Operation) -> Variant:
        own = self.balance.of(op)
        return self.program.instead(op, ""), Counter({token: -count for token, count in own.items()})

    # --- other words --------------------------------------------------------------------------------------------------

    def _replaced(self) -> Iterator[Variant]:
        for op, own in self.balance.written.items():
            if own.mechanism is None:
                continue
            for words in dict.fromkeys(self._otherwise(op, own)):
                if words != own:
                    yield self.program.instead(op, str(words)), self._change(op, words, op.parent_block())

    def _otherwise(self, op: Operation, own: WrittenSync) -> Iterator[WrittenSync]:
        """Variants of a line, the likeliest first."""
        others = [other for each, other in self._alike(op, own) if each is not op]
        if own.mechanism == "flag":
            yield own.reversed()
            yield own.partner()
            for other in others:
                yield other if other.sign == own.sign else replace(other, name=PARTNER[other.name])
            return
        yield from (own.with_id(other.id) for other in others)
        numbers = {token.id for token in self.balance.off if token.mechanism == own.mechanism}
        offsets = (0, 16) if own.mechanism == "semaphore" else (0,)
        yield from (own.with_id(str(number + offset)) for number in sorted(numbers) for offset in offsets)
        yield own.partner()
        yield from (own.with_pipe(other.words[0]) for other in others)

    def _alike(self, op: Operation, own: WrittenSync) -> Iterator[tuple[Operation, WrittenSync]]:
        """Operations that name keys of the same mechanism on the same core."""
        core = core_of(op)
        for each, other in self.balance.written.items():
            if other.mechanism == own.mechanism and core_of(each) is core:
                yield each, other

    def _change(self, op: Operation, words: WrittenSync, block: Block | None) -> Change | None:
        if block is op.parent_block() and words == self.balance.written[op]:
            return Counter()
        foretold = self.balance.foretold(words, block)
        if foretold is None:
            return None
        change = Counter(foretold)
        change.subtract(self.balance.of(op))
        return change

    # --- other places -------------------------------------------------------------------------------------------------

    def _moved(self, op: Operation) -> Iterator[tuple[Edit, Operation | None]]:
        """Each with what it is moved past, or into, or out of."""
        block, moved = op.parent_block(), self.program.moved
        parent = block.parent_op() if block is not None else None
        is_barrier = op.name in BARRIERS
        for where, inside in _SIDES:
            forward = where == "after"
            beside = neighbour(op, forward)
            if beside is not None:
                yield moved(op, where, beside), launched(beside)
            elif isinstance(parent, INSIDE) and not is_barrier:
                yield moved(op, where, parent), parent
            inner = _bodies(beside) if beside is not None else _other_arm(block, parent, forward)
            for each in inner if not is_barrier else ():
                end = each.first_op if forward else _last(each)
                if end is not None:
                    yield moved(op, inside, end), beside or parent


def _bodies(op: Operation) -> Iterator[Block]:
    if isinstance(op, INSIDE):
        yield from (block for region in op.regions for block in region.blocks)


def _other_arm(block: Block | None, parent: Operation | None, forward: bool) -> Iterator[Block]:
    """The arms of a branch behind one of them, or before it."""
    if isinstance(parent, If):
        arms = [each for region in parent.regions for each in region.blocks]
        yield from (each for each in (arms[1:] if forward else arms[:-1]) if each is not block)


def _last(block: Block) -> Operation | None:
    """The last operation that is written: not the implicit end of the block."""
    last = block.last_op
    return last.prev_op if last is not None and isinstance(last, Yield | Condition) else last
