"""Products: one instruction of the cube unit, whose extents are the valid regions of its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from ptosim.language.builder import Builder, Number, known
from ptosim.language.rules.tile_place_rules import element_word
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function
from ptosim.language.tile.tile_buf import NORMAL
from ptosim.language.tile.tile_matrix import (
    TGemv,
    TGemvAcc,
    TGemvBias,
    TGemvMx,
    TGemvMxAcc,
    TGemvMxBias,
    TileProduct,
    TMatmul,
    TMatmulAcc,
    TMatmulBias,
    TMatmulMx,
    TMatmulMxAcc,
    TMatmulMxBias,
)
from ptosim.language.tile.tile_scalar import SetTf32Mode
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.accumulator import group_rows
from ptosim.tiles.moves.cube_extents import ROWS, agrees, must, remark, up, where_some
from ptosim.tiles.moves.cube_operand import move_operand, per_granule
from ptosim.tiles.moves.scales import Meaning, has_its_scales
from ptosim.tiles.moves.tile_window import TileWindow
from ptosim.tiles.passes.scratch_room import hand_over, private
from ptosim.tiles.refusal import Refused
from ptosim.tiles.sync import unit_flag
from ptosim.tiles.tile_values import Tile

_PHASES = {"partial": "check_only", "final": "check_and_set"}


@lowering(TMatmul, TGemv, TMatmulMx, TGemvMx)
def product(build: Builder, op: TileProduct, lhs: Tile, rhs: Tile, dst: Tile, target: str, meaning: Meaning) -> None:
    _multiply(build, op, _Operands(lhs, rhs, dst, meaning), target, "")


@lowering(TMatmulAcc, TGemvAcc, TMatmulMxAcc, TGemvMxAcc)
def product_acc(
    build: Builder, op: TileProduct, acc: Tile, lhs: Tile, rhs: Tile, dst: Tile, target: str, meaning: Meaning
) -> None:
    """The hardware accumulates in place."""
    message = "a product is added to its own accumulator: acc and dst must be the same tile"
    if acc.address is not dst.address:
        must(build, "eq", acc.address, dst.address, "invalid", message, "acc")
    _multiply(build, op, _Operands(lhs, rhs, dst, meaning), target, "_acc")


@lowering(TMatmulBias, TGemvBias, TMatmulMxBias, TGemvMxBias)
def product_bias(
    build: Builder, op: TileProduct, lhs: Tile, rhs: Tile, bias: Tile, dst: Tile, target: str, meaning: Meaning
) -> None:
    _multiply(build, op, _Operands(lhs, rhs, dst, meaning, bias), target, "_bias")


@dataclass(frozen=True)
class _Operands:
    lhs: Tile
    rhs: Tile
    dst: Tile
    meaning: Meaning
    bias: Tile | None = None


def _multiply(build: Builder, op: TileProduct, operands: _Operands, target: str, start: str) -> None:
    lhs, rhs, dst = operands.lhs, operands.rhs, operands.dst
    m, n = (1 if op.gemv else lhs.rows), rhs.cols
    k = rhs.rows if op.gemv else lhs.cols
    _meets(build, op, dst, m, n)
    if op.scaled:
        has_its_scales(build, op, lhs, rhs, operands.meaning)
    lhs, rhs = _brought(build, lhs, rhs, target)
    _is_dense(build, lhs, 0, m)
    _is_dense(build, rhs, 1, n)
    accumulator: dict[str, object] = {"c": dst.pointer(build), "m": build.i64(m), "n": build.i64(n)}
    if operands.bias is not None:
        accumulator["bias"] = operands.bias.pointer(build)
    clauses = _clauses(op, lhs, target)
    if clauses["unit_flag"] is not None and start != "_acc":
        unit_flag(build, dst)
    pointers = {"a": lhs.pointer(build), "b": rhs.pointer(build)}

    def multiply() -> None:
        build.op(f"mad{'_mx' if op.scaled else ''}{start}", **pointers, **accumulator, **clauses, k=build.i64(k))

    def begin() -> None:
        if start != "_acc":
            build.op("pto.sim.start_acc", **accumulator)

    where_some(build, (m, n), lambda: _of_values(build, k, multiply, begin))


def _clauses(op: TileProduct, lhs: Tile, target: str) -> dict[str, object]:
    clauses: dict[str, object] = {"unit_flag": _PHASES.get(str(op.setting("accPhase")))}
    if not (op.gemv and lhs.buf.rows == 1):  # a row that lies one value after the other is what a gemv reads
        clauses["disable_gemv"] = UnitAttr()
    if element_word(lhs.buf) == "f32" and target == "a5" and rounds_to_tf32(op):
        clauses["tf32_mode"] = "round_even"
    return clauses


def _of_values(build: Builder, k: Number, multiply: Callable[[], None], begin: Callable[[], None]) -> None:
    """A product, or what it is added to where there are no values."""
    message = "a product of no values: k is 0"
    match known(k):
        case None:
            some = build.compare("sgt", k, 0)
            remark(build, some, message)
            build.choose(some, multiply, begin)
        case 0:
            remark(build, False, message)
            begin()
        case _:
            multiply()


def _meets(build: Builder, op: TileProduct, dst: Tile, m: Number, n: Number) -> None:
    """The accumulator says what the product has, and its groups of columns lie as far apart as its readers
    take them."""
    for extent, valid, side in ((m, dst.rows, "rows"), (n, dst.cols, "columns")):
        remark(build, agrees(build, extent, valid), f"the product has other {side} than are valid in its accumulator")
    if (columns := known(n)) is not None and columns <= ROWS:
        return
    message = "the product has another number of rows than its accumulator: groups of 16 columns lie elsewhere"
    if dst.storage != dst.buf.shape:  # and there are other parts of the tile
        must(build, "eq", up(build, m, ROWS), dst.storage[0], "invalid", message, "dst")
        return
    remark(build, agrees(build, up(build, m, ROWS), group_rows(build, op.dst, dst)), message, "invalid")


def _is_dense(build: Builder, operand: Tile, axis: int, extent: Number) -> None:
    """The cube unit steps by the rows, or columns, of the product, so that a part of a tile has to have all of them."""
    if operand.storage != operand.buf.shape:
        role, side = (("lhs", "rows"), ("rhs", "columns"))[axis]
        message = f"{role} is a part of a tile with {operand.storage[axis]} {side}, which a product cannot step over"
        must(build, "eq", up(build, extent, ROWS), operand.storage[axis], "invalid", message, role)


# --- operands in L1 ---------------------------------------------------------------------------------------------------


def _brought(build: Builder, lhs: Tile, rhs: Tile, target: str) -> tuple[Tile, Tile]:
    """Operands that are still in L1 are moved to room of their own first."""
    away = [tile for tile in (lhs, rhs) if tile.buf.loc == "mat"]
    if not away:
        return lhs, rhs
    hand_over(build, "M", "MTE1")  # whatever orders the product orders the moves
    found = [
        _moved(build, tile, location, target) if tile.buf.loc == "mat" else tile
        for tile, location in ((lhs, "left"), (rhs, "right"))
    ]
    hand_over(build, "MTE1", "M")
    return found[0], found[1]


def _moved(build: Builder, tile: Tile, location: str, target: str) -> Tile:
    layout = ("col_major", "row_major") if location == "left" else ("row_major", "col_major")
    unit = 1 if tile.buf.rows == 1 else max(32, per_granule(tile))
    rows, cols = (-(-extent // unit) * unit for extent in tile.buf.shape)
    buf = replace(tile.buf, loc=location, rows=rows, cols=cols, blayout=layout[0], slayout=layout[1], compact=NORMAL)
    address = private(build, target, buf.space, buf.size)
    there = Tile(buf, address, tile.valid, buf.shape, tile.name)
    move_operand(build, TileWindow(tile, there, tile.address, (0, 0), (0, 0), tile.valid))
    return there


# --- TF32 -------------------------------------------------------------------------------------------------------------


@lowering(SetTf32Mode)
def settf32mode() -> None:
    """Keeps the mode as a clause of the products behind it."""


def rounds_to_tf32(op: Operation) -> bool:
    """Whether the last mode that is set before a product, in the text, rounds its operands."""
    here: Operation | None = op
    while here is not None and not isinstance(here, Function):
        before = here.prev_op
        while before is not None:
            if isinstance(before, SetTf32Mode):
                return _agreeing(op, bool(before.setting("enable")))
            if any(isinstance(inner, SetTf32Mode) for inner in before.walk()):
                raise Refused("the mode of TF32 is set in a loop or branch before this product", kind="unsupported")
            before = before.prev_op
        here = here.parent_op()
    return _agreeing(op, False)


def _agreeing(op: Operation, enabled: bool) -> bool:
    """A mode that is set further on in a loop around the product holds for its next turn."""
    around = op.parent_op()
    while around is not None and not isinstance(around, Function):
        set_ = {bool(one.setting("enable")) for one in around.walk() if isinstance(one, SetTf32Mode)}
        if isinstance(around, For) and set_ - {enabled}:
            raise Refused("the mode of TF32 changes in a loop around this product", kind="unsupported")
        around = around.parent_op()
    return enabled
