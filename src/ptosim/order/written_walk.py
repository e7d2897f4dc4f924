"""The analysis turn by turn, for synchronisation that was written: ids and branches that depend on i modulo something.

A loop whose flags, buffers or branches come in turns is walked from each of its turns on, so that every id is known.
Ids that go round with a counter are followed by their places (rotating_ids.py). Waits are followed like entries: a
flag may be set again only where its last wait is known to have ended. Inserted pairs count tokens instead and need
none of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import cast

from ptosim.effects.names import Pipe
from ptosim.order.conflict import Conflicts
from ptosim.order.model import (
    BranchNode,
    Count,
    Counter,
    EntryNode,
    Flag,
    GetBuffer,
    Id,
    LoopNode,
    Node,
    NodeBlock,
    OrderProgram,
    ReleaseBuffer,
    SetNode,
    TileWait,
    WaitNode,
)
from ptosim.order.number import LONGEST_PERIOD, Linear, Periodic
from ptosim.order.pairs import Inserted
from ptosim.order.rotating_ids import Family, begin, draw, family_of, go_on, leave, settle, united
from ptosim.order.rounds import Round
from ptosim.order.state import Key, State
from ptosim.order.unknown_ids import is_named
from ptosim.order.walk import Missing, Walker

Times = dict[int, int]
"""By loops, how often they run."""
_Place = int | str
"""An id, or how many places ahead of its counter a flag is."""


class TurnWalker(Walker):
    """Walks a program as it was written."""

    def __init__(self, program: OrderProgram, conflicts: Conflicts, missing: Missing) -> None:
        super().__init__(program, conflicts, Inserted(), missing)
        self.adds = False
        self.conflicts = conflicts
        self.periods = _periods(program)
        self.first: dict[LoopNode, int] = {}
        """The turn in which the entries were issued that are followed."""
        self.doubled: dict[SetNode, Times] = {}
        """Sets of a flag that may be there already, or whose last wait may not be over; and when it shows."""
        self.unreleased: dict[WaitNode, Times] = {}
        """Waits without a set, and when it shows."""
        flags = [node for node in program.body.walk() if isinstance(node, Flag)]
        self.changing = {str(node.id): node for node in flags if is_named(node.id) and node.varies}
        """Ids that may be other ones in the next iteration, each by one of its flags."""
        self.crossing: dict[Flag, None] = {}
        """The pairs that are set in one iteration and not waited for in it."""
        self.waits = Waits(self)
        self.last = Last(self)
        self.counted = {loop: _counted(loop) for loop in program.loops.values()}
        for name, loop in program.loops.items():
            lanes = [family.lanes for counter in self.counted[loop] for family in self.waits.families_by(counter)]
            period = max(self.periods[name], *lanes, 1)
            if any(isinstance(node, Flag) for node in loop.body.walk()) or (period > 1 and self.farthest[name]):
                self.farthest[name] += period

    def _met(self, entry: EntryNode, here: Round) -> int:
        """Entries left out in some turns meet later than the least distance says."""
        if here.loop is None or here.distance == 0 or self.periods[here.loop.name] == 1:
            return super()._met(entry, here)
        most = here.loop.most
        if here.loop.name not in entry.loops or (most is not None and here.distance >= most):
            return 0
        met = self.conflicts.exactly(entry, here.loop.name, here.distance)
        return met & self.places.inside[here.loop.name]

    def _unended(self, open_: int, mask: int) -> int:
        found = open_ & self.last.with_turns(mask)
        return found | self.last.without_turns(found)

    def _awaited(self, node: TileWait, here: Round) -> int:
        return self.last.with_turns(super()._awaited(node, here))

    def times(self, node: Node) -> Times:
        """The iterations of the loops around a node that lead to the present state of the walk."""
        return {loop.name: self.turns.get(loop.name, 0) + 1 for loop in self.places.loops[self.places.block_of[node]]}

    # --- flags --------------------------------------------------------------------------------------------------------

    def _key(self, node: Flag, state: State) -> Key | None:
        if (found := self.waits.families.get(node)) is not None:
            family, ahead = found
            value = state.counters.get(family.counter)
            return family.relative(ahead) if value is None else family.at(value, ahead)
        id_ = self._number(node.id)
        for family in self.waits.among(node):
            if not isinstance(id_, int) or id_ not in family.ids:
                continue
            if family.counter not in state.counters:
                settle(state, family)
            if isinstance(node, WaitNode):
                draw(state, family, id_)
            else:
                united(state, family)
        return super()._key(node, state)

    def _written_set(self, node: SetNode, state: State, here: Round) -> None:
        key, place = self._key(node, state), self._place(node)
        open_ = state.open[node.source] & state.open[Pipe.S]
        others = self.waits.of(node, place) if place is not None else 0
        others = self.last.with_turns(others & ~self._elsewhere(self.places.block_of[node], here))
        if place is not None and (state.tokens.get(key) or open_ & others):
            self.doubled.setdefault(node, self.times(node))
        super()._written_set(node, state, here)

    def _written_wait(self, node: WaitNode, state: State, here: Round) -> None:
        unmatched = len(self.unmatched)
        super()._written_wait(node, state, here)
        if len(self.unmatched) > unmatched:
            self.unreleased.setdefault(node, self.times(node))
        place = self._place(node)
        if here.distance or place is None:
            return
        self._issue_wait(self.waits.members[node, place], node.destination, state)

    def _place(self, node: Flag) -> _Place | None:
        found = self.waits.families.get(node)
        return self._number(node.id) if found is None else found[1]

    def _count(self, node: Count, state: State) -> None:
        families = self.waits.families_by(node.counter)
        if node.goes_on:
            go_on(state, families, node.counter)
            self.waits.go_on(state, node.counter)
            return
        self.waits.mix(state, node.counter)
        if node.value is not None:
            begin(state, families, node.counter, node.value)
            return
        leave(state, families, node.counter)
        for family in families if node.is_over else ():
            settle(state, family)

    # --- loops and branches -------------------------------------------------------------------------------------------

    def _loop(self, loop: LoopNode, state: State, here: Round) -> State:
        state.covered = {}
        for counter in self.counted[loop]:
            if counter in state.counters:
                leave(state, self.waits.families_by(counter), counter)
        period = self.periods[loop.name]
        if here.distance:
            passing = state.copy()
            for turn in self._turns(loop):
                self.turns[loop.name] = turn
                passing = self._nodes(loop.body, passing, here)
            del self.turns[loop.name]
            return state
        outside, arriving, joined = state.copy(), state, state.copy()
        inside = self.places.inside[loop.name]
        for turn in self._turns(loop):
            self.turns[loop.name] = self.first[loop] = turn
            first = Round(loop)
            through = self._nodes(loop.body, arriving.copy(), first)
            self._crossed(loop, arriving, through)
            self._iterations.pop(loop, None)
            behind = self._iterated(loop, first, through.restricted(inside))
            if period > 1:
                behind.rename(self.last.names(inside, turn))
            joined = self._joined(loop, joined, self._behind(loop, outside, behind))
            arriving = through.restricted(through.issued & ~inside)
        del self.turns[loop.name]
        return joined

    def _crossed(self, loop: LoopNode, *states: State) -> None:
        """Flags with an id that may change have to be taken in the iteration that sets them."""
        for key in {key for state in states for key in state.counts()} if self.changing else ():
            source, destination, id_, _ = cast("tuple[Pipe, Pipe, Id, int]", key)
            node = self.changing.get(id_) if isinstance(id_, str) else None
            if node is not None and loop.name in node.varies:
                self.crossing[node] = None
                self.uneven.add((source, destination))

    def _turns(self, loop: LoopNode) -> range:
        """Turns that a loop comes to."""
        period = self.periods[loop.name]
        return range(period if loop.most is None else min(period, loop.most))

    def _is_run(self, loop: LoopNode, distance: int) -> bool:
        return loop.most is None or self.first[loop] + distance < loop.most

    def _round(self, loop: LoopNode, distance: int, arm: NodeBlock | None) -> Round:
        self.turns[loop.name] = self.first[loop] + distance
        return super()._round(loop, distance, arm)

    def _inside_arm(self, arm: NodeBlock) -> int:
        return self.last.with_turns(super()._inside_arm(arm) | self.waits.inside(arm))

    def _branch(self, node: BranchNode, state: State, here: Round) -> State:
        taken = None if isinstance(node.condition, Linear) else self._number(node.condition)
        if taken is None:
            return super()._branch(node, state, here)
        return self._nodes(node.arms[0 if taken else 1], state, here)


class Last:
    """The state that the last iteration of a loop leaves, named by the turn that it was: each token behind the loop
    covers the entries of some of the turns, and all of them together every entry. (Waits by a counter are named by
    their places.)
    """

    def __init__(self, walker: TurnWalker) -> None:
        self._turns: dict[tuple[int, int], int] = {}
        self._all: dict[int, int] = {}
        """By members, all their names that have a turn."""
        counted = sum(m for (wait, _), m in walker.waits.members.items() if wait in walker.waits.families)
        for name, period in walker.periods.items():
            for member in _bits(walker.places.inside[name] & ~counted if period > 1 else 0):
                for turn in range(period):
                    if (member, turn) not in self._turns:
                        alias = self._turns[member, turn] = walker.places.new_member()
                        self._all[member] = self._all.get(member, 0) | alias
        for own in walker.places.own:
            own.update({pipe: self.with_turns(members) for pipe, members in own.items()})
        inside = walker.places.inside
        inside.update({name: self.with_turns(members) for name, members in inside.items()})

    def names(self, inside: int, turn: int) -> dict[int, int]:
        """The names of members behind a loop whose last iteration was of a turn."""
        return {member: alias for (member, at), alias in self._turns.items() if at == turn and inside & member}

    def with_turns(self, members: int) -> int:
        found = members
        for member, aliases in self._all.items():
            found |= aliases if members & member else 0
        return found

    def without_turns(self, members: int) -> int:
        return sum(member for member, aliases in self._all.items() if members & aliases)


def _bits(members: int) -> Iterator[int]:
    while members:
        lowest = members & -members
        yield lowest
        members ^= lowest


class Waits:
    """The written waits of a program as members of sets, one for each id that a wait may have."""

    def __init__(self, walker: Walker) -> None:
        nodes = [node for node in walker.program.body.walk() if isinstance(node, Flag)]
        self.families = {node: found for node in nodes if (found := family_of(node)) is not None}
        self._each = list(dict.fromkeys(family for family, _ in self.families.values()))
        self.members: dict[tuple[WaitNode, _Place], int] = {}
        self._taking: dict[tuple[object, ...], int] = {}
        """By keys of sets, the waits for them."""
        for node in [node for node in nodes if isinstance(node, WaitNode)]:
            for place in self._places(node):
                self.members[node, place] = walker.places.follow(node, node.destination)

    def inside(self, block: NodeBlock) -> int:
        """The waits in a block."""
        nodes = [node for node in block.walk() if isinstance(node, WaitNode)]
        return sum(member for (node, _), member in self.members.items() if node in nodes)

    def _places(self, node: Flag) -> list[_Place]:
        if (found := self.families.get(node)) is not None:
            return list(range(found[0].lanes))
        if isinstance(node.id, Periodic):
            return [value for value in dict.fromkeys(node.id.values) if isinstance(value, int)]
        return [] if node.id is None else [node.id]

    def among(self, node: Flag) -> list[Family]:
        """The families of the same two pipes."""
        ends = (node.source, node.destination, node.core)
        return [each for each in self._each if (each.source, each.destination, each.core) == ends]

    def families_by(self, counter: Counter) -> list[Family]:
        return [each for each in self._each if each.counter == counter]

    def of(self, node: SetNode, place: _Place) -> int:
        """The waits that a set may have to come after: those for the same flag, as far as one can tell."""
        own = self.families.get(node)
        key = (node.source, node.destination, node.core, own and own[0], place)
        if key not in self._taking:
            self._taking[key] = self._of(key[:3], own and own[0], place)
        return self._taking[key]

    def _of(self, ends: tuple[object, ...], own: Family | None, place: _Place) -> int:
        found, ids = 0, [place] if own is None else own.ids
        for (wait, at), member in self.members.items():
            if (wait.source, wait.destination, wait.core) != ends:
                continue
            theirs = self.families.get(wait)
            if own is not None and theirs is not None and own == theirs[0]:
                is_same = at == place
            else:
                is_same = any(id_ in ids for id_ in ([at] if theirs is None else theirs[0].ids))
            found |= member if is_same else 0
        return found

    def go_on(self, state: State, counter: Counter) -> None:
        """Moves every place that was one ahead of a counter to the counter."""
        for members in self._by(counter):
            state.rename(dict(zip(members, [members[-1], *members[:-1]], strict=True)))

    def mix(self, state: State, counter: Counter) -> None:
        """A counter has another value: a wait may have been for any of the flags."""
        for members in self._by(counter):
            state.rename(dict.fromkeys(members, sum(members)))

    def _by(self, counter: Counter) -> Iterator[list[int]]:
        """The waits whose ids go round with a counter, each place by place."""
        for node, (family, _) in self.families.items():
            if isinstance(node, WaitNode) and family.counter == counter:
                yield [self.members[node, place] for place in range(family.lanes)]


def _counted(loop: LoopNode) -> list[Counter]:
    """The counters that a loop lets go on."""
    return list({node.counter: None for node in loop.body.walk() if isinstance(node, Count)})


def _periods(program: OrderProgram) -> dict[int, int]:
    """The number of turns of each loop."""
    periods = dict.fromkeys(program.loops, 1)
    for node in program.body.walk():
        number = node.condition if isinstance(node, BranchNode) else None
        if isinstance(node, Flag | GetBuffer | ReleaseBuffer):
            number = node.id
        if isinstance(number, Periodic) and number.loop in periods and not number.start:
            period = lcm(periods[number.loop], len(number.values))
            periods[number.loop] = period if period <= LONGEST_PERIOD else 1
    return periods
