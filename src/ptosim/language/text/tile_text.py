"""Printed tile types. Imports no xDSL, because running needs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ptosim.effects.element import ELEMENTS, Element
from ptosim.language.text.literals import float_of

FORMATS = {"width8_precision4": (8, 4), "width8_precision2": (8, 2), "width10_precision6": (10, 6)}
"""Characters of a number, and digits behind its point."""

MOST = 1 << 18
"""Elements that are shown: as many as the bytes of UB. Views of global memory may have more."""

OUTSIDE = "?"


@dataclass(frozen=True)
class Drawing:
    """The static facts of a printed tile."""

    title: str
    element: str
    format: str
    box: tuple[int, int] = (1, 1)


class Extents(NamedTuple):
    """Numbers of a run: physical and valid extents, and distances in elements inside of a box and from box to box."""

    rows: int
    columns: int
    valid_rows: int
    valid_columns: int
    row_stride: int
    column_stride: int
    block_row_stride: int = 0
    block_column_stride: int = 0

    def offset(self, row: int, column: int, box: tuple[int, int]) -> int:
        if box == (1, 1):
            return row * self.row_stride + column * self.column_stride
        (block_row, inner_row), (block_column, inner_column) = divmod(row, box[0]), divmod(column, box[1])
        outer = block_row * self.block_row_stride + block_column * self.block_column_stride
        return outer + inner_row * self.row_stride + inner_column * self.column_stride


def tile_text(core: str, drawing: Drawing, extents: Extents, memory: memoryview, start: int) -> str:
    """All physical elements of a tile whose first one is at byte `start` of a memory; bars mark the valid region.

    An element outside of the memory is a question mark.
    """
    lines = list(_lines(drawing, extents, memory, start))
    shape = f"{extents.rows}x{extents.columns}x{drawing.element}"
    title = f"{drawing.title} " if drawing.title else ""
    return "\n".join([f"{core}: {title}{shape}, valid {extents.valid_rows}x{extents.valid_columns}", *lines])


def _lines(drawing: Drawing, extents: Extents, memory: memoryview, start: int) -> Iterator[str]:
    element, columns = ELEMENTS[drawing.element], extents.columns
    width, precision = FORMATS[drawing.format]
    if columns <= 0:
        return
    shown = min(extents.rows, max(1, MOST // columns))
    for row in range(shown):
        if row == extents.valid_rows and row:
            yield "-" * ((width + 1) * min(columns, MOST) + 2 * (0 < extents.valid_columns < columns))
        numbers = [
            _number(element, memory, start + extents.offset(row, column, drawing.box) * element.bytes, precision)
            for column in range(min(columns, MOST))
        ]
        valid = max(0, extents.valid_columns)
        parts = [numbers[:valid], numbers[valid:]]
        yield " |".join("".join(f" {number:>{width}}" for number in part) for part in parts if part)
    if shown < extents.rows or columns > MOST:
        yield "..."


def _number(element: Element, memory: memoryview, place: int, precision: int) -> str:
    if place < 0 or place + element.bytes > len(memory):
        return OUTSIDE
    pattern = int.from_bytes(memory[place : place + element.bytes], "little")
    if element.is_float:
        return f"{float_of(pattern, element):.{precision}f}"
    if element.kind == "lowprecision":
        return f"0x{pattern:0{2 * element.bytes}x}"
    sign = 1 << (element.bits - 1)
    return str((pattern & (2 * sign - 1) ^ sign) - sign if element.kind == "signed" and element.bits > 1 else pattern)
