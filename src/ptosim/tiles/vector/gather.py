"""Gathers within vec: by index, by a pattern, by comparison, by blocks."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, f32, i16, i32
from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, Number
from ptosim.language.tile.tile_vector_gather import TGather, TGatherB
from ptosim.language.types import VregType
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.move_in_ub import move
from ptosim.tiles.moves.rearrange import by_rows
from ptosim.tiles.moves.tile_window import as_bits, bits, part
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, everything, load, offset, tail
from ptosim.tiles.vector.offsets_of_indices import each_range
from ptosim.tiles.vector.registers import Registers, as_element, signless, with_sign
from ptosim.tiles.vector.relayout_by_index import element_pointer, lane_width, steps, store_lanes

PATTERNS = {
    "P1111": (0, 1),
    "P0101": (0, 2),
    "P1010": (1, 2),
    "P0001": (0, 4),
    "P0010": (1, 4),
    "P0100": (2, 4),
    "P1000": (3, 4),
}
"""The element that a pattern takes, and of how many."""


@lowering(TGather)
def tgather(
    build: Builder,
    op: TGather,
    target: str,
    src: Tile,
    idx: Tile | None,
    scalar: SSAValue | None,
    dst: Tile,
    cdst: Tile | None,
) -> None:
    if op.pattern is not None:
        _by_pattern(build, op, src, dst)
    elif idx is not None:
        _by_index(build, op, target, src, idx, dst)
    elif scalar is not None and cdst is not None:
        _by_comparison(build, op, src, scalar, dst, cdst)


# --- by index ---------------------------------------------------------------------------------------------------------


def _by_index(build: Builder, op: TGather, target: str, src: Tile, idx: Tile, dst: Tile) -> None:
    """dst[i, j] = the element of src whose number in memory is idx[i, j]."""
    data = as_bits(build, src)
    there, indices = (as_bits(build, tile) for tile in by_rows(op, dst, idx))
    register_type = VregType.of(bits(lane_width(data)))

    def scope() -> None:
        lanes = Lanes(build, there.cols, min(there.buf.cols, indices.buf.cols), lane_width(data))

        def row(number: SSAValue) -> None:
            def register(at: SSAValue, mask: SSAValue) -> None:
                found: list[SSAValue] = []

                def visit(source: SSAValue, offsets: SSAValue, active: SSAValue, within: IntegerAttr | None) -> None:
                    value = build.vgather2(
                        source=source, offsets=offsets, mask=active, within=within, result=register_type
                    )
                    found[:] = [build.vor(lhs=earlier, rhs=value, mask=mask) for earlier in found] or [value]

                each_range(build, target, data, indices, offset(build, indices, number, at), mask, visit)
                store_lanes(build, there, offset(build, there, number, at), found[0], mask)

            lanes.each(register)

        build.loop(there.rows, 1, row)

    build.scope(scope)


# --- by a pattern -----------------------------------------------------------------------------------------------------


def _by_pattern(build: Builder, op: TGather, src: Tile, dst: Tile) -> None:
    """Takes from every so many columns, or rows, the one that the pattern marks."""
    first, factor = PATTERNS[str(op.pattern)]
    src, dst = (as_bits(build, tile) for tile in by_rows(op, src, dst))
    if op.setting("axis") == "col":
        src = every_row(build, src, first, factor)
        first, factor = 0, 1
    if factor == 1:
        move(build, src, dst, dst.valid)
    elif factor == 2:
        build.scope(lambda: _every_second(build, src, dst, first))
    else:
        build.scope(lambda: _every_column(build, src, dst, first, factor))


def every_row(build: Builder, tile: Tile, first: int, factor: int) -> Tile:
    """Every so many rows of a row-major tile."""
    return replace(part(build, tile, (first, 0), tile.valid), storage=(tile.storage[0], tile.storage[1] * factor))


def _every_second(build: Builder, src: Tile, dst: Tile, first: int) -> None:
    width = dst.kind.bytes
    lanes = Lanes(build, dst.cols, dst.buf.cols, width)
    type_ = VregType.of(src.element)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            halves = build.vldsx2(
                source=src.pointer(build),
                offset=offset(build, src, number, build.times(at, 2)),
                dist=f"DINTLV_B{8 * width}",
                mask=None if lanes.full else mask,
                low=type_,
                high=type_,
            )
            build.vsts(value=halves[first], dest=dst.pointer(build), offset=offset(build, dst, number, at), mask=mask)

        lanes.each(register)

    build.loop(dst.rows, 1, row)


def _every_column(build: Builder, src: Tile, dst: Tile, first: int, factor: int) -> None:
    width = lane_width(dst)
    lanes, offsets = Lanes(build, dst.cols, dst.buf.cols, width), steps(build, factor, width)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            start = build.plus(offset(build, src, number, build.times(at, factor)), first)
            source = element_pointer(build, src, start)
            value = build.vgather2(source=source, offsets=offsets, mask=mask, result=VregType.of(bits(width)))
            store_lanes(build, dst, offset(build, dst, number, at), value, mask)

        lanes.each(register)

    build.loop(dst.rows, 1, row)


# --- by comparison ----------------------------------------------------------------------------------------------------


def _by_comparison(build: Builder, op: TGather, src: Tile, scalar: SSAValue, dst: Tile, cdst: Tile) -> None:
    """The numbers of the elements that match, row by row from the left, and how many they are."""
    src, dst = by_rows(op, src, dst)
    there, counts = as_bits(build, dst), as_bits(build, cdst)
    wide = _Widened(build, src)
    bound, base = wide.scalar(scalar), int(op.setting("offset") or 0)
    comparison = str(op.setting("cmpMode"))

    def scope() -> None:
        v, all_ = Registers(build, i32), everything(build, 4)
        lanes = Lanes(build, src.cols, src.buf.cols, 4)
        one, none = v.every(1), v.every(0)
        room = build.cast(there.cols, i32)

        def row(number: SSAValue) -> None:
            dest = element_pointer(build, there, element_offset(build, there, number, 0))

            def register(at: SSAValue, mask: SSAValue, total: SSAValue) -> list[SSAValue]:
                value = wide.load(offset(build, src, number, at), mask)
                hit = v.op("vcmps", value, bound, mask, comparison=comparison, result=mask.type)
                place = v.op("vadd", total, v.op("vusqz", none, hit), all_)
                fits = v.op("vcmps", place, room, hit, comparison="lt", result=mask.type)
                start = build.plus(build.plus(build.times(number, src.buf.cols), at), base)
                numbers = v.op("vci", build.cast(start, i32), result=v.type)
                build.vscatter(value=numbers, dest=dest, offsets=place, mask=fits)
                count = v.op("vcadd", v.select(hit, one, none), all_, result=v.type)
                return [v.op("vadd", total, v.op("vdup", count, all_, result=v.type), all_)]

            (total,) = lanes.each(register, none)
            place = build.index(element_offset(build, counts, number, 0))
            build.vsts(value=total, dest=counts.pointer(build), offset=place, mask=all_, dist="1PT_B32")

        build.loop(build.least(src.rows, min(there.buf.rows, counts.buf.rows)), 1, row)

    build.scope(scope)


class _Widened:
    """Elements of a tile as registers of 32 bits that compare alike."""

    def __init__(self, build: Builder, tile: Tile) -> None:
        kind = tile.kind
        self.build, self.tile, self.kind = build, tile, kind
        self.element = f32 if kind.is_float else with_sign(i32, "unsigned") if kind.name.startswith("u") else i32

    def scalar(self, value: SSAValue) -> SSAValue:
        """A scalar in the type of the registers."""
        exact = as_element(self.build, value, self.tile.element)
        if self.kind.bytes == 4:
            return exact
        if self.kind.is_float:
            return self.build.op("arith.extf", operand=exact, result=f32)
        cast = "arith.extui" if self.kind.name.startswith("u") else "arith.extsi"
        return self.build.op(cast, operand=exact, result=signless(self.element))

    def load(self, at: SSAValue, mask: SSAValue) -> SSAValue:
        build, kind = self.build, self.kind
        if kind.bytes == 4:
            return load(build, self.tile, at, mask)
        v, all_ = Registers(build, self.element), everything(build, 4)
        narrow = load(build, self.tile, at, mask, "UNPK_B16" if kind.bytes == 2 else "UNPK4")
        if kind.name == "f16":
            return v.op("vcvt", narrow, everything(build, 2), part="EVEN", result=v.type)
        if kind.name.startswith("u"):
            return v.cast(narrow)
        words = v.of(i32)
        missing = build.constant(32 - kind.bits, i16)
        high = words.op("vshls", words.cast(narrow), missing, all_)
        return v.cast(high) if kind.is_float else words.op("vshrs", high, missing, all_)


# --- by blocks --------------------------------------------------------------------------------------------------------


@lowering(TGatherB)
def tgatherb(build: Builder, op: TGatherB, src: Tile, idx: Tile, dst: Tile) -> None:
    """Eight blocks at a time; an offset of the index tile says where each begins, in bytes."""
    data = as_bits(build, src)
    there, offsets = (as_bits(build, tile) for tile in by_rows(op, dst, idx))
    width = there.kind.bytes
    per_block = GRANULE // width

    def scope() -> None:
        lanes = Lanes(build, there.cols, there.buf.cols, width)

        def row(number: SSAValue) -> None:
            def register(at: SSAValue, mask: SSAValue) -> None:
                count = build.ceiling(build.least(build.minus(there.cols, at), lanes.per_register), per_block)
                active, _ = tail(build, count, 4)
                place: Number = build.quotient(at, per_block)
                starts = load(build, offsets, offset(build, offsets, number, place), active)
                value = build.vgatherb(
                    source=data.pointer(build), offsets=starts, mask=active, result=VregType.of(data.element)
                )
                build.vsts(value=value, dest=there.pointer(build), offset=offset(build, there, number, at), mask=mask)

            lanes.each(register)

        build.loop(there.rows, 1, row)

    if offsets.buf.boxed:
        raise Refused(f"{op.name} takes its offsets from rows", "idx_type")
    build.scope(scope)
