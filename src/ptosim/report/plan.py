"""Addresses of tiles: the value of `Module.plan()`, as a table, as JSON and as a picture of each memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from ptosim.diagnostics import Source
from ptosim.effects.names import Space
from ptosim.report.profile_text import count, share, table
from ptosim.tiles.passes.memory_plan import MemoryPlan, PlacedTile


@dataclass(frozen=True)
class Plan:
    """The tiles of every function of a module."""

    source: Source
    target: str
    functions: tuple[MemoryPlan, ...]

    def __str__(self) -> str:
        width = get_terminal_size((100, 24)).columns
        return "\n\n".join(part for plan in self.functions for part in _text(plan, width)) or "there are no tiles"

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "functions": [
                {
                    "function": plan.function,
                    "peaks": {
                        space: {"bytes": peak(plan, space), "of": plan.capacity[space]} for space in spaces(plan)
                    },
                    "tiles": [asdict(tile) for tile in plan.tiles],
                }
                for plan in self.functions
            ],
        }

    def save_html(self, path: str | Path) -> None:
        Path(path).write_text(_page(self), "utf-8")


def spaces(plan: MemoryPlan) -> list[Space]:
    """The memories that hold tiles, in the order of the first one."""
    return list(dict.fromkeys(tile.space for tile in plan.tiles))


def peak(plan: MemoryPlan, space: Space) -> int:
    """The bytes up to the end of the last tile whose address is known."""
    return max((tile.address + tile.size for tile in _in(plan, space) if tile.address is not None), default=0)


def _in(plan: MemoryPlan, space: Space) -> list[PlacedTile]:
    return [tile for tile in plan.tiles if tile.space == space]


# --- the terminal -----------------------------------------------------------------------------------------------------


def _text(plan: MemoryPlan, width: int) -> Iterator[str]:
    if not plan.tiles:
        return
    yield f"@{plan.function}\n" + table(
        ("memory", "used", "", "of"),
        [
            (
                space,
                count(peak(plan, space)),
                share(peak(plan, space), plan.capacity[space]),
                count(plan.capacity[space]),
            )
            for space in spaces(plan)
        ],
        width,
    )
    yield table(("tile", "memory", "address", "bytes", "line", "in use", "type"), list(map(_row, plan.tiles)), width)


def _row(tile: PlacedTile) -> Sequence[str]:
    address = "run time" if tile.address is None else str(tile.address)
    used = f"{tile.first} to {tile.last}" if tile.size else "never"
    type_ = tile.type.removeprefix("!pto.tile_buf<").removesuffix(">")
    return tile.name, tile.space, address, count(tile.size), str(tile.line), used, type_


# --- the page ---------------------------------------------------------------------------------------------------------

_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")
_WIDTH, _HEIGHT, _MARGIN = 900, 320, 60
_ANCHORS = ("start", "end")
"""Where the text of an axis begins; the last one ends at its place, to stay in the picture."""
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #222; background: #fff }
h2 { font-size: 1.1rem } svg { width: 100%; height: auto } text { font: 11px system-ui, sans-serif; fill: #222 }
rect.tile { fill-opacity: .75; stroke: #fff } .axis { stroke: #999 } .limit { stroke: #c33; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1f } text { fill: #ddd } }
"""


def _page(plan: Plan) -> str:
    name = escape(Path(plan.source.name).name)
    pictures = "\n".join(
        f"<h2>@{escape(each.function)}: {space}, {count(peak(each, space))} of {count(each.capacity[space])} bytes</h2>"
        + _picture(each, space)
        for each in plan.functions
        for space in spaces(each)
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>memory of {name}</title><style>{_STYLE}</style><h1>Memory of {name} on {plan.target}</h1>"
        f"<p>Bytes upwards, lines of the kernel to the right; a tile is as wide as it is in use.</p>{pictures}</html>\n"
    )


def _picture(plan: MemoryPlan, space: Space) -> str:
    """Rectangles: bytes upwards, lines to the right. The scale is that of the bytes in use."""
    tiles = [tile for tile in _in(plan, space) if tile.size and tile.address is not None]
    first, last = min((tile.first for tile in tiles), default=0), max((tile.last for tile in tiles), default=1)
    top, capacity = max(peak(plan, space), 1), plan.capacity[space]
    scale = min(capacity, 1.15 * top)

    def x(line: int) -> float:
        return _MARGIN + (line - first) / max(1, last + 1 - first) * (_WIDTH - _MARGIN - 10)

    def y(byte: float) -> float:
        return _HEIGHT - 30 - byte / scale * (_HEIGHT - 50)

    parts = [
        f'<line class="axis" x1="{_MARGIN}" y1="{y(0):.1f}" x2="{_WIDTH}" y2="{y(0):.1f}"/>',
        *(_mark(byte, y(byte)) for byte in (0, top // 2, top)),
        *(
            f'<text x="{x(line):.1f}" y="{_HEIGHT - 12}" text-anchor="{_ANCHORS[line == last]}">line {line}</text>'
            for line in sorted({first, (first + last) // 2, last})
        ),
    ]
    if capacity <= scale:
        parts.append(
            f'<line class="limit" x1="{_MARGIN}" y1="{y(capacity):.1f}" x2="{_WIDTH}" y2="{y(capacity):.1f}"/>'
        )
    for number, tile in enumerate(tiles):
        left, right = x(tile.first), x(tile.last + 1)
        low, high = y(tile.address or 0), y((tile.address or 0) + tile.size)
        label = escape(f"{tile.name}: {count(tile.size)} bytes at {tile.address}, lines {tile.first} to {tile.last}")
        parts.append(
            f'<rect class="tile" x="{left:.1f}" y="{high:.1f}" width="{right - left:.1f}" height="{low - high:.1f}"'
            f' fill="{_COLOURS[number % len(_COLOURS)]}"><title>{label}</title></rect>'
        )
        if low - high > 12:
            parts.append(f'<text x="{left + 4:.1f}" y="{(low + high) / 2 + 4:.1f}">{escape(tile.name)}</text>')
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'


def _mark(byte: int, y: float) -> str:
    return f'<text x="{_MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{count(byte)}</text>'
