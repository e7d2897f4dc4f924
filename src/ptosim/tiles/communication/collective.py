"""Collectives of a group: copies and sums that the root makes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntegerAttr, i32, i64

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.comm import CommTGather, CommTScatter, TBroadcast, TReduce
from ptosim.tiles.communication.comm_copy import through
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.copy import load_tile, store_tile
from ptosim.tiles.moves.view_chunks import Chunk, chunks_of, hear, part, tell
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Tile
from ptosim.tiles.vector.elementwise_scope import computed
from ptosim.tiles.vector.formula import Formula, instruction

_OPERATIONS: dict[str, Formula] = {
    "sum": instruction("vadd"),
    "max": instruction("vmax"),
    "min": instruction("vmin"),
}
_STORED = 2
"""The token that says that the accumulator has been stored; those before it are of the receiving tiles."""


def _remark(build: Builder, buffer: GmView, group: Sequence[GmView], root: int) -> None:
    """Tell a check which places are joined; how large a member is matters only where that is known."""
    last = 1 + sum(
        (int(known(size) or 1) - 1) * int(known(stride) or 0)
        for size, stride in zip(group[0].sizes, group[0].strides, strict=True)
    )
    build.op(
        "pto.sim.group",
        buffer=buffer.pointer,
        members=[member.pointer for member in group],
        root=IntegerAttr(root, i32),
        bytes=IntegerAttr(last * group[0].width, i64),
    )


def _tiles(ping: Tile, pong: Tile | None) -> list[Tile]:
    return [ping] if pong is None else [ping, pong]


@lowering(TBroadcast)
def tbroadcast(
    build: Builder, src: GmView, ping: Tile, pong: Tile | None, group: Sequence[GmView], root: int, target: str
) -> None:
    _remark(build, src, group, root)
    through(build, src, group, _tiles(ping, pong), target)


@lowering(CommTGather)
def tgather(
    build: Builder, dst: GmView, ping: Tile, pong: Tile | None, group: Sequence[GmView], root: int, target: str
) -> None:
    _remark(build, dst, group, root)
    _within(build, dst, group)
    for number, member in enumerate(group):
        through(build, member, [_share(build, dst, member, number)], _tiles(ping, pong), target)


@lowering(CommTScatter)
def tscatter(
    build: Builder, src: GmView, ping: Tile, pong: Tile | None, group: Sequence[GmView], root: int, target: str
) -> None:
    _remark(build, src, group, root)
    _within(build, src, group)
    for number, member in enumerate(group):
        through(build, _share(build, src, member, number), [member], _tiles(ping, pong), target)


def _within(build: Builder, line: GmView, group: Sequence[GmView]) -> None:
    """Members that reach beyond a line are only remarked, as a partition beyond its view is."""
    needed = build.times(len(group), group[0].sizes[-1])
    if line.rank == 1:
        message = "the members reach beyond the view of the root: {} elements, of which it has {}"
        within = build.compare("sle", needed, line.sizes[-1])
        require(build, within, "lint", message, shown=(needed, line.sizes[-1]))


def _share(build: Builder, view: GmView, member: GmView, number: int) -> GmView:
    """The rows of the root's buffer that belong to a member; in one dimension its elements follow each other."""
    starts: list[Number] = [0] * len(view.sizes)
    axis = -1 if view.rank == 1 else -2
    starts[axis] = build.times(number, member.sizes[axis])
    return part(build, view, starts, member.sizes)


@lowering(TReduce)
def treduce(
    build: Builder,
    dst: GmView,
    acc: Tile,
    ping: Tile,
    pong: Tile | None,
    group: Sequence[GmView],
    reduceOp: str,
    root: int,
    target: str,
) -> None:
    """Reduces each chunk: the root's, then that of every other member in ascending order, then the store."""
    _remark(build, dst, group, root)
    others, tiles = [view for number, view in enumerate(group) if number != root], _tiles(ping, pong)
    chunks = chunks_of(build, group[root], ping)

    def reduce(chunk: Chunk, turn: int, again: bool) -> None:
        total = chunk.staged(build, acc)
        if again:
            hear(build, "MTE3", "MTE2", _STORED)
        load_tile(build, chunk.of(build, group[root]), total, target)
        for number, member in enumerate(others):
            place = number % len(tiles)
            received = chunk.staged(build, tiles[place])
            if again or number >= len(tiles):
                hear(build, "V", "MTE2", place)
            load_tile(build, chunk.of(build, member), received, target)
            _handed(build, "MTE2", "V", place)
            if number and target == "a2a3":  # where entries of V overlap
                build.barrier(pipe="PIPE_V")
            computed(build, _OPERATIONS[reduceOp], total, total, received)
            tell(build, "V", "MTE2", place)
        _handed(build, "V" if others else "MTE2", "MTE3", _STORED)
        store_tile(build, total, chunk.of(build, dst))
        tell(build, "MTE3", "MTE2", _STORED)

    chunks.each(build, 1, reduce)
    chunks.where(build, 0, lambda: hear(build, "MTE3", "MTE2", _STORED))
    chunks.where(build, 0, lambda: _each(min(len(others), len(tiles)), lambda place: hear(build, "V", "MTE2", place)))


def _each(count: int, act: Callable[[int], None]) -> None:
    for number in range(count):
        act(number)


def _handed(build: Builder, source: str, dest: str, number: int) -> None:
    tell(build, source, dest, number)
    hear(build, source, dest, number)
