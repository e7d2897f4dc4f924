"""Rules of a local memory for a tile in it: whole rows, whole boxes, an aligned address, enough bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.language.operation import Problem, lint
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.tile.tile_buf import TileBuf, is_fp4
from ptosim.target import load_target

_TOP_OF_UB = 8 * 1024
"""The bytes that the official planner leaves free at the end of UB on a5."""

_ADDRESS_ALIGNMENT = {"left": 512, "right": 512, "acc": 512}


def address_alignment(tile: TileBuf) -> int:
    """The alignment of the address of a tile."""
    return _ADDRESS_ALIGNMENT.get(tile.loc, GRANULE)


def layout_problems(tile: TileBuf, at: str) -> Iterator[Problem]:
    """A tile without boxes has whole granules along its major direction, one with boxes whole boxes."""
    if tile.boxed:
        yield from _box_problems(tile, at)
        return
    side, extent = ("row", tile.cols) if tile.blayout == "row_major" else ("column", tile.rows)
    size, unit = extent * tile.element_bits // 8, 16 if is_fp4(tile.element) else GRANULE
    if size % unit:
        message = f"expects {side} byte size to be {unit}-byte aligned, but got {size} bytes"
        yield _tolerated(message, at) if _is_half_a_granule(tile) else Problem(message, at=at)


def _box_problems(tile: TileBuf, at: str) -> Iterator[Problem]:
    rows, cols = (replace(tile, loc="mat") if tile.counts_values else tile).written_box  # a value counts as a byte here
    if tile.cols % cols:
        message = f"expects cols to be a multiple of the {cols} columns of a box, but got {tile.cols}"
        yield _tolerated(message, at) if _is_half_a_granule(tile) else Problem(message, at=at)
    free = tile.loc == "vec" or tile.fractal == 32 or tile.rows == 1
    if tile.rows % rows and not free:
        yield Problem(f"expects rows to be a multiple of the {rows} rows of a box, but got {tile.rows}", at=at)


def _is_half_a_granule(tile: TileBuf) -> bool:
    """Rows of 16 one-byte elements: two public kernels have them, and run."""
    return tile.layout in ("ND", "NZ") and tile.cols == 16 and tile.element_bytes == 1


def _tolerated(message: str, at: str) -> Problem:
    return lint(message, at=at)


def address_problems(tile: TileBuf, address: SSAValue, target: str, at: str, size: int) -> Iterator[Problem]:
    """A constant address is aligned, and the tile, of so many bytes, ends within its memory."""
    known = constant_of(address)
    if known is None:
        return
    alignment = address_alignment(tile)
    if known < 0:
        yield Problem(f"addr must be non-negative, got {known}", at=at)
        return
    if known % alignment:
        message = f"addr must be aligned to {alignment} bytes for local tile memory space, got {known}"
        yield Problem(message, at=at, kind="misaligned")
    capacity = load_target(target).memory[tile.space]
    end = known + size
    if end > capacity:
        message = f"the tile occupies {tile.space}[{known}:{end}], but {tile.space} of {target} has {capacity} bytes"
        yield Problem(message, at=at, kind="out-of-bounds")
    elif target == "a5" and tile.space is Space.UB and end > capacity - _TOP_OF_UB:
        message = f"the tile reaches into the last {_TOP_OF_UB} bytes of ub, which the official compiler keeps free"
        yield lint(message, at=at)
