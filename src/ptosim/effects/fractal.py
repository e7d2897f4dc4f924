"""The layouts of the cube's memories as numbers: fractals, accumulators, MX scales, parameter rows.

L0A and L0B hold fractals of 16 rows x 32 bytes, all rows of a 32-byte column of the matrix together; L0C holds groups
of 16 columns, in each one row of 16 accumulators per matrix row.
"""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.float_format import FOUR_BITS
from ptosim.effects.geometry import ceil_div
from ptosim.effects.names import Space

FRACTAL_ROWS = 16
"""Rows of a fractal of L0A, columns of one of L0B; also the columns of a group of accumulators."""
FRACTAL_ROW = 32
"""Bytes."""
FRACTAL = FRACTAL_ROWS * FRACTAL_ROW

ACCUMULATOR = 4
ACCUMULATOR_ROW = FRACTAL_ROWS * ACCUMULATOR
ACCUMULATOR_FRACTAL = FRACTAL_ROWS * ACCUMULATOR_ROW

SCALE_GROUP = 32
"""Values along k that share an MX scale."""
SCALED_STEP = 2 * SCALE_GROUP
"""The divisor of k in a product with scales."""
SCALE_FRAGMENT = 32
"""Bytes of the scales of 16 rows x 2 groups."""
SCALE_SHIFT = 4
"""An MX scale lies at the L0 address of its data, shifted right by this."""

BIAS_ALIGNMENT = 64
SEGMENT_BITS = 16
"""Address bits of pointers into fb from here on select a segment of the fixpipe buffer."""
SEGMENTS = {0: Space.FB, 1: Space.FB_RELU}
PARAMETERS = frozenset(SEGMENTS.values())
"""Memories whose words tell a store what to do: it reads them, and moves none."""


def fractal_columns(element: Element) -> int:
    """The values of one row of a fractal (C0)."""
    return 2 * FRACTAL_ROW if element.name in FOUR_BITS else FRACTAL_ROW // element.bytes


def depth_bytes(element: Element, k: Any) -> Any:
    """The bytes of k values of one matrix row."""
    return ceil_div(k, 2) if element.name in FOUR_BITS else k * element.bytes
