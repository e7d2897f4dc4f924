"""Copies between two places in global memory, through one tile or through two that take turns."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64

from ptosim.language.builder import Builder, known
from ptosim.language.tile.comm import TGet, TPut
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.copy import load_tile, store_tile
from ptosim.tiles.moves.view_chunks import Chunk, Chunks, chunks_of, hear, same_extents, tell
from ptosim.tiles.tile_values import GmView, Tile


@lowering(TPut)
def tput(build: Builder, dst: GmView, src: GmView, ping: Tile, pong: Tile | None, atomicType: str, target: str) -> None:
    same_extents(build, src, dst)
    through(build, src, [dst], [ping] if pong is None else [ping, pong], target, adds=atomicType == "atomic_add")


@lowering(TGet)
def tget(build: Builder, dst: GmView, src: GmView, ping: Tile, pong: Tile | None, target: str) -> None:
    same_extents(build, src, dst)
    through(build, src, [dst], [ping] if pong is None else [ping, pong], target)


def keep_apart(build: Builder, dst: GmView, src: GmView) -> None:
    """A copy in several parts should not overlap its destination."""
    extents = [build.index(number) for numbers in (src.sizes, dst.strides, src.strides) for number in numbers]
    build.op("pto.sim.apart", dst=dst.pointer, src=src.pointer, extents=extents, bytes=IntegerAttr(src.width, i64))


def through(
    build: Builder, src: GmView, dests: Sequence[GmView], tiles: Sequence[Tile], target: str, adds: bool = False
) -> None:
    """One load of each chunk, a store to each destination. A tile is loaded again when its stores have ended; the
    scalar unit goes on."""
    chunks = chunks_of(build, src, tiles[0])
    for dest in dests if known(chunks.total) != 1 else ():
        keep_apart(build, dest, src)

    def pass_on(chunk: Chunk, turn: int, again: bool) -> None:
        tile = chunk.staged(build, tiles[turn])
        if again:
            hear(build, "MTE3", "MTE2", turn)
        load_tile(build, chunk.of(build, src), tile, target)
        tell(build, "MTE2", "MTE3", turn)
        hear(build, "MTE2", "MTE3", turn)
        for dest in dests:
            store_tile(build, tile, chunk.of(build, dest), adds)
        tell(build, "MTE3", "MTE2", turn)

    chunks.each(build, len(tiles), pass_on)
    end_turns(build, chunks, len(tiles), "MTE3", "MTE2")


def end_turns(build: Builder, chunks: Chunks, turns: int, source: str, dest: str) -> None:
    """Waits for the last signal of each turn."""
    for turn in range(turns):
        chunks.where(build, turn, lambda turn=turn: hear(build, source, dest, turn))
