"""Entries of FIFOs: how a tile gets into a slot, and what the tile is that a slot holds.

Slots are tiles at an address, or views of GM; what fills them are moves, stores and loads of tiles, which are lowered
as any other. The protocol around them is in fifo_direction.py.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from ptosim.language.builder import INDEX, Builder, Number, known
from ptosim.language.tile.fifo_end import C2V
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_epilogue import Epilogue
from ptosim.language.tile.tile_types import PartitionViewType, TensorViewType, TileBufType, tile_of
from ptosim.language.tile.tile_types import ViewExtents as ViewType
from ptosim.language.types import PtrType, element_of
from ptosim.tiles.fifo.fifo_direction import Line
from ptosim.tiles.moves.cube_extents import must
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require

_MODES = {0: "single_mode_vec0", 1: "dual_mode_split_m", 2: "dual_mode_split_n"}
"""The share of an accumulator that the fixpipe gives each vector core, by `split`."""

Extents = tuple[Number, Number]


def extents(build: Builder, tile: SSAValue) -> Extents:
    """The valid rows and columns of a tile."""
    buf = tile_of(tile.type)
    assert buf is not None
    rows, cols = buf.valid
    return (
        build.tile_valid_rows(source=tile, result=INDEX) if rows is None else rows,
        build.tile_valid_cols(source=tile, result=INDEX) if cols is None else cols,
    )


def tile_at(build: Builder, buf: TileBuf, address: SSAValue, valid: Extents) -> SSAValue:
    """A tile at an address; its valid region is given where its type leaves it open."""
    type_ = TileBufType(buf)
    declared = build.declare_tile(result=type_)
    declared.name_hint = "slot"
    tile = build.tassign(source=declared, addr=address, result=type_)
    if None in buf.valid:
        build.set_validshape(source=tile, valid_row=build.index(valid[0]), valid_col=build.index(valid[1]))
    return tile


def view_at(build: Builder, pointer: SSAValue, valid: Extents, pitch: Number, down: bool = False) -> SSAValue:
    """Rows in GM, or columns (`down`), so many elements apart."""
    element = cast(PtrType, pointer.type).element
    rows, cols = (build.index(extent) for extent in valid)
    tensor = build.make_tensor_view(
        pointer=pointer,
        shape=[rows, cols],
        strides=[build.index(1 if down else pitch), build.index(pitch if down else 1)],
        layout="dn" if down else "nd",
        result=TensorViewType(ViewType((None, None), element)),
    )
    zero, shape = build.index(0), (known(valid[0]), known(valid[1]))
    part = PartitionViewType(ViewType(shape, element))
    return build.partition_view(source=tensor, offsets=[zero, zero], sizes=[rows, cols], result=part)


def share(build: Builder, split: int, sub: SSAValue | None, valid: Extents, width: int) -> tuple[Number, Number]:
    """The offset in bytes of a vector core's part in an entry in GM, and the elements between its rows."""
    rows, cols = valid
    if split == 0:
        return 0, cols
    assert sub is not None
    which = build.index(sub)
    larger = which if split > 2 else 0  # of odd halves AIV0 has one more
    if split in (1, 3):
        return build.times(build.times(which, build.plus(rows, larger)), build.times(cols, width)), cols
    both = build.times(cols, 2)
    pitch = both if split == 2 else build.minus(build.plus(both, build.times(which, 2)), 1)
    return build.times(build.times(which, build.plus(cols, larger)), width), pitch


# --- the producer -----------------------------------------------------------------------------------------------------


