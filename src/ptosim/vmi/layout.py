"""Layouts of logical vectors: the register that each lane lies in, and its position there.

A layout never changes a bit of a result, only what it costs (assignment.py). All that is said of registers follows from
three numbers, for elements of any width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptosim.effects.element import VECTOR_BYTES


@dataclass(frozen=True)
class LaneLayout:
    """Lane i is lane i // parts of part i % parts; a part fills its registers in order.

    In a register lanes lie `stride` positions apart; `slots` says how many of them it holds, 0 as many as fit. The
    registers of part 0 come first.
    """

    parts: int = 1
    stride: int = 1
    slots: int = 0

    def held(self, width: int) -> int:
        """Lanes of a register, for elements of so many bytes."""
        return self.slots or VECTOR_BYTES // width // self.stride

    def registers_of_part(self, lanes: int, width: int) -> int:
        longest = (lanes + self.parts - 1) // self.parts
        return -(-longest // self.held(width))

    def count(self, lanes: int, width: int) -> int:
        """All registers."""
        return self.parts * self.registers_of_part(lanes, width)

    def runs(self, lanes: int, width: int) -> Iterator[tuple[int, int, int]]:
        """For each register its part, its first lane in the part, and the number of lanes that it holds."""
        held = self.held(width)
        for part in range(self.parts):
            there = (lanes + self.parts - 1 - part) // self.parts
            for number in range(self.registers_of_part(lanes, width)):
                first = number * held
                yield part, first, max(0, min(held, there - first))

    def is_full(self, lanes: int, width: int) -> bool:
        """Whether every position of every register is a lane."""
        most = VECTOR_BYTES // width
        return self.stride == 1 and all(count == most for _, _, count in self.runs(lanes, width))

    def __str__(self) -> str:
        if self.slots:
            return f"{self.slots} to a register"
        if self.stride > 1:
            return f"every {self.stride} positions"
        return f"split in {self.parts}" if self.parts > 1 else "contiguous"


CONTIGUOUS = LaneLayout()
HALVES, QUARTERS = LaneLayout(parts=2), LaneLayout(parts=4)
EVERY_2, EVERY_4 = LaneLayout(stride=2), LaneLayout(stride=4)
EIGHT, SINGLE = LaneLayout(slots=8), LaneLayout(slots=1)
"""Eight lanes to a register, as reductions of blocks give them; one, as reductions of registers do."""
