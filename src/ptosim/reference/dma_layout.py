"""Copies from GM to L1 that change the layout of a matrix, and the filling of L1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptosim.effects.burst import alignment_of
from ptosim.effects.dma_layout import SMALL_ROW
from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import dma_grouped as grouped
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.places import Places, places
from ptosim.reference.semantics import Operands, semantics


@dataclass(frozen=True)
class Groups:
    """How often the matrix is repeated, and where its parts go in L1, in 32-byte units."""

    count: int
    row: int
    column: int
    """From a group of 32-byte columns to the next."""
    group: int


@dataclass(frozen=True)
class Matrix:
    """The matrix in GM: n rows of d elements, strides in bytes."""

    layout: str
    n: int
    d: int
    inner: int
    outer: int
    width: int
    """Bytes per element."""

    def read(self, core: Core, source: int, groups: int) -> Bytes:
        """Its bytes as [group][row][column][byte]."""
        lines, length = (self.n, self.d) if self.layout == "nd2nz" else (self.d, self.n)
        starts = places(source, (groups, self.outer), (lines, self.inner))
        data = core.read_pieces(Space.GM, starts, length * self.width).reshape(groups, lines, length, self.width)
        return data if self.layout == "nd2nz" else data.transpose(0, 2, 1, 3)


def _check(core: Core, matrix: Matrix, groups: Groups, small: int) -> None:
    """What L1 could not hold ends here, before it is read."""
    size = len(core.memories[Space.L1])
    granules = groups.count * -(-matrix.d * matrix.width // GRANULE) * matrix.n
    if granules * GRANULE > (SMALL_ROW * size if small else size):
        raise Fault("out-of-bounds", f"writes {granules} granules of {GRANULE} bytes of l1, which has {size} bytes")


def _with_columns(rows: Bytes, columns: int) -> Bytes:
    """Zeros behind the last column."""
    padded = np.zeros((*rows.shape[:2], columns, rows.shape[3]), np.uint8)
    padded[:, :, : rows.shape[2]] = rows
    return padded


def _copy(core: Core, source: int, dest: int, matrix: Matrix, groups: Groups, small: int) -> Iterator[None]:
    _check(core, matrix, groups, small)
    if matrix.n == 0 or matrix.d == 0 or groups.count == 0:
        yield
        return
    rows = matrix.read(core, source, groups.count)
    yield
    if small:
        _write_small(core, dest, rows, groups)
    else:
        _write_fractals(core, dest, rows, groups)


def _write_fractals(core: Core, dest: int, rows: Bytes, groups: Groups) -> None:
    """Columns in groups of 32 bytes, each group holding all rows."""
    c0 = GRANULE // rows.shape[3]
    columns = -(-rows.shape[2] // c0)
    granules = _with_columns(rows, columns * c0).reshape(groups.count, rows.shape[1], columns, GRANULE)
    starts = places(
        dest,
        (groups.count, groups.group * GRANULE),
        (columns, groups.column * GRANULE),
        (rows.shape[1], groups.row * GRANULE),
    )
    _look_for_overlap(core, starts)
    core.write_pieces(
        Space.L1, starts, granules.transpose(0, 2, 1, 3).reshape(-1, GRANULE), alignment_of(Space.L1, core.target)
    )


def _look_for_overlap(core: Core, starts: Places) -> None:
    if core.wants_lint and len(starts) > 1 and int(np.diff(np.sort(starts)).min()) < GRANULE:
        core.lint("parts of the matrix overlap in l1; which of them stays is not defined", "overlap")


def _write_small(core: Core, dest: int, rows: Bytes, groups: Groups) -> None:
    """Rows of four elements, one behind the other; the end of a group is filled up to 32 bytes."""
    packed = _with_columns(rows, SMALL_ROW).reshape(groups.count, -1)
    filled = np.zeros((groups.count, -(-packed.shape[1] // GRANULE) * GRANULE), np.uint8)
    filled[:, : packed.shape[1]] = packed
    core.write_pieces(
        Space.L1, places(dest, (groups.count, groups.group * GRANULE)), filled, alignment_of(Space.L1, core.target)
    )


def _width(static: Static) -> dict[str, int]:
    return {"width": static.elements["dest"].bytes}


@semantics(grouped.MteGmL1Frac, bind=_width)
def mte_gm_l1_frac(core: Core, operands: Operands, layout: str, width: int) -> Iterator[None]:
    strides = operands.inner_stride, operands.outer_stride or 0
    matrix = Matrix(layout, operands.n, operands.d, *strides, width)
    groups = Groups(operands.groups, operands.loop2_stride, operands.loop3_stride, operands.loop4_stride)
    yield from _copy(core, operands.source, operands.dest, matrix, groups, operands.small_c0)


# --- filling ----------------------------------------------------------------------------------------------------------


@semantics(grouped.RawFillL1)
def raw_fill_l1(
    core: Core, dest: int, byte_offset: int, value: int, repeat: int, blocks: int, gap: int, fill_word_bits: int
) -> Iterator[None]:
    size = len(core.memories[Space.L1])
    if repeat * blocks * GRANULE > size:
        raise Fault("out-of-bounds", f"writes {repeat * blocks * GRANULE} bytes of l1, which has {size} bytes")
    yield
    if repeat and blocks:
        word = (value & ((1 << fill_word_bits) - 1)).to_bytes(fill_word_bits // 8, "little")
        run = np.frombuffer(word * (blocks * GRANULE // len(word)), np.uint8)
        starts = places(dest + byte_offset, (repeat, (blocks + gap) * GRANULE))
        core.write_pieces(
            Space.L1, starts, core.pattern(np.tile(run, (repeat, 1))), alignment_of(Space.L1, core.target)
        )
