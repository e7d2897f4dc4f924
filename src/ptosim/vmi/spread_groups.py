"""Broadcasts of one lane to a group of lanes: which group each position of a register belongs to."""

from __future__ import annotations

from xdsl.dialects.builtin import i16
from xdsl.ir import SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.vmi.layout import CONTIGUOUS, EIGHT, LaneLayout
from ptosim.vmi.registers import Registers, relayout
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import Writer, unsigned_of, width_of


def give_repeated(step: Recipe, sources: Registers, source: LaneLayout, groups: int, are_full: bool = False) -> None:
    """The result whose groups have a lane each of a vector, of which the registers are given in a layout.

    Where a group fills the parts evenly, all parts are alike. Sources of one lane each may be full of it already.
    """
    lanes, width = step.type("result").lanes, step.width("result")
    layout, size = step.layout(), lanes // groups
    if layout.slots or layout.stride > 1 or size % layout.parts:
        layout = CONTIGUOUS
    part = size // layout.parts
    most = VECTOR_BYTES // width
    taker = _Taker(step.write, sources, source, groups, are_full)
    found = [
        taker.register(first, min(first + most, lanes // layout.parts), part)
        for first in range(0, lanes // layout.parts, most)
    ]
    step.give(found * layout.parts, layout)


class _Taker:
    """Makes registers whose positions have lanes of a vector by their groups."""

    def __init__(
        self, write: Writer, sources: Registers, layout: LaneLayout, groups: int, are_full: bool = False
    ) -> None:
        self.are_full = are_full
        self.known: dict[int, SSAValue] = {}
        self.write = write
        self.layout = layout
        self.groups = groups
        self.width = width_of(sources[0])
        self.forms: dict[LaneLayout, Registers] = {layout: sources}

    def _form(self, layout: LaneLayout) -> Registers:
        if layout not in self.forms:
            sources = self.forms[self.layout]
            self.forms[layout] = relayout(self.write, sources, self.groups, self.layout, layout)
        return self.forms[layout]

    def register(self, first: int, end: int, size: int) -> SSAValue:
        """Positions `first` to `end` of lanes of which `size` make a group."""
        low, high = first // size, (end - 1) // size
        if low == high:
            return self._one(low)
        layout = self.layout if self.layout in (CONTIGUOUS, EIGHT) else CONTIGUOUS
        held = layout.held(self.width)
        if not self.are_full and low // held == high // held and size & size - 1 == 0:
            return self._by_number(self._form(layout)[low // held], first, low - low % held, size)
        joined = self._one(low)
        for group in range(low + 1, high + 1):
            mask = self.write.between(group * size - first, (group + 1) * size - first, self.width)
            joined = self.write.select(self._one(group), joined, mask)
        return joined

    def _one(self, group: int) -> SSAValue:
        """A register full of one lane."""
        if group not in self.known:
            self.known[group] = self._filled(group)
        return self.known[group]

    def _filled(self, group: int) -> SSAValue:
        if self.are_full:
            return self.forms[self.layout][group]
        held = self.layout.held(self.width)
        source, position = self.forms[self.layout][group // held], group % held
        if position == 0:
            return self.write.op("vdup", source, self.write.all(self.width), result=source.type)
        return self.write.op("vselr", source, self.write.every(position, unsigned_of(8 * self.width)))

    def _by_number(self, source: SSAValue, first: int, base: int, size: int) -> SSAValue:
        """Each position takes the lane that is its number by the size of a group."""
        element = unsigned_of(8 * self.width)

        def numbers(write: Writer) -> SSAValue:
            ramp, full = write.ramp(0, self.width), write.all(self.width)
            by = write.build.constant(size.bit_length() - 1, i16)
            found = ramp if size == 1 else write.op("vshrs", ramp, by, full)
            start = first // size - base
            return found if start == 0 else write.op("vadds", found, write.scalar(start, element), full)

        return self.write.op("vselr", source, self.write.once(("groups", first, base, size, self.width), numbers))
