"""Logical masks, and their bits for lanes of a width in a layout: counts are made again, the rest is moved.

A mask of every second position of narrow lanes has the bits of one of side by side wide lanes, so strides go into the
width. Where lanes beyond the last might be set, `strict` clears them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Number, known
from ptosim.vmi.layout import CONTIGUOUS, LaneLayout
from ptosim.vmi.registers import Registers, relayout
from ptosim.vmi.writer import Writer, mask_type, unsigned_of

WIDEST = 4
"""Bytes of the widest lanes that masks are for."""

Form = tuple[int, LaneLayout]
"""The bytes of the lanes that are governed, and where these lie."""


@dataclass
class LogicalMask(ABC):
    """A mask of lanes; `write` puts instructions where it was made."""

    lanes: int
    write: Callable[[], Writer]
    forms: dict[object, Registers] = field(default_factory=dict[object, Registers], init=False)

    def registers(self, here: Writer, width: int, layout: LaneLayout, strict: bool = False) -> Registers:
        """Its bits for lanes of so many bytes, of eight as for pairs of four; `here` is where they are used."""
        if width > WIDEST:
            return self.pairs.registers(here, WIDEST, layout, strict)
        strict = strict and not self.is_tight and not layout.is_full(self.lanes, width)
        if width * layout.stride > WIDEST:
            bits = self._form(here, width, CONTIGUOUS, strict)
            count = layout.count(self.lanes, width)
            return self._once(
                ("apart", width, layout, strict), here, lambda write: _apart(write, bits, width, layout.stride)[:count]
            )
        bits = self._form(here, width * layout.stride, replace(layout, stride=1, slots=layout.slots), strict)
        if layout.stride == 1:
            return bits
        return self._once(("seen", width, layout, strict), here, lambda write: _seen(write, bits, width))

    def _form(self, here: Writer, width: int, layout: LaneLayout, strict: bool) -> Registers:
        if not strict:
            return self._once((width, layout), here, lambda write: self.made(write, width, layout))
        all_ = prefix(self.lanes, self.lanes, self.write)

        def both(write: Writer) -> Registers:
            limits, full = all_.registers(write, width, layout), write.all(width)
            loose = self._form(write, width, layout, strict=False)
            return [write.op("pand", one, limit, full) for one, limit in zip(loose, limits, strict=True)]

        return self._once(("strict", width, layout), here, both)

    def _once(self, key: object, here: Writer, make: Callable[[Writer], Registers]) -> Registers:
        if self.known(here) is not None:  # at the head of the scope that asks
            return make(here)
        if key not in self.forms:
            self.forms[key] = make(self.write())
        return self.forms[key]

    @cached_property
    def pairs(self) -> LogicalMask:
        """Each lane twice."""
        write, name = self.write(), f"pintlv_b{8 * WIDEST}"
        bits = [half for mask in self.registers(write, WIDEST, CONTIGUOUS) for half in _two(write, name, mask, mask)]
        kept = bits[: CONTIGUOUS.count(2 * self.lanes, WIDEST)]
        return Bits(2 * self.lanes, self.write, (WIDEST, CONTIGUOUS), kept, self.is_tight)

    @property
    @abstractmethod
    def is_tight(self) -> bool:
        """Whether no lane beyond the last is set."""

    @property
    def is_prefix(self) -> bool:
        """Whether the lanes that are set are known to be the first ones."""
        return False

    @abstractmethod
    def made(self, write: Writer, width: int, layout: LaneLayout) -> Registers:
        """The registers of a form of stride 1."""

    def known(self, here: Writer) -> Sequence[bool] | None:
        """The lanes, where they are known before anything runs."""
        return None

    def is_same_everywhere(self, here: Writer, width: int, layout: LaneLayout) -> bool:
        """Whether all registers of a layout are known to have the same bits."""
        bits = self.known(here)
        if bits is None:
            return False
        if all(bits):
            return len({count for _, _, count in layout.runs(self.lanes, width)}) == 1
        return len(set(_pieces(bits, width, layout))) == 1


@dataclass
class Fixed(LogicalMask):
    """Lanes that are known."""

    bits: tuple[bool, ...] = ()

    @cached_property
    def pairs(self) -> LogicalMask:
        return Fixed(2 * self.lanes, self.write, tuple(bit for bit in self.bits for _ in range(2)))

    @property
    def is_tight(self) -> bool:
        return True

    @property
    def is_prefix(self) -> bool:
        return list(self.bits) == sorted(self.bits, reverse=True)

    def known(self, here: Writer) -> Sequence[bool]:
        return self.bits

    def made(self, write: Writer, width: int, layout: LaneLayout) -> Registers:
        return [_literal(write, piece, width) for piece in _pieces(self.bits, width, layout)]


def _pieces(bits: Sequence[bool], width: int, layout: LaneLayout) -> Iterator[tuple[bool, ...]]:
    """The lanes of each register."""
    for part, first, count in layout.runs(len(bits), width):
        yield tuple(bits[layout.parts * (first + index) + part] for index in range(count))


def _literal(write: Writer, bits: tuple[bool, ...], width: int) -> SSAValue:
    """A register of known bits: the union of its runs of ones."""
    runs: list[tuple[int, int]] = []
    at = 0
    for value, run in groupby(bits):
        length = len(list(run))
        if value:
            runs.append((at, at + length))
        at += length
    if not runs:
        return write.first(0, width)
    masks = [write.between(low, high, width) for low, high in runs]

    def make(here: Writer) -> SSAValue:
        joined = masks[0]
        for mask in masks[1:]:
            joined = here.op("por", joined, mask, here.all(width))
        return joined

    return masks[0] if len(masks) == 1 else write.once(("bits", bits, width), make)


@dataclass
class First(LogicalMask):
    """The first lanes; the count is clamped."""

    count: Number = 0

    @cached_property
    def pairs(self) -> LogicalMask:
        return First(2 * self.lanes, self.write, self.write().build.times(self.count, 2))

    @property
    def is_tight(self) -> bool:
        return True

    @property
    def is_prefix(self) -> bool:
        return True

    def made(self, write: Writer, width: int, layout: LaneLayout) -> Registers:
        build, found = write.build, list[SSAValue]()
        type_, name = mask_type(width), f"plt_b{8 * width}"
        rest: SSAValue | None = None
        for part, first, _ in layout.runs(self.lanes, width):
            if layout.slots:
                here = write.clamp(build.minus(self.count, first), layout.slots)
                found.append(write.op(name, build.cast(here, i32), result=type_, next=i32)[0])
                continue
            if first == 0:
                count = build.plus(self.count, layout.parts - 1 - part)
                rest = build.cast(build.quotient(count, layout.parts), i32)
            assert rest is not None
            mask, rest = write.op(name, rest, result=type_, next=i32)
            found.append(mask)
        return found


@dataclass
class FirstOfGroups(LogicalMask):
    """The first lanes of each group of lanes; the count is clamped."""

    count: Number = 0
    size: int = 1

    @property
    def is_tight(self) -> bool:
        return False

    def made(self, write: Writer, width: int, layout: LaneLayout) -> Registers:
        return moved(write, self._compared(write), self.lanes, (2, CONTIGUOUS), (width, layout))

    def _compared(self, write: Writer) -> Registers:
        """Lane numbers within their groups against the count, in 16 bits."""
        most, element = VECTOR_BYTES // 2, unsigned_of(16)
        limit, full = write.build.cast(self.count, i16), write.all(2)
        found: list[SSAValue] = []
        for first in range(0, self.lanes, most):
            numbers = write.ramp(first % self.size, 2)
            start = self.size - first % self.size
            for boundary in range(start, most, self.size):
                less = write.op("vsub", numbers, write.every(self.size, element), write.all(2))
                numbers = write.select(less, numbers, write.between(boundary, most, 2))
            found.append(write.op("vcmps", numbers, limit, full, comparison="lt", result=mask_type(2)))
        return found


@dataclass
class Bits(LogicalMask):
    """Lanes that were computed, in the form that they were computed in."""

    form: Form = (4, CONTIGUOUS)
    given: Registers = ()
    tight: bool = False

    @property
    def is_tight(self) -> bool:
        return self.tight

    def made(self, write: Writer, width: int, layout: LaneLayout) -> Registers:
        return moved(write, self.given, self.lanes, self.form, (width, layout))


@dataclass
class Combined(LogicalMask):
    """One mask and another, or both: pand, por, pxor; or the lanes that are not in one."""

    name: str = "pand"
    terms: tuple[LogicalMask, ...] = ()

    @property
    def is_tight(self) -> bool:
        if self.name == "pnot":
            return False
        return (any if self.name == "pand" else all)(term.is_tight for term in self.terms)

    def made(self, write: Writer, width: int, layout: LaneLayout) -> Registers:
        terms = [term.registers(write, width, layout) for term in self.terms]
        full = write.all(width)
        return [write.op(self.name, *each, full) for each in zip(*terms, strict=True)]


def prefix(lanes: int, count: Number, write: Callable[[], Writer]) -> LogicalMask:
    """The first lanes. The count is one that is clamped already, where it is not known."""
    number = known(count)
    if number is None:
        return First(lanes, write, count)
    return Fixed(lanes, write, tuple(index < number for index in range(lanes)))


def prefix_of_groups(lanes: int, count: Number, size: int, write: Callable[[], Writer]) -> LogicalMask:
    number = known(count)
    if size == lanes:
        return prefix(lanes, count, write)
    if number is None:
        return FirstOfGroups(lanes, write, count, size)
    return Fixed(lanes, write, tuple(index % size < number for index in range(lanes)))


# --- moving bits ------------------------------------------------------------------------------------------------------


def _apart(write: Writer, masks: Registers, width: int, stride: int) -> Registers:
    """The bits of lanes that lie apart, with none between."""
    while stride > 1:
        masks = [half for mask in masks for half in _two(write, f"pintlv_b{8 * width}", mask, write.first(0, width))]
        stride //= 2
    return masks


def _seen(write: Writer, bits: Registers, width: int) -> Registers:
    return [write.op("pbitcast", mask, result=mask_type(width)) for mask in bits]


def moved(write: Writer, masks: Registers, lanes: int, form: Form, wanted: Form) -> Registers:
    """The bits of one form in another one."""
    (width, layout), (wide, other) = form, wanted
    if layout.stride > 1:
        width *= layout.stride
        masks, layout = _seen(write, masks, width), replace(layout, stride=1)
    if (width, layout) == (wide, other):
        return masks
    if layout.slots:
        masks = _by_registers(write, masks, lanes, width, layout, CONTIGUOUS)
        return moved(write, masks, lanes, (width, CONTIGUOUS), wanted)
    if other.slots:
        masks = moved(write, masks, lanes, (width, layout), (wide, CONTIGUOUS))
        return _by_registers(write, masks, lanes, wide, CONTIGUOUS, other)
    while layout.parts > other.parts:
        masks, layout = _joined(write, masks, layout, width), replace(layout, parts=layout.parts // 2)
        masks = _kept(masks, layout, lanes, width)
    while width != wide:
        masks, width = (_narrower if wide < width else _wider)(write, masks, layout.parts, width)
        masks = _kept(masks, layout, lanes, width)
    while layout.parts < other.parts:
        masks, layout = _split(write, masks, layout, width), replace(layout, parts=2 * layout.parts)
    return masks


def _kept(masks: Registers, layout: LaneLayout, lanes: int, width: int) -> Registers:
    per, kept = len(masks) // layout.parts, layout.registers_of_part(lanes, width)
    return [masks[part * per + number] for part in range(layout.parts) for number in range(kept)]


def _joined(write: Writer, masks: Registers, layout: LaneLayout, width: int) -> Registers:
    per, half = len(masks) // layout.parts, layout.parts // 2
    found: list[SSAValue] = []
    for part in range(half):
        for number in range(per):
            one, other = masks[part * per + number], masks[(part + half) * per + number]
            found += _two(write, f"pintlv_b{8 * width}", one, other)
    return found


def _split(write: Writer, masks: Registers, layout: LaneLayout, width: int) -> Registers:
    per = len(masks) // layout.parts
    low: list[SSAValue] = []
    high: list[SSAValue] = []
    for part in range(layout.parts):
        own = masks[part * per : (part + 1) * per]
        for number in range(0, per, 2):
            second = own[number + 1] if number + 1 < per else write.first(0, width)
            even, odd = _two(write, f"pdintlv_b{8 * width}", own[number], second)
            low.append(even)
            high.append(odd)
    return [*low, *high]


def _two(write: Writer, name: str, one: SSAValue, other: SSAValue) -> tuple[SSAValue, SSAValue]:
    return write.op(name, one, other, low=one.type, high=one.type)


def _narrower(write: Writer, masks: Registers, parts: int, width: int) -> tuple[Registers, int]:
    """The bits of lanes half as wide: two registers become one."""
    per, half = len(masks) // parts, width // 2
    type_, found = mask_type(half), list[SSAValue]()
    for part in range(parts):
        own = masks[part * per : (part + 1) * per]
        for number in range(0, per, 2):
            joined = write.op("ppack", own[number], part="LOWER", result=type_)
            if number + 1 < per:
                upper = write.op("ppack", own[number + 1], part="HIGHER", result=type_)
                joined = write.op("por", joined, upper, write.all(half))
            found.append(joined)
    return found, half


def _wider(write: Writer, masks: Registers, parts: int, width: int) -> tuple[Registers, int]:
    """The bits of lanes twice as wide: one register becomes two."""
    type_ = mask_type(2 * width)
    halves = [write.op("punpack", mask, part=part, result=type_) for mask in masks for part in ("LOWER", "HIGHER")]
    return halves, 2 * width


def _by_registers(
    write: Writer, masks: Registers, lanes: int, width: int, layout: LaneLayout, wanted: LaneLayout
) -> Registers:
    """Masks as registers of ones and zeros, which are moved and compared."""
    element = unsigned_of(8 * width)
    one, zero, full = write.every(1, element), write.every(0, element), write.all(width)
    numbers = [write.select(one, zero, mask) for mask in masks]
    found = relayout(write, numbers, lanes, layout, wanted)
    limit = write.scalar(0, element)
    return [write.op("vcmps", each, limit, full, comparison="ne", result=mask_type(width)) for each in found]
