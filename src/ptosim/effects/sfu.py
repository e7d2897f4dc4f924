"""Fused activations, multiply-adds, and sorting from UB to UB."""

from __future__ import annotations

from typing import Any

from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, table

RECORD_BYTES = 8
"""A score and an index, in sorted lists."""
SORT_WIDTH = 32
"""Scores that pto.vbitsort sorts at a time."""


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


def list_count(count: Any, number: int) -> Any:
    """The length of list `number` in the packed word."""
    return count >> (16 * number) & 0xFFFF


def list_valid(config: Any, number: int) -> Any:
    """Whether list `number` takes part."""
    return config >> (8 + number) & 1


def _merge_accesses(static: Static) -> tuple[Access, ...]:
    def source(number: int) -> Any:
        def extent(operands: Any) -> Extent:
            records = list_count(operands.count, number) * list_valid(operands.config, number)
            return 0, records * (operands.config & 0xFF) * RECORD_BYTES

        return extent

    def dest(operands: Any) -> Extent:
        records = sum(list_count(operands.count, n) * list_valid(operands.config, n) for n in range(4))
        return 0, records * (operands.config & 0xFF) * RECORD_BYTES

    lists = tuple(Access("read", Space.UB, f"source{n}", source(n), RECORD_BYTES) for n in range(4))
    return (*lists, Access("write", Space.UB, "dest", dest, RECORD_BYTES))


EFFECTS: dict[str, Effects] = table(
    Pipe.V,
    Taint.ELEMENTWISE,
    {
        "leaky_relu": "vlrelu vprelu",
        "exp_difference": "vexpdif",
        "multiply_add": "vaxpy vmula",
        "multiply_long": "vmull",
    },
) | {
    "pto.vbitsort": Effects("pto.vbitsort", Pipe.V, "sort", Taint.ALL_TO_ALL, _sort_accesses),
    "pto.vmrgsort4": Effects(
        "pto.vmrgsort4", Pipe.V, "merge_sort", Taint.ALL_TO_ALL, _merge_accesses, writes=("VMS4_SR",)
    ),
}
