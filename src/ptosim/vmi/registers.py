"""Bringing the registers of a logical vector from one layout to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.vmi.layout import CONTIGUOUS, LaneLayout
from ptosim.vmi.writer import Writer, width_of

Registers = Sequence[SSAValue]


def relayout(write: Writer, registers: Registers, lanes: int, layout: LaneLayout, wanted: LaneLayout) -> Registers:
    """The same lanes in another layout. Lanes beyond the last hold anything."""
    width = width_of(registers[0])
    if layout == wanted or _same_places(lanes, width, layout, wanted):
        return registers
    while layout.parts > max(1, wanted.parts if wanted.stride == 1 and not wanted.slots else 1):
        joined, layout = _joined(write, registers, layout), replace(layout, parts=layout.parts // 2)
        per, kept = len(joined) // layout.parts, layout.registers_of_part(lanes, width)
        registers = [joined[part * per + number] for part in range(layout.parts) for number in range(kept)]
    while layout.stride > wanted.stride:
        registers, layout = _closer(write, registers), replace(layout, stride=layout.stride // 2)
    if layout.slots and not _same_places(lanes, width, layout, wanted):
        registers, layout = _gathered(write, registers, lanes, layout.slots), CONTIGUOUS
    if wanted.slots:
        return _spread(write, registers, lanes, wanted.slots)
    while layout.parts < wanted.parts:
        registers, layout = _split(write, registers, layout, lanes), replace(layout, parts=2 * layout.parts)
    while layout.stride < wanted.stride:
        registers, layout = _apart(write, registers), replace(layout, stride=2 * layout.stride)
    return registers[: wanted.count(lanes, width)]


def _same_places(lanes: int, width: int, one: LaneLayout, other: LaneLayout) -> bool:
    """Whether all lanes lie in one register, side by side, in both."""
    return all(
        each.parts == 1 and each.stride == 1 and lanes <= each.held(width) for each in (one, other)
    ) or _one_lane_each(lanes, one, other)


def _one_lane_each(lanes: int, one: LaneLayout, other: LaneLayout) -> bool:
    """A single lane is at the front of the first register, however they lie."""
    return lanes == 1 and one.parts == other.parts == 1


def _joined(write: Writer, registers: Registers, layout: LaneLayout) -> Registers:
    """Half as many parts: part q takes the lanes of parts q and q + half in turn."""
    per, half = len(registers) // layout.parts, layout.parts // 2
    found: list[SSAValue] = []
    for part in range(half):
        for number in range(per):
            one, other = registers[part * per + number], registers[(part + half) * per + number]
            found += write.op("vintlv", one, other)
    return found


def _split(write: Writer, registers: Registers, layout: LaneLayout, lanes: int) -> Registers:
    """Twice as many parts: part q gives its even lanes to part q and its odd ones to part q + parts."""
    per = len(registers) // layout.parts
    low: list[SSAValue] = []
    high: list[SSAValue] = []
    for part in range(layout.parts):
        own = registers[part * per : (part + 1) * per]
        for number in range(0, per, 2):
            even, odd = write.op("vdintlv", own[number], own[min(number + 1, per - 1)])
            low.append(even)
            high.append(odd)
    return [*low, *high]


def _closer(write: Writer, registers: Registers) -> Registers:
    """Lanes half as far apart: two registers become one."""
    pairs = [(registers[index], registers[min(index + 1, len(registers) - 1)]) for index in range(0, len(registers), 2)]
    return [write.op("vdintlv", one, other)[0] for one, other in pairs]


def _apart(write: Writer, registers: Registers) -> Registers:
    """Lanes twice as far apart: one register becomes two."""
    return [half for register in registers for half in write.op("vintlv", register, register)]


def _gathered(write: Writer, registers: Registers, lanes: int, slots: int) -> Registers:
    """Registers of a few lanes each become contiguous ones."""
    width = width_of(registers[0])
    most = VECTOR_BYTES // width
    found: list[SSAValue] = []
    for start in range(0, lanes, most):
        here = registers[start // slots : -(-min(lanes, start + most) // slots)]
        joined = here[0]
        for number, register in enumerate(here[1:], 1):
            moved = write.rotated(register, -number * slots)
            joined = write.select(moved, joined, write.between(number * slots, (number + 1) * slots, width))
        found.append(joined)
    return found


def _spread(write: Writer, registers: Registers, lanes: int, slots: int) -> Registers:
    """Contiguous registers become ones of a few lanes each."""
    most = VECTOR_BYTES // width_of(registers[0])
    return [write.rotated(registers[first // most], first % most) for first in range(0, lanes, slots)]


def window(write: Writer, registers: Registers, first: int, lanes: int) -> Registers:
    """Lanes from `first` on of contiguous registers, as contiguous registers."""
    width = width_of(registers[0])
    most = VECTOR_BYTES // width
    found: list[SSAValue] = []
    for start in range(first, first + lanes, most):
        number, offset = divmod(start, most)
        taken = write.rotated(registers[number], offset)
        if offset and number + 1 < len(registers) and start + most - offset < first + lanes:
            after = write.rotated(registers[number + 1], offset)
            taken = write.select(taken, after, write.first(most - offset, width))
        found.append(taken)
    return found


def appended(write: Writer, one: Registers, other: Registers, lanes: int) -> Registers:
    """The lanes of one vector and behind them those of another of as many lanes, contiguous."""
    width = width_of(one[0])
    most = VECTOR_BYTES // width
    offset = lanes % most
    if offset == 0:
        return [*one, *other]
    found = list(one[:-1])
    before = one[-1]
    for register in other:
        moved = write.rotated(register, -offset)
        found.append(write.select(before, moved, write.first(offset, width)))
        before = moved
    if 2 * lanes > len(found) * most:
        found.append(before)
    return found
