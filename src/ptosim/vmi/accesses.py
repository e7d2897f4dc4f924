"""Loads and stores of lanes that follow each other or alternate, of blocks, and by offsets. By groups: groups.py."""

from __future__ import annotations

from xdsl.dialects.builtin import i16
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.language.builder import known
from ptosim.language.types import PtrType, VregType
from ptosim.vmi import groups
from ptosim.vmi.lane_access import give_loaded, load_first, store_lanes, store_masked, store_pairs
from ptosim.vmi.layout import CONTIGUOUS, EVERY_2, LaneLayout
from ptosim.vmi.recipes import recipe
from ptosim.vmi.values import Recipe

# --- loads ------------------------------------------------------------------------------------------------------------


@recipe("vload", "load", "group_load", "group_slot_load")
def load(step: Recipe) -> None:
    mode = step.op.word("dist_mode") if "dist_mode" in step.op.property_roles else None
    if step.played("block_stride"):
        load_blocks(step)
    elif step.played("stride"):
        (groups.load_one_each if mode == "brc" else groups.load_groups)(step)
    elif mode == "dintlv":
        load_alternately(step)
    elif mode == "unpack":
        _load_wider(step)
    elif mode == "brc":
        load_first(step)
    else:
        give_loaded(step, step.value("offset"), step.layout())


def load_alternately(step: Recipe) -> None:
    write, width, lanes = step.write, step.width("result"), step.type("result").lanes
    type_ = VregType.of(step.element("result"))
    words = {"dist": f"DINTLV_B{8 * width}", "low": type_, "high": type_}
    found: list[tuple[SSAValue, SSAValue]] = []
    masks = step.whole(lanes).registers(write, width, CONTIGUOUS)
    most = VECTOR_BYTES // width
    for number, (_, first, count) in enumerate(CONTIGUOUS.runs(lanes, width)):
        at = write.build.index(write.build.plus(step.value("offset"), 2 * first))
        mask = masks[number] if count < most else None
        found.append(write.op("vldsx2", step.value("pointer"), at, mask=mask, **words))
        step.tell("result", first, first + count, apart=2 * width)
    step.give([low for low, _ in found], CONTIGUOUS)
    step.give([high for _, high in found], CONTIGUOUS, "high")


