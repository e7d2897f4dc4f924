"""Insertions into a program: pairs of set and wait, and barriers, each beside a node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ptosim.effects.names import Pipe
from ptosim.order.model import EntryNode, LoopNode, Node, NodeBlock


@dataclass(eq=False)
class Pair:
    """A set behind one node of a block and a wait before another one.

    The k-th wait takes the k-th token. With a distance, so many tokens are there before the first iteration.
    """

    source: Pipe
    destination: Pipe
    block: NodeBlock
    after: Node
    before: Node
    distance: int
    around: tuple[LoopNode, ...]
    """The loops around the block, outermost first; before the first of them tokens are primed."""
    serves: tuple[EntryNode, EntryNode]
    """The two entries that it orders."""
    number: int
    """Its wait as a member of sets, behind the entries of the program."""
    lanes: int | None = None
    """The number of ids that it takes in turn, once that is known."""
    base: int = 0
    """The first of its ids."""

    def __post_init__(self) -> None:
        self.member = 1 << self.number
        """Its wait as a set."""

    @property
    def loop(self) -> LoopNode | None:
        """The loop whose iterations are between set and wait."""
        return self.around[-1] if self.distance else None

    @property
    def outermost(self) -> LoopNode | None:
        return self.around[0] if self.around else None

    @property
    def key(self) -> tuple[Pipe, Pipe]:
        return self.source, self.destination


@dataclass(eq=False)
class InsertedBarrier:
    """A barrier before a node."""

    pipe: Pipe
    before: Node
    around: tuple[LoopNode, ...]
    serves: tuple[EntryNode, EntryNode]
    distance: int = 0
    """The number of iterations between the two entries that it orders."""


@dataclass
class Inserted:
    """Everything that was added, by the node it stands at."""

    pairs: list[Pair] = field(default_factory=list[Pair])
    barriers: list[InsertedBarrier] = field(default_factory=list[InsertedBarrier])
    before: dict[Node, list[Pair | InsertedBarrier]] = field(default_factory=lambda: defaultdict(list))
    after: dict[Node, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    primed: dict[LoopNode, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """By the outermost loop: the pairs that have tokens before it and drain them behind it."""
    carried: dict[LoopNode, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """By the loop whose iterations are between their set and their wait."""
    versions: dict[LoopNode, int] = field(default_factory=lambda: defaultdict(int))
    """The number of changes inside each loop."""

    def add(self, item: Pair | InsertedBarrier) -> None:
        for listed in self._lists(item):
            listed.append(item)

    def remove(self, item: Pair | InsertedBarrier) -> None:
        for listed in self._lists(item):
            listed.remove(item)

    def _lists(self, item: Pair | InsertedBarrier) -> Iterator[list[Any]]:
        """The list of something that is about to be added or removed."""
        for loop in item.around:
            self.versions[loop] += 1
        yield self.before[item.before]
        if isinstance(item, InsertedBarrier):
            yield self.barriers
            return
        yield self.pairs
        yield self.after[item.after]
        if item.distance:
            yield self.primed[item.around[0]]
            yield self.carried[item.around[-1]]
