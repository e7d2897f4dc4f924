"""Tiles that control flow hands on: a loop, a branch or a selection carries their address and valid region.

What lies behind the names must be laid out alike: the distance between rows is not carried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ptosim.language.builder import Builder
from ptosim.language.structure.control import For, If, Yield
from ptosim.language.structure.scalar_cast import Select
from ptosim.language.tile.tile_types import TileBufType
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile

CARRIED: tuple[Attribute, ...] = (i64, IndexType(), IndexType())
"""The types of the carried values of a tile: address, valid rows, valid columns."""

Known = Mapping[SSAValue, object]


def hands_on_tiles(op: Operation) -> bool:
    """Whether an operation of control flow takes, gives or yields tiles."""
    return isinstance(op, For | If | Select | Yield) and any(map(_is_tile, (*op.operands, *op.results)))


def _is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TileBufType)


def apart(build: Builder, known: Known, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Values as they are carried: tiles as their parts."""
    return [part for value in values for part in _parts(build, known, value)]


def _parts(build: Builder, known: Known, value: SSAValue) -> Iterator[SSAValue]:
    if not _is_tile(value):
        yield value
        return
    tile = known[value]
    assert isinstance(tile, Tile)
    if not tile.is_gapless:
        raise Refused(f"{tile.name} is a part of a tile with other distances between its rows; it cannot be handed on")
    yield from (tile.address, build.index(tile.rows), build.index(tile.cols))


def types(values: Sequence[SSAValue]) -> list[Attribute]:
    """The types of the carried values."""
    return [type_ for value in values for type_ in (CARRIED if _is_tile(value) else (value.type,))]


def together(values: Sequence[SSAValue], parts: Sequence[SSAValue], name: str) -> dict[SSAValue, Tile | SSAValue]:
    """Values made of the parts that were carried for them."""
    found: dict[SSAValue, Tile | SSAValue] = {}
    following = iter(parts)
    for value in values:
        if isinstance(value.type, TileBufType):
            buf = value.type.data
            address, rows, cols = (next(following) for _ in CARRIED)
            found[value] = Tile(buf, address, (rows, cols), buf.shape, name)
        else:
            found[value] = next(following)
    return found


def carry_through_loop(build: Builder, known: Known, loop: For) -> tuple[For, dict[SSAValue, Tile | SSAValue]]:
    """The loop with tiles carried as their parts, and what its arguments and results are. Its body is moved over."""
    carried = apart(build, known, loop.iter_args)
    index, *inside = loop.body.block.args
    block = Block(arg_types=[index.type, *types(loop.iter_args)])
    found = together(inside, block.args[1:], "%carried")
    found[index] = block.args[0]
    for op in list(loop.body.block.ops):
        op.detach()
        block.add_op(op)
    bounds = {"lb": loop.lb, "ub": loop.ub, "step": loop.step}
    new = For.make({**bounds, "iter_args": carried}, types(loop.iter_args), {}, loop.attributes, [Region(block)])
    build.add_region(new)
    return new, found | together(loop.results, new.results, "%carried")


def carry_out_of_branch(build: Builder, branch: If) -> tuple[If, dict[SSAValue, Tile | SSAValue]]:
    """The branch with tiles given as their parts, and what its results are."""
    regions = [branch.true_region, branch.false_region]
    blocks = [region.block for region in regions]
    for region in regions:
        region.detach_block(region.block)
    new = If.make({"cond": branch.cond}, types(branch.results), {}, branch.attributes, [Region(b) for b in blocks])
    build.add_region(new)
    return new, together(branch.results, new.results, "%chosen")


def select(build: Builder, known: Known, op: Select) -> Tile:
    """One of two tiles."""
    chosen = [
        build.op("arith.select", condition=op.condition, if_true=one, if_false=other, result=one.type)
        for one, other in zip(_parts(build, known, op.if_true), _parts(build, known, op.if_false), strict=True)
    ]
    tile = together([op.result], chosen, "%chosen")[op.result]
    assert isinstance(tile, Tile)
    return tile


def give(build: Builder, known: Known, op: Yield) -> None:
    """The end of a region that gives tiles; the one that was written goes."""
    build.add(Yield.make({"arguments": apart(build, known, op.arguments)}))
    op.detach()
    op.erase()
