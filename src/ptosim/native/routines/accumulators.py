"""Places of the accumulators of a matrix in L0C, for the observer of their reads and writes."""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_ROW, FRACTAL_ROWS
from ptosim.effects.names import Space
from ptosim.native.build.core import Core
from ptosim.native.ir.values import Value
from ptosim.native.observe.hooks import CopyRows, Step


def accumulators_touched(
    core: Core, verb: str, base: Value, rows: Step, n: Value, group: Value, repeats: Sequence[Step] = ()
) -> None:
    """Rows of n accumulators in groups of 16 columns, which lie `group` bytes apart."""
    full, rest = n.udiv(FRACTAL_ROWS), n & (FRACTAL_ROWS - 1)
    whole = n.like(ACCUMULATOR_ROW)
    core.observer.copied(core, verb, CopyRows(Space.L0C, base, [rows, (full, group), *repeats], whole))
    core.observer.copied(core, verb, CopyRows(Space.L0C, base + full * group, [rows, *repeats], rest * ACCUMULATOR))
