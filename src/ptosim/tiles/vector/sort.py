"""Sorting groups of 32 scores into records, and merging lists of records.

A record has 8 bytes: a score and an index. The machine sorts whole groups from memory to memory. A last group that is
not full is completed in working memory by scores that come last, and as many of its records are kept as the row of the
result has room for.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_vector_gather import TMrgSort, TSort32
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.cube_extents import must
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, first, load, offset, tail
from ptosim.tiles.vector.reduce import if_any
from ptosim.tiles.vector.registers import Registers

GROUP = 32
RECORD_BYTES = 8
MOST_REPEATS = 255
"""The most repeats of a sort or a merge."""

# --- groups of 32 -----------------------------------------------------------------------------------------------------

_SCORES, _INDICES, _SORTED = 0, GROUP * 4, GROUP * 8
_WORKING_BYTES = _SORTED + GROUP * RECORD_BYTES
"""Working memory of a last group: scores, indices, and records where a row has no room for 32."""


def _sort_scratch(op: TSort32, target: str) -> int:
    cols, tmp = op.tile("src").valid[1], op.tile("tmp") if op.has("tmp") else None
    whole = cols is not None and cols % GROUP == 0
    return 0 if whole or (tmp is not None and tmp.size >= _WORKING_BYTES) else _WORKING_BYTES


@lowering(TSort32, scratch=_sort_scratch)
def tsort32(build: Builder, src: Tile, idx: Tile, tmp: Tile | None, dst: Tile, scratch: Tile | None) -> None:
    groups, rest = build.quotient(src.cols, GROUP), build.remainder(src.cols, GROUP)
    _has_room(
        build, dst, src.buf.cols // GROUP * GROUP * _per_record(dst), build.times(groups, GROUP * _per_record(dst))
    )
    shared = build.least(build.most(build.minus(idx.rows, 1), 0), 1)  # 0 where one row of indices serves all
    completing = scratch or tmp

    def row(number: SSAValue) -> None:
        of_idx = build.times(number, shared)

        def some(at: Number, count: Number) -> None:
            first_score = build.times(at, GROUP)
            build.vbitsort(
                dest=_record(build, dst, number, first_score),
                source=_place(build, src, number, first_score),
                indices=_place(build, idx, of_idx, first_score),
                repeat=build.index(count),
            )

        _in_steps(build, groups, src.buf.cols // GROUP, some)
        if (working := completing) is not None:
            if_any(build, rest, lambda: _last_group(build, (src, number), (idx, of_idx), (dst, number), working))

    build.loop(dst.rows, 1, row)


def _has_room(build: Builder, dst: Tile, most: int, needed: Number) -> None:
    """A row of the result has room for whole groups, since other tiles lie behind it."""
    if most > dst.buf.cols:
        message = f"a row of {dst.name} has {dst.buf.cols} columns, too few for the records of src"
        must(build, "sle", needed, dst.buf.cols, "out-of-bounds", message, "dst_type")


Row = tuple[Tile, Number]
"""A tile and the number of one of its rows."""


def _last_group(build: Builder, src: Row, idx: Row, dst: Row, working: Tile) -> None:
    """Complete the scores of the last group, sort them, and keep what the row of the result has room for."""
    cols, (tile, row) = src[0].cols, dst
    count = build.remainder(cols, GROUP)
    start = build.minus(cols, count)
    scores = _part(build, working, src[0], _SCORES)
    indices = _part(build, working, idx[0], _INDICES)
    records = _part(build, working, tile, _SORTED)

    def complete() -> None:
        nothing = (1 << src[0].kind.bits) - 1  # a NaN with its sign: it sorts last
        _complete(build, src, scores, start, count, nothing)
        _complete(build, idx, indices, start, count, 0)

    build.scope(complete)
    room = -(-src[0].buf.cols // GROUP) * GROUP * _per_record(tile) <= tile.buf.cols
    build.vbitsort(
        dest=_record(build, tile, row, start) if room else records.pointer(build),
        source=scores.pointer(build),
        indices=indices.pointer(build),
        repeat=build.index(1),
    )
    if not room:
        build.scope(lambda: _keep(build, records, dst, start))


def _complete(build: Builder, source: Row, into: Tile, start: Number, count: Number, pad: int) -> None:
    """The elements of a last group and what fills it up to 32."""
    tile, row = source
    mask, _ = tail(build, count, tile.kind.bytes)
    x = load(build, tile, offset(build, tile, row, start), mask)
    if pad:
        x = build.vsel(on_true=x, on_false=Registers(build, tile.element).pattern(pad), mask=mask)
    group = first(build, GROUP, tile.kind.bytes)
    build.vsts(value=x, dest=into.pointer(build), offset=build.index(0), mask=group)


def _keep(build: Builder, records: Tile, dst: Row, start: Number) -> None:
    tile, row = dst
    begin, most = build.times(start, _per_record(tile)), GROUP * _per_record(tile)
    room = build.least(build.minus(tile.buf.cols, begin), most)
    lanes = Lanes(build, room, most, tile.kind.bytes)

    def copy(at: SSAValue, mask: SSAValue) -> None:
        x = load(build, records, at, None if lanes.full else mask)
        there = offset(build, tile, row, build.plus(begin, at))
        build.vsts(value=x, dest=tile.pointer(build), offset=there, mask=mask)

    lanes.each(copy)


def _part(build: Builder, working: Tile, like: Tile, at: int) -> Tile:
    """A piece of working memory as a row of the elements of another tile."""
    cols = GROUP * RECORD_BYTES // like.kind.bytes
    buf = TileBuf("vec", like.element, 1, cols, (1, cols))
    return Tile(buf, build.i64(build.plus(working.address, at)), (1, cols), (1, cols), working.name)


# --- lists of records -------------------------------------------------------------------------------------------------

_EVERY_LIST = 0x0001_0001_0001_0001
"""A length in each of the four fields of a count."""
_SUSPEND = 1 << 12


def _merge_scratch(op: TMrgSort, target: str) -> int:
    """Room for all records of several sources that have no tmp."""
    if op.has("blockLen") or op.has("tmp"):
        return 0
    return sum(op.tile(role).size for role in ("src0", "src1", "src2", "src3") if op.has(role))


@lowering(TMrgSort, scratch=_merge_scratch)
def tmrgsort(
    build: Builder,
    src0: Tile,
    src1: Tile | None,
    src2: Tile | None,
    src3: Tile | None,
    blockLen: SSAValue | None,
    tmp: Tile | None,
    dst: Tile,
    exhausted: bool,
    scratch: Tile | None,
) -> None:
    """Merges lists. No operation can read the array of records taken of each, so nothing is written there."""
    if blockLen is not None:
        _merge_blocks(build, src0, dst, blockLen)
        return
    sources = [src for src in (src0, src1, src2, src3) if src is not None]
    working = tmp or scratch
    assert working is not None
    _merge_lists(build, sources, working, dst, exhausted)


def _merge_blocks(build: Builder, src: Tile, dst: Tile, length: SSAValue) -> None:
    """Every four blocks of a row become one."""
    if (fixed := known(length)) is None:
        block = build.index(length)
        message = "blockLen must be a positive multiple of 64"
        rest = build.op("arith.remui", lhs=block, rhs=build.index(64), result=block.type)
        require(build, build.compare("eq", rest, 0), "invalid", message)
        require(build, build.compare("sgt", block, 0), "invalid", message)
        four = build.index(build.times(block, 4))
        times: Number = build.op("arith.divui", lhs=build.index(src.cols), rhs=four, result=four.type)
        lengths: Number = block
    else:
        lengths, times = fixed, build.quotient(src.cols, 4 * fixed)
    records = build.quotient(lengths, _per_record(src))
    _has_room(build, dst, src.buf.cols, build.times(times, build.times(lengths, 4)))

    def some(at: Number, count: Number) -> None:
        begin = build.times(at, build.times(lengths, 4))
        lists = [_place(build, src, 0, build.plus(begin, build.times(lengths, number))) for number in range(4)]
        config = build.plus(build.i64(count), 0xF << 8)
        _merge(build, _place(build, dst, 0, begin), lists, build.times(build.i64(records), _EVERY_LIST), config)

    _in_steps(build, times, src.buf.cols // 256, some)


def _merge_lists(build: Builder, sources: list[Tile], working: Tile, dst: Tile, exhausted: bool) -> None:
    """Merge up to four lists into working memory, and keep as much as the result has room for."""
    merged = Tile(dst.buf, working.address, dst.valid, dst.storage, working.name)
    counts: Number = 0
    for number, source in enumerate(sources):
        records = build.quotient(source.cols, _per_record(source))
        counts = build.plus(counts, build.times(build.i64(records), 1 << 16 * number))
    pointers = [source.pointer(build) for source in sources]
    lists = [*pointers, *[pointers[0]] * (4 - len(pointers))]
    config = 1 | ((1 << len(sources)) - 1) << 8 | (_SUSPEND if exhausted else 0)
    _merge(build, merged.pointer(build), lists, counts, config)

    def copy() -> None:
        lanes = Lanes(build, dst.cols, dst.buf.cols, dst.kind.bytes)

        def register(at: SSAValue, mask: SSAValue) -> None:
            x = load(build, merged, at, None if lanes.full else mask)
            build.vsts(value=x, dest=dst.pointer(build), offset=at, mask=mask)

        lanes.each(register)

    build.scope(copy)


def _merge(build: Builder, dest: SSAValue, lists: list[SSAValue], counts: Number, config: Number) -> None:
    sources = {f"source{number}": pointer for number, pointer in enumerate(lists)}
    build.vmrgsort4(dest=dest, **sources, count=build.i64(counts), config=build.i64(config))


# --- places -----------------------------------------------------------------------------------------------------------


def _per_record(tile: Tile) -> int:
    """Elements of a record."""
    return RECORD_BYTES // tile.kind.bytes


def _place(build: Builder, tile: Tile, row: Number, col: Number) -> SSAValue:
    """A pointer to an element of a row-major tile."""
    pointer = tile.pointer(build)
    at = build.plus(build.times(row, tile.pitch), col)
    return pointer if known(at) == 0 else build.addptr(pointer=pointer, offset=build.index(at), result=pointer.type)


def _record(build: Builder, tile: Tile, row: Number, number: Number) -> SSAValue:
    """A pointer to a record of a row."""
    return _place(build, tile, row, build.times(number, _per_record(tile)))


def _in_steps(build: Builder, count: Number, most: int, some: Callable[[Number, Number], None]) -> None:
    """Do something so many times, as often at once as the machine can: `some` takes where it begins and how often."""
    if most <= MOST_REPEATS:
        if known(count) != 0:
            some(0, count)
        return

    def step(at: SSAValue) -> None:
        some(at, build.least(build.minus(count, at), MOST_REPEATS))

    build.loop(count, MOST_REPEATS, step)
