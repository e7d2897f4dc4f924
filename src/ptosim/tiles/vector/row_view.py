"""Tiles whose elements lie in the same order, seen as rows: what works element by element need not know the layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptosim.language.builder import Builder, known
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile


def in_rows(*tiles: Tile) -> tuple[Tile, ...]:
    """Row-major tiles of the same bytes: column-major ones are turned, boxed ones that are wholly valid are one row."""
    layouts = {tile.buf.layout for tile in tiles if not _is_plain(tile)}
    if not layouts:
        return tiles
    if layouts == {"DN"} and not any(map(_is_plain, tiles)):
        return tuple(tile.turned() for tile in tiles)
    if len(layouts) == 1 and len({_form(tile) for tile in tiles}) == 1 and all(map(_is_whole, tiles)):
        return tuple(map(_as_one_row, tiles))
    shown = ", ".join(dict.fromkeys(tile.buf.layout for tile in tiles))
    raise Refused(
        f"tiles laid out as {shown} are computed element by element only where all have one layout and shape, and where"
        " those with boxes are wholly valid"
    )


def reachable(build: Builder, dst: Tile, *sources: Tile) -> Tile:
    """A result as far as its sources reach: where only the run knows valid regions, they may be smaller tiles."""
    sizes = list(dst.valid)
    for source in sources:
        for side, extent in enumerate(source.buf.shape):
            if extent < dst.buf.shape[side]:
                sizes[side] = build.least(sizes[side], extent)
    return replace(dst, valid=(sizes[0], sizes[1]))


def bounded(build: Builder, src: Tile, dst: Tile, side: int) -> Tile:
    """A source as far as its result has room: where only the run knows valid rows (0) or columns (1), that may be a
    smaller tile, behind which others lie."""
    if src.buf.shape[side] <= dst.buf.shape[side]:
        return src
    sizes = list(src.valid)
    sizes[side] = build.least(sizes[side], dst.buf.shape[side])
    return replace(src, valid=(sizes[0], sizes[1]))


def plain(*tiles: Tile) -> None:
    """Refuse tiles that do not lie in rows."""
    for tile in tiles:
        if not _is_plain(tile):
            raise Refused(f"{tile.name} is laid out as {tile.buf.layout}; only rows are lowered")


def _is_plain(tile: Tile) -> bool:
    return tile.buf.layout == "ND" or (tile.buf.boxed and tile.buf.rows == 1)


def _form(tile: Tile) -> tuple[object, ...]:
    """The facts that decide where elements lie."""
    buf = tile.buf
    return buf.layout, buf.shape, buf.box, buf.compact, tile.storage


def _is_whole(tile: Tile) -> bool:
    sizes: Sequence[int | None] = [known(extent) for extent in tile.valid]
    return tile.buf.shape == tile.storage == tuple(sizes) and tile.buf.size == _bytes(tile)


def _bytes(tile: Tile) -> int:
    return tile.buf.rows * tile.buf.cols * tile.buf.element_bytes


def _as_one_row(tile: Tile) -> Tile:
    count = tile.buf.rows * tile.buf.cols
    buf = replace(tile.buf, rows=1, cols=count, valid=(1, count), blayout="row_major", slayout="none_box")
    return Tile(buf, tile.address, (1, count), (1, count), tile.name)
