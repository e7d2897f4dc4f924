"""Loads and stores of lanes that follow each other in memory, into and out of every layout."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.language.builder import Number
from ptosim.language.types import VregType
from ptosim.vmi.layout import CONTIGUOUS, HALVES, SINGLE, LaneLayout
from ptosim.vmi.registers import Registers
from ptosim.vmi.values import Recipe

SPREAD = {(1, 2): "UNPK_B8", (2, 2): "UNPK_B16", (4, 2): "UNPK_B32", (1, 4): "UNPK4"}
"""The distribution that loads lanes of so many bytes that many positions apart."""
PACKED = {(1, 2): "PK_B16", (2, 2): "PK_B32", (4, 2): "PK_B64", (1, 4): "PK4_B32"}
"""The distribution that stores them side by side."""


def give_loaded(step: Recipe, offset: Number, layout: LaneLayout) -> None:
    """Lanes that follow each other, loaded into a layout."""
    lanes = step.type("result").lanes
    if lanes == 1:
        load_first(step)
        return
    if layout.parts > 2:
        layout = HALVES
    if layout.slots and not (layout == SINGLE or _is_eight_aligned(step, layout)):
        layout = CONTIGUOUS
    step.give(list(_loaded(step, offset, layout)), layout)


def _is_eight_aligned(step: Recipe, layout: LaneLayout) -> bool:
    return layout.slots * step.width("result") % GRANULE == 0


def _loaded(step: Recipe, offset: Number, layout: LaneLayout) -> Iterator[SSAValue]:
    write, width, lanes = step.write, step.width("result"), step.type("result").lanes
    type_, pointer = VregType.of(step.element("result")), step.value("pointer")
    masks = demanded(step, layout)
    held = layout.held(width)
    if layout.parts == 2:
        pairs = layout.registers_of_part(lanes, width)
        words = {"dist": f"DINTLV_B{8 * width}", "low": type_, "high": type_}
        found: list[tuple[SSAValue, SSAValue]] = []
        for number in range(pairs):
            at = write.build.index(write.build.plus(offset, 2 * held * number))
            found.append(write.op("vldsx2", pointer, at, mask=masks[number], **words))
            step.tell("result", 2 * held * number, 2 * held * (number + 1))
        yield from (low for low, _ in found)
        yield from (high for _, high in found)
        return
    dist = f"BRC_B{8 * width}" if layout == SINGLE else SPREAD.get((width, layout.stride))
    for number, mask in enumerate(masks):
        at = write.build.index(write.build.plus(offset, held * number))
        loaded = write.op("vlds", pointer, at, dist=dist, mask=None if layout == SINGLE else mask, result=type_)
        step.tell("result", held * number, held * (number + 1))
        yield loaded


def demanded(step: Recipe, layout: LaneLayout) -> list[SSAValue | None]:
    """The lanes of each register that some use needs; None if that is all of them."""
    lanes, width = step.type("result").lanes, step.width("result")
    mask = step.demand()
    bits = mask.known(step.write)
    if bits is not None and all(bits):
        most = VECTOR_BYTES // width // layout.stride
        counts = [count for _, _, count in layout.runs(lanes, width)]
        masks = mask.registers(step.write, width * layout.stride, _side_by_side(layout))
        return [None if count == most else one for count, one in zip(counts, masks, strict=True)]
    return list(mask.registers(step.write, width * layout.stride, _side_by_side(layout)))


def _side_by_side(layout: LaneLayout) -> LaneLayout:
    """The layout of the bits of loads and stores that spread or pack lanes."""
    return CONTIGUOUS if layout.stride > 1 else layout


def load_first(step: Recipe) -> None:
    """The first element in every lane: one register serves all."""
    write, width, layout = step.write, step.width("result"), step.layout()
    type_ = VregType.of(step.element("result"))
    one = write.op("vlds", step.value("pointer"), step.value("offset"), dist=f"BRC_B{8 * width}", result=type_)
    step.tell("result", 0, step.type("result").lanes, apart=0)
    step.give([one] * layout.count(step.type("result").lanes, width), layout)


def store_lanes(step: Recipe, offset: Number) -> None:
    """Lanes that follow each other, from the layout that they lie in."""
    lanes, width, write = step.type("value").lanes, step.width("value"), step.write
    layout = step.values.layout(step.value("value"))
    if lanes == 1 and step.mask() is None:
        (value,) = step.registers("value", CONTIGUOUS)
        dist = f"1PT_B{8 * width}"
        write.op("vsts", value, step.value("pointer"), write.build.index(offset), write.all(width), dist=dist)
        step.tell("value", 0, 1)
        return
    whole = layout == HALVES and lanes % (2 * VECTOR_BYTES // width) == 0 and step.mask() is None
    if whole:
        store_pairs(step, step.registers("value", HALVES), offset, 2 * VECTOR_BYTES // width)
        return
    if layout.parts > 1 or layout.slots:
        layout = CONTIGUOUS
    mask = step.mask() or step.whole(lanes)
    masks = mask.registers(write, width * layout.stride, CONTIGUOUS, strict=True)
    values = step.registers("value", layout)
    bits, held = mask.known(write), layout.held(width)
    if bits is not None:  # registers without an active lane are not stored
        filled = max((index for index, bit in enumerate(bits) if bit), default=0)
        values, masks = values[: filled // held + 1], masks[: filled // held + 1]
    store_masked(step, values, masks, offset, layout, None if mask.is_prefix else 0)


def store_masked(
    step: Recipe, values: Registers, masks: Registers, offset: Number, layout: LaneLayout, apart: int | None = None
) -> None:
    """Registers under masks; `apart` as Recipe.tell takes it."""
    write, width, held = step.write, step.width("value"), layout.held(step.width("value"))
    dist = PACKED.get((width, layout.stride))
    for number, (value, mask) in enumerate(zip(values, masks, strict=True)):
        at = write.build.index(write.build.plus(offset, held * number))
        write.op("vsts", value, step.value("pointer"), at, mask, dist=dist)
        _tell_stored(step, held * number, held * (number + 1), apart)


def store_pairs(step: Recipe, values: Registers, offset: Number, lanes: int) -> None:
    """Two parts, their lanes in turn."""
    write, width, half = step.write, step.width("value"), len(values) // 2
    for number in range(half):
        at = write.build.index(write.build.plus(offset, lanes * number))
        pair = (values[number], values[half + number], step.value("pointer"), at)
        write.op("vstsx2", *pair, write.all(width), dist=f"INTLV_B{8 * width}")
        _tell_stored(step, lanes * number, lanes * (number + 1))


def _tell_stored(step: Recipe, first: int, last: int, apart: int | None = None) -> None:
    """Tell the lanes that are stored; where those of two vectors are stored in turn, the lanes of the first."""
    if step.played("high"):
        step.tell("value", first // 2, -(-last // 2), apart=2 * step.width("value") if apart is None else apart)
    else:
        step.tell("value", first, last, apart)
