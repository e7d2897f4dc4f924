"""Loads and stores by groups: rows of lanes, a stride apart. Which instructions depends on how wide a row is."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import SSAValue

from ptosim.effects.element import BLOCKS, GRANULE, VECTOR_BYTES
from ptosim.language.builder import Number, known
from ptosim.language.types import AlignType, PtrType, VregType, element_of
from ptosim.vmi import spread_groups
from ptosim.vmi.alignment import known_address_multiple
from ptosim.vmi.lane_access import give_loaded, store_lanes
from ptosim.vmi.layout import CONTIGUOUS, SINGLE
from ptosim.vmi.registers import Registers, window
from ptosim.vmi.values import Recipe
from ptosim.vmi.writer import unsigned_of


class GroupRows:
    """The rows of an access: how many, how wide, how far apart."""

    def __init__(self, step: Recipe, data: str) -> None:
        self.step = step
        self.lanes = step.type(data).lanes
        self.count = step.op.integer("group") or step.op.integer("num_groups") or 1
        self.size = self.lanes // self.count
        self.width = step.width(data)
        self.most = VECTOR_BYTES // self.width
        stride = step.value("stride")
        self.stride: Number = stride if (number := known(stride)) is None else number
        self.offset: Number = step.value("offset")

    @property
    def is_gapless(self) -> bool:
        """Whether rows follow each other."""
        return self.count == 1 or self.stride == self.size

    @property
    def fills_registers(self) -> bool:
        return self.size % self.most == 0

    @property
    def block_stride(self) -> int | None:
        """GroupRows of one block are a known number of blocks apart; None for others."""
        if self.size * self.width != GRANULE or not isinstance(self.stride, int):
            return None
        blocks, rest = divmod(self.stride * self.width, GRANULE)
        return blocks if rest == 0 and 0 <= blocks < 1 << 15 else None

    def at(self, row: int, lane: int = 0) -> SSAValue:
        """The offset of a lane of a row."""
        build = self.step.write.build
        start = build.plus(self.offset, build.times(self.stride, row))
        return build.index(build.plus(start, lane))


# --- loads ------------------------------------------------------------------------------------------------------------


def load_groups(step: Recipe) -> None:
    rows = GroupRows(step, "result")
    if rows.is_gapless:
        give_loaded(step, rows.offset, step.layout())
    elif rows.size == 1:
        _load_slots(step, rows)
    elif rows.fills_registers:
        per = rows.size // rows.most
        places = [rows.at(row, rows.most * number) for row in range(rows.count) for number in range(per)]
        type_, pointer, found = VregType.of(step.element("result")), step.value("pointer"), list[SSAValue]()
        for number, place in enumerate(places):
            found.append(step.write.op("vlds", pointer, place, result=type_))
            step.tell("result", rows.most * number, rows.most * (number + 1))
        step.give(found, CONTIGUOUS)
    elif rows.block_stride is not None:
        step.give(list(_blocks_of_rows(step, rows)), CONTIGUOUS)
    else:
        step.give(list(_merged_rows(step, rows)), CONTIGUOUS)


def _blocks_of_rows(step: Recipe, rows: GroupRows) -> Iterator[SSAValue]:
    """Eight rows of one block to a register."""
    write, type_ = step.write, VregType.of(step.element("result"))
    strides = _strides(rows)
    masks = step.whole(rows.lanes).registers(write, rows.width, CONTIGUOUS)
    for number, mask in enumerate(masks):
        pointer = write.op("addptr", step.value("pointer"), rows.at(BLOCKS * number))
        loaded = write.build.vsldb(source=pointer, mask=mask, result=type_, **strides)
        step.tell("result", rows.most * number, rows.most * (number + 1), apart=0)
        yield loaded


def _strides(rows: GroupRows) -> dict[str, SSAValue]:
    """Blocks a known number of blocks apart, the first of them at the pointer."""
    build = rows.step.write.build
    return {"block_stride": build.constant(rows.block_stride or 0, i16), "repeat_stride": build.constant(0, i16)}


def _merged_rows(step: Recipe, rows: GroupRows) -> Iterator[SSAValue]:
    """Each row by an unaligned load that brings its lanes to their positions; the loads of a register are merged."""
    write, element = step.write, step.element("result")
    bits, full = unsigned_of(8 * rows.width), write.all(rows.width)
    for start in range(0, rows.lanes, rows.most):
        end = min(start + rows.most, rows.lanes)
        joined: SSAValue | None = None
        for row in range(start // rows.size, -(-end // rows.size)):
            first, last = max(start, row * rows.size), min(end, (row + 1) * rows.size)
            mask = write.between(first - start, last - start, rows.width)
            place = rows.at(row, start - row * rows.size)
            found = write.op("uvld", step.value("pointer"), place, mask=mask, result=VregType.of(element))
            step.tell("result", first, last, apart=0)
            found = write.cast(found, bits)
            joined = found if joined is None else write.op("vor", joined, found, full)
        assert joined is not None
        yield joined


def _first_of_rows(step: Recipe, rows: GroupRows) -> list[SSAValue]:
    """For each row a register of its first element."""
    type_, dist, found = VregType.of(step.element("result")), f"BRC_B{8 * rows.width}", list[SSAValue]()
    for row in range(rows.count):
        found.append(step.write.op("vlds", step.value("pointer"), rows.at(row), dist=dist, result=type_))
        step.tell("result", row * rows.size, (row + 1) * rows.size, apart=0)
    return found


def _load_slots(step: Recipe, rows: GroupRows) -> None:
    """One lane of each row."""
    lanes = _first_of_rows(step, rows)
    if step.layout() == SINGLE:
        step.give(lanes, SINGLE)
    else:
        step.give(_side_by_side(step, lanes, rows), CONTIGUOUS)


def _side_by_side(step: Recipe, lanes: Registers, rows: GroupRows) -> Registers:
    """Registers that have one value each in every lane, as one register with a lane of each."""
    found: list[SSAValue] = []
    for start in range(0, rows.lanes, rows.most):
        here = lanes[start : start + rows.most]
        joined = here[0]
        for position, register in enumerate(here[1:], 1):
            joined = step.write.select(register, joined, step.write.between(position, position + 1, rows.width))
        found.append(joined)
    return found


def load_one_each(step: Recipe) -> None:
    """The first element of each row in all of its lanes."""
    rows = GroupRows(step, "result")
    layout = step.layout() if not (step.layout().slots or step.layout().stride > 1) else CONTIGUOUS
    if rows.count == 1 or rows.size % (rows.most * layout.parts) == 0:
        each = _first_of_rows(step, rows)
        per = layout.registers_of_part(rows.lanes, rows.width) if rows.count == 1 else rows.size // rows.most
        repeated = per if rows.count == 1 else per // layout.parts
        part = [register for register in each for _ in range(repeated)]
        step.give(part * layout.parts, layout)
        return
    blocks = rows.size * rows.width
    if rows.stride == 1 and blocks == GRANULE * layout.parts and _fits_blocks(step, rows):
        step.give(_blocks_of_one(step, rows) * layout.parts, layout)
        return
    spread_groups.give_repeated(step, _first_of_rows(step, rows), SINGLE, rows.count, are_full=True)


def _fits_blocks(step: Recipe, rows: GroupRows) -> bool:
    """Whether eight elements that follow each other are known to be aligned as a load of theirs has to be."""
    aligned = known_address_multiple(step.value("pointer"), rows.offset) % (BLOCKS * rows.width) == 0
    return rows.width > 1 and aligned


def _blocks_of_one(step: Recipe, rows: GroupRows) -> list[SSAValue]:
    """Eight groups of one block to a register."""
    write, type_ = step.write, VregType.of(step.element("result"))
    found: list[SSAValue] = []
    for first in range(0, rows.count, BLOCKS):
        there = min(BLOCKS, rows.count - first)
        mask = None if there == BLOCKS else write.first(there * GRANULE // rows.width, rows.width)
        place = write.build.index(write.build.plus(rows.offset, first))
        words = {"dist": f"E2B_B{8 * rows.width}", "result": type_}
        found.append(write.op("vlds", step.value("pointer"), place, mask=mask, **words))
        step.tell("result", first * rows.size, (first + there) * rows.size, apart=0)
    return found


# --- stores -----------------------------------------------------------------------------------------------------------


def store_groups(step: Recipe) -> None:
    rows, pointer = GroupRows(step, "value"), step.value("pointer").type
    assert isinstance(pointer, PtrType)
    if element_of(pointer.element).bytes != rows.width:
        _store_bytes(step, rows)
    elif rows.is_gapless:
        store_lanes(step, rows.offset)
    elif rows.size == 1:
        _store_slots(step, rows, step.registers("value", SINGLE), rows.width)
    elif rows.fills_registers:
        values, per = step.registers("value", CONTIGUOUS), rows.size // rows.most
        for number, value in enumerate(values):
            place = rows.at(number // per, rows.most * (number % per))
            step.write.op("vsts", value, step.value("pointer"), place, step.write.all(rows.width))
            step.tell("value", rows.most * number, rows.most * (number + 1))
    elif rows.block_stride is not None:
        _store_blocks_of_rows(step, rows)
    else:
        _store_streams(step, rows)


def _store_slots(step: Recipe, rows: GroupRows, values: Registers, width: int) -> None:
    """The first lane of each register to its row."""
    for row, value in enumerate(values):
        dist = f"1PT_B{8 * width}"
        step.write.op("vsts", value, step.value("pointer"), rows.at(row), step.write.all(width), dist=dist)
        step.tell("value", row, row + 1)


def _store_bytes(step: Recipe, rows: GroupRows) -> None:
    """The low byte of each lane of 32 bits."""
    write, byte = step.write, unsigned_of(8)
    if rows.size % rows.most == 0 or (rows.is_gapless and rows.lanes % rows.most == 0):
        values, per = step.registers("value", CONTIGUOUS), max(1, rows.size // rows.most)
        for number, value in enumerate(values):
            gapless = rows.is_gapless and rows.size % rows.most != 0
            place = rows.at(0, rows.most * number) if gapless else rows.at(number // per, rows.most * (number % per))
            write.op("vsts", write.cast(value, byte), step.value("pointer"), place, write.all(4), dist="PK4_B32")
            step.tell("value", rows.most * number, rows.most * (number + 1), apart=1)
        return
    values = step.registers("value", SINGLE)
    for lane, value in enumerate(values):
        place = rows.at(lane // rows.size, lane % rows.size)
        write.op("vsts", write.cast(value, byte), step.value("pointer"), place, write.all(1), dist="1PT_B8")
        step.tell("value", lane, lane + 1, apart=1)


def _store_blocks_of_rows(step: Recipe, rows: GroupRows) -> None:
    write = step.write
    masks = step.whole(rows.lanes).registers(write, rows.width, CONTIGUOUS)
    for number, (value, mask) in enumerate(zip(step.registers("value", CONTIGUOUS), masks, strict=True)):
        pointer = write.op("addptr", step.value("pointer"), rows.at(BLOCKS * number))
        write.build.vsstb(value=value, dest=pointer, mask=mask, **_strides(rows))
        step.tell("value", rows.most * number, rows.most * (number + 1), apart=0)


def _store_streams(step: Recipe, rows: GroupRows) -> None:
    """Each row by an unaligned stream."""
    write, values = step.write, step.registers("value", CONTIGUOUS)
    for row in range(rows.count):
        align = write.op("init_align", result=AlignType())
        pointer = write.op("addptr", step.value("pointer"), rows.at(row))
        rest = rows.size
        for value in window(write, values, row * rows.size, rows.size):
            count = write.build.constant(min(rest, rows.most), i32)
            types = {"align_out": AlignType(), "next": pointer.type}
            align, pointer = write.build.vstus(align=align, offset=count, value=value, dest=pointer, **types)
            step.tell("value", row * rows.size, (row + 1) * rows.size, apart=0)
            rest -= rows.most
        write.build.vstas(align=align, dest=pointer, offset=write.build.constant(0, i32))
        step.tell("value", row * rows.size, (row + 1) * rows.size, apart=0)
