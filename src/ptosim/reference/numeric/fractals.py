"""Moves of fractals and scale fragments out of L1: what both spellings of the loads do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptosim.effects.burst import alignment_of
from ptosim.effects.cube_load import FIELDS, FractalSteps, dest_counts
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.float_format import FOUR_BITS
from ptosim.effects.fractal import FRACTAL, FRACTAL_ROWS, SCALE_FRAGMENT, SCALE_SHIFT, fractal_columns
from ptosim.effects.names import Space
from ptosim.reference.core import Bytes, Core
from ptosim.reference.memory.access_places import Places, places
from ptosim.reference.requirement import demand

# --- fractals ---------------------------------------------------------------------------------------------------------


def load_tile(
    core: Core, space: Space, source: int, dest: int, control: FractalSteps, element: Element, transpose: bool
) -> Iterator[None]:
    """Whole fractals of L1 into L0A or L0B, each as it is or the matrix that they form transposed."""
    demand(core, FIELDS, control._asdict())
    if not control.k_step or not control.m_step:
        yield
        return
    first = source + (control.k_start * control.source_stride + control.m_start) * FRACTAL
    steps = (control.k_step, control.source_stride * FRACTAL), (control.m_step, FRACTAL)
    fractals = _read_fractals(core, places(first, *steps))
    yield
    counts = dest_counts(control, fractal_columns(element), transpose)
    starts = places(dest, (counts[0], control.dest_stride * FRACTAL), (counts[1], FRACTAL))
    if transpose:
        fractals = _transposed(core, fractals.reshape(control.k_step, control.m_step, FRACTAL), element)
    if len(starts):
        core.write_pieces(space, starts, fractals, alignment_of(space, core.target))


def _read_fractals(core: Core, starts: Places) -> Bytes:
    """Fractals of L1. Padding may reach behind the end of L1, where there are zeros."""
    end = len(core.memories[Space.L1])
    if int(starts.max()) + FRACTAL <= end or int(starts.min()) >= end:
        return core.read_pieces(Space.L1, starts, FRACTAL, alignment_of(Space.L1, core.target))
    rows = places(0, (FRACTAL_ROWS, GRANULE)) + starts[:, np.newaxis]
    inside = rows < end
    fractals = np.zeros((*rows.shape, GRANULE), np.uint8)
    fractals[inside] = core.read_pieces(Space.L1, rows[inside], GRANULE, alignment_of(Space.L1, core.target))
    return fractals.reshape(-1, FRACTAL)


def _transposed(core: Core, fractals: Bytes, element: Element) -> Bytes:
    """The matrix of [k_step][m_step] fractals, transposed and cut into fractals again."""
    if element.name not in FOUR_BITS:
        return _turned(fractals, element.bytes)
    values = core.converted(fractals.reshape(-1), 1, _split).reshape(*fractals.shape[:2], 2 * FRACTAL)
    return core.converted(_turned(values, 1).reshape(-1), 2, _joined).reshape(-1, FRACTAL)


def _turned(fractals: Bytes, width: int) -> Bytes:
    """Elements of `width` bytes; what does not fill a fractal of the result is left out."""
    across, down, size = fractals.shape
    columns = size // FRACTAL_ROWS // width
    matrix = fractals.reshape(across, down, FRACTAL_ROWS, columns, width).transpose(1, 2, 0, 3, 4)
    matrix = matrix.reshape(down * FRACTAL_ROWS, across * columns, width)
    high, wide = matrix.shape[0] // columns, matrix.shape[1] // FRACTAL_ROWS
    cut = matrix[: high * columns, : wide * FRACTAL_ROWS]
    turned = cut.reshape(high, columns, wide, FRACTAL_ROWS, width).transpose(0, 2, 3, 1, 4)
    return turned.reshape(high * wide, size)


def _split(packed: Bytes) -> Bytes:
    """Two 4-bit values from each byte, the low one first."""
    return np.stack((packed & np.uint8(15), packed >> np.uint8(4)), axis=-1).reshape(-1)


def _joined(values: Bytes) -> Bytes:
    return values[::2] | values[1::2] << np.uint8(4)


# --- scales -----------------------------------------------------------------------------------------------------------


def load_scales(
    core: Core, space: Space, source: int, dest: int, control: FractalSteps, shift: int = SCALE_SHIFT
) -> Iterator[None]:
    """Fragments of 32 bytes into the scale buffer, at the address of the data shifted right."""
    demand(core, FIELDS, control._asdict())
    if dest & ((1 << shift) - 1):
        core.violation("misaligned", f"scales for data at {dest}, which is not a multiple of {1 << shift}")
    if not control.m_step or not control.k_step:
        yield
        return
    first = source + (control.m_start * control.source_stride + control.k_start) * SCALE_FRAGMENT
    read = places(first, (control.m_step, control.source_stride * SCALE_FRAGMENT), (control.k_step, SCALE_FRAGMENT))
    data = core.read_pieces(Space.L1, read, SCALE_FRAGMENT, alignment_of(Space.L1, core.target))
    yield
    starts = places(
        dest >> shift, (control.m_step, control.dest_stride * SCALE_FRAGMENT), (control.k_step, SCALE_FRAGMENT)
    )
    core.write_pieces(space, starts, data)
