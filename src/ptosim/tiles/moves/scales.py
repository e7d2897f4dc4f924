"""MX scales: tiles that lie beside the operand they belong to, at a sixteenth of its address.

pto.tget_scale_addr says which operand; it holds for the whole function, wherever it stands. Scales that nothing binds
are those of the operand that a product names with them.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_matrix import TileProduct
from ptosim.language.tile.tile_rearrange import TGetScaleAddr
from ptosim.language.tile.tile_view import AllocTile
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.cube_extents import ROWS, is_multiple, must, where_some
from ptosim.tiles.moves.tile_window import TileWindow
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile

Meaning = Callable[[SSAValue], Tile | None]
"""The facts about a value, None if they are not yet known."""

_FRAGMENT = 32
_LOADS = {"left": ("mte_l1_l0a_mx", 0), "right": ("mte_l1_l0b_mx", 1)}
"""The load of the scales of an operand, and which axis the lines are."""


@lowering(TGetScaleAddr)
def tget_scale_addr() -> None:
    """Moves and readers of the scales ask for the operand."""


def _bound(scale: SSAValue) -> set[SSAValue]:
    """The operands that a tile of scales is bound to."""
    return {op.src for use in scale.uses if isinstance(op := use.operation, TGetScaleAddr) and op.dst is scale}


def _multiplied(scale: SSAValue) -> set[SSAValue]:
    """The operands that products name with a tile of scales."""
    products = [use.operation for use in scale.uses if isinstance(use.operation, TileProduct)]
    pairs = [("lhs_scale", "lhs"), ("rhs_scale", "rhs")]
    return {
        op.segment(operand)[0] for op in products for role, operand in pairs if op.scaled and scale in op.segment(role)
    }


def operand_of(scale: SSAValue, meaning: Meaning) -> Tile:
    """The operand that the scales of a tile belong to."""
    sources = _bound(scale) or _multiplied(scale)
    if len(sources) != 1:
        how = "is bound to no operand" if not sources else "is bound to several operands"
        hint = "bind it once by pto.tget_scale_addr"
        raise Refused(f"the tile of scales {how}", kind="invalid", hint=hint)
    (source,) = sources
    found = meaning(source)
    if found is not None:
        return found
    owner = source.owner
    if not isinstance(owner, AllocTile) or owner.addr is None or known(owner.addr) is None:
        raise Refused("the operand of these scales is made later, at an address that only the run knows")
    return Tile(owner.tile, owner.addr, owner.tile.shape, owner.tile.shape, "operand")


def move_scales(build: Builder, window: TileWindow, scale: SSAValue, meaning: Meaning) -> None:
    """Fragments of 16 lines by 2 groups along k, from L1 to where the cube unit looks for them."""
    src, data = window.src, operand_of(scale, meaning)
    load, axis = _LOADS[data.buf.loc]
    if src.buf.rows == 1 and axis == 0:
        where_some(build, window.extent, lambda: _row(build, load, window, data))
        return
    other = 1 - axis
    is_multiple(build, window.start[axis], ROWS, "the first line of scales")
    is_multiple(build, window.start[other], 2, "the first group of scales")
    groups = build.ceiling(window.extent[other], 2)
    fields: dict[str, Number] = {
        "x_start": build.quotient(window.start[axis], ROWS),
        "y_start": build.quotient(window.start[other], 2),
        "x_step": build.ceiling(window.extent[axis], ROWS),
        "y_step": groups,
        "source_stride": src.storage[other] // 2,
        "dest_stride": groups,
    }
    where_some(build, window.extent, lambda: _load(build, load, src, data, fields))


def _row(build: Builder, load: str, window: TileWindow, data: Tile) -> None:
    """One row, whose scales lie one after the other."""
    is_multiple(build, window.start[1], _FRAGMENT, "the first of the scales of a row", "col")
    fields: dict[str, Number] = {
        "x_start": 0,
        "y_start": build.quotient(window.start[1], _FRAGMENT),
        "x_step": 1,
        "y_step": build.ceiling(window.extent[1], _FRAGMENT),
        "source_stride": 1,
        "dest_stride": 1,
    }
    _load(build, load, window.src, data, fields)


def _load(build: Builder, load: str, src: Tile, data: Tile, fields: dict[str, Number]) -> None:
    numbers = {role: build.i64(number) for role, number in fields.items()}
    build.op(load, source=src.pointer(build), dest=data.pointer(build), **numbers)


def has_its_scales(build: Builder, op: TileProduct, lhs: Tile, rhs: Tile, meaning: Meaning) -> None:
    """A product finds the scales of an operand beside it, whatever tile is named, unless that is bound elsewhere."""
    for role, operand in (("lhs_scale", lhs), ("rhs_scale", rhs)):
        (scale,) = op.segment(role)
        if not _bound(scale):
            continue
        bound = operand_of(scale, meaning)
        if bound.address is not operand.address:
            message = f"{role} is bound to another operand than that of the product"
            must(build, "eq", build.cast(bound.address, i64), operand.address, "invalid", message, role)
