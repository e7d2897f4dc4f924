"""The rows of a table that one entry goes to by index, to see whether it goes to one of them twice.

They are kept in a table of numbers, found by a hash. A number counts as long as its entry runs: what earlier ones have
left need not be cleared.
"""

from __future__ import annotations

from functools import cached_property

from ptosim.effects.names import Space
from ptosim.native.build.core import Core
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Value
from ptosim.native.observe import clocks
from ptosim.native.observe.layout import Layout
from ptosim.native.observe.rows import Suspect
from ptosim.native.observe.shadow import V, Visit

_PER_GRANULE = 16
"""Places for each granule of UB: twice the indices that it can hold."""
_SPREAD = 0x9E3779B1


class Chosen:
    """Emits what an index does."""

    def __init__(self, layout: Layout, suspect: Suspect) -> None:
        self._layout = layout
        self._suspect = suspect

    @cached_property
    def _table(self) -> int:
        return self._layout.room(Space.UB, 8 * _PER_GRANULE)

    def add(self, core: Core, visit: Visit, number: Value) -> None:
        """The entry goes to this row; two pipes count their entries apart."""
        entry = (visit.stamp.zext(I64) << 1) + int(visit.slot == V)
        core.f.call(core.unit.routine("chosen", [I64], self._add), entry << 32 | number)

    def _add(self, f: FunctionBuilder) -> None:
        (word,) = f.parameters
        table, places = clocks.at(f, self._table), _PER_GRANULE * self._layout.granules(Space.UB)
        spread = ((word & 0xFFFFFFFF) * _SPREAD) & 0xFFFFFFFF

        def is_another(carried: list[Value]) -> tuple[Value, list[Value]]:
            there = table.at(carried[0] << 3).load(I64, 8)
            return (there.lshr(32) == word.lshr(32)) & (there != word), carried

        first = spread.lshr(33 - places.bit_length())
        (place,) = f.while_loop([first], is_another, lambda carried: [(carried[0] + 1) & (places - 1)])
        here = table.at(place << 3)
        self._suspect(f, here.load(I64, 8) == word)
        here.store(word, 8)
