"""The choice of layouts. Bits never depend on them, so the least cost decides.

Vectors that an operation computes with lane by lane, or that control flow hands on, form a cluster of one layout. From
each of a few starts, one cluster at a time goes where it costs least, until nothing changes; the best end is taken. An
operation in a loop counts eight times for each loop around it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from ptosim.language.analysis.fast_walk import around
from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Function
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.vmi.demand import demands
from ptosim.vmi.layout import CONTIGUOUS, EIGHT, EVERY_2, EVERY_4, HALVES, QUARTERS, SINGLE, LaneLayout
from ptosim.vmi.layout_costs import cost, shape
from ptosim.vmi.values import LogicalValues

STARTS = (CONTIGUOUS, HALVES, QUARTERS, EVERY_2, EVERY_4)
LOOP_WEIGHT = 8
DEEPEST = 4
"""Loops that count."""


@dataclass
class Assignment:
    """Layouts of all vectors of a function, and their costs."""

    layouts: dict[SSAValue, LaneLayout] = field(default_factory=dict[SSAValue, LaneLayout])
    cost: int = 0
    contiguous: int = 0
    """The cost of side by side everywhere."""


def assigned(function: Function) -> LogicalValues:
    """The values of a function with their layouts."""
    return LogicalValues(assignment(function).layouts, _mask_widths(function), demands(function))


def assignment(function: Function) -> Assignment:
    clusters = clusters_of(function)
    edges = _edges(function, clusters)
    best: dict[int, LaneLayout] | None = None
    costs: list[int] = []
    for start in STARTS:
        chosen = {
            number: start if start in candidates(members) else CONTIGUOUS
            for number, members in clusters.members.items()
        }
        costs.append(_total(edges, chosen))
        _descend(edges, clusters, chosen)
        if best is None or _total(edges, chosen) < _total(edges, best):
            best = chosen
    assert best is not None
    layouts = {value: best[number] for number, members in clusters.members.items() for value in members}
    return Assignment(layouts, _total(edges, best), costs[0])


# --- clusters ---------------------------------------------------------------------------------------------------------


class VectorClusters:
    """Vectors that have one layout, found by joining."""

    def __init__(self, values: Sequence[SSAValue]) -> None:
        self._of = {value: number for number, value in enumerate(values)}
        self.members: dict[int, list[SSAValue]] = {number: [value] for number, value in enumerate(values)}

    def __getitem__(self, value: SSAValue) -> int:
        return self._of[value]

    def join(self, values: Sequence[SSAValue]) -> None:
        for one, other in pairwise(values):
            kept, gone = self._of[one], self._of[other]
            if kept != gone:
                for member in self.members[gone]:
                    self._of[member] = kept
                self.members[kept] += self.members.pop(gone)


def _vectors(values: Sequence[SSAValue]) -> list[SSAValue]:
    return [value for value in values if isinstance(value.type, LogicalVectorType)]


def clusters_of(function: Function) -> VectorClusters:
    operations = list(function.walk())
    values = [value for op in operations for value in _vectors((*op.results, *_arguments(op)))]
    clusters = VectorClusters(values)
    for op in operations:
        if isinstance(op, VmiOperation):
            if op.by_lanes or _keeps_width(op):
                clusters.join(_vectors((*op.operands, *op.results)))
        else:
            for group in _handed_on(op):
                clusters.join(_vectors(group))
    return clusters


def _arguments(op: Operation) -> list[SSAValue]:
    return [value for region in op.regions for block in region.blocks for value in block.args]


def _keeps_width(op: VmiOperation) -> bool:
    """A conversion or another view of lanes that stay where they are."""
    if len(op.operands) != 1 or len(op.results) != 1 or not ("cvt" in op.name or "cast" in op.name):
        return False
    vectors = _vectors((op.operands[0], op.results[0]))
    return len(vectors) == 2 and shape(vectors[0]) == shape(vectors[1])


def _handed_on(op: Operation) -> Iterator[Sequence[SSAValue]]:
    """Values that are one and the same for control flow."""
    parent = op.parent_op()
    match op:
        case For():
            yield from zip(op.iter_args, op.body.block.args[1:], op.results, strict=True)
        case While():
            yield from zip(op.arguments, op.before_region.block.args, strict=True)
            yield from zip(op.results, op.after_region.block.args, strict=True)
        case Select():
            yield op.if_true, op.if_false, op.result
        case Yield() if isinstance(parent, For | If):
            yield from zip(op.arguments, parent.results, strict=True)
        case Yield() if isinstance(parent, While):
            yield from zip(op.arguments, parent.before_region.block.args, strict=True)
        case Condition() if isinstance(parent, While):
            yield from zip(op.arguments, parent.results, strict=True)
        case _:
            pass


def candidates(members: Sequence[SSAValue]) -> list[LaneLayout]:
    """The layouts that are worth a trial: in parts, apart where lanes may become wider, as reductions give them."""
    lanes, width = shape(members[0])
    found = [CONTIGUOUS]
    if CONTIGUOUS.count(lanes, width) > 1 or width == 4:
        found += [HALVES, QUARTERS]
    found += [each for each in (EVERY_2, EVERY_4) if width * each.stride <= 4]
    if 1 < lanes <= 64:
        found += [EIGHT] if lanes > EIGHT.slots else []
        found.append(SINGLE)
    return found


# --- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Edge:
    """One operation, the clusters that it looks at, and what it has been found to cost."""

    op: VmiOperation
    weight: int
    clusters: VectorClusters
    seen: tuple[int, ...]
    known: dict[tuple[LaneLayout, ...], int] = field(default_factory=dict[tuple[LaneLayout, ...], int])

    def cost(self, chosen: Mapping[int, LaneLayout]) -> int:
        key = tuple(chosen[number] for number in self.seen)
        if key not in self.known:
            self.known[key] = self.weight * cost(self.op, partial(self._layout, chosen))
        return self.known[key]

    def _layout(self, chosen: Mapping[int, LaneLayout], value: SSAValue) -> LaneLayout:
        return chosen[self.clusters[value]]


def edges_of(function: Function) -> Iterator[tuple[VmiOperation, int]]:
    """The operations whose cost depends on layouts, and how often each counts."""
    for op in function.walk():
        if isinstance(op, VmiOperation) and _vectors((*op.operands, *op.results)):
            loops = sum(isinstance(each, For | While) for each in around(op))
            yield op, LOOP_WEIGHT ** min(loops, DEEPEST)


def _edges(function: Function, clusters: VectorClusters) -> list[_Edge]:
    found: list[_Edge] = []
    for op, weight in edges_of(function):
        seen = tuple(dict.fromkeys(clusters[value] for value in _vectors((*op.operands, *op.results))))
        found.append(_Edge(op, weight, clusters, seen))
    return found


def _total(edges: Sequence[_Edge], chosen: Mapping[int, LaneLayout]) -> int:
    return sum(edge.cost(chosen) for edge in edges)


def _descend(edges: Sequence[_Edge], clusters: VectorClusters, chosen: dict[int, LaneLayout]) -> None:
    """One cluster at a time goes where it costs least."""
    touching: dict[int, list[_Edge]] = defaultdict(list)
    for edge in edges:
        for number in edge.seen:
            touching[number].append(edge)
    changed = True
    while changed:
        changed = False
        for number, members in clusters.members.items():
            before = chosen[number]
            best, least = before, _total(touching[number], chosen)
            for layout in candidates(members):
                chosen[number] = layout
                if (there := _total(touching[number], chosen)) < least:
                    best, least = layout, there
            chosen[number] = best
            changed = changed or best != before


# --- masks ------------------------------------------------------------------------------------------------------------


def _mask_widths(function: Function) -> dict[SSAValue, int]:
    """The bytes of the lanes that each mask governs first, also through logic and control flow."""
    found: dict[SSAValue, int] = {}
    operations = list(function.walk())
    groups = [group for op in operations for group in _mask_groups(op)]
    for op in operations:
        data = _vectors((*op.operands, *op.results)) if isinstance(op, VmiOperation) else []
        for mask in op.operands if data else ():
            if isinstance(mask.type, LogicalMaskType):
                assert isinstance(data[0].type, LogicalVectorType)
                found.setdefault(mask, element_of(data[0].type.element).bytes)
    changed = True
    while changed:
        changed = False
        for group in groups:
            widths = [found[value] for value in group if value in found]
            for value in group if widths else ():
                changed = changed or value not in found
                found.setdefault(value, widths[0])
    return found


def _mask_groups(op: Operation) -> Iterator[list[SSAValue]]:
    groups = [(*op.operands, *op.results)] if isinstance(op, VmiOperation) else _handed_on(op)
    for group in groups:
        masks = [value for value in group if isinstance(value.type, LogicalMaskType)]
        if len(masks) > 1:
            yield masks
