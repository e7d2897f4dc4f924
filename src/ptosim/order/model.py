"""The program as the analysis sees it: entries of pipes with the bytes they touch, synchronisation, loops, branches.

A block is a list of nodes that execute one after the other, each exactly once. Nodes know the operation they stand for,
so that what is inserted beside them finds its place. Which bytes meet is told in conflict.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ptosim.effects.names import GM, Pipe, Space
from ptosim.effects.sync import ALL_WRITES, FenceReach
from ptosim.language.micro.sync import EVENT_IDS
from ptosim.order.number import Number, Periodic, Plain

Id = int | str | Periodic | None
"""The id of a flag or a buffer: a number, the name of a private token or of a value that only the run knows, one in
turn; None if it cannot be followed.
"""
Counter = tuple[int, tuple[object, ...], int]
"""The counter of ids: the loop of a `Periodic` and its start; an array of the scalar unit has a name below 0 in place
of a loop. Each core, the last of the three, counts for itself.
"""
Span = tuple[Plain, Plain] | None
"""The lowest byte and one past the highest; None for every byte of the memory."""


@dataclass(frozen=True, eq=False)
class ByteRange:
    """Bytes of a memory, perhaps others in each turn of a loop."""

    space: Space
    origin: str
    """The argument, in GM; elsewhere nothing."""
    loop: int | None
    """The loop whose turns they differ in."""
    start: tuple[object, ...]
    spans: tuple[Span, ...]
    has_gaps: bool = False
    """Between its first and its last byte there may be some that are not touched."""

    @property
    def ends(self) -> list[int]:
        """The ends of all its spans; none where one is not known."""
        ends = [end for span in self.spans if span is not None for end in span if isinstance(end, int)]
        return ends if len(ends) == 2 * len(self.spans) else []


@dataclass(frozen=True)
class EntryTouch:
    """One access of an entry."""

    writes: bool
    range: ByteRange


@dataclass(eq=False)
class Node:
    """Something that the scalar unit executes."""

    op: Operation
    core: int = field(default=0, kw_only=True)
    """The core whose program it is in, where those of several are followed."""

    def blocks(self) -> Sequence[NodeBlock]:
        return ()


@dataclass(eq=False)
class EntryNode(Node):
    """An entry of a pipe that does work: a copy, a product, a vector scope, an access of the scalar unit."""

    pipe: Pipe
    touches: tuple[EntryTouch, ...]
    loops: tuple[int, ...]
    number: int = 0
    """In program order, from 0."""
    is_signal: bool = False
    """Whether it is a signal between cores, which counts as touching what other cores touch."""

    def is_reached(self, reach: FenceReach) -> bool:
        """Whether a fence waits for it, if it is a store of the scalar unit."""
        return all((FenceReach.GM if touch.range.space is GM else FenceReach.LOCAL) in reach for touch in self.touches)


@dataclass(eq=False)
class Flag(Node):
    """A written set or wait. Tokens of lowerings have keys of their own."""

    source: Pipe
    destination: Pipe
    id: Id
    varies: tuple[int, ...] = field(default=(), kw_only=True)
    """The loops in which an id that only the run knows may be another one in each iteration."""
    reach: range = field(default=range(EVENT_IDS), kw_only=True)
    """The ids that it may be."""


@dataclass(eq=False)
class SetNode(Flag):
    """A set: an entry of the source pipe."""


@dataclass(eq=False)
class WaitNode(Flag):
    """A wait: an entry of the destination pipe."""


@dataclass(eq=False)
class SignalNode(Node):
    """A signal between the cores of a cluster, whose programs are followed together."""

    pipe: Pipe
    """The pipe that sets, or is held until it was set."""
    id: Id
    partner: int | None
    """The other core; None where the id says which."""
    need: int = 1
    """The number of signals under way with which a wait is sure to be passed."""


@dataclass(eq=False)
class SetSignal(SignalNode):
    """A semaphore is counted up, when the entries before on its pipe have ended."""


@dataclass(eq=False)
class WaitSignal(SignalNode):
    """A pipe waits until a semaphore is above 0, and counts it down."""


@dataclass(eq=False)
class BarrierNode(Node):
    """A barrier of one pipe or of all, with the stores of the scalar unit that it reaches."""

    pipe: Pipe
    reach: FenceReach = ALL_WRITES


@dataclass(eq=False)
class Opaque(Node):
    """Something that cannot be looked into: all that came before has to end first, and it before all that follows."""


@dataclass(eq=False)
class Fence(Node):
    """A fence that makes stores of the scalar unit visible to all, as far as it reaches."""

    reach: FenceReach


@dataclass(eq=False)
class GetBuffer(Node):
    """A pipe waits for the releases of a buffer id on other pipes."""

    pipe: Pipe
    id: Id
    varies: tuple[int, ...] = field(default=(), kw_only=True)


@dataclass(eq=False)
class ReleaseBuffer(Node):
    """A pipe releases a buffer id."""

    pipe: Pipe
    id: Id
    varies: tuple[int, ...] = field(default=(), kw_only=True)


@dataclass(eq=False)
class TileWait(Node):
    """Whatever follows waits for the entries before that touch some bytes."""

    ranges: tuple[ByteRange, ...]


@dataclass(eq=False)
class Count(Node):
    """A counter goes on by one, gets a value, or is needed no more."""

    counter: Counter
    value: int | None = None
    """None where only the run knows it."""
    goes_on: bool = False
    is_over: bool = False


@dataclass(eq=False)
class LoopNode(Node):
    """A loop that runs any number of times."""

    name: int
    body: NodeBlock
    path: tuple[int, ...]
    """The loops around it and itself, outermost first."""
    most: int | None = None
    """The most iterations, where that is known."""

    def blocks(self) -> Sequence[NodeBlock]:
        return (self.body,)


@dataclass(eq=False)
class BranchNode(Node):
    """One of some blocks."""

    arms: tuple[NodeBlock, ...]
    condition: Number
    """1 where the first is taken, 0 where the second is."""
    run: int | None = None
    """The loop in which each is taken in one run of iterations: the first ones, or the last."""

    def blocks(self) -> Sequence[NodeBlock]:
        return self.arms


@dataclass(eq=False)
class NodeBlock:
    """Nodes in the order they execute."""

    nodes: list[Node] = field(default_factory=list[Node])

    def walk(self) -> Iterator[Node]:
        """Every node, those inside others included."""
        for node in self.nodes:
            yield node
            for block in node.blocks():
                yield from block.walk()


@dataclass
class OrderProgram:
    """A function as one kind of core runs it."""

    body: NodeBlock
    entries: list[EntryNode]
    loops: dict[int, LoopNode]
    serial: frozenset[Pipe]
    """Pipes whose entries end one after the other."""
    cores: int = 1
    """The number of cores that run this program."""
