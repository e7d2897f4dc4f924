"""The routine behind every matrix product: operands packed as doubles, then blocks of sums kept in registers.

The definition is that of the reference engine: products, exact in double, are added in ascending k, then what C starts
from; the sum is clamped if it saturates, and rounded once. A product being exact, it makes no difference that LLVM may
fuse it with the sum. Packing puts 8 columns of B, and 4 rows of A, for each k side by side, so that the innermost loop
reads both in order: 4 rows x 8 columns of sums need 32 lanes of double.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptosim.effects import fractal
from ptosim.effects.element import Element
from ptosim.effects.float_format import FOUR_BITS, largest
from ptosim.effects.geometry import ceil_div, ceil_to, minimum
from ptosim.native.build.core import Unit
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32 as FLOAT
from ptosim.native.ir.values import F64, I1, I8, I32, I64, PTR, Value
from ptosim.native.vector.narrow_formats import decode
from ptosim.native.vector.numbers import bits_of, canonical, lane_type, lanes_as, widen
from ptosim.native.vector.registers import extract, lane_numbers, masked_store, shuffle, splat

ROWS = 4
COLUMNS = 8
_DOUBLE = 8


@dataclass(frozen=True)
class ProductKind:
    """A product, as far as it is known when it is compiled."""

    a: Element
    b: Element
    scaled: bool

    @property
    def name(self) -> str:
        return f"product_{self.a.name}_{self.b.name}{'_scaled' if self.scaled else ''}"


PARAMETERS = (PTR, PTR, PTR, PTR, PTR, PTR, PTR, I64, I64, I64, I64, I64, I1, I1, I1, I1)
"""Workspace, A, B, their scales, C, what C starts from (null: from zero); m, n, k, and of the start the bytes from one
row and group of columns to the next; whether A is a plain row, to saturate, to round to tf32, and with ties away."""


def product(unit: Unit, kind: ProductKind) -> FunctionBuilder:
    """The routine for operands of these types."""
    return unit.routine(kind.name, PARAMETERS, lambda f: _Product(f, kind).fill())


class _Product:
    def __init__(self, f: FunctionBuilder, kind: ProductKind) -> None:
        self.f = f
        self.kind = kind
        self.workspace, self.a, self.b, self.scale_a, self.scale_b, self.c, self.start = f.parameters[:7]
        self.m, self.n, self.k, self.start_row, self.start_group = f.parameters[7:12]
        self.is_row, self.saturate, self.tf32, self.away = f.parameters[12:]

    def fill(self) -> None:
        f, kind = self.f, self.kind
        depth = ceil_to(self.k, 2 * fractal.FRACTAL_ROW)
        right = self.workspace
        left = right.at(ceil_to(self.n, COLUMNS) * depth * _DOUBLE)
        tiles_m, tiles_n = ceil_div(self.m, fractal.FRACTAL_ROWS), ceil_div(self.n, fractal.FRACTAL_ROWS)
        one_row = self.k.like(fractal.FRACTAL_ROW)
        stride_a = self.is_row.select(one_row, tiles_m * fractal.FRACTAL)
        in_fragments = self.is_row ^ 1  # the scales of a plain row lie one after the other, too
        self._pack(kind.a, self.a, (self.scale_a, in_fragments), self.m, stride_a, left, ROWS, depth)
        always = self.is_row.like(1)
        self._pack(kind.b, self.b, (self.scale_b, always), self.n, tiles_n * fractal.FRACTAL, right, COLUMNS, depth)
        panels = ceil_div(self.n, COLUMNS)

        with f.each(panels, polls=True) as number:
            from_b = right.at(number * depth * (COLUMNS * _DOUBLE))
            with f.each(self.m, ROWS) as row:
                from_a = left.at(row * depth * _DOUBLE)
                self._store(row, number * COLUMNS, self._sums(from_a, from_b))

    # --- packing ------------------------------------------------------------------------------------------------------

    def _pack(
        self,
        kind: Element,
        source: Value,
        scales: tuple[Value, Value],
        rows: Value,
        stride: Value,
        target: Value,
        width: int,
        depth: Value,
    ) -> None:
        """Rows of L0 as doubles: `width` of them side by side for each k."""
        f = self.f
        columns = fractal.fractal_columns(kind)

        with f.each(rows, polls=True) as number:
            group = number.udiv(width)
            place = target.at((group * depth * width + (number & (width - 1))) * _DOUBLE)
            with f.each(ceil_div(self.k, columns)) as index:
                values = self._values(kind, source.at(index * stride + number * fractal.FRACTAL_ROW))
                if self.kind.scaled:
                    values = self._scaled(values, scales, number, index, columns)
                first = place.at(index * (columns * width * _DOUBLE))
                for lane in range(columns):
                    first.at(lane * width * _DOUBLE).store(extract(values, lane), _DOUBLE)

    def _values(self, kind: Element, place: Value) -> Value:
        """The values of one fractal row as doubles."""
        f, columns = self.f, fractal.fractal_columns(kind)
        if kind.name in FOUR_BITS:
            packed = place.load(I8.vector(fractal.FRACTAL_ROW))
            both = [number // 2 + fractal.FRACTAL_ROW * (number % 2) for number in range(columns)]
            values = decode(kind.name, shuffle(f, both, packed & 15, packed.lshr(4)))
        elif kind.kind == "lowprecision":
            values = decode(kind.name, place.load(I8.vector(columns)))
        else:
            lanes = place.load(lane_type(kind).vector(columns))
            if kind.is_integer:
                return lanes.convert("sitofp", F64)
            values = widen(kind, lanes)
        if kind.name == "f32":
            values = self._as_tf32(values)
        if kind.kind == "lowprecision" or kind.is_float:
            values = self._limited(values, largest(kind.name))
        return values.convert("fpext", F64)

    def _as_tf32(self, values: Value) -> Value:
        """Ten fraction bits, where that is asked for; infinities and NaN pass."""
        bits = bits_of(values)
        even = (bits.lshr(13) & 1) + 0xFFF
        away = splat(self.f, self.away, values.kind.lanes)
        rounded = (bits + away.select(bits.like(0x1000), even)) & 0xFFFFE000
        finite = (bits & 0x7F800000) != 0x7F800000
        wanted = splat(self.f, self.tf32, values.kind.lanes) & finite
        return lanes_as(wanted.select(rounded, bits), FLOAT)

    def _limited(self, values: Value, largest: float) -> Value:
        """Saturation of operands: infinities become the largest number, NaN becomes 0."""
        limited = (values > largest).select(largest, values)
        limited = (limited < -largest).select(-largest, limited)
        limited = (values != values).select(0.0, limited)
        return splat(self.f, self.saturate, values.kind.lanes).select(limited, values)

    def _scaled(self, values: Value, scales: tuple[Value, Value], row: Value, index: Value, columns: int) -> Value:
        """Times the MX scale of 32 values: 64 of them, two to a byte, have two scales. They lie in fragments or not."""
        start, in_fragments = scales
        line = ceil_div(ceil_div(self.k, fractal.SCALE_GROUP), 2) * fractal.SCALE_FRAGMENT
        place = start.at(row.udiv(fractal.FRACTAL_ROWS) * line + (row & (fractal.FRACTAL_ROWS - 1)) * 2)
        factors: list[Value] = []
        for part in range(columns // fractal.SCALE_GROUP):
            group = index * (columns // fractal.SCALE_GROUP) + part
            there = in_fragments.select(group.lshr(1) * fractal.SCALE_FRAGMENT + (group & 1), group)
            code = place.at(there).load(I8)
            factors.append(_power(code))
        vector = splat(self.f, factors[0], columns)
        if len(factors) > 1:
            lower = lane_numbers(self.f, I32, columns) < fractal.SCALE_GROUP
            vector = lower.select(vector, splat(self.f, factors[1], columns))
        return values * vector

    # --- sums ---------------------------------------------------------------------------------------------------------

    def _sums(self, left: Value, right: Value) -> list[Value]:
        """4 rows of 8 sums over all k."""
        f = self.f
        zero = f.constant(F64.vector(COLUMNS), 0.0)

        def step(index: Value, sums: list[Value]) -> Sequence[Value]:
            column = right.at(index * (COLUMNS * _DOUBLE)).load(F64.vector(COLUMNS), _DOUBLE)
            row = left.at(index * (ROWS * _DOUBLE)).load(F64.vector(ROWS), _DOUBLE)
            return [_fused(f, _spread(f, row, number), column, total) for number, total in enumerate(sums)]

        return f.for_loop(self.k.like(0), self.k, 1, [zero] * ROWS, step, polls=False)

    def _store(self, row: Value, column: Value, sums: list[Value]) -> None:
        """Round sums and put them into L0C, as far as they are inside the extent."""
        f = self.f
        group = ceil_div(self.m, fractal.FRACTAL_ROWS) * (fractal.FRACTAL_ROWS * fractal.ACCUMULATOR_ROW)
        number, rest = column.udiv(fractal.FRACTAL_ROWS), (column & (fractal.FRACTAL_ROWS - 1)) * fractal.ACCUMULATOR
        left = minimum(self.n - column, COLUMNS)
        lanes = lane_numbers(f, I64, COLUMNS)
        active = lanes < splat(f, left, COLUMNS)
        for offset, total in enumerate(sums):
            line = row + offset
            begun = self.start.at(line * self.start_row + number * self.start_group + rest)
            place = self.c.at(number * group + line * fractal.ACCUMULATOR_ROW + rest)
            with f.when(line < self.m):
                masked_store(f, place, self._rounded(total, begun), active)

    def _rounded(self, total: Value, begun: Value) -> Value:
        """The sum with what C starts from, as the bits of an accumulator."""
        f = self.f
        (words,) = f.choose(
            self.start != f.constant(PTR, 0),
            lambda: [begun.load(I32.vector(COLUMNS), fractal.ACCUMULATOR)],
            lambda: [f.constant(I32.vector(COLUMNS), 0)],
        )
        if self.kind.a.is_integer:
            return total.convert("fptosi", I32) + words
        # A start from zero adds nothing, not even to a sum of -0.
        some = splat(f, self.start != f.constant(PTR, 0), COLUMNS)
        total = some.select(total + lanes_as(words, FLOAT).convert("fpext", F64), total)
        return bits_of(canonical(self._limited(total, largest("f32")).convert("fptrunc", FLOAT)))


def _power(code: Value) -> Value:
    """2^(code - 127) as a double; 255 is NaN."""
    exponent = (code.zext(I64) + (1023 - 127)) << 52
    return (code == -1).select(float("nan"), exponent.bitcast(F64))


def _spread(f: FunctionBuilder, row: Value, number: int) -> Value:
    return shuffle(f, [number] * COLUMNS, row)


def _fused(f: FunctionBuilder, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, where the product is exact: fused or not, the same."""
    exact = f.emit(a.kind, f"fmul contract {a}, {b.text}")
    return f.emit(a.kind, f"fadd contract {c}, {exact.text}")
