"""L0C as a matrix. Nothing but the accumulators asked for is touched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_FRACTAL, ACCUMULATOR_ROW, FRACTAL_ROWS
from ptosim.effects.names import Space
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Places, places

Words = NDArray[np.uint32]


def read_accumulators(core: Core, bases: Places, m: int, n: int, group_rows: int, row_step: int = 1) -> Words:
    """m x n accumulators from each base on, as bits; a group of columns has `group_rows` rows, of which every
    `row_step`-th is read."""
    words = np.empty((len(bases), m, n), np.uint32)
    rows = (m, row_step * ACCUMULATOR_ROW)
    full, rest = divmod(n, FRACTAL_ROWS)
    if full:
        starts = places(0, (full, group_rows * ACCUMULATOR_ROW), rows) + bases[:, np.newaxis]
        data = core.read_pieces(Space.L0C, starts.reshape(-1), ACCUMULATOR_ROW).view(np.uint32)
        groups = data.reshape(len(bases), full, m, FRACTAL_ROWS).transpose(0, 2, 1, 3)
        words[..., : full * FRACTAL_ROWS] = groups.reshape(len(bases), m, -1)
    if rest:
        starts = places(full * group_rows * ACCUMULATOR_ROW, rows) + bases[:, np.newaxis]
        data = core.read_pieces(Space.L0C, starts.reshape(-1), rest * ACCUMULATOR).view(np.uint32)
        words[..., full * FRACTAL_ROWS :] = data.reshape(len(bases), m, rest)
    return words


def write_accumulators(core: Core, base: int, words: Words) -> None:
    """A matrix of bits; the rest of its fractals keeps what it held."""
    m, n = words.shape
    group = -(-m // FRACTAL_ROWS) * ACCUMULATOR_FRACTAL
    full, rest = divmod(n, FRACTAL_ROWS)
    if full:
        data = (
            words[:, : full * FRACTAL_ROWS]
            .reshape(m, full, FRACTAL_ROWS)
            .transpose(1, 0, 2)
            .reshape(full * m, FRACTAL_ROWS)
        )
        starts = places(base, (full, group), (m, ACCUMULATOR_ROW))
        core.write_pieces(Space.L0C, starts, np.ascontiguousarray(data).view(np.uint8))
    if rest:
        data = np.ascontiguousarray(words[:, full * FRACTAL_ROWS :]).view(np.uint8)
        core.write_pieces(Space.L0C, places(base + full * group, (m, ACCUMULATOR_ROW)), data)
