"""The page of `ptosim plan --html`: a picture of each memory, its tiles in a table beside it, and the source below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ptosim.effects.names import Space
from ptosim.report.plan import peak, short_type, spaces, tiles_in
from ptosim.report.profile_text import count, share
from ptosim.tiles.passes.memory_plan import MemoryPlan, PlacedTile

if TYPE_CHECKING:
    from ptosim.report.plan import Plan

_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 380, 70, 90, 8, 24
_LEAST = 3
"""Pixels that a tile is high at least."""
_LABEL = 12
"""Pixels from one label to the next."""
_SHOWN = 1.15
"""The capacity is drawn where it is below so many times the peak; else only named."""
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
  color: #222; background: #fff }
h2 { font-size: 1.1rem } section { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start }
svg { flex: 1 1 34rem; min-width: 20rem; height: auto } text { font: 11px system-ui, sans-serif; fill: #222 }
table { border-collapse: collapse; font-size: 13px } td, th { padding: .1rem .6rem .1rem 0; text-align: left }
td.number { text-align: right; font-variant-numeric: tabular-nums }
rect.tile { fill-opacity: .75; stroke: #fff } line.axis { stroke: #999 } line.leader { stroke: #999; stroke-width: .5 }
line.peak { stroke: #06c; stroke-dasharray: 2 3 } line.limit { stroke: #c33; stroke-dasharray: 6 3 }
i { display: inline-block; width: .8em; height: .8em; margin-right: .4em } a { color: #06c }
pre { font-size: 12px; line-height: 1.4; overflow-x: auto } pre :target { background: #fe8 } .soft { color: #777 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1f } text { fill: #ddd }
  a { color: #7bf } pre :target { background: #653 } }
"""


def page(plan: Plan) -> str:
    """One file that needs no network."""
    name = escape(Path(plan.source.name).name)
    parts = "\n".join(_memory(each, space) for each in plan.functions for space in spaces(each))
    lines = plan.source.text.splitlines()
    source = "\n".join(
        f'<span id="L{number}"><span class="soft">{number:>5}</span>  {escape(line)}</span>'
        for number, line in enumerate(lines, 1)
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>memory of {name}</title><style>{_STYLE}</style><h1>Memory of {name} on {escape(plan.target)}</h1>"
        "<p>Addresses downwards, as in the profile, lines to the right; a box is as wide as its bytes are "
        f"in use.</p>{parts}<h2>Source</h2><pre>{source}</pre></html>\n"
    )


def _memory(plan: MemoryPlan, space: Space) -> str:
    used, capacity = peak(plan, space), plan.capacity[space]
    title = f"@{escape(plan.function)}: {space}, {count(used)} of {count(capacity)} bytes ({share(used, capacity)})"
    return f"<h2>{title}</h2><section>{_picture(plan, space)}{_table(tiles_in(plan, space))}</section>"


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _table(tiles: Sequence[PlacedTile]) -> str:
    heads = "".join(f"<th>{head}</th>" for head in ("tile", "address", "bytes", "in use", "type"))
    return f"<table><tr>{heads}</tr>{''.join(_row(number, tile) for number, tile in enumerate(tiles))}</table>"


def _row(number: int, tile: PlacedTile) -> str:
    address = "run time" if tile.address is None else str(tile.address)
    used = f"{_link(tile.first)} to {_link(tile.last)}" if tile.size else "never"
    name = f'<i style="background:{_colour(number)}"></i><a href="#L{tile.line}">{escape(tile.name)}</a>'
    cells = f'<td class="number">{address}</td><td class="number">{count(tile.size)}</td><td>{used}</td>'
    return f"<tr><td>{name}</td>{cells}<td>{escape(short_type(tile))}</td></tr>"


def _link(line: int) -> str:
    return f'<a href="#L{line}">{line}</a>'


def _picture(plan: MemoryPlan, space: Space) -> str:
    """Boxes: addresses downwards, lines to the right. The scale is that of the bytes in use."""
    every = tiles_in(plan, space)
    tiles = [(number, tile) for number, tile in enumerate(every) if tile.size and tile.address is not None]
    first = min((tile.first for _, tile in tiles), default=0)
    last = max((tile.last for _, tile in tiles), default=1)
    top, capacity = max(peak(plan, space), 1), plan.capacity[space]
    scale = max(top, capacity if capacity <= _SHOWN * top else 0)

    def x(line: int) -> float:
        return _LEFT + (line - first) / max(1, last + 1 - first) * (_WIDTH - _LEFT - _RIGHT)

    def y(byte: float) -> float:
        return _TOP + byte / scale * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<line class="axis" x1="{_LEFT}" y1="{y(0):.1f}" x2="{_LEFT}" y2="{y(scale):.1f}"/>',
        *(_mark(byte, y(byte)) for byte in sorted({0, top // 2})),
        *_across("peak", top, y(top)),
        *(_across("limit", capacity, y(capacity)) if scale >= capacity else ()),
        *(
            f'<text x="{x(line):.1f}" y="{_HEIGHT - 6}">line {line}</text>'
            for line in sorted({first, (first + last) // 2})
        ),
    ]
    free = 0.0
    for number, tile in sorted(tiles, key=lambda each: each[1].address or 0):
        left, right, low = x(tile.first), x(tile.last + 1), y(tile.address or 0)
        high = max(y((tile.address or 0) + tile.size), low + _LEAST)
        free = max(free, low + _LABEL - 2)
        parts += _box(number, tile, (left, low, right, high), free)
        free += _LABEL
    return f'<svg viewBox="0 0 {_WIDTH} {max(_HEIGHT, free):.0f}" role="img">{"".join(parts)}</svg>'


def _box(number: int, tile: PlacedTile, at: tuple[float, float, float, float], label: float) -> Iterator[str]:
    """A tile, and its name beside the picture."""
    left, low, right, high = at
    said = escape(f"{tile.name}: {count(tile.size)} bytes at {tile.address}, lines {tile.first} to {tile.last}")
    yield (
        f'<a href="#L{tile.line}"><rect class="tile" x="{left:.1f}" y="{low:.1f}" width="{right - left:.1f}"'
        f' height="{high - low:.1f}" fill="{_colour(number)}"><title>{said}</title></rect></a>'
    )
    edge = _WIDTH - _RIGHT + 6
    yield f'<line class="leader" x1="{right:.1f}" y1="{(low + high) / 2:.1f}" x2="{edge}" y2="{label - 4:.1f}"/>'
    yield f'<text x="{edge + 2}" y="{label:.1f}">{escape(tile.name)}</text>'


def _across(kind: str, byte: int, y: float) -> Iterator[str]:
    """A line at the peak or at the end of the memory."""
    yield f'<line class="{kind}" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>'
    yield _mark(byte, y)


def _mark(byte: int, y: float) -> str:
    return f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{count(byte)}</text>'
