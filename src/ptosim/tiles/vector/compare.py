"""Comparisons into packed bits, and selections by them: bit c % 8 of byte c / 8 belongs to element c of a row.

Bits come and go in blocks: 16 bytes for 128 elements of two or four bytes, 32 bytes for 256 elements of one byte. A
block of four-byte elements takes two registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_vector_select import TCmp, TCmps, TSel, TSels
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.cube_extents import agrees, must, remark
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess, everything, mask_type
from ptosim.tiles.vector.registers import Registers, as_element
from ptosim.tiles.vector.row_view import plain, reachable

_HALVES = ("LOWER", "HIGHER")

_Step = Callable[[RegisterAccess, Sequence[RegisterAccess]], None]
"""The steps on a block: on the block as a whole, and on each of its registers."""


def _block_elements(tile: Tile) -> int:
    return 256 // min(tile.kind.bytes, 2)


def _block_bytes(tile: Tile) -> int:
    return _block_elements(tile) // 8


def _each_block(build: Builder, tile: Tile, step: _Step, as_one_row: bool = False) -> None:
    """Visit the valid region of a tile block by block, inside a scope. Where nothing is valid, there is no block."""
    count, most = tile.cols, tile.buf.cols
    if as_one_row:
        count, most = build.times(tile.rows, tile.cols), tile.buf.rows * tile.buf.cols
    if known(count) == 0:
        return
    if known(count) is None:
        most = max(most, _block_elements(tile) + 1)  # a loop, which may run not at all
    lanes = Lanes(build, count, most, min(tile.kind.bytes, 2))
    every = everything(build, tile.kind.bytes)
    most_halves = 2 if tile.kind.bytes == 4 and most > tile.lanes else 1

    def row(number: SSAValue | None) -> None:
        def block(at: SSAValue, mask: SSAValue) -> None:
            here = RegisterAccess(build, mask, lanes.full, number, at)
            step(here, [_half(here, tile, half, every) for half in range(most_halves)])

        lanes.each(block)

    if as_one_row:
        row(None)
    else:
        build.loop(tile.rows, 1, row)


def _half(here: RegisterAccess, tile: Tile, half: int, every: SSAValue) -> RegisterAccess:
    """One register of a block: its elements, and their mask in lanes of their width."""
    build = here.build
    if here.full:
        mask = every
    elif tile.kind.bytes == 4:
        mask = build.punpack(input=here.mask, part=_HALVES[half], result=mask_type(4))
    else:
        mask = here.mask
    return replace(here, mask=mask, at=build.index(build.plus(here.at, half * tile.lanes)))


def _byte_of(here: RegisterAccess, pitch: Number) -> SSAValue:
    """The address of the bits of a block, rows being so many bytes apart."""
    build = here.build
    start = 0 if here.row is None else build.times(here.row, pitch)
    return build.index(build.plus(start, build.quotient(here.at, 8)))


# --- comparisons ------------------------------------------------------------------------------------------------------


@lowering(TCmp)
def tcmp(build: Builder, src0: Tile, src1: Tile, dst: Tile, cmpMode: str) -> None:
    plain(src0, src1, dst)
    v = Registers(build, src0.element)

    def test(part: RegisterAccess) -> SSAValue:
        return v.compare(cmpMode, part.load(src0), part.load(src1), part.mask)

    _compared(build, src0, dst, test, dst.pitch * dst.kind.bytes)


@lowering(TCmps)
def tcmps(build: Builder, op: TCmps, src: Tile, scalar: SSAValue, dst: Tile, cmpMode: str) -> None:
    """The rows of bits follow each other: without a gap where a row of src ends where the next one begins and dst has
    a byte for each element, in whole blocks otherwise."""
    plain(src, dst)
    element, v = as_element(build, scalar, src.element), Registers(build, src.element)

    def test(part: RegisterAccess) -> SSAValue:
        result = mask_type(src.kind.bytes)
        return v.op("vcmps", part.load(src), element, part.mask, comparison=cmpMode, result=result)

    def in_blocks() -> None:
        pitch = build.times(build.ceiling(src.cols, _block_elements(src)), _block_bytes(src))
        _remark_pitch(build, op, src, dst, build.times(pitch, 8))
        _compared(build, src, dst, test, pitch)

    def gapless() -> None:
        _remark_pitch(build, op, src, dst, src.buf.cols)
        _compared(build, replace(src, valid=(src.rows, src.buf.cols)), dst, test, None)

    may_be_gapless = src.pitch == src.buf.cols and dst.buf.cols * dst.kind.bytes >= src.buf.cols
    if not may_be_gapless or src.buf.cols % _block_elements(src) == 0:
        in_blocks()
    elif known(src.cols) is not None:
        (gapless if known(src.cols) == src.buf.cols else in_blocks)()
    else:
        build.choose(build.compare("eq", src.cols, src.buf.cols), gapless, in_blocks)


def _remark_pitch(build: Builder, op: TCmps, src: Tile, dst: Tile, bits: Number) -> None:
    """A selection looks for rows of bits where the rows of its mask are, not so many bits apart."""
    users = [use.operation for use in op.dst.uses]
    if any(isinstance(user, TSel | TSels) and user.mask is op.dst for user in users):
        pitch = dst.pitch * dst.kind.bytes
        wrong = build.times(build.minus(build.most(src.rows, 1), 1), build.minus(bits, pitch * 8))
        message = (
            f"tcmps packs its rows of bits; a selection looks for them {pitch} bytes apart, as rows of the mask lie"
        )
        remark(build, agrees(build, wrong, 0), message)


def _compared(
    build: Builder, src: Tile, dst: Tile, test: Callable[[RegisterAccess], SSAValue], pitch: Number | None
) -> None:
    """Store the bits of a test, rows being so many bytes apart, or all rows being one."""
    _has_room(build, src, dst, pitch)

    def body() -> None:
        dest = dst.pointer(build)

        def step(here: RegisterAccess, parts: Sequence[RegisterAccess]) -> None:
            bits = _together(build, [test(part) for part in parts], src.kind.bytes)
            dist = "NORM" if src.kind.bytes == 1 else "PK"
            build.psts(value=bits, dest=dest, offset=_byte_of(here, pitch or 0), dist=dist)

        _each_block(build, src, step, as_one_row=pitch is None)

    build.scope(body)


def _has_room(build: Builder, src: Tile, dst: Tile, pitch: Number | None) -> None:
    """The blocks of bits lie in the tile, since other tiles lie behind it."""

    def blocks(cols: Number) -> Number:
        return build.times(build.ceiling(cols, _block_elements(src)), _block_bytes(src))

    def needed(rows: Number, cols: Number, pitch: Number | None) -> Number:
        if pitch is None:
            return blocks(build.times(rows, cols))
        return build.plus(build.times(build.minus(rows, 1), pitch), blocks(cols))

    widest = pitch if pitch is None or known(pitch) is not None else blocks(src.buf.cols)
    if (known(needed(*src.buf.shape, widest)) or 0) > dst.span:
        message = f"{dst.name} has {dst.span} bytes, too few for the bits of the comparison"
        must(build, "sle", needed(*src.valid, pitch), dst.span, "out-of-bounds", message, "dst_type")


def _together(build: Builder, masks: Sequence[SSAValue], width: int) -> SSAValue:
    """The results of a block in lanes of two bytes, or of one byte for elements of one."""
    if width < 4:
        return masks[0]
    if len(masks) == 1:
        return build.ppack(input=masks[0], part=_HALVES[0], result=mask_type(2))
    first, second = (build.pbitcast(input=mask, result=mask_type(1)) for mask in masks)
    return build.pdintlv_b8(lhs=first, rhs=second, low=mask_type(1), high=mask_type(1))[0]


# --- selections -------------------------------------------------------------------------------------------------------


@lowering(TSel)
def tsel(build: Builder, mask: Tile, src0: Tile, src1: Tile, dst: Tile) -> None:
    plain(mask, src0, src1, dst)
    _selected(build, mask, reachable(build, dst, src0, src1), src0, lambda: lambda part: part.load(src1))


@lowering(TSels)
def tsels(build: Builder, mask: Tile, src: Tile, scalar: SSAValue, dst: Tile) -> None:
    plain(mask, src, dst)
    element = as_element(build, scalar, dst.element)

    def everywhere() -> Callable[[RegisterAccess], SSAValue]:
        other = Registers(build, dst.element).every(element)
        return lambda part: other

    _selected(build, mask, reachable(build, dst, src), src, everywhere)


def _selected(
    build: Builder, mask: Tile, dst: Tile, src: Tile, otherwise: Callable[[], Callable[[RegisterAccess], SSAValue]]
) -> None:
    """src where the bit of an element is set, else what is made once, before the loops, to give the others."""
    pitch, width = mask.pitch * mask.kind.bytes, dst.kind.bytes

    def body() -> None:
        source, other, v = mask.pointer(build), otherwise(), Registers(build, dst.element)
        dist, lanes = ("NORM", mask_type(1)) if width == 1 else ("US", mask_type(2))

        def step(here: RegisterAccess, parts: Sequence[RegisterAccess]) -> None:
            bits = build.plds(source=source, offset=_byte_of(here, pitch), dist=dist, result=lanes)
            for part, half in zip(parts, _HALVES, strict=False):
                chosen = bits if width < 4 else build.punpack(input=bits, part=half, result=mask_type(4))
                part.store(dst, v.select(chosen, part.load(src), other(part)))

        _each_block(build, dst, step)

    build.scope(body)