def fill(build: Builder, line: Line, entry: SSAValue, number: Number, split: int, sub: SSAValue | None) -> None:
    """Move a tile into its slot."""
    buf, valid = tile_of(entry.type), extents(build, entry)
    assert buf is not None
    if split > 2 and not (line.through_gm and line.direction == C2V):
        message = f"split {split} is for entries that pass through GM to the vector cores"
        raise Refused(message, "split", "invalid")
    if line.epilogue is None:
        _fits(build, line, buf, valid, 2 if split and line.direction != C2V else 1)
    if line.through_gm:
        if line.epilogue is not None:
            _through_epilogue_to_gm(build, line, entry, number, valid)
            return
        if buf.boxed and buf.rows > 1 and line.direction != C2V:
            hint = "push the ND tile: its consumer brings it into blocks"
            raise Refused(
                f"{buf.layout} tiles do not pass through GM, where entries lie by rows", "entry", "invalid", hint
            )
        if line.direction == C2V:
            _halves(build, split, valid, columns=2)
        offset, pitch = share(build, 0 if line.direction == C2V else split, sub, valid, buf.element_bytes)
        pointer = line.global_slot(build, number, buf.element, offset)
        build.tstore(src=entry, dst=view_at(build, pointer, valid, pitch))
    elif line.direction == C2V:
        _to_vector(build, line, entry, number, split)
    else:
        _to_cube(build, line, entry, number, split, sub)


def _fits(build: Builder, line: Line, buf: TileBuf, valid: Extents, parts: int) -> None:
    """An entry, of which this is one of so many parts, has as many valid bytes as its slot at most."""
    size = build.times(build.times(valid[0], valid[1]), buf.element_bytes * parts)
    bytes_ = "" if (number := known(size)) is None else f" of {number} bytes"
    message = f"an entry{bytes_} does not fit in slots of slot_size {line.slot_size}"
    must(build, "sle", size, line.slot_size, "invalid", message, "entry")


