"""Quantising groups of 32 elements to fp8 or fp4, each with a power of two for its scale (mx_scale.py).

Elements are taken as f32, 64 at a time. Along a row these are two groups, whose results are stored one by one; along
columns every lane is a group of its own, and results are stored as rows. In a tile of one row the results lie one after
the other, group by group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import BFloat16Type, Float8E4M3FNType, f16, f32, i8, i16, i32
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.mx_groups import GROUP
from ptosim.language.tile.tile_vector_quantise import TQuantMx
from ptosim.language.types import VregType
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, everything, first, load, offset, tail
from ptosim.tiles.vector.mx_scale import Scale, nv, ocp
from ptosim.tiles.vector.reduce import if_any
from ptosim.tiles.vector.registers import Registers, with_sign

_LARGEST = {"MXFP8": 8, "MXFP4_E2M1": 2}
"""The exponent of the largest number of a result."""
_WORDS: dict[int, Attribute] = {n: with_sign(type_, "unsigned") for n, type_ in ((1, i8), (2, i16), (4, i32))}
"""Integers by their bytes."""
_BF16 = BFloat16Type()


@lowering(TQuantMx)
def tquant_mx(
    build: Builder,
    src: Tile,
    dst: Tile,
    exp: Tile,
    max: Tile,
    scaling: Tile,
    exp_zz: Tile | None,
    quant_type: str,
    quantScaleAlg: str,
    storeMode: str,
    grpAxis: str,
    interleave: bool,
) -> None:
    if storeMode == "nz":
        dst = replace(dst, buf=replace(dst.buf, blayout="col_major", slayout="row_major"))
    if quant_type == "MXFP8":  # whatever its type says
        dst = replace(dst, buf=replace(dst.buf, element=Float8E4M3FNType()))
    results = Results(build, max, scaling, exp, exp_zz)

    def scope() -> None:
        of_f32 = src.kind.bytes == 4  # only these have a rule for NaN
        scale = nv(build) if quantScaleAlg == "nv" else ocp(build, _LARGEST[quant_type], nan=of_f32)
        elements = _Elements(build, src, dst)
        if grpAxis == "axis1":
            _along_rows(elements, scale, results)
        else:
            _along_columns(elements, scale, results, interleave)

    build.scope(scope)


class _Elements:
    """Elements of the source as f32, and where their products go."""

    def __init__(self, build: Builder, src: Tile, dst: Tile) -> None:
        self.build, self.src, self.dst = build, src, dst
        self.v = Registers(build, f32)
        self.lanes = Lanes(build, src.cols, src.buf.cols, 4)
        self.all = self.v.everywhere()
        self.of_halves = everything(build, 2)
        self.lower = first(build, GROUP, 4)
        self.upper = build.pnot(input=self.lower, mask=self.all, result=self.all.type)

    def load(self, row: Number, at: SSAValue, mask: SSAValue) -> SSAValue:
        there, counting = offset(self.build, self.src, row, at), None if self.lanes.full else mask
        if self.src.kind.bytes == 4:
            return load(self.build, self.src, there, counting)
        x = load(self.build, self.src, there, counting, dist="UNPK_B16")
        return self.v.op("vcvt", x, self.of_halves, part="EVEN", result=self.v.type)

    def half(self, which: int, mask: SSAValue) -> SSAValue:
        """The first or the last 32 of 64 lanes."""
        half = (self.lower, self.upper)[which]
        return half if self.lanes.full else self.build.pand(lhs=mask, rhs=half, mask=self.all, result=mask.type)

    def store(self, row: Number, at: SSAValue, x: SSAValue, scale: SSAValue, mask: SSAValue) -> None:
        """The products of elements and their scales, rounded to the result."""
        y = self.v.op("vmul", x, scale, mask)
        (self._store_pairs if self.dst.buf.kind.name == "f4E2M1x2" else self._store_bytes)(row, at, y, mask)

    def _store_bytes(self, row: Number, at: SSAValue, y: SSAValue, mask: SSAValue) -> None:
        q = self.v.op("vcvt", y, mask, rnd="R", sat="SAT", part="P0", result=VregType.of(self.dst.element))
        if not self.dst.buf.boxed:
            self._put(q, element_offset(self.build, self.dst, row, at), mask)
            return
        for half in range(2):  # boxes are 32 bytes wide
            start = half * GROUP
            there = element_offset(self.build, self.dst, row, self.build.plus(at, start))
            self._put(q, self.build.minus(there, start), self.half(half, mask))

    def _store_pairs(self, row: Number, at: SSAValue, y: SSAValue, mask: SSAValue) -> None:
        """Products are rounded to bf16 first; of two, the first is in the low half of a byte."""
        build, v = self.build, self.v
        half = v.op("vcvt", y, mask, rnd="R", sat="SAT", part="EVEN", result=VregType.of(_BF16))
        packed = v.op("vpack", v.of(_WORDS[4]).cast(half), part="LOWER", result=VregType.of(_WORDS[2]))
        q = v.op(
            "vcvt", v.of(_BF16).cast(packed), self.of_halves, rnd="R", part="P0", result=VregType.of(self.dst.element)
        )
        rest = build.least(build.ceiling(build.minus(self.src.cols, at), 2), GROUP)
        there = element_offset(build, self.dst, row, build.quotient(at, 2))
        if self.dst.buf.boxed or self.dst.pitch % GRANULE == 0:
            self._put(q, there, self.lower if self.lanes.full else tail(build, rest, 4)[0])
        else:
            active = first(build, GROUP, 2) if self.lanes.full else tail(build, rest, 2)[0]
            self._put_one_by_one(q, there, active)

    def _put(self, q: SSAValue, there: Number, mask: SSAValue) -> None:
        given = {"value": q, "dest": self.dst.pointer(self.build), "offset": self.build.index(there), "mask": mask}
        self.build.vsts(**given, dist="PK4_B32")

    def _put_one_by_one(self, q: SSAValue, there: Number, mask: SSAValue) -> None:
        """Into a row that does not begin at a granule."""
        build, byte, word = self.build, _WORDS[1], _WORDS[2]
        value = self.v.op("vpack", self.v.of(_WORDS[4]).cast(q), part="LOWER", result=VregType.of(word))
        offsets = build.vci(base=build.constant(0, i16), result=VregType.of(i16))
        dest = self.dst.pointer(build, byte)
        dest = build.addptr(pointer=dest, offset=build.index(there), result=dest.type)
        build.vscatter(value=self.v.of(byte).cast(value), dest=dest, offsets=offsets, mask=mask)


@dataclass(frozen=True)
class Results:
    """Results for the groups: the greatest magnitudes, the scales, the exponents, and these once more
    in the order of products. Values come as lanes of 32 bits."""

    build: Builder
    max: Tile
    scaling: Tile
    exp: Tile
    exp_zz: Tile | None

    def values(self, magnitude: SSAValue, scale: SSAValue) -> list[tuple[Tile, SSAValue]]:
        """The greatest magnitudes and the scales as their tiles have them, in the low end of a lane."""
        return [(self.max, self._narrow(magnitude, self.max)), (self.scaling, self._narrow(scale, self.scaling))]

    def _narrow(self, value: SSAValue, tile: Tile) -> SSAValue:
        """A scale is no number of f16: it is written as one of bf16, whatever two bytes the tile has."""
        v = Registers(self.build, f32)
        if tile.kind.bytes == 4:
            return value
        if tile.kind.name == "f16" and tile is self.max:
            result = VregType.of(f16)
            return v.op("vcvt", value, v.everywhere(), rnd="R", sat="NOSAT", part="EVEN", result=result)
        return v.of(_WORDS[4]).op("vshrs", v.of(_WORDS[4]).cast(value), self.build.constant(16, i16), v.everywhere())

    def put(self, value: SSAValue, tile: Tile, at: Number, mask: SSAValue, dist: str | None) -> None:
        """Some lanes of a register as integers of the width of a tile."""
        word = _WORDS[tile.kind.bytes]
        given = {"value": Registers(self.build, word).cast(value), "dest": tile.pointer(self.build, word)}
        self.build.vsts(**given, offset=self.build.index(at), mask=mask, dist=dist)


# --- along rows -------------------------------------------------------------------------------------------------------


def _along_rows(elements: _Elements, scale: Scale, results: Results) -> None:
    build, v, src = elements.build, elements.v, elements.src
    groups = build.ceiling(src.cols, GROUP)
    ones = {width: first(build, 1, width) for width in (1, 2, 4)}

    def row(number: SSAValue) -> None:
        def two_groups(at: SSAValue, mask: SSAValue) -> None:
            x = elements.load(number, at, mask)
            magnitude = v.op("vabs", x, mask)
            greatest = [v.op("vcmax", magnitude, elements.half(half, mask)) for half in range(2)]
            pair, _ = build.vintlv(lhs=greatest[0], rhs=greatest[1], low=v.type, high=v.type)
            exps, scales = (_apart(build, found) for found in scale(pair))
            for half in range(2):
                group = build.plus(build.quotient(at, GROUP), half)
                found = [*results.values(greatest[half], scales[half]), (results.exp, exps[half])]

                def store(group: Number = group, found: Sequence[tuple[Tile, SSAValue]] = found) -> None:
                    for tile, value in found:
                        there = _single(build, tile, number, group, groups)
                        results.put(value, tile, there, ones[tile.kind.bytes], f"1PT_B{tile.kind.bits}")
                    if (zz := results.exp_zz) is not None:
                        results.put(
                            found[-1][1], zz, _in_order_of_products(build, number, group, groups), ones[1], "1PT_B8"
                        )

                if_any(build, 1 if half == 0 else build.minus(groups, group), store)
            first_half, last_half = (
                v.op("vdup", one, elements.all, position="LOWEST", result=v.type) for one in scales
            )
            elements.store(number, at, x, v.select(elements.lower, first_half, last_half), mask)

        elements.lanes.each(two_groups)

    build.loop(build.times(src.rows, build.least(src.cols, 1)), 1, row)


def _apart(build: Builder, pair: SSAValue) -> Sequence[SSAValue]:
    """Lanes 0 and 1, each in lane 0 of a register."""
    return build.vdintlv(lhs=pair, rhs=pair, low=pair.type, high=pair.type)


def _single(build: Builder, tile: Tile, row: Number, group: Number, groups: Number) -> Number:
    """The place of the result of a group in a tile of rows, or of one row with all groups."""
    if tile.buf.rows == 1:
        return build.plus(build.times(row, groups), group)
    return element_offset(build, tile, row, group)


def _in_order_of_products(build: Builder, row: Number, group: Number, groups: Number) -> Number:
    """Boxes of 16 rows and 2 groups, those of a row side by side."""
    box = build.plus(build.times(build.quotient(row, 16), build.ceiling(groups, 2)), build.quotient(group, 2))
    inside = build.plus(build.times(build.remainder(row, 16), 2), build.remainder(group, 2))
    return build.plus(build.times(box, 32), inside)


# --- along columns ----------------------------------------------------------------------------------------------------


def _along_columns(elements: _Elements, scale: Scale, results: Results, interleave: bool) -> None:
    build, src = elements.build, elements.src
    groups = build.ceiling(src.rows, GROUP)
    pairs = build.ceiling(groups, 2)
    nothing = Registers(build, _WORDS[4]).every(0)
    for tile, role in ((results.max, "max"), (results.scaling, "scaling"), (results.exp, "exp")):
        _begins_at_granules(tile, role, src.cols, 2 if interleave and role == "exp" else tile.kind.bytes)

    def columns(at: SSAValue, mask: SSAValue) -> None:
        def two_groups(number: SSAValue) -> None:
            exps: list[SSAValue] = []
            for side in range(2):
                group = build.plus(build.times(number, 2), side)

                def one(_: SSAValue, so_far: SSAValue, group: Number = group) -> Sequence[SSAValue]:
                    exp = _one_group(elements, scale, results, group, at, mask)
                    if not interleave:
                        _put_row(results, results.exp, exp, _in_row(build, results.exp, group, at, src.cols), mask)
                    return [exp]

                there = 1 if side == 0 else build.least(build.minus(groups, group), 1)
                exps.extend(build.loop(there, 1, one, nothing))
            _store_pair(elements, results, exps, (number, pairs), at, mask, interleave)

        build.loop(pairs, 1, two_groups)

    elements.lanes.each(columns)


def _one_group(
    elements: _Elements, scale: Scale, results: Results, group: Number, at: SSAValue, mask: SSAValue
) -> SSAValue:
    """32 rows of some columns; gives their exponents."""
    build, v, src = elements.build, elements.v, elements.src
    top = build.times(group, GROUP)
    bottom = build.least(build.plus(top, GROUP), src.rows)

    def greater(row: SSAValue, so_far: SSAValue) -> Sequence[SSAValue]:
        return [v.op("vmax", so_far, v.op("vabs", elements.load(row, at, mask), mask), mask)]

    (magnitude,) = build.loop(bottom, 1, greater, v.every(0), lower=top)
    exp, factor = scale(magnitude)
    for tile, value in results.values(magnitude, factor):
        _put_row(results, tile, value, _in_row(build, tile, group, at, src.cols), mask)

    def multiply(row: SSAValue) -> None:
        elements.store(row, at, elements.load(row, at, mask), factor, mask)

    build.loop(bottom, 1, multiply, lower=top)
    return exp


def _store_pair(
    elements: _Elements,
    results: Results,
    exps: Sequence[SSAValue],
    pair: tuple[Number, Number],
    at: SSAValue,
    mask: SSAValue,
    interleave: bool,
) -> None:
    """The exponents of two groups side by side: 16 bits for each column. `pair` is a number and the count of pairs."""
    build, words, (number, pairs) = elements.build, Registers(elements.build, _WORDS[4]), pair
    if not interleave and results.exp_zz is None:
        return
    upper = words.op("vshls", exps[1], build.constant(8, i16), elements.all)
    both = words.op("vor", exps[0], upper, elements.all)
    halves = Registers(build, _WORDS[2])
    if interleave:
        tile = results.exp
        pitch = elements.src.cols if tile.buf.rows == 1 else tile.pitch // 2
        there = build.index(build.plus(build.times(number, pitch), at))
        dest = tile.pointer(build, _WORDS[2])
        build.vsts(value=halves.cast(both), dest=dest, offset=there, mask=mask, dist="PK_B32")
    if (zz := results.exp_zz) is not None:
        block = build.plus(build.times(build.quotient(at, 16), pairs), number)
        dest = zz.pointer(build, _WORDS[2])
        build.vsstb(
            value=halves.op("vpack", both, part="LOWER", result=halves.type),
            dest=build.addptr(pointer=dest, offset=build.index(build.times(block, 16)), result=dest.type),
            block_stride=build.cast(pairs, i16),
            repeat_stride=build.constant(0, i16),
            mask=build.ppack(input=mask, part="LOWER", result=elements.of_halves.type),
        )


_PACKED = {4: None, 2: "PK_B32", 1: "PK4_B32"}
"""Stores of the low end of every lane."""


def _put_row(results: Results, tile: Tile, value: SSAValue, there: Number, mask: SSAValue) -> None:
    results.put(value, tile, there, mask, _PACKED[tile.kind.bytes])


def _in_row(build: Builder, tile: Tile, group: Number, at: Number, cols: Number) -> Number:
    pitch = cols if tile.buf.rows == 1 else tile.pitch
    return build.plus(build.times(group, pitch), at)


def _begins_at_granules(tile: Tile, role: str, cols: Number, width: int) -> None:
    """Rows that lie one after the other in a tile of one row have whole granules."""
    count = known(cols)
    if tile.buf.rows == 1 and count is not None and count * width % GRANULE:
        message = f"{role} has one row, in which groups of {count} columns are not whole granules of 32 bytes"
        raise Refused(message, f"{role}_type")
