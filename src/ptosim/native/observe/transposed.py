"""Bits of words, one byte for a row of a fractal, as they go when the matrix of fractals is transposed."""

from __future__ import annotations

from functools import reduce

from ptosim.effects.fractal import FRACTAL_ROW, FRACTAL_ROWS
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, I64, PTR, Value
from ptosim.native.observe.layout import WORD
from ptosim.native.vector.registers import shuffle

TURNED = (PTR, PTR, *[I64] * 4)
"""The bits of the first fractal of the result and of the source, how many rows and columns of fractals the result has,
and how many bytes lie between two columns of the source and between two rows of the result."""
WORDS = FRACTAL_ROW // WORD
"""In a row of a fractal."""


def turn_words(f: FunctionBuilder, width: int) -> None:
    """Fractal (r, q) of the result: row i is column 16 q + i of the source, from row r * C0 on
    (native/routines/fractals.py).
    A word of it is defined where the words of all its elements are."""
    target, origin, high, wide, source_stride, dest_stride = f.parameters
    together = WORD // width
    rows = WORDS * together

    def column(r: Value, number: Value) -> Value:
        """The words of a column of the source, by its words in a row: which rows are defined."""
        loaded = origin.at(number * source_stride + r * rows).load(I8.vector(rows), 1)
        parts = [shuffle(f, range(part, rows, together), loaded) for part in range(together)]
        return _transposed(reduce(lambda one, other: one & other, parts).bitcast(I64))

    def fractal(r: Value, q: Value) -> Value:
        if width == WORD:  # sixteen columns are those of two fractals
            halves = [_bytes(column(r, q * 2 + half)) for half in range(2)]
            return shuffle(f, range(FRACTAL_ROWS), *halves)
        if width == WORD // 2:
            return shuffle(f, [i // 2 for i in range(FRACTAL_ROWS)], _bytes(column(r, q)))
        half = column(r, q.lshr(1)).lshr((q & 1) * 32)
        return shuffle(f, [i // 4 for i in range(FRACTAL_ROWS)], _bytes(half))

    with f.each(high) as r, f.each(wide) as q:
        target.at(r * dest_stride + q * FRACTAL_ROWS).store(fractal(r, q), 1)


def _bytes(bits: Value) -> Value:
    return bits.bitcast(I8.vector(8))


def _transposed(bits: Value) -> Value:
    """Eight rows of eight bits, with rows and columns exchanged: by ever larger squares."""
    for distance, square in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
        differing = (bits ^ bits.lshr(distance)) & square
        bits = bits ^ differing ^ (differing << distance)
    return bits
