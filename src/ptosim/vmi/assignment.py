"""The choice of layouts. Bits never depend on them, so the least cost decides.

Vectors that an operation computes with lane by lane, or that control flow hands on, form a cluster of one layout. An
operation costs by the layouts of the clusters that it looks at, in a loop eight times as much for each loop around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.analysis.fast_walk import around
from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.function import Function
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import VmiOperation
from ptosim.vmi.demand import demands
from ptosim.vmi.layout import CONTIGUOUS, EIGHT, EVERY_2, EVERY_4, HALVES, QUARTERS, SINGLE, LaneLayout
from ptosim.vmi.layout_costs import ACCESS, cost, shape
from ptosim.vmi.least_cost import CostTable, cost_table, least_choices
from ptosim.vmi.values import LogicalValues

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
    options = {number: candidates(members) for number, members in clusters.members.items()}
    tables = list(_tables(function, clusters, options))
    chosen = least_choices(tables, {number: len(layouts) for number, layouts in options.items()})
    layouts = {
        value: options[number][chosen[number]] for number, members in clusters.members.items() for value in members
    }
    cost = sum(int(table.costs[tuple(chosen[number] for number in table.choices)]) for table in tables)
    return Assignment(layouts, cost // ACCESS, sum(int(table.costs.flat[0]) for table in tables) // ACCESS)


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
    found += [each for each in (EVERY_2, EVERY_4) if width * each.stride <= (8 if lanes * 8 == VECTOR_BYTES else 4)]
    if 1 < lanes <= 64:
        found += [EIGHT] if lanes > EIGHT.slots else []
        found.append(SINGLE)
    return found


# --- costs ------------------------------------------------------------------------------------------------------------


def edges_of(function: Function) -> Iterator[tuple[VmiOperation, int]]:
    """The operations whose cost depends on layouts, and how often each counts."""
    for op in function.walk():
        if isinstance(op, VmiOperation) and _vectors((*op.operands, *op.results)):
            loops = sum(isinstance(each, For | While) for each in around(op))
            yield op, LOOP_WEIGHT ** min(loops, DEEPEST)


def _tables(
    function: Function, clusters: VectorClusters, options: Mapping[int, Sequence[LaneLayout]]
) -> Iterator[CostTable]:
    """The costs of each operation by the layouts of the clusters that it looks at; contiguous ones come first."""
    sizes = {number: len(layouts) for number, layouts in options.items()}
    for op, weight in edges_of(function):
        seen = tuple(dict.fromkeys(clusters[value] for value in _vectors((*op.operands, *op.results))))

        yield cost_table(seen, sizes, _OperationCost(op, weight, clusters, options, seen))


@dataclass(frozen=True)
class _OperationCost:
    """The cost of one operation by the options of the clusters that it looks at."""

    op: VmiOperation
    weight: int
    clusters: VectorClusters
    options: Mapping[int, Sequence[LaneLayout]]
    seen: tuple[int, ...]

    def __call__(self, *chosen: int) -> int:
        layouts = {number: self.options[number][option] for number, option in zip(self.seen, chosen, strict=True)}
        return self.weight * cost(self.op, lambda value: layouts[self.clusters[value]])


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
