"""Copies from GM to L1 that change the layout of a matrix, and the filling of L1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptosim.effects.burst import alignment_of
from ptosim.effects.dma_layout import SMALL_ROW
from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import dma_grouped as grouped
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import Places, places
from ptosim.reference.semantics import Operands, semantics


def _width(static: Static) -> dict[str, int]:
    return {"width": static.elements["dest"].bytes}


@semantics(grouped.MteGmL1Frac, bind=_width)
def mte_gm_l1_frac(core: Core, operands: Operands, layout: str, width: int) -> Iterator[None]:
    """A matrix of n rows of d elements, so many groups of it; strides in GM count bytes, those in L1 granules."""
    n, d, groups = operands.n, operands.d, operands.groups
    _check(core, groups * -(-d * width // GRANULE) * n, operands.small_c0)
    if n == 0 or d == 0 or groups == 0:
        yield
        return
    rows = _read(core, operands, layout, width)
    yield
    if operands.small_c0:
        _write_small(core, operands, rows)
    else:
        _write_fractals(core, operands, rows)


def _check(core: Core, granules: int, small: int) -> None:
    """Ends the run if the data exceed L1, before anything is read."""
    size = len(core.memories[Space.L1])
    if granules * GRANULE > (SMALL_ROW * size if small else size):
        raise Fault("out-of-bounds", f"writes {granules} granules of {GRANULE} bytes of l1, which has {size} bytes")


def _read(core: Core, operands: Operands, layout: str, width: int) -> Bytes:
    """The bytes of the matrix as [group][row][column][byte]."""
    groups = operands.groups
    lines, length = (operands.n, operands.d) if layout == "nd2nz" else (operands.d, operands.n)
    starts = places(operands.source, (groups, operands.outer_stride or 0), (lines, operands.inner_stride))
    data = core.read_pieces(Space.GM, starts, length * width).reshape(groups, lines, length, width)
    return data if layout == "nd2nz" else data.transpose(0, 2, 1, 3)


def _with_columns(rows: Bytes, columns: int) -> Bytes:
    """Zeros behind the last column."""
    padded = np.zeros((*rows.shape[:2], columns, rows.shape[3]), np.uint8)
    padded[:, :, : rows.shape[2]] = rows
    return padded


def _write_fractals(core: Core, operands: Operands, rows: Bytes) -> None:
    """Columns in groups of 32 bytes, each group holding all rows."""
    groups, n, d, width = rows.shape
    c0 = GRANULE // width
    columns = -(-d // c0)
    granules = _with_columns(rows, columns * c0).reshape(groups, n, columns, GRANULE)
    starts = places(
        operands.dest,
        (groups, operands.loop4_stride * GRANULE),
        (columns, operands.loop3_stride * GRANULE),
        (n, operands.loop2_stride * GRANULE),
    )
    _look_for_overlap(core, starts)
    _write(core, starts, granules.transpose(0, 2, 1, 3).reshape(-1, GRANULE))


def _write(core: Core, starts: Places, data: Bytes) -> None:
    core.write_pieces(Space.L1, starts, data, alignment_of(Space.L1, core.target))


def _look_for_overlap(core: Core, starts: Places) -> None:
    if core.wants_lint and len(starts) > 1 and int(np.diff(np.sort(starts)).min()) < GRANULE:
        core.lint("parts of the matrix overlap in l1; which of them stays is not defined", "overlap")


def _write_small(core: Core, operands: Operands, rows: Bytes) -> None:
    """Rows of four elements, one behind the other; the end of a group is filled up to 32 bytes."""
    packed = _with_columns(rows, SMALL_ROW).reshape(len(rows), -1)
    filled = np.zeros((len(rows), -(-packed.shape[1] // GRANULE) * GRANULE), np.uint8)
    filled[:, : packed.shape[1]] = packed
    _write(core, places(operands.dest, (len(rows), operands.loop4_stride * GRANULE)), filled)


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
        _write(core, starts, core.pattern(np.tile(run, (repeat, 1))))
