"""Products: one instruction of the cube unit, whose extents are the valid regions of its operands."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from ptosim.language.build import Builder, Number, known
from ptosim.language.tile_matrix import (
    Accumulating,
    Biased,
    Product,
    ScaledAccumulating,
    ScaledBiased,
    TGemv,
    TGemvAcc,
    TGemvBias,
    TGemvMx,
    TGemvMxAcc,
    TGemvMxBias,
    TMatmul,
    TMatmulAcc,
    TMatmulBias,
    TMatmulMx,
    TMatmulMxAcc,
    TMatmulMxBias,
)
from ptosim.tiles.accumulator import group_rows
from ptosim.tiles.lowering import lowering
from ptosim.tiles.shape import ROWS, agrees, must, remark, up, where_some
from ptosim.tiles.values import Tile

_PHASES = {"partial": "check_only", "final": "check_and_set"}


@lowering(TMatmul, TGemv, TMatmulMx, TGemvMx)
def product(build: Builder, op: Product, lhs: Tile, rhs: Tile, dst: Tile) -> None:
    _multiply(build, op, lhs, rhs, dst, "")


@lowering(TMatmulAcc, TGemvAcc, TMatmulMxAcc, TGemvMxAcc)
def product_acc(
    build: Builder, op: Accumulating | ScaledAccumulating, acc: Tile, lhs: Tile, rhs: Tile, dst: Tile
) -> None:
    """The hardware accumulates in place."""
    message = "a product is added to its own accumulator: acc and dst must be the same tile"
    if acc.address is not dst.address:
        must(build, "eq", acc.address, dst.address, "invalid", message, "acc")
    _multiply(build, op, lhs, rhs, dst, "_acc")


@lowering(TMatmulBias, TGemvBias, TMatmulMxBias, TGemvMxBias)
def product_bias(build: Builder, op: Biased | ScaledBiased, lhs: Tile, rhs: Tile, bias: Tile, dst: Tile) -> None:
    _multiply(build, op, lhs, rhs, dst, "_bias", bias=bias.pointer(build))


def _multiply(
    build: Builder, op: Product, lhs: Tile, rhs: Tile, dst: Tile, start: str, bias: SSAValue | None = None
) -> None:
    m, n = (1 if op.gemv else lhs.rows), rhs.cols
    k = rhs.rows if op.gemv else lhs.cols
    _meets(build, op, dst, m, n)
    plain_row = op.gemv and lhs.buf.rows == 1
    given = {
        "a": lhs.pointer(build),
        "b": rhs.pointer(build),
        "c": dst.pointer(build),
        **({} if bias is None else {"bias": bias}),
        "unit_flag": _PHASES.get(op.setting("accPhase")),
        "disable_gemv": None if plain_row else UnitAttr(),
    }
    name = f"mad{'_mx' if op.scaled else ''}{start}"
    where_some(build, (m, n, k), lambda: build.op(name, **given, m=build.i64(m), n=build.i64(n), k=build.i64(k)))


def _meets(build: Builder, op: Product, dst: Tile, m: Number, n: Number) -> None:
    """The groups of columns lie as far apart as whoever reads the accumulator will take it."""
    if (columns := known(n)) is not None and columns <= ROWS:
        return
    message = "the product has another number of rows than its accumulator: groups of 16 columns lie elsewhere"
    remark(build, agrees(build, up(build, m, ROWS), group_rows(build, op.dst, dst)), message, "invalid")
