"""Signals in global memory: the scalar unit writes and polls words. They are no accesses of data, and race by rules of
their own."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

SIGNALS = frozenset(("pto.sim.notify", "pto.sim.wait_words", "pto.sim.test_words"))
WRITERS = frozenset(("pto.sim.notify", "pto.store_scalar", "pto.st_dev"))
"""What may write a word that somebody waits for, besides copies."""
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