def _load_wider(step: Recipe) -> None:
    """Bits of narrower elements, zero-extended."""
    write, width, lanes = step.write, step.width("result"), step.type("result").lanes
    type_ = VregType.of(step.element("result"))
    masks, most = step.whole(lanes).registers(write, width, CONTIGUOUS), VECTOR_BYTES // width
    found: list[SSAValue] = []
    for mask, (_, first, count) in zip(masks, CONTIGUOUS.runs(lanes, width), strict=True):
        at = write.build.index(write.build.plus(step.value("offset"), first))
        only = mask if count < most else None
        found.append(write.op("vlds", step.value("pointer"), at, dist=f"UNPK_B{4 * width}", mask=only, result=type_))
        step.tell("result", first, first + count, apart=width // 2)
    step.give(found, CONTIGUOUS)


def moved_pointer(step: Recipe) -> SSAValue:
    """The pointer moved on by the offset."""
    pointer = step.value("pointer")
    return pointer if known(step.value("offset")) == 0 else step.write.op("addptr", pointer, step.value("offset"))


def load_blocks(step: Recipe) -> None:
    write = step.write
    (mask,) = step.masks("result", CONTIGUOUS, strict=True)
    strides = {role: step.value(role) for role in ("block_stride", "repeat_stride")}
    words = {**strides, "mask": mask, "result": VregType.of(step.element("result"))}
    loaded = write.build.vsldb(source=moved_pointer(step), **words)
    step.tell("result", 0, step.type("result").lanes, apart=0)
    step.give([loaded], CONTIGUOUS)


# --- stores -----------------------------------------------------------------------------------------------------------


@recipe("vstore", "store", "group_store", "masked_store", "interleave_store", "stride_store")
def store(step: Recipe) -> None:
    if step.played("block_stride"):
        write_blocks(step, step.value("repeat_stride"))
    elif step.played("stride"):
        groups.store_groups(step)
    elif step.played("high"):
        store_alternately(step)
    else:
        store_lanes(step, step.value("offset"))


def store_alternately(step: Recipe) -> None:
    lanes, width, write = step.type("value").lanes, step.width("value"), step.write
    values = [step.registers(role, CONTIGUOUS) for role in ("value", "high")]
    if CONTIGUOUS.is_full(lanes, width):
        store_pairs(step, [*values[0], *values[1]], step.value("offset"), 2 * VECTOR_BYTES // width)
        return
    both = [half for pair in zip(*values, strict=True) for half in write.op("vintlv", *pair)]
    masks = step.whole(2 * lanes).registers(write, width, CONTIGUOUS)
    store_masked(step, both[: len(masks)], masks, step.value("offset"), CONTIGUOUS)


@recipe("vsstb")
def store_blocks(step: Recipe) -> None:
    write_blocks(step, step.write.build.constant(0, i16))


def write_blocks(step: Recipe, repeat_stride: SSAValue) -> None:
    (mask,) = step.masks("value", CONTIGUOUS, strict=True)
    (value,) = step.registers("value", CONTIGUOUS)
    strides = {"block_stride": step.value("block_stride"), "repeat_stride": repeat_stride}
    step.write.build.vsstb(value=value, dest=moved_pointer(step), mask=mask, **strides)
    step.tell("value", 0, step.type("value").lanes, apart=0)


# --- by offsets -------------------------------------------------------------------------------------------------------


@recipe("vgather")
def gather(step: Recipe) -> None:
    layout = step.layout()
    step.give(gathered(step, layout), layout)


def gathered(step: Recipe, layout: LaneLayout) -> list[SSAValue]:
    """The lanes at their offsets; inactive ones are zero."""
    pointer, masks = step.value("pointer"), step.masks("result", layout, strict=True)
    words = {"source": pointer, "result": VregType.of(pointed(pointer))}
    rows = zip(step.registers("offsets", layout), masks, strict=True)
    found: list[SSAValue] = []
    for row, mask in rows:
        found.append(step.write.build.vgather2(offsets=row, mask=mask, **words))
        step.tell("result", 0, step.type("result").lanes, apart=0)
    return found


def pointed(pointer: SSAValue) -> Attribute:
    """The elements that a pointer leads to."""
    assert isinstance(pointer.type, PtrType)
    return pointer.type.element


@recipe("vgatherb")
def gather_blocks(step: Recipe) -> None:
    write, width = step.write, step.width("result")
    blocks = -(-step.type("result").lanes * width // GRANULE)
    (offsets,) = step.registers("offsets", CONTIGUOUS)
    type_ = VregType.of(step.element("result"))
    found = write.build.vgatherb(
        source=step.value("pointer"), offsets=offsets, mask=write.first(blocks, 4), result=type_
    )
    (mask,) = step.masks("result", CONTIGUOUS)
    step.give([write.select(found, write.every(0, step.element("result")), mask)], CONTIGUOUS)


@recipe("vscatter", "scatter")
def scatter(step: Recipe) -> None:
    """The last registers first: of two lanes that meet the lowest stays. Of bytes every second one is stored."""
    width, write = step.width("value"), step.write
    values = step.registers("value", EVERY_2 if width == 1 else CONTIGUOUS)
    masks = step.masks("offsets", CONTIGUOUS, strict=True)
    element, pointer = pointed(step.value("pointer")), step.value("pointer")
    rows = list(zip(values, step.registers("offsets", CONTIGUOUS), masks, strict=True))
    for value, offsets, bits in reversed(rows):
        write.build.vscatter(value=write.cast(value, element), dest=pointer, offsets=offsets, mask=bits)
        step.tell("value", 0, step.type("value").lanes, apart=0)
