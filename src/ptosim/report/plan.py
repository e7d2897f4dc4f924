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
from ptosim.vmi.layout_plan import LayoutPlan


@dataclass(frozen=True)
class Plan:
    """The tiles and the logical vectors of every function of a module."""

    source: Source
    target: str
    functions: tuple[MemoryPlan, ...]
    layouts: tuple[LayoutPlan, ...] = ()

    def _repr_html_(self) -> str:
        """For a notebook: the text, readable without a script."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        width = get_terminal_size((100, 24)).columns
        parts = [part for plan in self.functions for part in _text(plan, width)]
        parts += [part for plan in self.layouts for part in _vectors(plan, width)]
        return "\n\n".join(parts) or "there are no tiles"

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
            "layouts": [asdict(plan) for plan in self.layouts],
        }

    def save_html(self, path: str | Path) -> None:
        from ptosim.report.plan_page import page

        Path(path).write_text(page(self), "utf-8")


def spaces(plan: MemoryPlan) -> list[Space]:
    """The memories that hold tiles, in the order of the first one."""
    return list(dict.fromkeys(tile.space for tile in plan.tiles))


def peak(plan: MemoryPlan, space: Space) -> int:
    """The bytes up to the end of the last tile whose address is known."""
    return max((tile.address + tile.size for tile in tiles_in(plan, space) if tile.address is not None), default=0)


def tiles_in(plan: MemoryPlan, space: Space) -> list[PlacedTile]:
    return [tile for tile in plan.tiles if tile.space == space]


# --- the terminal -----------------------------------------------------------------------------------------------------


def _vectors(plan: LayoutPlan, width: int) -> Iterator[str]:
    """The logical vectors of a function, and what their layouts save."""
    rows = [
        (each.name, str(each.line or ""), f"{each.lanes}x{each.element}", each.layout, str(each.registers))
        for each in plan.vectors
    ]
    yield f"@{plan.function}\n" + table(("vector", "line", "lanes", "layout", "registers"), rows, width)
    yield f"instructions, those in a loop eight times: {plan.cost}; {plan.contiguous_cost} with all lanes contiguous"


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
    return tile.name, tile.space, address, count(tile.size), str(tile.line), used, short_type(tile)


def short_type(tile: PlacedTile) -> str:
    """The type without the word that all tiles have."""
    inner = tile.type.removeprefix("!pto.tile_buf<")
    return tile.type if inner == tile.type else inner.removesuffix(">")
