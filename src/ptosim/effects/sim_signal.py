"""Signals in global memory: the scalar unit writes and polls words. They are no accesses of data, and race by rules of
their own."""

from __future__ import annotations

import operator
from collections.abc import Callable

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

SIGNALS = frozenset(("pto.sim.notify", "pto.sim.wait_words", "pto.sim.test_words"))
WRITERS = frozenset(("pto.sim.notify", "pto.store_scalar", "pto.st_dev"))
"""Instructions besides copies that may write a word for which somebody waits."""
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
"""Comparisons of a word with a number."""
OPPOSITES = {"eq": "ne", "ne": "eq", "gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}
MOST_LOOKS = 1 << 16
"""Looks at words in GM in a row, of all cores together, after which nothing is expected to change any more."""
WORD = 4
"""Bytes of a signal."""

EFFECTS: dict[str, Effects] = table(
    Pipe.S, Taint.NONE, {"sync": "sim.notify sim.wait_words sim.test_words", "rename": "sim.group"}
)


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """The bytes from the first word of a view to each, row by row."""
    found = [0]
    for size, stride in zip(shape, strides, strict=True):
        found = [start + WORD * stride * step for start in found for step in range(size)]
    return found
