"""L0C as a matrix. Nothing but the accumulators asked for is touched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_FRACTAL, ACCUMULATOR_ROW, FRACTAL_ROWS
from ptosim.effects.names import Space
from ptosim.reference.core import Core
from ptosim.reference.places import places

Words = NDArray[np.uint32]


def read_accumulators(core: Core, base: int, m: int, n: int, group_rows: int, row_step: int = 1) -> Words:
    """m x n accumulators as bits; a group of columns has `group_rows` rows, of which every `row_step`-th is read."""
    words = np.empty((m, n), np.uint32)
    rows = (m, row_step * ACCUMULATOR_ROW)
    full, rest = divmod(n, FRACTAL_ROWS)
    if full:
        starts = places(base, (full, group_rows * ACCUMULATOR_ROW), rows)
        data = core.read_pieces(Space.L0C, starts, ACCUMULATOR_ROW).view(np.uint32)
        words[:, : full * FRACTAL_ROWS] = data.reshape(full, m, FRACTAL_ROWS).transpose(1, 0, 2).reshape(m, -1)
    if rest:
        starts = places(base + full * group_rows * ACCUMULATOR_ROW, rows)
        words[:, full * FRACTAL_ROWS :] = core.read_pieces(Space.L0C, starts, rest * ACCUMULATOR).view(np.uint32)
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
