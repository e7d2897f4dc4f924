"""Fused activations, multiply-adds, and sorting from UB to UB."""

from __future__ import annotations

from typing import Any

from ptosim.effects.geometry import reach
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, required, table
from ptosim.effects.requirement import fits

RECORD_BYTES = 8
"""A score and an index, in sorted lists."""
SORT_WIDTH = 32
"""Scores that pto.vbitsort sorts at a time."""
SORT_ALIGNMENT = 32
"""The alignment of its three addresses; recommended, not enforced."""


def _sort_accesses(static: Static) -> tuple[Access, ...]:
    width = static.elements["source"].bytes if "source" in static.elements else 4

    def spread(each: int) -> Any:
        def extent(operands: Any) -> Extent:
            return 0, operands.repeat * (SORT_WIDTH * each)

        return extent

    return (
        Access("read", Space.UB, "source", spread(width)),
        Access("read", Space.UB, "indices", spread(4)),
        Access("write", Space.UB, "dest", spread(RECORD_BYTES)),
    )


LISTS = 4
"""Lists that pto.vmrgsort4 merges."""


def list_count(count: Any, number: int) -> Any:
    """The length of list `number` in the packed word."""
    return count >> (16 * number) & 0xFFFF


def list_valid(config: Any, number: int) -> Any:
    """1 where list `number` takes part."""
    return config >> (8 + number) & 1


def repeats(config: Any) -> Any:
    """The number of merges, on lists that lie behind each other."""
    return config & 0xFF


def suspends(config: Any) -> Any:
    """1 where the merge stops as soon as one list is used up."""
    return config >> 12 & 1


def _merge_accesses(static: Static) -> tuple[Access, ...]:
    def records(operands: Any, number: int) -> Any:
        return list_count(operands.count, number) * list_valid(operands.config, number)

    def together(operands: Any) -> Any:
        return sum(records(operands, n) for n in range(LISTS))

    def source(number: int) -> Any:
        def extent(operands: Any) -> Extent:
            # each repeat goes on behind all four lists of the one before
            before = reach(repeats(operands.config), together(operands))
            any_repeat = repeats(operands.config) > 0
            return 0, any_repeat * ((before + records(operands, number)) * RECORD_BYTES)

        return extent

    def dest(operands: Any) -> Extent:
        return 0, together(operands) * repeats(operands.config) * RECORD_BYTES

    lists = tuple(Access("read", Space.UB, f"source{n}", source(n), RECORD_BYTES) for n in range(LISTS))
    return (*lists, Access("write", Space.UB, "dest", dest, RECORD_BYTES))


EFFECTS: dict[str, Effects] = table(
    Pipe.V,
    Taint.ELEMENTWISE,
    {
        "leaky_relu": "vlrelu vprelu",
        "exp_difference": "vexpdif",
        "multiply_long": "vmull",
    },
) | {
    "pto.vaxpy": Effects("pto.vaxpy", Pipe.V, "multiply_add", Taint.elementwise(keeps="addend")),
    "pto.vmula": Effects("pto.vmula", Pipe.V, "multiply_add", Taint.elementwise(keeps="acc")),
    "pto.vbitsort": Effects(
        "pto.vbitsort", Pipe.V, "sort", Taint.ALL_TO_ALL, _sort_accesses, required(*fits("repeat", 255))
    ),
    "pto.vmrgsort4": Effects(
        "pto.vmrgsort4", Pipe.V, "merge_sort", Taint.ALL_TO_ALL, _merge_accesses, writes=("VMS4_SR",)
    ),
}
