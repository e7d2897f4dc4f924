"""Agreement between the tiles of an operation: `check` reports a lack of it, a run goes on.

Valid regions should agree, of which only the run may know whether they do: it takes the region that the operation
covers, as the hardware would. A destination should lie where a source lies, or apart from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import i1

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Builder, Number, known
from ptosim.language.operation import PTOOperation
from ptosim.language.rules.tile_rules import SameValid
from ptosim.language.tile.tile_family import VectorTile
from ptosim.language.tile.tile_types import tile_of
from ptosim.language.tile.tile_view import TReshape
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import Tile

_SIDES = ("rows", "columns")


def remark_disagreement(build: Builder, op: PTOOperation, tiles: Mapping[str, Tile]) -> None:
    """Remark where regions differ that the rules of an operation want to be the same."""
    for one, other, side in _pairs(op, tiles):
        sizes = tiles[one].valid[side], tiles[other].valid[side]
        if _are_one(*sizes):
            continue
        differ = known(sizes[0]) is not None and known(sizes[1]) is not None
        same = build.pattern(0, i1) if differ else build.compare("eq", *sizes)
        message = f"{one} has {{}} valid {_SIDES[side]}, but {other} {{}}{_reshaped(build, op, other, side)}"
        require(build, same, "invalid", message, severity="warning", shown=sizes)


def _reshaped(build: Builder, op: PTOOperation, role: str, side: int) -> str:
    """The origin of the size of a tile that a treshape has made."""
    (value,) = op.segment(role)
    tile = tile_of(value.type)
    if not isinstance(value.owner, TReshape) or tile is None or tile.valid[side] is not None:
        return ""
    return f": pto.treshape makes all of {build.parsed.named(value)} valid, pto.set_validshape less of it"


def _pairs(op: PTOOperation, tiles: Mapping[str, Tile]) -> Iterator[tuple[str, str, int]]:
    rules = (*op.checks, *op.more_checks) if isinstance(op, VectorTile) else ()
    for rule in rules:
        if isinstance(rule, SameValid):
            first, *others = (role for role in rule.roles if role in tiles)
            yield from ((first, other, side) for other in others for side in rule.sides)


def _are_one(one: Number, other: Number) -> bool:
    value = known(one)
    return one is other or (value is not None and value == known(other))


def remark_partial_overlap(build: Builder, op: PTOOperation, tiles: Mapping[str, Tile]) -> None:
    """A destination that begins elsewhere than a source of the same elements and overlaps it. In place is safe; this
    works as long as registers are loaded and stored in the order of the text. Tiles with gaps between their rows are
    left out: rows may interleave."""
    dst = tiles.get("dst")
    if dst is None or not _is_stream(dst):
        return
    for role in sorted({one for pair in _pairs(op, tiles) for one in pair[:2]} - {"dst"}):
        src = tiles[role]
        start, other = known(dst.address), known(src.address)
        if start is None or other is None or not _is_stream(src) or src.kind.bytes != dst.kind.bytes:
            continue
        if 0 < abs(distance := other - start) < dst.buf.rows * dst.buf.cols * dst.kind.bytes:
            _remark_overlap(build, dst, role, distance)


def _remark_overlap(build: Builder, dst: Tile, role: str, distance: int) -> None:
    """The remark on a source that begins so many bytes above the destination. If it begins below, and there is more
    than a register, bytes are loaded after they were stored, and that is told.
    """
    end = build.times(build.times(dst.rows, dst.cols), dst.kind.bytes)
    told = VECTOR_BYTES if distance < 0 else None
    if (size := known(end)) is None:
        apart = build.compare("sle", end, abs(distance))
        if told is not None:
            apart = build.op("arith.ori", lhs=apart, rhs=build.compare("sgt", end, told))
    elif size <= abs(distance) or (told is not None and size > told):
        return
    else:
        apart = build.pattern(0, i1)
    where = "below" if distance > 0 else "above the beginning of"
    message = f"dst begins {abs(distance)} bytes {where} {role} and reaches into it: let them be the same, or apart"
    require(build, apart, "invalid", message)


def _is_stream(tile: Tile) -> bool:
    return tile.buf.loc == "vec" and tile.is_linear
