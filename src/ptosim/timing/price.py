"""A vector function with its prices: the tree of a program, compiled for one A5 vector unit.

Besides figures this settles what the machine need not find out in every iteration: where the last use of each value is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from ptosim.target.tables import IssueUnit, column
from ptosim.timing.program import (
    Body,
    ModelBranch,
    ModelInstruction,
    ModelLoop,
    ModelSequence,
    ModelWhile,
    Node,
    Values,
)

EXECUTE, LOAD, STORE, SCALAR, RENAME, FENCE = range(6)
_KIND_OF_PORT = {"any": EXECUTE, "exu0": EXECUTE, "load": LOAD, "both-loads": LOAD, "store": STORE, "none": SCALAR}
_KIND_OF_CLASS = {"rename": RENAME, "fence": FENCE}


@dataclass(frozen=True, slots=True, eq=False)
class PricedStep:
    """An instruction with its prices."""

    index: int
    kind: int
    unit: str  # what it occupies, in words
    timing_class: str
    port: str
    retires_in_order: bool
    latency: int
    interval: int
    reach: dict[str, int]  # forwarding distance to a consumer, by its timing class
    line: int
    sources: Values
    results: Values
    masks: Values
    updates: Values

    @property
    def is_scalar(self) -> bool:
        return self.kind == SCALAR


@dataclass(frozen=True, slots=True, eq=False)
class PricedBody:
    """A priced body. `dying[i]` are values last used by node i, `dying[-1]` those that only its end needs."""

    nodes: tuple["PricedStep | PricedControl", ...]
    dying: tuple[Values, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PricedControl:
    """A loop, while or branch with its priced bodies: (body,), (before, after) or (then, otherwise)."""

    node: ModelLoop | ModelWhile | ModelBranch
    blocks: tuple[PricedBody, ...]
    post_update: bool  # an access in the body returns the pointer that the next iteration uses
    dying_on_entry: Values  # initial values that nothing but the arguments stand for from now on


def price(body: Body, unit: IssueUnit) -> PricedBody:
    """Price a program; KeyError for a timing class that the target does not have."""
    return _block(body, (), (), unit, count())


def _block(body: Body, arguments: Values, needed_at_end: Values, unit: IssueUnit, numbers: Iterator[int]) -> PricedBody:
    last_use = dict.fromkeys(arguments, 0)
    inside: set[int] = set(arguments)
    for place, node in enumerate(body):
        defined = _defined(node)
        inside.update(defined)
        last_use.update(dict.fromkeys(defined, place))
        last_use.update((value, place) for value in _mentioned(node) if value in inside)
    last_use.update((value, len(body)) for value in needed_at_end if value in inside)
    dying: list[list[int]] = [[] for _ in range(len(body) + 1)]
    for value, place in last_use.items():
        dying[place].append(value)
    nodes = tuple(_node(node, set(dying[place]), unit, numbers) for place, node in enumerate(body))
    return PricedBody(nodes, tuple(map(tuple, dying)))


def _node(node: Node, dying: set[int], unit: IssueUnit, numbers: Iterator[int]) -> PricedStep | PricedControl:
    assert not isinstance(node, ModelSequence), "sequences are of A2A3"
    match node:
        case ModelInstruction():
            return _step(node, next(numbers), unit)
        case ModelBranch():
            then = _block(node.then, (), node.then_yielded, unit, numbers)
            otherwise = _block(node.otherwise, (), node.otherwise_yielded, unit, numbers)
            return PricedControl(node, (then, otherwise), False, ())
        case ModelLoop():
            blocks = (_block(node.body, node.arguments, node.yielded, unit, numbers),)
            body, inside = node.body, _mentioned_in(node.body, node.yielded)
        case ModelWhile():
            decided = (*node.condition, *node.passed)
            before = _block(node.before, node.arguments, decided, unit, numbers)
            blocks = before, _block(node.after, node.after_arguments, node.yielded, unit, numbers)
            body, inside = node.after, _mentioned_in((*node.before, *node.after), (*decided, *node.yielded))
    updated = {value for inner in body for value in _updated(inner, unit)}
    on_entry = tuple(dying & set(node.initial) - inside)
    return PricedControl(node, blocks, not updated.isdisjoint(node.yielded), on_entry)


def _step(instruction: ModelInstruction, index: int, unit: IssueUnit) -> PricedStep:
    prices = unit.classes[instruction.timing_class]
    narrow = column(instruction.width)
    row = unit.forward.get(instruction.timing_class)
    kind = _KIND_OF_CLASS.get(instruction.timing_class, _KIND_OF_PORT[prices.port])
    return PricedStep(
        index=index,
        kind=kind,
        unit=_unit(prices.port, prices.consumer, prices.interval[narrow]),
        timing_class=instruction.timing_class,
        port=prices.port,
        retires_in_order=unit.retire_in_order and prices.port == "any" and prices.consumer == "alu",
        latency=prices.latency[narrow],
        interval=prices.interval[narrow],
        reach={name: row.get(name, row[to.consumer])[narrow] for name, to in unit.classes.items()} if row else {},
        line=instruction.line,
        sources=instruction.sources,
        results=instruction.results,
        masks=instruction.masks,
        updates=instruction.updates,
    )


def _unit(port: str, consumer: str, interval: int) -> str:
    if port in ("load", "both-loads", "store"):
        return "load/store"
    if port == "exu0":
        return "reduction port"
    return "SFU" if consumer == "special" and interval > 1 else "execute ports"


def _defined(node: Node) -> Values:
    match node:
        case ModelInstruction():
            return (*node.results, *node.masks, *node.updates)
        case ModelSequence():
            return ()
        case _:
            return node.results


def _mentioned(node: Node) -> Iterator[int]:
    """The values that a node uses, inner bodies included."""
    match node:
        case ModelInstruction():
            yield from node.sources
        case ModelSequence():
            pass
        case ModelLoop():
            yield from (*node.initial, *_mentioned_in(node.body, node.yielded))
        case ModelBranch():
            yield from node.condition
            yield from _mentioned_in((*node.then, *node.otherwise), (*node.then_yielded, *node.otherwise_yielded))
        case ModelWhile():
            yield from node.initial
            ends = (*node.condition, *node.passed, *node.yielded)
            yield from _mentioned_in((*node.before, *node.after), ends)


def _mentioned_in(body: Body, needed_at_end: Values) -> set[int]:
    return {value for node in body for value in _mentioned(node)} | set(needed_at_end)


def _updated(node: Node, unit: IssueUnit) -> Values:
    """The pointers that an access returns."""
    if not isinstance(node, ModelInstruction) or unit.classes[node.timing_class].port in ("any", "exu0", "none"):
        return ()
    return node.updates