def _to_vector(build: Builder, line: Line, entry: SSAValue, number: Number, split: int) -> None:
    """Through the fixpipe into the memory of one or both vector cores."""
    buf, (rows, cols) = tile_of(entry.type), extents(build, entry)
    assert buf is not None
    address = line.local_slot(build, number)
    if line.epilogue is not None:
        _through_epilogue(build, line, entry, address, (rows, cols))
        return
    _halves(build, split, (rows, cols))
    down, across = 1 + (split == 1), 1 + (split == 2)
    half: Extents = build.quotient(rows, down), build.quotient(cols, across)
    slot = TileBuf("vec", buf.element, buf.rows // down, buf.cols // across, (known(half[0]), known(half[1])))
    build.tmov(src=entry, dst=tile_at(build, slot, address, half), accToVecMode=_MODES[split])


def _halves(build: Builder, split: int, valid: Extents, columns: int = 32) -> None:
    """The halves that two cores share, if only the run knows them; else a rule of the verifier."""
    for which, extent, unit, side in ((1, valid[0], 2, "rows"), (2, valid[1], columns, "columns")):
        if split == which and known(extent) is None:
            even = build.compare("eq", build.remainder(extent, unit), 0)
            message = f"an entry that is shared has a number of {side} that is not a multiple of {unit}"
            require(build, even, "invalid", message, fatal=True)
        elif split == which + 2 and known(extent) is None:
            odd = build.compare("eq", build.remainder(extent, 2), 1)
            require(build, odd, "invalid", f"an entry with split {split} has an even number of {side}", fatal=True)


def _through_epilogue(build: Builder, line: Line, entry: SSAValue, address: SSAValue, valid: Extents) -> None:
    """Into a tile as the other end takes it, quantised on the way."""
    given = {"src": entry, **_parameters(build, line), "reluPreMode": _epilogue(line).relu}
    slot = replace(_popped(line), valid=(known(valid[0]), known(valid[1])))
    build.tmov(**given, dst=tile_at(build, slot, address, valid))


def _through_epilogue_to_gm(build: Builder, line: Line, entry: SSAValue, number: Number, valid: Extents) -> None:
    """Into a slot in GM, from where the other end loads it, quantised on the way: its rows, or its columns."""
    epilogue, element = _epilogue(line), _popped(line).element
    if epilogue.layout == "nz2nz":
        raise Refused("entries of blocks do not pass through GM, where they lie by rows or columns", "entry")
    down = epilogue.layout == "nz2dn"
    view = view_at(build, line.global_slot(build, number, element), valid, valid[0] if down else valid[1], down)
    given = {"src": entry, **_parameters(build, line), "reluPreMode": epilogue.relu}
    build.tstore(**given, dst=view)


def _epilogue(line: Line) -> Epilogue:
    assert line.epilogue is not None
    return line.epilogue


def _popped(line: Line) -> TileBuf:
    if line.popped is None:
        raise Refused("nothing takes the entry, so that its type is not known", "entry")
    return line.popped


def _parameters(build: Builder, line: Line) -> dict[str, SSAValue]:
    """The quantisation of the fixpipe."""
    match _epilogue(line).parameter:
        case "vector":
            return {"fp": line.quant["vector"]}
        case "scalar":
            return {"pre_quant": _word(build, line.quant["scalar"])}
        case _:
            return {}


def _word(build: Builder, scale: SSAValue) -> SSAValue:
    """A scale as the fixpipe takes it: the bits of the float in a word."""
    bits = build.op("arith.bitcast", operand=scale, result=i32)
    return build.op("arith.extui", operand=bits, result=i64)


def _to_cube(build: Builder, line: Line, entry: SSAValue, number: Number, split: int, sub: SSAValue | None) -> None:
    """Into L1, each vector core its part of the tile."""
    buf, (rows, cols) = tile_of(entry.type), extents(build, entry)
    assert buf is not None
    popped = line.popped
    if not buf.boxed and buf.rows > 1 and popped is not None and popped.boxed:
        hint = "bring it to NZ first: pto.tmov into a tile with blayout=col_major, slayout=row_major"
        raise Refused(f"an ND tile through an L1 FIFO is taken as {popped.layout}", "entry", "invalid", hint)
    down, across = 1 + (split == 1), 1 + (split == 2)
    shape = buf.rows * down, buf.cols * across
    compact = 0 if popped is None else popped.compact  # blocks lie in L1 as their reader expects them
    slot = replace(buf, loc="mat", rows=shape[0], cols=shape[1], valid=shape, pad=0, compact=compact)
    which: Number = build.index(sub) if sub is not None else 0
    build.tinsert(
        src=entry,
        row=build.index(build.times(which, rows) if split == 1 else 0),
        col=build.index(build.times(which, cols) if split == 2 else 0),
        dst=tile_at(build, slot, line.local_slot(build, number), shape),
    )


# --- the consumer -----------------------------------------------------------------------------------------------------


def take(
    build: Builder,
    line: Line,
    type_: TileBufType,
    number: Number,
    given: Extents | None,
    split: int,
    sub: SSAValue | None,
) -> SSAValue:
    """The tile of a slot: the slot itself, or what is loaded from GM."""
    buf = type_.data
    rows, cols = (whole if extent is None else extent for extent, whole in zip(buf.valid, buf.shape, strict=True))
    valid: Extents = given or (rows, cols)
    _fits(build, line, buf, valid, 2 if split in (1, 2) and line.direction == C2V else 1)
    tile = tile_at(build, buf, line.local_slot(build, number), valid)
    if line.through_gm:
        offset, pitch = share(build, split if line.direction == C2V else 0, sub, valid, buf.element_bytes)
        pointer = line.global_slot(build, number, buf.element, offset)
        down = line.epilogue is not None and line.epilogue.layout == "nz2dn"
        build.tload(src=view_at(build, pointer, valid, valid[0] if down else pitch, down), dst=tile)
    return tile


def slot_view(
    build: Builder, line: Line, type_: TensorViewType, number: Number, split: int, sub: SSAValue | None
) -> SSAValue:
    """A slot in GM as a tensor, row by row; a vector core that shares it sees its part, if the view is one."""
    element, sizes = type_.data.element, [extent for extent in type_.data.shape if extent is not None]
    if len(sizes) < type_.data.rank:
        raise Refused("the extents of an entry in GM are not known from its type")
    *planes, cols = sizes
    rows, width = prod(planes), element_of(element).bytes
    halved = sub is not None and 2 * rows * cols * width <= line.slot_size
    offset, pitch = share(build, split if halved else 0, sub, (rows, cols), width)
    strides: list[Number] = [1, pitch]
    for extent in reversed(planes[1:]):
        strides.append(build.times(strides[-1], extent))
    return build.make_tensor_view(
        pointer=line.global_slot(build, number, element, offset),
        shape=[build.index(extent) for extent in sizes],
        strides=[build.index(stride) for stride in reversed(strides[: len(sizes)])],
        result=type_,
    )
