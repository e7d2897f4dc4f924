"""Reductions of rows and columns: sums, products, extrema and where they stand.

A row is reduced register by register: lanes by an instruction of the machine, registers from left to right. A column is
reduced from top to bottom, one register of columns after the other. A tile without an element is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import SSAValue

from ptosim.effects.element import Element
from ptosim.language.builder import Builder, Number
from ptosim.language.micro.reduction import sum_type
from ptosim.language.types import VregType, element_of
from ptosim.tiles.lowering import define
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, everything, first, load, mask_type, offset
from ptosim.tiles.vector.registers import Registers
from ptosim.tiles.vector.row_view import bounded
from ptosim.tiles.vector.single_element import store_first

_INFINITY = {"f32": 0x7F800000, "f16": 0x7C00}
"""The infinity of floats; with the sign bit the least of all."""


def _zero(element: Element) -> int:
    return 0


def _greatest(element: Element) -> int:
    """The bits of the top: infinity, or the greatest integer."""
    if element.is_float:
        return _INFINITY[element.name]
    return (1 << element.bits - (not element.name.startswith("u"))) - 1


def _least(element: Element) -> int:
    """The bits of the bottom: minus infinity, or the least integer."""
    if element.is_float:
        return _INFINITY[element.name] | 1 << element.bits - 1
    return 0 if element.name.startswith("u") else 1 << element.bits - 1


# --- rows -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fold:
    """A reduction: how the lanes of a register become one, how such results join, and what they start from."""

    lanes: str
    join: str
    start: Callable[[Element], int]


_FOLDS = {
    "trowsum": Fold("vcadd", "vadd", _zero),
    "trowmax": Fold("vcmax", "vmax", _least),
    "trowmin": Fold("vcmin", "vmin", _greatest),
}


def _each_row(build: Builder, src: Tile, dst: Tile, row: Callable[[Lanes, SSAValue], None]) -> None:
    """Visit every row, unless there is nothing to reduce or to write; what all rows share stands before the loop."""
    rows = build.times(bounded(build, src, dst, 0).rows, present(build, src.cols, *dst.valid))
    lanes = Lanes(build, src.cols, src.buf.cols, src.kind.bytes)

    def numbered(number: SSAValue) -> None:
        build.times(number, src.pitch)  # where the row begins, said before the loop over its registers
        row(lanes, number)

    build.loop(rows, 1, numbered)


def _register(build: Builder, src: Tile, lanes: Lanes, row: Number, at: SSAValue, mask: SSAValue) -> SSAValue:
    return load(build, src, offset(build, src, row, at), None if lanes.full else mask)


def _row_fold(fold: Fold) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, dst: Tile) -> None:
        build.scope(lambda: _fold_rows(build, fold, src, dst))

    return lower


def _fold_rows(build: Builder, fold: Fold, src: Tile, dst: Tile) -> None:
    register = VregType.of(src.element)
    result = sum_type(register) if fold.lanes == "vcadd" else register
    one = first(build, 1, element_of(result).bytes)
    stored = one if result == register else first(build, 1, src.kind.bytes)
    start = Registers(build, result.element).pattern(fold.start(element_of(result)))

    def row(lanes: Lanes, number: SSAValue) -> None:
        def step(at: SSAValue, mask: SSAValue, so_far: SSAValue) -> Sequence[SSAValue]:
            x = _register(build, src, lanes, number, at, mask)
            folded = build.op(fold.lanes, input=x, mask=mask, result=result)
            return [build.op(fold.join, lhs=so_far, rhs=folded, mask=one)]

        (total,) = lanes.each(step, start)
        if result != register:  # sums of 16-bit integers are kept in 32 bits and wrap at the end
            total = build.vcvt(input=total, mask=one, sat="NOSAT", part="EVEN", result=register)
        store_first(build, dst, number, total, stored)

    _each_row(build, src, dst, row)


def _row_product(build: Builder, src: Tile, dst: Tile) -> None:
    """Registers are multiplied lane by lane, then the lanes by halving: x[i] * x[i + n/2]."""

    def scope() -> None:
        all_, stored = everything(build, src.kind.bytes), first(build, 1, src.kind.bytes)
        ones = Registers(build, src.element).every(1)

        def row(lanes: Lanes, number: SSAValue) -> None:
            def step(at: SSAValue, mask: SSAValue, so_far: SSAValue) -> Sequence[SSAValue]:
                x = _register(build, src, lanes, number, at, mask)
                product = build.vmul(lhs=so_far, rhs=x, mask=mask)
                return [product if lanes.full else build.vsel(on_true=product, on_false=so_far, mask=mask)]

            (product,) = lanes.each(step, ones)
            for _ in range(src.lanes.bit_length() - 1):
                low, high = build.vintlv(lhs=product, rhs=ones, low=product.type, high=product.type)
                product = build.vmul(lhs=low, rhs=high, mask=all_)
            store_first(build, dst, number, product, stored)

        _each_row(build, src, dst, row)

    build.scope(scope)


@dataclass(frozen=True)
class RowExtremum:
    """The instructions that look for an extremum, and how the better of two compares with the other."""

    lanes: str
    join: str
    better: str
    worse: str
    start: Callable[[Element], int]


_GREATEST = RowExtremum("vcmax", "vmax", "gt", "lt", _least)
_LEAST = RowExtremum("vcmin", "vmin", "lt", "gt", _greatest)


def _row_argument(extremum: RowExtremum) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, dst: Tile) -> None:
        build.scope(lambda: _locate_in_rows(build, extremum, src, dst))

    return lower


def _locate_in_rows(build: Builder, extremum: RowExtremum, src: Tile, dst: Tile) -> None:
    """The first of equal elements wins, in a register as between registers; one with a NaN never does."""
    one, one_index = first(build, 1, src.kind.bytes), first(build, 1, 4)
    values, numbers = Registers(build, src.element), Registers(build, i32)
    zeros, start, nowhere = values.every(0), values.pattern(extremum.start(src.kind)), numbers.every(0)

    def row(lanes: Lanes, number: SSAValue) -> None:
        def step(at: SSAValue, mask: SSAValue, best: SSAValue, where: SSAValue) -> Sequence[SSAValue]:
            x = _register(build, src, lanes, number, at, mask)
            found = build.op(extremum.lanes, input=x, mask=mask)
            value, lane = build.vdintlv(lhs=found, rhs=zeros, low=found.type, high=found.type)
            column = build.vadds(input=numbers.cast(lane), scalar=build.cast(at, i32), mask=one_index)
            wins = build.vcmp(lhs=best, rhs=value, seed=one, comparison=extremum.worse, result=one.type)
            best = build.vsel(on_true=value, on_false=best, mask=wins)
            if wins.type != one_index.type:
                wins = build.pbitcast(input=wins, result=one_index.type)
            return [best, build.vsel(on_true=column, on_false=where, mask=wins)]

        _, where = lanes.each(step, start, nowhere)
        store_first(build, dst, number, where, one_index)

    _each_row(build, src, dst, row)


# --- columns ----------------------------------------------------------------------------------------------------------


def _column_fold(join: str) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, dst: Tile) -> None:
        build.scope(lambda: fold_columns(build, join, src, dst))

    return lower


def fold_columns(build: Builder, join: str, src: Tile, dst: Tile) -> None:
    """Join the rows of a tile from top to bottom, inside a scope."""
    src = bounded(build, src, dst, 1)
    lanes = Lanes(build, src.cols, src.buf.cols, src.kind.bytes)

    def columns(at: SSAValue, mask: SSAValue) -> None:
        def step(row: SSAValue, so_far: SSAValue) -> Sequence[SSAValue]:
            return [build.op(join, lhs=so_far, rhs=_register(build, src, lanes, row, at, mask), mask=mask)]

        top = _register(build, src, lanes, 0, at, mask)
        (total,) = build.loop(src.rows, 1, step, top, lower=1)
        build.vsts(value=total, dest=dst.pointer(build), offset=at, mask=mask)

    if_any(build, present(build, src.rows, *dst.valid), lambda: lanes.each(columns))


def present(build: Builder, *extents: Number) -> Number:
    """1, or 0 where an extent is 0."""
    found: Number = 1
    for extent in extents:
        found = build.times(found, build.least(extent, 1))
    return found


def if_any(build: Builder, count: Number, body: Callable[[], object]) -> None:
    """Do something unless there is nothing to do it with."""

    def once(_: SSAValue) -> None:
        body()

    build.loop(build.least(count, 1), 1, once)


def _column_argument(extremum: RowExtremum) -> Callable[..., None]:
    def lower(build: Builder, src: Tile, dst: Tile) -> None:
        build.scope(lambda: _locate_in_columns(build, extremum, src, dst))

    return lower


def _locate_in_columns(build: Builder, extremum: RowExtremum, src: Tile, dst: Tile) -> None:
    """Compare row by row; the first of equal elements wins. Bytes are compared as 16-bit numbers."""
    src, index = bounded(build, src, dst, 1), i32 if src.kind.bytes == 4 else i16
    width = element_of(index).bytes
    lanes = Lanes(build, src.cols, src.buf.cols, width)
    all_, top = everything(build, width), Registers(build, index).every(0)

    def read(row: Number, at: SSAValue, mask: SSAValue) -> SSAValue:
        return _widened(build, src, offset(build, src, row, at), mask, lanes.full)

    def columns(at: SSAValue, mask: SSAValue) -> None:
        def step(row: SSAValue, best: SSAValue, where: SSAValue) -> Sequence[SSAValue]:
            x = read(row, at, mask)
            wins = build.vcmp(lhs=x, rhs=best, seed=all_, comparison=extremum.better, result=all_.type)
            here = build.vbr(input=build.cast(row, index), result=VregType.of(index))
            where = build.vsel(on_true=here, on_false=where, mask=wins)
            return [build.op(extremum.join, lhs=x, rhs=best, mask=all_), where]

        _, where = build.loop(src.rows, 1, step, read(0, at, mask), top, lower=1)
        _store_indices(build, dst, at, where, mask)

    if_any(build, present(build, src.rows, *dst.valid), lambda: lanes.each(columns))


def _widened(build: Builder, src: Tile, at: SSAValue, mask: SSAValue, full: bool) -> SSAValue:
    """A register of elements, bytes as 16-bit numbers of the same sign."""
    loaded = None if full else mask
    if src.kind.bytes > 1:
        return load(build, src, at, loaded)
    narrow = load(build, src, at, loaded, dist="UNPK_B8")
    return build.vcvt(input=narrow, mask=everything(build, 1), part="EVEN", result=sum_type(VregType.of(src.element)))


def _store_indices(build: Builder, dst: Tile, at: SSAValue, where: SSAValue, mask: SSAValue) -> None:
    """Row numbers as 32-bit integers: 16-bit ones fill two registers."""
    pointer = dst.pointer(build)
    if element_of(where.type).bytes == 4:
        build.vsts(value=where, dest=pointer, offset=at, mask=mask)
        return
    wide, all_ = VregType.of(i32), everything(build, 2)
    even, odd = (build.vcvt(input=where, mask=all_, part=part, result=wide) for part in ("EVEN", "ODD"))
    halves = build.vintlv(lhs=even, rhs=odd, low=wide, high=wide)
    for half, (part, indices) in enumerate(zip(("LOWER", "HIGHER"), halves, strict=True)):
        active = build.punpack(input=mask, part=part, result=mask_type(4))
        there = build.index(build.plus(at, half * wide.lanes))
        build.vsts(value=indices, dest=pointer, offset=there, mask=active)


for _name, _fold in _FOLDS.items():
    define(f"pto.{_name}", _row_fold(_fold))
define("pto.trowprod", _row_product)
define("pto.trowargmax", _row_argument(_GREATEST))
define("pto.trowargmin", _row_argument(_LEAST))
for _name, _join in {"tcolmax": "vmax", "tcolmin": "vmin", "tcolprod": "vmul"}.items():
    define(f"pto.{_name}", _column_fold(_join))
define("pto.tcolargmax", _column_argument(_GREATEST))
define("pto.tcolargmin", _column_argument(_LEAST))
