"""The layouts that were chosen for the logical vectors of a function, and what they cost at the edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ptosim.language.logical_types import LogicalVectorType
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import element_name, element_of
from ptosim.vmi.assignment import Assignment, assignment
from ptosim.vmi.lower import functions_on_vectors


@dataclass(frozen=True)
class PlacedVector:
    """A logical vector, its layout and the registers that it fills."""

    name: str
    line: int | None
    lanes: int
    element: str
    layout: str
    registers: int


@dataclass(frozen=True)
class LayoutPlan:
    """The vectors of a function. Costs are instructions, of which those in a loop count eight times."""

    function: str
    cost: int
    contiguous_cost: int
    """With every vector side by side in its registers."""
    vectors: tuple[PlacedVector, ...]


def layout_plans(parsed: ParsedModule) -> list[LayoutPlan]:
    """The plans of a copy of a module, which is taken apart on the way."""
    return [_plan(parsed, function) for function in functions_on_vectors(parsed)]


def _plan(parsed: ParsedModule, function: Function) -> LayoutPlan:
    chosen = assignment(function)
    vectors = tuple(_placed(parsed, function, chosen))
    return LayoutPlan(function.symbol, chosen.cost, chosen.contiguous, vectors)


def _placed(parsed: ParsedModule, function: Function, chosen: Assignment) -> Iterator[PlacedVector]:
    for op in function.walk():
        arguments: list[SSAValue] = [arg for region in op.regions for block in region.blocks for arg in block.args]
        for value in (*op.results, *arguments):
            if isinstance(value.type, LogicalVectorType):
                place, element = parsed.location(op), value.type.element
                layout, lanes = chosen.layouts[value], value.type.lanes
                count = layout.count(lanes, element_of(element).bytes)
                name, line = parsed.name_of(value), None if place is None else place.line
                yield PlacedVector(name, line, lanes, element_name(element) or "", str(layout), count)
