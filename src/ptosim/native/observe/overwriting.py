"""The last root (language/analysis/pointer_roots.py) that each granule of UB was written through, as compiled code
keeps it: a byte, with the highest bit set where the granule was written through another one before."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ptosim.effects.names import UB
from ptosim.language.analysis.pointer_roots import PointerRoots
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, Value
from ptosim.native.observe import clocks
from ptosim.native.observe.layout import Layout
from ptosim.native.observe.shadow import GranuleTouch, Shadow, for_each, in_each

_AGAIN = 128


class RootTrack:
    """Emits what accesses do to the roots, in kernels that have several."""

    def __init__(self, layout: Layout, shadow: Shadow, operations: Iterable[Operation], target: str) -> None:
        self._layout = layout
        self._shadow = shadow
        self._roots = PointerRoots(operations, target)
        self._place = layout.room(UB, 1) if self._roots.are_many and UB in layout.defined else None

    @property
    def cleared(self) -> list[list[int]]:
        """The memory that is cleared before a block: address and size."""
        return [] if self._place is None else [[self._place, self._layout.granules(UB)]]

    def begin_block(self, f: FunctionBuilder) -> None:
        for place, count in self.cleared:
            clocks.at(f, place).fill(0, count)

    def of(self, op: Operation, verb: str) -> int | None:
        """The number of the root that an operation "reads" or "writes" through; None where that is of no interest."""
        root = self._roots.of(op, "write" if verb == "writes" else "read") if self._place is not None else None
        return root.number if root is not None else None

    def both(self, op: Operation) -> tuple[int | None, int | None]:
        """The pointers that an operation reads and writes through."""
        return self.of(op, "reads"), self.of(op, "writes")

    def write(self, f: FunctionBuilder, root: int | None, touch: GranuleTouch) -> None:
        """Note a write, through a root that is not known where there is none."""
        if self._place is None:
            return
        kind = for_each(I8, touch)
        place = clocks.at(f, self._place).at(touch.granule)
        before = place.load(kind)
        if root is None:
            after = in_each(f, f.constant(I8, 0), touch)
        else:
            own, again = (in_each(f, f.constant(I8, number), touch) for number in (root, root | _AGAIN))
            last = before & in_each(f, f.constant(I8, _AGAIN - 1), touch)
            after = (last == own).select(before, (last == last.like(0)).select(own, again))
        if not touch.is_full:
            after = self._shadow.touched(f, touch).select(after, before)
        place.store(after)

    def clobbered(self, f: FunctionBuilder, root: int | None, touch: GranuleTouch) -> Value:
        """The granules that are read through a root, and were written through another one again."""
        if root is None or self._place is None:
            return f.constant(for_each(I1, touch), 0)
        found = clocks.at(f, self._place).at(touch.granule).load(for_each(I8, touch))
        own = in_each(f, f.constant(I8, root | _AGAIN), touch)
        return found.compare("ugt", in_each(f, f.constant(I8, _AGAIN), touch)) & (found != own)
