"""The body of one vector function as plain data, and the path that an execution took through it.

Values are numbers; an instruction names those it reads and those it defines. What an instruction costs is in the
target, what it computes is of no concern here: time depends on the path alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

Values = tuple[int, ...]

# In the order of execution: for each loop entered its trip count, for each branch 1 (then) or 0 (else), for each while
# the number of times its body ran, for each sequence its size.
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModelInstruction:
    """One instruction; scalar ones belong to the class `scalar`."""

    name: str
    timing_class: str
    width: int  # bytes of an element
    sources: Values = ()
    results: Values = ()  # vector registers
    masks: Values = ()  # predicate registers
    updates: Values = ()  # pointers and scalars: post-updated addresses, results of scalar instructions
    line: int = 0


@dataclass(frozen=True, slots=True)
class ModelLoop:
    """A counted loop. `arguments` hold `initial` in the first iteration and then what the last one `yielded`."""

    body: "Body"
    initial: Values = ()
    arguments: Values = ()
    yielded: Values = ()
    results: Values = ()
    line: int = 0
    trips: int | None = None
    """The number of iterations, where that is constant."""


@dataclass(frozen=True, slots=True)
class ModelBranch:
    condition: Values
    then: "Body"
    otherwise: "Body" = ()
    then_yielded: Values = ()
    otherwise_yielded: Values = ()
    results: Values = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class ModelWhile:
    """`before` decides, on `arguments`; if it goes on, `after` gets what was `passed` and yields the next arguments."""

    before: "Body"
    condition: Values
    after: "Body"
    initial: Values = ()
    arguments: Values = ()
    passed: Values = ()
    after_arguments: Values = ()
    yielded: Values = ()
    results: Values = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class ModelSequence:
    """Instructions of the A2/A3 vector unit that stand for what the scope around them does; they name no value.

    `times` instructions of so many `repeats` on so many `bytes`: None where only the run knows.
    """

    name: str
    width: int  # bytes of an element
    is_counted: bool  # count mode is switched on for it
    size: tuple[int | None, int | None, int | None]
    line: int = 0


Node = ModelInstruction | ModelLoop | ModelBranch | ModelWhile | ModelSequence
Body = tuple[Node, ...]


# --- a path, arranged like the program --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoopTurns:
    """The iterations of a loop, and the way of each; `ways` is empty where the body leaves no choice.

    A while whose `before` leaves a choice has one more way than turns: the one that ended it.
    """

    count: int
    ways: tuple["Way", ...] = ()

    def way(self, iteration: int) -> "Way":
        return self.ways[iteration] if self.ways else ()

    def repeats(self, iteration: int, period: int) -> int:
        """The number of periods that follow in which the ways are those of the period before that iteration."""
        left = (self.count - iteration) // period
        if not self.ways:
            return left
        pattern = self.ways[iteration - period : iteration]
        for done in range(left):
            begin = iteration + done * period
            if self.ways[begin : begin + period] != pattern:
                return done
        return left


@dataclass(frozen=True, slots=True)
class SequenceSize:
    times: int
    repeats: int
    bytes: int


# One per control node and sequence of a body, in order: the turns of a loop or of a while (each of its ways leads
# through `before`, then through `after`), the side taken and the way along it, or a size.
Choice = LoopTurns | tuple[int, "Way"] | SequenceSize
Way = tuple[Choice, ...]


def way_of(body: Body, path: Path) -> Way:
    """The path as a tree; ValueError where it does not fit the program."""
    steps = iter(path)
    try:
        way = _way(body, steps)
    except StopIteration:
        raise ValueError("the path ends before the program does") from None
    if next(steps, None) is not None:
        raise ValueError("the path goes on after the program has ended")
    return way


def _way(body: Body, steps: Iterator[int], noted: bool = False) -> Way:
    """`noted`: constant trip counts are no steps."""
    choices: list[Choice] = []
    for node in body:
        match node:
            case ModelInstruction():
                continue
            case ModelSequence():
                size = [next(steps) if fixed is None or not noted else fixed for fixed in node.size]
                choices.append(SequenceSize(*size))
            case ModelLoop():
                count = node.trips if noted and node.trips is not None else next(steps)
                choices.append(LoopTurns(count, _ways(count, node.body, steps, noted)))
            case ModelBranch():
                taken = next(steps)
                choices.append((taken, _way(node.then if taken else node.otherwise, steps, noted)))
            case ModelWhile():
                count = next(steps)
                ways = _ways(count, (*node.before, *node.after), steps, noted)
                if _decides(node.before):
                    ways = (*ways, _way(node.before, steps, noted))
                choices.append(LoopTurns(count, ways))
    return tuple(choices)


def _ways(count: int, body: Body, steps: Iterator[int], noted: bool) -> tuple[Way, ...]:
    return tuple([_way(body, steps, noted) for _ in range(count)]) if _decides(body) else ()


def whole_path(body: Body, noted: Sequence[int]) -> Path:
    """A path, of which those items are noted that are not constant."""
    return tuple(_path(_way(body, iter(noted), noted=True)))


def _path(way: Way) -> Iterator[int]:
    for choice in way:
        if isinstance(choice, SequenceSize):
            yield from (choice.times, choice.repeats, choice.bytes)
        elif isinstance(choice, LoopTurns):
            yield choice.count
            yield from chain.from_iterable(map(_path, choice.ways))
        else:
            taken, inner = choice
            yield taken
            yield from _path(inner)


def _decides(body: Body) -> bool:
    return any(not isinstance(node, ModelInstruction) for node in body)
