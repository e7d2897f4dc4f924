"""Random structured programs, and a replay of their order that shares nothing with the analysis but the data it reads.

A program is nested lists: `("work", pipe, [(buffer, shift, writes)])`, `("loop", body)`, `("if", then, else)`, and
`("run", then, else)` for a branch that goes one way in the first iterations of the loop around it and the other in the
rest. A buffer has slots; an access takes slot (i + shift) mod slots in iteration i of the innermost loop around it,
slot `shift` where there is none. The replay executes one choice of trip counts and branches with the clocks of
completed prefixes.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from ptosim.effects.names import SERIAL_PIPES, Pipe, Space
from ptosim.order.model import (
    BarrierNode,
    BranchNode,
    ByteRange,
    Count,
    EntryNode,
    EntryTouch,
    Id,
    LoopNode,
    Node,
    NodeBlock,
    OrderProgram,
    SetNode,
    WaitNode,
)
from ptosim.order.number import Periodic, between, periodic
from ptosim.order.pairs import Inserted, InsertedBarrier, Pair

SIZE = 2
"""Bytes of a slot."""
STORES = Pipe.ALL
"""Stores of the scalar unit end later than its steps; here they have a clock of their own."""
PIPES = [Pipe.MTE2, Pipe.V, Pipe.MTE3, Pipe.S]


@dataclass(frozen=True)
class Buffer:
    number: int
    slots: int
    overlap: int
    """Bytes by which it reaches into the next buffer."""


@dataclass
class Written:
    """A random program, as the replay reads it and as the analysis does."""

    text: list[Any]
    program: OrderProgram
    moduli: dict[int, int] = field(default_factory=dict)
    """What each counter counts modulo."""


def span_of(buffer: Buffer, slot: int) -> tuple[int, int]:
    start = buffer.number * 4 * SIZE + slot * SIZE
    return start, start + SIZE + buffer.overlap


def random_program(seed: int) -> Written:
    dice = random.Random(seed)
    buffers = [
        Buffer(n, dice.choice([1, 1, 1, 2, 2, 3, 4]), dice.choice([0, 0, 0, 1])) for n in range(dice.randint(1, 4))
    ]
    counter = [0]

    def work() -> Any:
        pipe = dice.choice(PIPES[:3] if dice.random() < 0.93 else PIPES)
        touches = [
            (b, dice.randrange(b.slots), dice.random() < 0.5)
            for b in dice.sample(buffers, dice.randint(1, min(2, len(buffers))))
        ]
        counter[0] += 1
        return ("work", pipe, touches)

    def block(depth: int, in_loop: bool = False) -> list[Any]:
        made: list[Any] = []
        for _ in range(dice.randint(1, 4)):
            kind = dice.random()
            if kind < 0.22 and depth < 3:
                made.append(("loop", block(depth + 1, True)))
            elif kind < 0.34 and depth < 3:
                word = "run" if in_loop and seed % 2 else "if"
                made.append((word, block(depth + 1), block(depth + 1) if dice.random() < 0.6 else []))
            else:
                made.append(work())
        return made

    return program_of(block(0))


def program_of(text: list[Any]) -> Written:
    return Written(text, _program(text))


def _program(text: list[Any]) -> OrderProgram:
    program = OrderProgram(NodeBlock(), [], {}, SERIAL_PIPES)
    names = iter(range(10_000))
    nothing: Any = None

    def block(items: list[Any], path: tuple[int, ...]) -> NodeBlock:
        return NodeBlock([node(item, path) for item in items])

    def node(item: Any, path: tuple[int, ...]) -> Node:
        match item:
            case ("loop", body):
                name = next(names)
                inner = LoopNode(nothing, name, NodeBlock(), (*path, name))
                inner.body = block(body, inner.path)
                program.loops[name] = inner
                return inner
            case ("if" | "run" as word, then, otherwise):
                run = path[-1] if word == "run" else None
                return BranchNode(nothing, (block(then, path), block(otherwise, path)), between(0, 1), run)
            case ("set", source, destination, id_):
                return SetNode(nothing, source, destination, flag_id(id_, path))
            case ("wait", source, destination, id_):
                return WaitNode(nothing, source, destination, flag_id(id_, path))
            case ("count", counter):
                return Count(nothing, (-1 - counter, (), 0), None, goes_on=True)
            case ("start", counter):
                return Count(nothing, (-1 - counter, (), 0), 0)
            case ("barrier", pipe):
                return BarrierNode(nothing, pipe)
            case ("work", pipe, touches):
                found = tuple(EntryTouch(writes, _range(b, shift, path)) for b, shift, writes in touches)
                entry = EntryNode(nothing, pipe, found, path, len(program.entries))
                program.entries.append(entry)
                return entry
        raise AssertionError(item)

    program.body = block(text, ())
    return program


def flag_id(id_: Any, path: tuple[int, ...]) -> Id:
    """A number; one in turn by the index of the innermost loop (counter None), or by a counter."""
    if not isinstance(id_, tuple):
        return id_
    counter, base, lanes, ahead = id_
    values = tuple(base + (turn + ahead) % lanes for turn in range(lanes))
    found = periodic(path[-1] if counter is None else -1 - counter, (), values)
    assert isinstance(found, int | Periodic)
    return found


def _range(buffer: Buffer, shift: int, path: tuple[int, ...]) -> ByteRange:
    if not path or buffer.slots == 1:
        return ByteRange(Space.UB, "", None, (), (span_of(buffer, shift if not path else 0),))
    spans = tuple(span_of(buffer, (turn + shift) % buffer.slots) for turn in range(buffer.slots))
    return ByteRange(Space.UB, "", path[-1], (), spans)


# --- written synchronisation ------------------------------------------------------------------------------------------


def with_flags(written: Written, inserted: Inserted, seed: int) -> Written:
    """The program with inserted pairs as flags in its text, those with several lanes in turn by the index of the loop
    or by a counter; some of them forgotten, moved or with another id."""
    dice = random.Random(seed)
    quality = dice.choice([0.0, 0.0, 0.03, 0.1])
    counted: dict[tuple[NodeBlock, int], int | None] = {}
    for pair in inserted.pairs:
        if (pair.lanes or 1) > 1:
            by_index = len(pair.around) == 1 and pair.around[0].body is pair.block and dice.random() < 0.7
            by_index = by_index and not any(
                other.distance % (pair.lanes or 1) for other in inserted.pairs if other.block is pair.block
            )
            counted.setdefault((pair.block, pair.lanes or 1), None if by_index else len(counted))

    def spoiled(items: list[Any]) -> list[Any]:
        kept = [_other_id(item, dice) if dice.random() < quality / 2 else item for item in items]
        kept = [item for item in kept if dice.random() >= quality]
        return kept + [item for item in items if dice.random() < quality / 2]

    def flag(word: str, pair: Pair, ahead: int, counter: int | None) -> Any:
        lanes = pair.lanes or 1
        return (word, *pair.key, pair.base if lanes == 1 else (counter, pair.base, lanes, ahead % lanes))

    def counter(pair: Pair) -> int | None:
        return counted.get((pair.block, pair.lanes or 1))

    def prime(pair: Pair, turn: int) -> Any:
        return ("set", *pair.key, pair.base + turn % (pair.lanes or 1))

    def drain(pair: Pair, turn: int) -> Any:
        lanes = pair.lanes or 1
        if lanes > 1 and pair.distance % lanes and counter(pair) is not None:
            return flag("wait", pair, turn, counter(pair))
        return ("wait", *pair.key, pair.base + turn % lanes)

    def block(model: NodeBlock, text: list[Any]) -> list[Any]:
        made: list[Any] = []
        for node, item in zip(model.nodes, text, strict=True):
            before = [
                ("barrier", each.pipe) if isinstance(each, InsertedBarrier) else flag("wait", each, 0, counter(each))
                for each in inserted.before.get(node, ())
            ]
            primed = [(pair, n) for pair in inserted.primed.get(node, ()) for n in range(pair.distance)]  # type: ignore[call-overload]
            made += spoiled(before) + spoiled([prime(*each) for each in primed])
            match item:
                case ("loop", body):
                    made.append(("loop", block(node.blocks()[0], body)))
                case ("if" | "run" as word, then, otherwise):
                    made.append(
                        (word, *(block(arm, t) for arm, t in zip(node.blocks(), (then, otherwise), strict=True)))
                    )
                case _:
                    made.append(item)
            made += spoiled([drain(*each) for each in primed])
            made += spoiled([flag("set", pair, pair.distance, counter(pair)) for pair in inserted.after.get(node, ())])
        return made + [("count", each) for (where, _), each in counted.items() if where is model and each is not None]

    starts = [("start", each) for each in counted.values() if each is not None]
    moduli = {each: lanes for (_, lanes), each in counted.items() if each is not None}
    return Written([*starts, *(text := block(written.program.body, written.text))], _program([*starts, *text]), moduli)


def _other_id(item: Any, dice: random.Random) -> Any:
    match item:
        case (word, source, destination, int()):
            return (word, source, destination, dice.randrange(8))
        case (word, source, destination, (counter, base, lanes, ahead)):
            return (word, source, destination, (counter, base, lanes, (ahead + 1) % lanes))
        case _:
            return item


# --- the replay -------------------------------------------------------------------------------------------------------


class Replay:
    """One execution: K[p][q] entries of q are known to have ended when the next entry of p starts."""

    def __init__(self, inserted: Inserted, seed: int) -> None:
        self.inserted = inserted
        self.dice = random.Random(seed)
        self.trips = self.dice.choice([(0, 1), (0, 3), (1, 4), (2, 6)])
        self.count: dict[Pipe, int] = defaultdict(int)
        self.known: dict[Pipe, dict[Pipe, int]] = defaultdict(lambda: defaultdict(int))
        self.flags: dict[Any, list[dict[Pipe, int]]] = defaultdict(list)
        self.last_wait: dict[Any, tuple[Pipe, int]] = {}
        self.last: dict[int, list[tuple[Pipe, int, bool]]] = defaultdict(list)
        self.stores = 0
        self.turns: dict[NodeBlock, int] = defaultdict(int)
        self.turning: dict[Node, tuple[int, int]] = {}
        """Branches that turn once: in which iteration, and which arm comes first."""
        self.counters: dict[int, int] = {}
        self.moduli: dict[int, int] = {}
        self.problems: list[str] = []

    def run(self, written: Written) -> list[str]:
        self.moduli = written.moduli
        self._block(written.program.body, written.text, [])
        for key, tokens in self.flags.items():
            if tokens:
                self.problems.append(f"left over: {key}")
        return self.problems

    def _block(self, block: NodeBlock, text: list[Any], indices: list[int]) -> None:
        for node, item in zip(block.nodes, text, strict=True):
            for added in self.inserted.before.get(node, ()):
                if isinstance(added, InsertedBarrier):
                    self._barrier(added.pipe)
                else:
                    self._wait(added, self.turns[added.block])
            self._node(node, item, indices)
            for pair in self.inserted.after.get(node, ()):
                self._set(pair, self.turns[pair.block] + pair.distance)
        self.turns[block] += 1

    def _node(self, node: Node, item: Any, indices: list[int]) -> None:
        match item:
            case ("work", pipe, touches):
                self._work(pipe, touches, indices)
            case ("set", source, destination, id_):
                self._ordered_set(source, (source, destination, self._id(id_, indices)))
            case ("wait", source, destination, id_):
                self._ordered_wait(destination, (source, destination, self._id(id_, indices)))
            case ("start", counter):
                self.counters[counter] = 0
            case ("count", counter):
                self.counters[counter] = (self.counters[counter] + 1) % self.moduli[counter]
            case ("barrier", pipe):
                self._barrier(pipe)
            case ("if" | "run" as word, then, otherwise):
                assert isinstance(node, BranchNode)
                chosen = self.dice.randrange(2) if word == "if" else self._side(node, indices[-1])
                self._block(node.arms[chosen], (then, otherwise)[chosen], indices)
            case ("loop", body):
                assert isinstance(node, LoopNode)
                for pair in self.inserted.primed.get(node, ()):
                    for turn in range(pair.distance):
                        self._set(pair, turn)
                trips = self.dice.randint(*self.trips)
                self.turning = {
                    inner: (self.dice.randint(0, trips), self.dice.randrange(2)) for inner in node.body.nodes
                } | self.turning
                for index in range(trips):
                    self._block(node.body, body, [*indices, index])
                self.turning = {inner: at for inner, at in self.turning.items() if inner not in node.body.nodes}
                for pair in self.inserted.primed.get(node, ()):
                    for turn in range(pair.distance):
                        self._wait(pair, self.turns[pair.block] + turn)

    def _side(self, node: BranchNode, index: int) -> int:
        """The arm of a branch that turns once while its loop runs."""
        turn, first = self.turning[node]
        return first if index < turn else 1 - first

    # --- clocks -------------------------------------------------------------------------------------------------------

    def _begin(self, pipe: Pipe) -> int:
        self.count[pipe] += 1
        self._learn_from_issue(pipe)
        return self.count[pipe]

    def _learn_from_issue(self, pipe: Pipe) -> None:
        if pipe is Pipe.S:
            return
        known = self.known[pipe]
        for other, ended in self.known[Pipe.S].items():
            if known[other] < ended:
                known[other] = ended

    def _work(self, pipe: Pipe, touches: list[Any], indices: list[int]) -> None:
        stores = pipe is Pipe.S and any(writes for _, _, writes in touches)
        number = self._begin(STORES if stores else pipe)
        clock = dict(self.known[pipe])
        here = STORES if pipe is Pipe.S else pipe
        is_kept = pipe is not Pipe.S
        for buffer, shift, writes in touches:
            slot = (indices[-1] + shift) % buffer.slots if indices else shift
            for byte in range(*span_of(buffer, slot)):
                left: list[tuple[Pipe, int, bool]] = []
                for seen in self.last[byte]:
                    other, earlier, wrote = seen
                    meets = (writes or wrote) and not (other is here and earlier == number)
                    if meets and not self._ended(clock, pipe, other, earlier):
                        self.problems.append(f"race: {other} {earlier} and {pipe} {number} at {byte}")
                    if other is not here or wrote != writes:
                        left.append(seen)
                if is_kept or writes:
                    left.append((here, number, writes))
                self.last[byte] = left
        if pipe in SERIAL_PIPES:
            self.known[pipe][pipe] = number

    def _ended(self, clock: dict[Pipe, int], pipe: Pipe, other: Pipe, earlier: int) -> bool:
        if (pipe is other and pipe in SERIAL_PIPES) or (pipe is Pipe.S and other is STORES):
            return True
        return clock.get(other, 0) >= earlier

    def _id(self, id_: Any, indices: list[int]) -> int:
        if not isinstance(id_, tuple):
            return id_
        counter, base, lanes, ahead = id_
        return base + ((indices[-1] if counter is None else self.counters[counter]) + ahead) % lanes

    def _set(self, pair: Pair, turn: int) -> None:
        self._ordered_set(pair.source, (*pair.key, pair.base + turn % (pair.lanes or 1)))

    def _ordered_set(self, source: Pipe, key: Any) -> None:
        if self.flags[key]:
            self.problems.append(f"double set: {key}")
        self._learn_from_issue(source)
        if key in self.last_wait:
            pipe, waited = self.last_wait[key]
            if pipe is not Pipe.S and self.known[source].get(pipe, 0) < waited:
                self.problems.append(f"set before the wait is known: {key}")
        if key[2] > 7:
            self.problems.append(f"id {key}")
        self._flag_set(source, key)

    def _flag_set(self, source: Pipe, key: Any) -> None:
        number = self._begin(source)
        token = dict(self.known[source])
        token[source] = number
        if source is Pipe.S:
            token[STORES] = self.count[STORES]
        if source in SERIAL_PIPES:
            self.known[source][source] = number
        self.flags[key].append(token)

    def _wait(self, pair: Pair, turn: int) -> None:
        self._ordered_wait(pair.destination, (*pair.key, pair.base + turn % (pair.lanes or 1)))

    def _ordered_wait(self, destination: Pipe, key: Any) -> None:
        self.last_wait[key] = (destination, self._flag_wait(destination, key))

    def _flag_wait(self, destination: Pipe, key: Any) -> int:
        number = self._begin(destination)
        if not self.flags[key]:
            self.problems.append(f"hang: {key}")
            return number
        known = self.known[destination]
        for pipe, ended in self.flags[key].pop(0).items():
            known[pipe] = max(known[pipe], ended)
        if destination in SERIAL_PIPES:
            known[destination] = max(known[destination], number)
        return number

    def _barrier(self, pipe: Pipe) -> None:
        if pipe is Pipe.ALL:
            for each in list(Pipe):
                self._begin(each)
            for each in list(Pipe):
                self.known[each] = defaultdict(int, self.count)
        else:
            number = self._begin(pipe)
            self.known[pipe][pipe] = number
