"""Single elements of tiles for the scalar unit, and tiles as text."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue

from ptosim.effects.names import Space
from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_scalar import TGetVal, TSetVal
from ptosim.language.tile.tile_vector_quantise import TPrint
from ptosim.tiles.lowering import lowering
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Tile
from ptosim.tiles.vector.registers import as_element, signless

# --- elements ---------------------------------------------------------------------------------------------------------


@lowering(TGetVal)
def tgetval(build: Builder, op: TGetVal, src: Tile, offset: SSAValue) -> SSAValue:
    _inside(build, src, offset)
    pointer = src.pointer(build, op.result.type)
    return build.load_scalar(pointer=pointer, offset=build.index(offset), result=op.result.type)


@lowering(TSetVal)
def tsetval(build: Builder, offset: SSAValue, scalar: SSAValue, dst: Tile) -> None:
    if dst.buf.space is not Space.UB:
        raise Refused(f"the scalar unit writes tiles in vec, not in {dst.buf.loc}", at="dst_type")
    _inside(build, dst, offset)
    value = as_element(build, scalar, signless(dst.element))
    build.store_scalar(value=value, pointer=dst.pointer(build, value.type), offset=build.index(offset))


def _inside(build: Builder, tile: Tile, offset: SSAValue) -> None:
    """An offset counts elements of the memory of a tile; that of a part reaches to the end of the whole."""
    count = tile.buf.size // tile.buf.element_bytes
    if known(offset) is None and tile.storage == tile.buf.shape:
        message = f"the offset is outside of the {count} elements of {tile.name}"
        require(build, build.compare("ult", offset, count), "out-of-bounds", message)


# --- text -------------------------------------------------------------------------------------------------------------

_PRINT = "pto.sim.print_tile"


@lowering(TPrint)
def tprint(build: Builder, op: TPrint, src: Tile | GmView, printFormat: str) -> None:
    """Everything has ended before the scalar unit prints."""
    build.barrier(pipe="PIPE_ALL")
    if isinstance(src, Tile):
        _print_tile(build, src, printFormat)
    else:
        _print_planes(build, src, printFormat, build.parsed.named(op.src))


def _print_tile(build: Builder, tile: Tile, form: str) -> None:
    buf, pitch = tile.buf, tile.pitch
    rows, cols = buf.box
    blocks: tuple[Number, Number] | None = None
    if buf.boxed and buf.rows > 1:
        inner = (cols, 1) if buf.slayout == "row_major" else (1, rows)
        blocks = (rows * cols, pitch * cols) if buf.blayout == "col_major" else (pitch * rows, rows * cols)
    else:
        inner = (1, pitch) if buf.layout == "DN" else (pitch, 1)
    build.op(
        _PRINT,
        base=tile.pointer(build),
        **_extents(build, buf.shape, tile.valid, inner),
        block_row_stride=blocks and build.index(blocks[0]),
        block_column_stride=blocks and build.index(blocks[1]),
        box=blocks and DenseArrayBase.from_list(i64, [rows, cols]),
        title=tile.name,
        format=form,
    )


def _print_planes(build: Builder, view: GmView, form: str, title: str | None) -> None:
    """Every plane of the last two dimensions, one after the other."""
    *outer, rows, cols = zip(view.sizes, view.strides, strict=True)

    def plane(pointer: SSAValue) -> None:
        shape, strides = (rows[0], cols[0]), (rows[1], cols[1])
        extents = _extents(build, shape, shape, strides)
        build.op(_PRINT, base=pointer, **extents, title=title, format=form)

    def planes(pointer: SSAValue, dimensions: list[tuple[Number, Number]]) -> None:
        if not dimensions:
            plane(pointer)
            return
        (count, stride), *inner = dimensions

        def step(number: SSAValue) -> None:
            away = build.index(build.times(number, stride))
            planes(build.addptr(pointer=pointer, offset=away, result=pointer.type), inner)

        build.loop(count, 1, step)

    planes(view.pointer, outer)


def _extents(
    build: Builder, shape: tuple[Number, Number], valid: tuple[Number, Number], strides: tuple[Number, Number]
) -> dict[str, SSAValue]:
    roles = ("rows", "columns", "valid_rows", "valid_columns", "row_stride", "column_stride")
    return {role: build.index(value) for role, value in zip(roles, (*shape, *valid, *strides), strict=True)}
