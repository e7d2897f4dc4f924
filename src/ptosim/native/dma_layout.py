"""Copies from GM to L1 that change the layout of a matrix, and the filling of L1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptosim.effects.dma_layout import SMALL_ROW, filled, matrix_dest, matrix_source
from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import ceil_div, ceil_to, minimum
from ptosim.effects.names import Space
from ptosim.language.micro import dma_grouped as grouped
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import GmPlace, read_inside
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.burst import BurstLoop, each_row, fill


@dataclass(frozen=True, eq=False)
class GmMatrix:
    """A matrix in GM, n rows of d elements, and where its parts go in L1; the roles of pto.mte_gm_l1_frac."""

    layout: str
    width: int
    n: Value
    d: Value
    inner_stride: Value
    outer_stride: Value
    groups: Value
    loop2_stride: Value
    loop3_stride: Value
    loop4_stride: Value
    small_c0: Value

    def element_offset(self, row: Value, column: Value) -> Value:
        """The offset of an element in its group."""
        along, across = (row, column) if self.layout == "nd2nz" else (column, row)
        return along * self.inner_stride + across * self.width


def _check(core: Core, matrix: GmMatrix) -> None:
    """Ends the run if the data exceed L1, before anything is read."""
    small = matrix.small_c0 != 0
    size = core.target.memory[Space.L1]
    # Cut before they are multiplied, so that no product passes 2^63.
    most = [minimum(value, 1 << 20) for value in (matrix.groups, ceil_div(matrix.d * matrix.width, GRANULE), matrix.n)]
    granules = most[0] * most[1] * most[2]
    limit = small.select(granules.like(SMALL_ROW * size), granules.like(size))
    message = f"writes {{}} granules of {GRANULE} bytes of l1, which has {size} bytes"
    core.fail(granules * GRANULE > limit, "out-of-bounds", message, granules)
    core.f.settle()


def _copy(core: Core, source: Value, dest: Value, matrix: GmMatrix) -> None:
    _check(core, matrix)
    empty = (matrix.n == 0) | (matrix.d == 0) | (matrix.groups == 0)
    core.f.either(empty, lambda: None, lambda: _convert(core, source, dest, matrix))


def _convert(core: Core, source: Value, dest: Value, matrix: GmMatrix) -> None:
    _, read = matrix_source(matrix.layout, matrix.width)(matrix)
    place, outside = core.global_place("reads", source, read)
    _, written = matrix_dest(matrix.width)(matrix)
    target = core.stretch("writes", Space.L1, dest, written, core.alignment_of(Space.L1))
    _observe(core, source, dest, matrix)

    def convert(read_piece: Callable[[Value, Value, Value], None]) -> None:
        core.f.either(
            matrix.small_c0 != 0,
            lambda: _small(core.f, matrix, target, read_piece),
            lambda: _fractals(core.f, matrix, target, read_piece),
        )

    def direct(offset: Value, to: Value, count: Value) -> None:
        to.copy_from(place.address.at(offset), count)

    core.dropping(outside, lambda: convert(direct), lambda: convert(_clipped(place)))


def _observe(core: Core, source: Value, dest: Value, matrix: GmMatrix) -> None:
    """Tell an observer of the lines read and the granules written, which should lie apart."""
    if not core.is_observed:
        return
    is_rows = matrix.layout == "nd2nz"
    lines, length = (matrix.n, matrix.d) if is_rows else (matrix.d, matrix.n)
    groups, columns = matrix.groups, ceil_div(matrix.d * matrix.width, GRANULE)
    read = [(lines, matrix.inner_stride), (groups, matrix.outer_stride)]
    core.observer.copied(core, "reads", CopyRows(Space.GM, source, read, length * matrix.width))
    row, column, group = matrix.loop2_stride, matrix.loop3_stride, matrix.loop4_stride

    def fractals() -> None:
        high = (matrix.n - 1) * row + 1
        core.suspect(lambda: ((matrix.n > 1) & (row == 0)) | ((columns > 1) & (column < high)))
        core.suspect(lambda: (groups > 1) & (group < (columns - 1) * column + high))
        written = [(matrix.n, row * GRANULE), (columns, column * GRANULE), (groups, group * GRANULE)]
        core.observer.copied(core, "writes", CopyRows(Space.L1, dest, written, dest.like(GRANULE)))

    def packed() -> None:
        length = ceil_to(matrix.n * (SMALL_ROW * matrix.width), GRANULE)
        core.observer.copied(core, "writes", CopyRows(Space.L1, dest, [(groups, group * GRANULE)], length))

    core.f.either(matrix.small_c0 != 0, packed, fractals)


def _clipped(place: GmPlace) -> Callable[[Value, Value, Value], None]:
    return lambda offset, to, count: read_inside(place.further(offset), to, count)


ReadPiece = Callable[[Value, Value, Value], None]
"""(offset in GM, host address, bytes)"""


def _fractals(f: FunctionBuilder, matrix: GmMatrix, target: Value, read_piece: ReadPiece) -> None:
    """Columns in groups of 32 bytes, each group holding all rows; zeros behind the last column."""
    c0 = GRANULE // matrix.width
    columns = ceil_div(matrix.d, c0)
    zero = f.constant(I8.vector(GRANULE), 0)

    with f.each(matrix.groups, polls=True) as group, f.each(columns, polls=True) as column, f.each(matrix.n) as row:
        first = column * c0
        count = minimum(matrix.d - first, c0)
        offset = (group * matrix.loop4_stride + column * matrix.loop3_stride + row * matrix.loop2_stride) * GRANULE
        to, source = target.at(offset), group * matrix.outer_stride + matrix.element_offset(row, first)

        def whole() -> None:
            read_piece(source, to, count.like(GRANULE))

        def partial() -> None:
            to.store(zero)
            read_piece(source, to, count * matrix.width)

        if matrix.layout == "nd2nz":
            f.either(count == c0, whole, partial)
        else:
            to.store(zero)
            _elements(f, matrix, count, source, to, read_piece)


def _elements(
    f: FunctionBuilder, matrix: GmMatrix, count: Value, source: Value, to: Value, read_piece: ReadPiece
) -> None:
    """Elements of one row out of a column-major matrix."""
    with f.each(count) as index:
        read_piece(source + index * matrix.inner_stride, to.at(index * matrix.width), index.like(matrix.width))


def _small(f: FunctionBuilder, matrix: GmMatrix, target: Value, read_piece: ReadPiece) -> None:
    """Rows of four elements, one behind the other; the end of a group is filled up to 32 bytes."""
    row_bytes = SMALL_ROW * matrix.width
    size = ceil_to(matrix.n * row_bytes, GRANULE)
    with f.each(matrix.groups, polls=True) as index:
        to = target.at(index * matrix.loop4_stride * GRANULE)
        to.fill(0, size)
        with f.each(matrix.n, polls=True) as number:
            source = index * matrix.outer_stride + matrix.element_offset(number, number.like(0))
            place = to.at(number * row_bytes)
            if matrix.layout == "nd2nz":
                read_piece(source, place, matrix.d * matrix.width)
            else:
                _elements(f, matrix, matrix.d, source, place, read_piece)


@lowering(grouped.MteGmL1Frac, bind=lambda static: {"width": static.elements["dest"].bytes})
def mte_gm_l1_frac(core: Core, operands: Operands, layout: str, width: int) -> None:
    outer = operands.n.like(0) if operands.outer_stride is None else operands.outer_stride
    sizes = {role: value for role, value in vars(operands).items() if role not in ("source", "dest")}
    matrix = GmMatrix(layout, width, **sizes | {"outer_stride": outer})
    _copy(core, operands.source, operands.dest, matrix)


# --- filling ----------------------------------------------------------------------------------------------------------


@lowering(grouped.RawFillL1)
def raw_fill_l1(core: Core, operands: Operands, fill_word_bits: int) -> None:
    f, size = core.f, core.target.memory[Space.L1]
    repeat, blocks, value = operands.repeat, operands.blocks, operands.value
    total = repeat * blocks * GRANULE
    core.fail(total > size, "out-of-bounds", f"writes {{}} bytes of l1, which has {size} bytes", total)
    f.settle()
    _, extent = filled(Operands(**vars(operands) | {"byte_offset": 0}))
    start, length, step = operands.dest + operands.byte_offset, blocks * GRANULE, (blocks + operands.gap) * GRANULE

    def write() -> None:
        target = core.stretch("writes", Space.L1, start, extent, core.alignment_of(Space.L1))
        half = value & 0xFFFF
        word = value if fill_word_bits == 32 else half | half << 16
        core.observer.copied(core, "writes", CopyRows(Space.L1, start, [(repeat, step)], length))
        with each_row(f, [BurstLoop(repeat, step, step)]) as (_, to):
            fill(f, core.unit, target.at(to), length, word)

    f.either((repeat == 0) | (blocks == 0), lambda: None, write)
