"""Insertion: pairs of set and wait and barriers, so that every dependence is kept, and none that is not needed.

A walk (walk.py) tells of an entry that may start too early. Of its dependences, the latest entry on another pipe
gets a pair: the set behind the node that holds it, the wait before the node that holds the later one, both in the
innermost block around them, or in the body of the loop whose iterations are between them. So both execute equally often
on every way. What remains on the same pipe gets a barrier. Later walks find lanes: how many ids a pair takes in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, permutations

from ptosim.effects.names import Pipe
from ptosim.language.micro.sync import EVENT_IDS
from ptosim.order.conflict import Conflicts
from ptosim.order.model import EntryNode, Flag, Node, NodeBlock, OrderProgram
from ptosim.order.number import Periodic
from ptosim.order.pairs import Inserted, InsertedBarrier, Pair
from ptosim.order.rounds import EarlyStart
from ptosim.order.state import State
from ptosim.order.unknown_ids import is_token
from ptosim.order.walk import Again, Walker

_TRIALS, _LONG_TRIALS = 600_000, 6_000
"""The walks that may be spent on superfluous pairs, times the square of the entries; in a long program, times the
entries. So loading stays quick."""
LONG = 500
"""Entries of a program in which one pair of each two pipes at a time makes room for ids, and not one alone."""
FEW = 6
"""Entries of a program in which the fewest pairs count more than the earliest sets."""
_CREDIT = 2
"""The iterations that a pair without a way back may run ahead."""


def insert(program: OrderProgram) -> Inserted:
    """Missing synchronisation of a program."""
    return Inserter(program, Conflicts(program)).insert()


@dataclass
class _Users:
    """The pairs that have an id, and those that are not over when one of them is set."""

    members: int = 0
    clashes: int = 0


class _Needed(Exception):
    """Something is missing without what was taken away."""


class Inserter:
    """Missing synchronisation of a program, and other ways to say the same."""

    def __init__(self, program: OrderProgram, conflicts: Conflicts) -> None:
        self.program = program
        self.conflicts = conflicts
        self.inserted = Inserted()
        self.walker = Walker(program, conflicts, self.inserted, self._missing)
        self.numbers = count(len(program.entries))
        self.written = _written_ids(program)
        self.added = False
        length = max(len(program.entries), 1)
        self.trials = max(_TRIALS // length**2, _LONG_TRIALS // length)
        self.has_credit = False
        self.trying = False
        """Whether a walk only has to say if something is missing."""

    def insert(self) -> Inserted:
        self._complete()
        while self._give_credit():
            self._complete()
        self._reduce()
        while self._share_ids():
            self._complete()
            self._reduce()
        while self._is_small() and any(map(self._exchanged, (2, 3))):
            pass
        return self.inserted

    def _is_small(self) -> bool:
        """Whether there are a few entries, without loops and branches."""
        entries = self.program.entries
        return len(entries) <= FEW and all(entry in self.program.body.nodes for entry in entries)

    def _exchanged(self, size: int) -> bool:
        """Put one pair or barrier less in the place of so many, where these do."""
        items: list[Pair | InsertedBarrier] = [*self.inserted.pairs, *self.inserted.barriers]
        ends = [each for each in combinations(self.program.entries, 2) if self._has_between(*each)]
        for several in combinations(items, size):
            for item in several:
                self.inserted.remove(item)
            for fewer in combinations(ends, size - 1):
                made = [self._between(*each) for each in fewer]
                if self._suffices() and self._is_short() is None:
                    return True
                for item in made:
                    self.inserted.remove(item)
            for item in several:
                self.inserted.add(item)
        self._complete()
        self._is_short()
        return False

    def _has_between(self, earlier: EntryNode, later: EntryNode) -> bool:
        """Whether something may have to order two entries: a serial pipe does so itself."""
        return earlier.pipe is not later.pipe or later.pipe not in self.program.serial

    def _between(self, earlier: EntryNode, later: EntryNode) -> Pair | InsertedBarrier:
        """The pair that orders two entries."""
        if earlier.pipe is not later.pipe:
            return self._pair(self.program.body, earlier, later, 0, (earlier, later))
        barrier = InsertedBarrier(later.pipe, later, (), (earlier, later))
        self.inserted.add(barrier)
        return barrier

    def _complete(self) -> None:
        """Walk until nothing is missing."""
        self.added = True
        while self.added:
            self.added = False
            self.walker.walk()

    # --- what is missing ----------------------------------------------------------------------------------------------

    def _missing(self, walker: Walker, state: State, meeting: EarlyStart, open_: int) -> None:
        """Add a pair with another pipe, else a barrier."""
        if self.trying:
            raise _Needed
        self.added = True
        earlier = self._most_needed(state, meeting, open_)
        block, after, before = self._place(earlier, meeting)
        serves = (earlier, meeting.later)
        if earlier.pipe is meeting.later.pipe:
            self.inserted.add(
                InsertedBarrier(earlier.pipe, before, walker.places.loops[block], serves, meeting.distance)
            )
            raise Again(before, {})
        pair = self._pair(block, after, before, meeting.distance, serves)
        walker.own[0][pair.destination] |= pair.member
        raise Again(before, {pair: self._tokens(pair, meeting, state)})

    def _most_needed(self, state: State, meeting: EarlyStart, open_: int) -> EntryNode:
        """The entry to wait for: the latest open one of another pipe that a wait for a third pipe does not cover."""
        walker, latest = self.walker, dict[EntryNode, int]()
        for pipe, own in walker.own[0].items():
            if pipe is not meeting.later.pipe and open_ & own:
                entry = self.program.entries[(open_ & own).bit_length() - 1]
                latest[entry] = walker.token(pipe, self._place(entry, meeting)[1], state.issued)
        if not latest:
            return self.program.entries[open_.bit_length() - 1]
        for entry in latest:
            if all(token >> entry.number & 1 for other, token in latest.items() if other is not entry):
                return entry
        return min(latest, key=lambda entry: (latest[entry] & open_).bit_count())

    def _place(self, earlier: EntryNode, meeting: EarlyStart) -> tuple[NodeBlock, Node, Node]:
        """The block for a pair, and the nodes of it that hold the two entries."""
        places, loop = self.walker.places, meeting.rounds[-1].loop
        if meeting.distance == 0 or loop is None:
            return places.in_common(earlier, meeting.later)
        block = meeting.rounds[-1].arm or loop.body
        return block, places.child(block, earlier), places.child(block, meeting.later)

    def _tokens(self, pair: Pair, meeting: EarlyStart, state: State) -> tuple[int, ...]:
        """The entries under way before the wait that the tokens do not cover: one token for each iteration since the
        followed entries were issued; of this one, if the set comes first.
        """
        first = self.walker.token(pair.source, pair.after, state.issued)
        own = self.walker.own[0][pair.source]
        passed = [round_.behind[pair.after] for round_ in meeting.rounds[1:] if pair.after in round_.behind]
        return (first, *(at.open[pair.source] & at.open[Pipe.S] & ~own for at in passed))

    def _pair(
        self, block: NodeBlock, after: Node, before: Node, distance: int, serves: tuple[EntryNode, EntryNode]
    ) -> Pair:
        source, destination = (entry.pipe for entry in serves)
        around, number = self.walker.places.loops[block], next(self.numbers)
        pair = Pair(source, destination, block, after, before, distance, around, serves, number)
        self.inserted.add(pair)
        return pair

    # --- fewer pairs --------------------------------------------------------------------------------------------------

    def alike(self) -> Iterator[tuple[Pair, Pair]]:
        """Pairs that one could stand for: of the same pipes, block and distance."""
        for one, other in permutations(self.inserted.pairs, 2):
            is_near = one.distance == other.distance and one.block is other.block
            if is_near and one.key == other.key and one.number < other.number:
                yield one, other

    def in_a_row(self) -> Iterator[tuple[Pair, Pair]]:
        """Pairs across iterations that one around both could stand for: from the source of the second to the
        destination of the first."""
        for one, other in permutations(self.inserted.pairs, 2):
            is_near = one.distance == other.distance > 0 and one.block is other.block
            if is_near and other.source is not one.destination and one.key != other.key:
                yield one, other

    def merge(self, one: Pair, other: Pair) -> Pair | None:
        """Let one pair stand for two: set with the later of them, awaited with the earlier. None if it cannot be: then
        everything is as it was."""
        position = {node: index for index, node in enumerate(one.block.nodes)}
        late, early = other, one
        if one.key == other.key:
            late = max(one, other, key=lambda pair: position[pair.after])
            early = min(one, other, key=lambda pair: position[pair.before])
        if not one.distance and position[late.after] >= position[early.before]:
            return None
        for each in (one, other):
            self.inserted.remove(each)
        serves = (late.serves[0], early.serves[1])
        pair = self._pair(one.block, late.after, early.before, one.distance, serves)
        if self._suffices() and self._is_short() is None:
            return pair
        self.split(pair, one, other)
        return None

    def split(self, pair: Pair, *parts: Pair) -> None:
        """Take a merger back."""
        self.inserted.remove(pair)
        for part in parts:
            self.inserted.add(part)
        self._complete()
        self._is_short()

    def spread(self, pairs: Sequence[Pair], by: int) -> bool:
        """Let pairs across iterations reach farther, as they would with as many more buffers; says whether there are
        ids for that. The program is out of order then: this is to ask what it would cost, and is taken back."""
        for pair in pairs:
            pair.distance += by
            pair.lanes = (pair.lanes or 1) + by
        return self._is_short() is None

    # --- what is not needed -------------------------------------------------------------------------------------------

    def _reduce(self) -> None:
        """Take away again what later additions made superfluous, the outer and the carried first."""
        found, left = True, self.trials
        while found:
            doubtful = sorted(self._doubtful(), key=lambda item: (len(item.around), -item.distance))
            removed = [item for item in doubtful if self.trials > 0 and self._is_superfluous(item)]
            found = bool(removed) and self.has_credit  # a credit goes with the pair it was given to
        if self.trials < left:
            self._complete()

    def _doubtful(self) -> list[Pair | InsertedBarrier]:
        """Whatever follows suffices for an entry in the place where it was added; only a wait that stands before a loop
        or a branch, or reaches over iterations, comes earlier than what was found before it."""
        items: list[Pair | InsertedBarrier] = [*self.inserted.barriers, *self.inserted.pairs]
        drained = self.has_credit or any(barrier.pipe is Pipe.ALL for barrier in self.inserted.barriers)
        return [
            item
            for item in items
            if drained or isinstance(item, InsertedBarrier) or item.distance or item.before is not item.serves[1]
        ]

    def _is_superfluous(self, item: Pair | InsertedBarrier) -> bool:
        """Try without it; what is needed comes back."""
        self.trials -= 1
        self.inserted.remove(item)
        suffices = self._suffices()
        if not suffices:
            self.inserted.add(item)
        return suffices

    def _suffices(self) -> bool:
        """Whether nothing is missing, and no pair is set again and again without a way back."""
        self.trying, self.walker.adds = True, False
        try:
            self.walker.walk()
        except _Needed:
            return False
        finally:
            self.trying, self.walker.adds = False, True
        return all(pair.lanes is not None and pair.lanes <= EVENT_IDS for pair in self.inserted.pairs)

    # --- lanes and ids ------------------------------------------------------------------------------------------------

    def _give_credit(self) -> bool:
        """A pair that is set again and again without a way back gets one."""
        places = self.walker.places
        for pair in self.inserted.pairs:
            loop = places.innermost[pair.block]
            if loop is None or (pair.lanes is not None and pair.lanes <= EVENT_IDS):
                continue
            block = places.arm(pair.block, loop) or loop.body
            after, before = places.child(block, pair.before), places.child(block, pair.after)
            back = (pair.serves[1], pair.serves[0])
            self._pair(block, after, before, _CREDIT, back)
            self.has_credit = True
            return True
        return False

    def _share_ids(self) -> bool:
        """Give ids; where there are too few, everything ends before a wait instead. True if that was so."""
        short = list(self._without_ids())
        for pair in short if len(self.program.entries) > LONG else short[:1]:
            self.inserted.remove(pair)
            self.inserted.add(InsertedBarrier(Pipe.ALL, pair.before, pair.around, pair.serves))
        return bool(short)

    def _is_short(self) -> Pair | None:
        """Give ids to the pairs; a pair that there is none left for."""
        return next(self._without_ids(), None)

    def _without_ids(self) -> Iterator[Pair]:
        """Give ids to the pairs; of each two pipes the first pair that there is none left for."""
        clashes, short = self.walker.clashes, set[tuple[Pipe, Pipe]]()
        given: dict[tuple[Pipe, Pipe], list[_Users]] = {}
        for pair in self.inserted.pairs:
            users, lanes = given.setdefault(pair.key, [_Users() for _ in range(EVENT_IDS)]), pair.lanes or 1
            free = [not (clashes[pair] & each.members or pair.member & each.clashes) for each in users]
            for id_ in self.written.get(pair.key, ()):
                free[id_] = False
            base = next((base for base in range(EVENT_IDS - lanes + 1) if all(free[base : base + lanes])), None)
            if base is None:
                if pair.key not in short:
                    short.add(pair.key)
                    yield pair
                continue
            pair.base = base
            for each in users[base : base + lanes]:
                each.members |= pair.member
                each.clashes |= clashes[pair]


def _written_ids(program: OrderProgram) -> dict[tuple[Pipe, Pipe], set[int]]:
    """The ids that are in use already, by their pipes: all of them where one is only known when it runs."""
    found: dict[tuple[Pipe, Pipe], set[int]] = {}
    for node in program.body.walk():
        if isinstance(node, Flag) and not is_token(node.id):
            ids = node.id.values if isinstance(node.id, Periodic) else (node.id,)
            known = {id_ for id_ in ids if isinstance(id_, int)}
            used = found.setdefault((node.source, node.destination), set())
            used |= known if all(isinstance(id_, int) for id_ in ids) else set(node.reach)
    return found
