"""Insertion: pairs of set and wait and barriers, so that every dependence is kept, and none that is not needed.

A walk (walk.py) tells of an entry that may start too early. Of what it depends on, the latest entry on another pipe
gets a pair: the set behind the node that holds it, the wait before the node that holds the later one, both in the
innermost block around them, or in the body of the loop whose iterations are between them. So both execute equally often
on every way. What remains on the same pipe gets a barrier. Later walks find lanes: how many ids a pair takes in turn.
"""

from __future__ import annotations

from itertools import count

from ptosim.effects.names import Pipe
from ptosim.order.conflict import Conflicts
from ptosim.order.model import Block, Entry, Loop, Node, Program
from ptosim.order.pairs import Barrier, Inserted, Pair
from ptosim.order.state import State
from ptosim.order.walk import MOST_LANES, Meeting, Walker

IDS = 8
"""For each ordered pair of pipes."""
_CREDIT = 2
"""How many iterations a pair without a way back may run ahead."""


def insert(program: Program, conflicts: Conflicts | None = None) -> Inserted:
    """What a program lacks."""
    return _Inserter(program, conflicts or Conflicts(program)).insert()


class _Inserter:
    def __init__(self, program: Program, conflicts: Conflicts) -> None:
        self.program = program
        self.inserted = Inserted()
        self.walker = Walker(program, conflicts, self.inserted, self._missing)
        self.numbers = count(len(program.entries))
        self.added = False

    def insert(self) -> Inserted:
        while True:
            self._complete()
            if not self._give_credit() and not self._share_ids():
                return self.inserted

    def _complete(self) -> None:
        """Walk until nothing is missing."""
        self.added = True
        while self.added:
            self.added = False
            self.walker.walk()

    # --- what is missing ----------------------------------------------------------------------------------------------

    def _missing(self, walker: Walker, state: State, meeting: Meeting, open_: int) -> None:
        self.added = True
        entry = meeting.later
        while open_ := open_ & state.open[entry.pipe]:
            elsewhere = open_ & ~walker.own[entry.pipe]
            if elsewhere:
                earlier = self.program.entries[elsewhere.bit_length() - 1]
                state.open[entry.pipe] &= self._add_pair(earlier, meeting, state)
            else:
                earlier = self.program.entries[open_.bit_length() - 1]
                self._add_barrier(entry.pipe, earlier, meeting)
                state.open[entry.pipe] &= ~walker.own[entry.pipe]

    def _place(self, earlier: Entry, meeting: Meeting) -> tuple[Block, Node, Node]:
        """The block for a pair, and the nodes of it that hold the two entries."""
        places, loop = self.walker.places, meeting.rounds[-1].loop
        if meeting.distance == 0 or loop is None:
            return places.in_common(earlier, meeting.later)
        return loop.body, places.child(loop.body, earlier), places.child(loop.body, meeting.later)

    def _add_pair(self, earlier: Entry, meeting: Meeting, state: State) -> int:
        """Add a pair; gives what its wait does not cover."""
        block, after, before = self._place(earlier, meeting)
        loop = meeting.rounds[-1].loop if meeting.distance else None
        pair = self._pair(earlier.pipe, meeting.later.pipe, block, after, before, meeting.distance, loop)
        pair.serves = (earlier, meeting.later)
        self.inserted.add_pair(pair)
        self.walker.own[pair.destination] |= pair.member
        token = self.walker.token(pair.source, after, state.issued)
        if meeting.distance:  # tokens of the iterations since then are under way
            passed = [round_.behind[after] for round_ in meeting.rounds[1:] if after in round_.behind]
            state.tokens[pair] = tuple(
                at.open[pair.source] & at.open[Pipe.S] & ~self.walker.own[pair.source] for at in passed
            )
        return token

    def _pair(
        self, source: Pipe, destination: Pipe, block: Block, after: Node, before: Node, distance: int, loop: Loop | None
    ) -> Pair:
        outermost = self.walker.places.outermost[block]
        serves = (self.program.entries[0], self.program.entries[0])
        return Pair(source, destination, block, after, before, distance, loop, outermost, serves, next(self.numbers))

    def _add_barrier(self, pipe: Pipe, earlier: Entry, meeting: Meeting) -> None:
        _, _, before = self._place(earlier, meeting)
        self.inserted.add_barrier(Barrier(pipe, before, (earlier, meeting.later)))

    # --- lanes and ids ------------------------------------------------------------------------------------------------

    def _give_credit(self) -> bool:
        """A pair that is set again and again without a way back gets one."""
        places = self.walker.places
        for pair in self.inserted.pairs:
            loop = places.innermost[pair.block]
            if loop is None or (pair.lanes is not None and pair.lanes <= MOST_LANES):
                continue
            after, before = places.child(loop.body, pair.before), places.child(loop.body, pair.after)
            credit = self._pair(pair.destination, pair.source, loop.body, after, before, _CREDIT, loop)
            credit.serves = (pair.serves[1], pair.serves[0])
            self.inserted.add_pair(credit)
            return True
        return False

    def _share_ids(self) -> bool:
        """Give ids; where there are too few, everything ends before a wait instead. True if that was so."""
        given: dict[tuple[Pipe, Pipe], list[Pair]] = {}
        for pair in self.inserted.pairs:
            others, lanes = given.setdefault(pair.key, []), pair.lanes or 1
            taken = {
                other.base + lane for other in others if self._clash(pair, other) for lane in range(other.lanes or 1)
            }
            bases = (base for base in range(IDS - lanes + 1) if taken.isdisjoint(range(base, base + lanes)))
            base = next(bases, None)
            if base is None:
                self.inserted.remove_pair(pair)
                self.inserted.add_barrier(Barrier(Pipe.ALL, pair.before, pair.serves))
                return True
            pair.base = base
            others.append(pair)
        return False

    def _clash(self, a: Pair, b: Pair) -> bool:
        """Whether one is set while the other is not over."""
        return bool(self.walker.clashes[a] & b.member or self.walker.clashes[b] & a.member)
