"""The analysis: which entries may start before one that they depend on has ended, for every number of iterations.

A walk through the program follows what each pipe does not know to have ended (state.py). Entries of one iteration are
followed through the rest of it; then those of each loop through the next iterations of that loop, as many as the
distance of its conflicts asks for. That is enough, because knowledge only grows:

    an entry before a loop, one inside:   the first iteration knows least
    an entry in a loop, one behind it:    of all its instances the last is known least
    a loop or a branch between the two:   it may run not at all
    entries of different iterations:      the least distance at which they meet decides

Entries out of order go to `missing`, which adds a pair or a barrier and gives the new knowledge; a walk that nothing
had to be added to is the proof that nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from ptosim.effects.names import Pipe
from ptosim.effects.sync import STORES, FenceReach
from ptosim.language.micro.sync import EVENT_IDS
from ptosim.order import model
from ptosim.order.conflict import Conflicts
from ptosim.order.number import Periodic
from ptosim.order.pairs import Inserted, Pair
from ptosim.order.places import Places
from ptosim.order.rounds import EarlyStart, Round
from ptosim.order.scoped import awaiting, touching
from ptosim.order.state import PIPES, Key, Known, State

Ends = tuple[Pipe, Pipe]
"""The source and the destination of flags."""
Missing = Callable[["Walker", State, EarlyStart, int], None]
"""Told of entries that may not have ended (a set of them). It notes them, or adds something and raises `Again`."""


class Again(Exception):
    """Something was added before a node: from there on everything is to be walked once more."""

    def __init__(self, before: model.Node, tokens: Mapping[Pair, tuple[int, ...]]) -> None:
        super().__init__()
        self.before = before
        self.tokens = tokens
        """The entries under way there that the tokens of a new pair do not cover."""


class Walker:
    """Walks a program with what was inserted into it."""

    def __init__(self, program: model.OrderProgram, conflicts: Conflicts, inserted: Inserted, missing: Missing) -> None:
        self.program = program
        self.inserted = inserted
        self.missing = missing
        self.places = Places(program)
        self.together = [conflicts.together(entry) for entry in program.entries]
        self.apart = {
            (entry.number, loop): _within(program.loops[loop], conflicts.apart(entry, loop))
            for entry in program.entries
            for loop in entry.loops
        }
        self.farthest = self._farthest()
        self.awaiting = awaiting(program, self.places)
        self.own: list[dict[Pipe, int]] = []
        """By cores, the entries of each pipe, inserted waits included."""
        self.clashes: dict[Pair, int] = {}
        """For each pair the others, by their waits, that are not over when it is set."""
        self.adds = True
        """Whether `missing` may add something on the way."""
        self.forward: dict[model.Node, Known] = {}
        """The knowledge behind each node in the iteration that issues entries."""
        self._rounds: dict[model.LoopNode, list[Round]] = {}
        self._iterations: dict[model.LoopNode, tuple[int, State]] = {}
        self._pairs: tuple[Pair, ...] = ()
        self._by_loop: dict[model.LoopNode, list[Pair]] = {}
        """By the innermost loop around them."""
        self._inside: dict[model.LoopNode, int] = {}
        """The waits of those in each loop."""
        self._pending = 0
        """Pairs with a token under way, as their waits."""
        self.end = State()
        """The knowledge behind everything."""
        self.turns: dict[int, int] = {}
        """The present turn of each loop that is walked turn by turn."""
        self.unmatched: list[model.WaitNode] = []
        """Written waits that no set is there for."""
        self.unbalanced: list[model.Node] = []
        """Loops and branches that leave another number of tokens than they found."""
        self.uneven: set[Ends] = set()
        """Pipes of written flags that cannot be followed: of those tokens, of waits without a set, of unknown ids."""
        self.distrusted: frozenset[Ends] = frozenset()
        """Pipes whose written flags are taken to say nothing."""

    def walk(self) -> None:
        """Follow everything, from the beginning to the end."""
        self.own = [dict(own) for own in self.places.own]
        self.clashes = dict.fromkeys(self.inserted.pairs, 0)
        self._pairs = tuple(self.inserted.pairs)
        self._pending = 0
        self._iterations = {}
        self._by_loop, self._inside = {}, {}
        for pair in self._pairs:
            pair.lanes = None if pair.outermost is not None else 1
            self.own[0][pair.destination] |= pair.member
            for loop in pair.around:
                self._inside[loop] = self._inside.get(loop, 0) | pair.member
            if pair.around:
                self._by_loop.setdefault(pair.around[-1], []).append(pair)
        start = State([dict.fromkeys(PIPES, 0) for _ in self.own])
        self.end = self._nodes(self.program.body, start, Round(None))

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _nodes(self, block: model.NodeBlock, state: State, here: Round) -> State:
        for node in block.nodes:
            state = self._complete(node, state, here)
            for pair in self.inserted.after.get(node, ()):
                self._set(pair, state, here)
            if self.adds:
                here.behind[node] = known = state.known()
                if here.distance == 0:
                    self.forward[node] = known
        return state

    def _complete(self, node: model.Node, state: State, here: Round) -> State:
        """A node and what stands before it, as often as something is added there."""
        before = self.inserted.before.get(node, ())
        # an entry that starts too early has not changed anything yet
        may_change = self.adds and (before or not isinstance(node, model.EntryNode))
        pending, start = self._pending, state.copy() if may_change else state
        while True:
            try:
                for added in self.inserted.before.get(node, ()):
                    if isinstance(added, Pair):
                        self._wait(added, state, here)
                    else:
                        self._barrier(added.pipe, state)
                return self._node(node, state, here)
            except Again as again:
                if again.before is not node:
                    raise
                start = start.copy()
                start.tokens = {**start.tokens, **again.tokens}
                state, self._pending = start.copy(), pending

    def _node(self, node: model.Node, state: State, here: Round) -> State:
        if node.core != state.here:
            state.at(node.core)
        match node:
            case model.EntryNode():
                self._entry(node, state, here)
            case model.LoopNode():
                return self._loop(node, state, here)
            case model.BranchNode():
                return self._branch(node, state, here)
            case model.SetNode():
                self._written_set(node, state, here)
            case model.WaitNode():
                self._written_wait(node, state, here)
            case model.BarrierNode():
                self._barrier(node.pipe, state, self._unreached(node.reach, node.core))
            case model.Opaque():
                self._barrier(Pipe.ALL, state)
            case model.Fence():
                state.end(self.own[node.core][Pipe.S] & ~self._unreached(node.reach, node.core))
            case model.TileWait():
                state.end(self._awaited(node, here) | self._prefix(node, state))
            case model.Count():
                self._count(node, state)
            case model.ReleaseBuffer():
                self._release(node, state)
            case model.GetBuffer():
                self._get(node, state)
            case _:
                raise AssertionError(node)
        return state

    # --- entries ------------------------------------------------------------------------------------------------------

    def _entry(self, entry: model.EntryNode, state: State, here: Round) -> None:
        pipe = entry.pipe
        state.open[pipe] &= state.open[Pipe.S]
        mask = self._met(entry, here)
        if here.distance:
            mask &= ~self._elsewhere(self.places.block_of[entry], here)
        if pipe is Pipe.S or pipe in self.program.serial or entry.is_signal:  # a signal waits for its own pipe
            mask &= ~self.own[entry.core][pipe]
        if open_ := self._unended(state.open[pipe], mask):
            rounds = self._rounds[here.loop] if here.distance and here.loop is not None else [here]
            self.missing(self, state, EarlyStart(entry, tuple(rounds)), open_)
        if here.distance == 0:
            self._issue(entry, state)
        for wait in self.awaiting.get(entry, ()):  # up to here the entries of this pipe are in it
            state.covered[wait, pipe] = 0

    def _unended(self, open_: int, mask: int) -> int:
        return open_ & mask

    def _met(self, entry: model.EntryNode, here: Round) -> int:
        """The followed entries that conflict with this one."""
        if here.loop is None or here.distance == 0:
            return self.together[entry.number] & ~(1 << entry.number)
        met = self.apart.get((entry.number, here.loop.name), {})
        return met.get(here.distance, 0) & self.places.inside[here.loop.name]

    def _elsewhere(self, block: model.NodeBlock, here: Round) -> int:
        """The classes that are followed apart: entries of a branch that is taken in one run of iterations, as others in
        it meet them. From one to the other the branch is taken each time.
        """
        if here.distance == 0:
            return 0
        arm = self.places.arm(block, here.loop)
        if here.arm is not None:
            return 0 if arm is here.arm else -1
        return 0 if arm is None else self._inside_arm(arm)

    def _inside_arm(self, arm: model.NodeBlock) -> int:
        members = sum(1 << node.number for node in arm.walk() if isinstance(node, model.EntryNode))
        for pair in self._pairs:
            if self.places.arm(pair.block, self.places.innermost[arm]) is arm:
                members |= pair.member
        return members

    def _issue(self, entry: model.EntryNode, state: State) -> None:
        """A load of the scalar unit has ended when anything behind it is issued; its stores only it knows."""
        if entry.pipe is Pipe.S and not any(touch.writes for touch in entry.touches):
            return
        is_known = entry.pipe in self.program.serial or entry.is_signal  # by what follows on the same pipe
        unaware = OTHERS[entry.pipe] if is_known else PIPES
        state.issue(1 << entry.number, unaware)

    # --- inserted synchronisation -------------------------------------------------------------------------------------

    def _wait(self, pair: Pair, state: State, here: Round) -> None:
        state.take(pair, pair.destination)
        if here.distance == 0:
            if not pair.distance:
                self._pending &= ~pair.member
                state.tokens.pop(pair, None)
            self._issue_wait(pair.member, pair.destination, state)

    def _issue_wait(self, member: int, pipe: Pipe, state: State) -> None:
        """The next set of the same id has to come after the wait, so waits are followed like entries; one of the scalar
        unit has ended when anything behind it is issued."""
        if pipe is Pipe.S:
            state.issued |= member
        else:
            state.issue(member, OTHERS[pipe])

    def _set(self, pair: Pair, state: State, here: Round) -> None:
        member, distance = pair.member, here.distance
        open_ = state.open[pair.source] & state.open[Pipe.S]
        if pair.lanes is None and state.issued & member and not open_ & member and self._is_own(pair, here):
            pair.lanes = pair.distance + distance
        busy = open_ if distance else open_ | self._pending
        self.clashes[pair] = self.clashes.get(pair, 0) | (busy & ~member)
        state.put(pair, open_ & ~self.own[0][pair.source])
        if not distance and not pair.distance:
            self._pending |= member

    def _is_own(self, pair: Pair, here: Round) -> bool:
        """Whether it is the loop of a pair that is followed."""
        innermost = self.places.innermost[pair.block]
        if here.loop is not innermost:
            return False
        return here.distance == 0 or here.arm is self.places.arm(pair.block, innermost)

    def _untold(self, pipe: Pipe, state: State, core: int = 0) -> int:
        """Entries that a pipe which sets a flag cannot cover."""
        return state.open[pipe] & state.open[Pipe.S] & ~self.own[core][pipe]

    def _barrier(self, pipe: Pipe, state: State, unreached: int = 0) -> None:
        own = self.own[state.here]
        if pipe is Pipe.ALL:  # everybody knows what anybody knew of other cores
            known = self._abroad(state, unreached) if unreached or len(self.own) > 1 else 0
            state.open.update(dict.fromkeys(PIPES, known))
        elif pipe is not Pipe.S:  # stores of the scalar unit are not waited for
            state.open[pipe] &= ~own[pipe]

    def _unreached(self, reach: FenceReach, core: int) -> int:
        """The stores of a scalar unit that a fence does not wait for."""
        own, entries = self.own[core][Pipe.S], self.program.entries
        return 0 if STORES in reach else sum(1 << each.number for each in entries if not each.is_reached(reach)) & own

    def _abroad(self, state: State, unreached: int) -> int:
        """The entries of other cores, and those a barrier does not reach, that no pipe of this one knows to have
        ended."""
        open_, own = -1, 0
        for pipe in PIPES:
            open_ &= state.open[pipe]
            own |= self.own[state.here][pipe]
        return open_ & (~own | unreached)

    # --- written synchronisation --------------------------------------------------------------------------------------

    def _awaited(self, node: model.TileWait, here: Round) -> int:
        """The entries that are sure to touch the bytes of a scoped wait."""
        return touching(self.program, node, here.loop if here.distance else None, here.distance)

    def _prefix(self, node: model.TileWait, state: State) -> int:
        """The entries of each pipe up to the last one that is sure to touch the bytes of a scoped wait."""
        found = 0
        for (wait, pipe), behind in state.covered.items():
            found |= self.own[node.core][pipe] & ~behind if wait is node else 0
        return found

    def _count(self, node: model.Count, state: State) -> None:
        """Ids in turn by a counter are known only where they are followed (written_walk.py)."""

    def _written_set(self, node: model.SetNode, state: State, here: Round) -> None:
        if (key := self._key(node, state)) is not None:
            state.put(key, self._untold(node.source, state, node.core))
        else:
            self.uneven.add((node.source, node.destination))

    def _written_wait(self, node: model.WaitNode, state: State, here: Round) -> None:
        key = self._key(node, state)
        is_there = key is not None and state.take(key, node.destination)
        if not is_there and here.distance == 0:
            self.unmatched.append(node)
            self.uneven.add((node.source, node.destination))

    def _key(self, node: model.Flag, state: State) -> Key | None:
        """The common key of a set and a wait; None where it is not known."""
        id_ = self._number(node.id) if (node.source, node.destination) not in self.distrusted else None
        return None if id_ is None else (node.source, node.destination, id_, node.core)

    def _number(self, id_: model.Id) -> int | str | None:
        """An id in the turn at hand."""
        if not isinstance(id_, Periodic):
            return id_
        turn = self.turns.get(id_.loop) if not id_.start else None
        value = None if turn is None else id_.values[turn % len(id_.values)]
        return value if isinstance(value, int) else None

    def _release(self, node: model.ReleaseBuffer, state: State) -> None:
        if (id_ := self._number(node.id)) is not None:
            state.released[node.core, id_, node.pipe] = self._untold(node.pipe, state, node.core)

    def _get(self, node: model.GetBuffer, state: State) -> None:
        id_ = self._number(node.id)
        for (core, released, pipe), open_ in state.released.items():
            if (core, released) == (node.core, id_) and pipe is not node.pipe:
                state.open[node.pipe] &= open_

    # --- branches and loops -------------------------------------------------------------------------------------------

    def _branch(self, node: model.BranchNode, state: State, here: Round) -> State:
        pending, joined = self._pending, None
        for arm in [arm for arm in node.arms if arm is here.arm] or node.arms:
            self._pending = pending
            behind = self._nodes(arm, state.copy(), here)
            joined = behind if joined is None else self._joined(node, joined, behind)
        self._pending = pending
        return joined or state

    def _joined(self, node: model.Node, a: State, b: State) -> State:
        counts, others = a.counts(), b.counts()
        if counts != others:
            self.unbalanced.append(node)
            self.uneven |= {_ends(key) for key in {*counts, *others} if counts.get(key) != others.get(key)}
        return a.joined(b)

    def _loop(self, loop: model.LoopNode, state: State, here: Round) -> State:
        state.covered = {}
        if here.distance:  # entries from before pass through the first iteration and come out as they went in
            self._nodes(loop.body, state.copy(), here)
            return state
        pending = self._pending
        self._prime(loop, state)
        outside = state.copy()
        first = Round(loop)
        through = self._nodes(loop.body, state, first)
        behind = self._iterated(loop, first, through.restricted(self._followed(loop)))
        self._pending = pending
        return self._drained(loop, self._behind(loop, outside, behind))

    def _prime(self, loop: model.LoopNode, state: State) -> None:
        for pair in self.inserted.primed.get(loop, ()):
            self.clashes[pair] = self.clashes.get(pair, 0) | state.open[pair.source] | self._pending
            self._pending |= pair.member
            state.tokens[pair] = (self._untold(pair.source, state),) * pair.distance

    def _drained(self, loop: model.LoopNode, state: State) -> State:
        """Behind the outermost loop the tokens that are left are waited for."""
        for pair in self.inserted.primed.get(loop, ()):
            for token in state.tokens.pop(pair, ()):
                state.open[pair.destination] &= token
            self._issue_wait(pair.member, pair.destination, state)
        return state

    def _iterated(self, loop: model.LoopNode, first: Round, behind: State) -> State:
        """Follow the entries of an iteration through the next ones; gives what is known of them behind the loop. What
        happens there does not depend on what came before the loop, so it is remembered until something is added."""
        version = self.inserted.versions.get(loop, 0)
        if loop in self._iterations and self._iterations[loop][0] == version:
            return self._iterations[loop][1]
        self._followed_on(loop, first, behind, None)
        for _, arm in self.places.runs.get(loop, ()):
            self._followed_on(loop, first, behind.restricted(self._inside_arm(arm)), arm)
        for pair in self.inserted.carried.get(loop, ()) if self.adds else ():  # what was added on the way as well
            if pair not in behind.tokens:
                behind.tokens[pair] = self.tokens_of(pair, behind.issued)
        if version == self.inserted.versions.get(loop, 0):
            self._iterations[loop] = version, behind
        return behind

    def _followed_on(self, loop: model.LoopNode, first: Round, state: State, arm: model.NodeBlock | None) -> None:
        """Follow entries through the iterations after the first."""
        rounds = self._rounds[loop] = [first]
        for distance in range(1, EVENT_IDS + 1 + self.farthest[loop.name]):
            if distance > self.farthest[loop.name] and not self._has_open_lanes(loop, arm):
                break
            if not self._is_run(loop, distance):
                break
            rounds.append(self._round(loop, distance, arm))
            state = state.copy()
            state.covered = {}
            state = self._nodes(loop.body, state, rounds[-1])

    def _is_run(self, loop: model.LoopNode, distance: int) -> bool:
        """Whether a loop comes to the iteration so many behind the one that issues entries. What is inserted does not
        ask: how many lanes a pair has is known some iterations later."""
        return True

    def _round(self, loop: model.LoopNode, distance: int, arm: model.NodeBlock | None) -> Round:
        """A later iteration begins."""
        return Round(loop, distance, arm)

    def _has_open_lanes(self, loop: model.LoopNode, arm: model.NodeBlock | None) -> bool:
        pairs = self._by_loop.get(loop, ())
        return any(pair.lanes is None and self.places.arm(pair.block, loop) is arm for pair in pairs)

    def _followed(self, loop: model.LoopNode) -> int:
        return self.places.inside[loop.name] | self._inside.get(loop, 0)

    def tokens_of(self, pair: Pair, members: int) -> tuple[int, ...]:
        """The entries that the tokens of a pair with a distance do not cover, at the end of the iteration that issued
        them.
        """
        return (*[members] * (pair.distance - 1), self.token(pair.source, pair.after, members))

    def token(self, source: Pipe, after: model.Node, members: int) -> int:
        """The entries that a set behind a node does not cover: those unknown to its pipe, and those issued since."""
        at = self.forward[after]
        return (at.open[source] & at.open[Pipe.S] & ~self.own[0][source] | ~at.issued) & members

    def _behind(self, loop: model.LoopNode, outside: State, behind: State) -> State:
        """Joins the state before the loop with the one that its last iteration leaves."""
        new, state = behind.issued & ~outside.issued, outside.copy()
        for core, last in zip(state.cores, behind.cores, strict=True):
            for pipe in PIPES:
                core[pipe] |= last[pipe] & new
        for key in {*outside.tokens, *behind.tokens}:
            before, after = outside.tokens.get(key, ()), behind.tokens.get(key, ())
            if isinstance(key, Pair) and loop not in self.places.loops[key.block]:  # set before all that is in it
                after = (new,) * len(before)
            elif isinstance(key, Pair) and not before:  # added on the way
                before = (self._untold(key.source, outside),) * len(after)
            if len(before) == len(after):
                state.tokens[key] = tuple(a | b & new for a, b in zip(before, after, strict=True))
            else:
                state.tokens.pop(key, None)
                self.unbalanced.append(loop)
                self.uneven.add(_ends(key))
        for key in {*outside.released, *behind.released}:
            state.released[key] = outside.released.get(key, outside.issued) | behind.released.get(key, new) & new
        state.issued |= new
        return state

    def _farthest(self) -> dict[int, int]:
        """The greatest distance of a conflict in each loop."""
        farthest = dict.fromkeys(self.program.loops, 0)
        for (_, loop), found in self.apart.items():
            inside = self.places.inside[loop]
            farthest[loop] = max(farthest[loop], *(d for d, members in found.items() if members & inside), 0)
        return farthest


def _ends(key: Key) -> Ends:
    source, destination, *_ = key.key if isinstance(key, Pair) else cast("tuple[Pipe, ...]", key)
    return source, destination


def _within(loop: model.LoopNode, met: dict[int, int]) -> dict[int, int]:
    """Without the iterations that a loop never comes to."""
    return (
        met if loop.most is None else {distance: members for distance, members in met.items() if distance < loop.most}
    )


OTHERS = {pipe: tuple(other for other in PIPES if other is not pipe) for pipe in Pipe}
