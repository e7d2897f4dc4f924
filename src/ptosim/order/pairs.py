"""What insertion adds to a program: pairs of set and wait, and barriers, each beside a node."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ptosim.effects.names import Pipe
from ptosim.order.model import Block, Entry, Loop, Node


@dataclass(eq=False)
class Pair:
    """A set behind one node of a block and a wait before another one.

    The k-th wait takes the k-th token. With a distance, so many tokens are there before the first iteration.
    """

    source: Pipe
    destination: Pipe
    block: Block
    after: Node
    before: Node
    distance: int
    loop: Loop | None
    """The loop whose body the block is, for pairs with a distance."""
    outermost: Loop | None
    """The outermost loop around, where tokens are primed and drained."""
    serves: tuple[Entry, Entry]
    """The two entries that it orders."""
    number: int
    """Its wait as a member of sets, behind the entries of the program."""
    lanes: int | None = None
    """How many ids it takes in turn, once that is known."""
    base: int = 0
    """The first of its ids."""

    @property
    def member(self) -> int:
        """Its wait as a set."""
        return 1 << self.number

    @property
    def key(self) -> tuple[Pipe, Pipe]:
        return self.source, self.destination


@dataclass(eq=False)
class Barrier:
    """A barrier before a node."""

    pipe: Pipe
    before: Node
    serves: tuple[Entry, Entry]


@dataclass
class Inserted:
    """Everything that was added, by the node it stands at."""

    pairs: list[Pair] = field(default_factory=list[Pair])
    barriers: list[Barrier] = field(default_factory=list[Barrier])
    before: dict[Node, list[Pair | Barrier]] = field(default_factory=lambda: defaultdict(list))
    after: dict[Node, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    primed: dict[Loop, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """By the outermost loop: the pairs that have tokens before it and drain them behind it."""

    def add_pair(self, pair: Pair) -> None:
        self.pairs.append(pair)
        self.before[pair.before].append(pair)
        self.after[pair.after].append(pair)
        if pair.distance and pair.outermost is not None:
            self.primed[pair.outermost].append(pair)

    def remove_pair(self, pair: Pair) -> None:
        self.pairs.remove(pair)
        self.before[pair.before].remove(pair)
        self.after[pair.after].remove(pair)
        if pair.distance and pair.outermost is not None:
            self.primed[pair.outermost].remove(pair)

    def add_barrier(self, barrier: Barrier) -> None:
        self.barriers.append(barrier)
        self.before[barrier.before].append(barrier)

    def remove_barrier(self, barrier: Barrier) -> None:
        self.barriers.remove(barrier)
        self.before[barrier.before].remove(barrier)
