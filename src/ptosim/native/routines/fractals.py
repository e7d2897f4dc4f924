"""Moves of fractals and scale fragments out of L1, as IR: what both spellings of the loads do."""

from __future__ import annotations

from ptosim.effects.burst import row_extent
from ptosim.effects.cube_load import FIELDS, FractalSteps, dest_counts, scale_source, tile_dest, tile_source
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.fractal import FRACTAL, FRACTAL_ROW, FRACTAL_ROWS, SCALE_FRAGMENT, SCALE_SHIFT, fractal_columns
from ptosim.effects.geometry import maximum, minimum
from ptosim.effects.names import Space
from ptosim.native.build.core import Core
from ptosim.native.build.requirement import demand
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, I64, PTR, Type, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.burst import BurstLoop, each_row

# --- fractals ---------------------------------------------------------------------------------------------------------


def load_tile(
    core: Core, space: Space, source: Value, dest: Value, control: FractalSteps, element: Element, transpose: bool
) -> None:
    """Whole fractals of L1 into L0A or L0B, each as it is or the matrix that they form transposed."""
    demand(core, FIELDS, control._asdict())
    some = (control.k_step > 0) & (control.m_step > 0)
    core.f.either(some, lambda: _load_tile(core, space, source, dest, control, element, transpose))


def _load_tile(
    core: Core, space: Space, source: Value, dest: Value, control: FractalSteps, element: Element, transpose: bool
) -> None:
    origin, inside = _source(core, source, control)
    columns = fractal_columns(element)
    _, written = tile_dest(control, columns, transpose)
    target = core.stretch("writes", space, dest, written, core.alignment_of(space))
    _observe(core, space, source, dest, control, columns, transpose)
    move_fractals = _turned if transpose else _as_they_are
    move_fractals(core, control, element, origin, inside, target)


def _observe(
    core: Core, space: Space, source: Value, dest: Value, control: FractalSteps, columns: int, turned: bool
) -> None:
    """Tell an observer of the fractals that are read and written. Those behind the end of L1 are padding."""
    if not core.is_observed:
        return
    low, high = tile_source(control)
    core.observer.stretched(core, "reads", Space.L1, source + low, high - low)
    core.suspect(lambda: source + high > core.target.memory[Space.L1])
    fractal = dest.like(FRACTAL)
    read = [(control.m_step, fractal), (control.k_step, control.source_stride * FRACTAL)]
    outer, inner = dest_counts(control, columns, turned)
    written = [(inner, fractal), (outer, control.dest_stride * FRACTAL)]
    taken, given = CopyRows(Space.L1, source + low, read, fractal), CopyRows(space, dest, written, fractal)
    if turned and columns > FRACTAL_ROW:  # of four bits
        core.observer.copied(core, "reads", taken)
        core.observer.copied(core, "writes", given)
    elif turned:
        core.observer.turned(core, taken, given, FRACTAL_ROW // columns)
    else:
        core.observer.carried(core, taken, given)


def _source(core: Core, source: Value, control: FractalSteps) -> tuple[Value, Value]:
    """The host address of the first fractal, and how many bytes of L1 there are from it on.

    Padding may reach behind the end of L1, where there are zeros; what begins there is an error.
    """
    low, high = tile_source(control)
    first = source + low
    size = core.target.memory[Space.L1]
    alignment = core.alignment_of(Space.L1)
    site = core.site("access", ["reads", str(Space.L1), size, None, alignment])
    wrong = ((first & (alignment - 1)) != 0) | (first < 0) | (first >= size)
    core.f.check(wrong, site, first, high - low)
    core.f.settle()
    return core.base(Space.L1).at(first), size - first


def _as_they_are(
    core: Core, control: FractalSteps, element: Element, origin: Value, inside: Value, target: Value
) -> None:
    """Fractals of one step of k lie side by side on both sides."""
    length = control.m_step * FRACTAL
    loop = BurstLoop(control.k_step, control.source_stride * FRACTAL, control.dest_stride * FRACTAL)
    with each_row(core.f, [loop]) as (source, dest):
        there = minimum(maximum(inside - source, 0), length)
        target.at(dest).copy_from(origin.at(source), there)
        target.at(dest + there).fill(0, length - there)


def _turned(core: Core, control: FractalSteps, element: Element, origin: Value, inside: Value, target: Value) -> None:
    """The matrix of fractals, rows 32 bytes apart, transposed."""
    columns = fractal_columns(element)
    high, wide = dest_counts(control, columns, True)
    name, parameters = f"turn_{columns}_of_{element.bytes}", [PTR, PTR, *[I64] * 5]
    routine = core.unit.routine(name, parameters, lambda f: _turn(f, columns, element.bytes))
    strides = control.source_stride * FRACTAL, control.dest_stride * FRACTAL
    core.f.call(routine, target, origin, inside, high, wide, *strides)


def _turn(f: FunctionBuilder, columns: int, width: int) -> None:
    """Fractal (r, q) of the result: row i is column 16 q + i of the source, element j of it from row r * C0 + j. There
    are C0 elements of `width` bytes in a row, or 64 values of four bits, two to a byte, the low one first."""
    target, origin, inside, high, wide, source_stride, dest_stride = f.parameters
    kind, in_nibbles = Type(f"i{8 * width}"), columns > FRACTAL_ROW

    with f.each(high, polls=True) as r, f.each(wide, polls=True) as q:
        dest = target.at(r * dest_stride + q * FRACTAL)
        with f.each(FRACTAL_ROWS) as i:
            column = q * FRACTAL_ROWS + i
            place = column & (columns - 1)
            start = column.udiv(columns) * source_stride + (place.lshr(1) if in_nibbles else place * width)

            def element(number: Value) -> Value:
                offset = start + (r * columns + number) * FRACTAL_ROW
                there = offset < inside
                found = there.select(origin.at(there.select(offset, 0)).load(kind), 0)
                return found.lshr(((place & 1) * 4).trunc(I8)) & 15 if in_nibbles else found

            with f.each(FRACTAL_ROW // width) as j:
                value = element(j * 2) | element(j * 2 + 1) << 4 if in_nibbles else element(j)
                dest.at(i * FRACTAL_ROW + j * width).store(value)


# --- scales -----------------------------------------------------------------------------------------------------------


def load_scales(
    core: Core, space: Space, source: Value, dest: Value, control: FractalSteps, shift: int = SCALE_SHIFT
) -> None:
    """Fragments of 32 bytes into the scale buffer, at the address of the data shifted right."""
    demand(core, FIELDS, control._asdict())
    odd = (dest & ((1 << shift) - 1)) != 0
    core.fail(odd, "misaligned", f"scales for data at {{}}, which is not a multiple of {1 << shift}", dest)
    core.f.settle()
    length = control.k_step * SCALE_FRAGMENT

    def copy() -> None:
        low, high = scale_source(control)
        origin = core.stretch("reads", Space.L1, source + low, high - low, core.alignment_of(Space.L1))
        _, written = row_extent((control.m_step,), (control.dest_stride * SCALE_FRAGMENT,), length)
        target = core.stretch("writes", space, dest >> shift, written)
        strides = control.source_stride * SCALE_FRAGMENT, control.dest_stride * SCALE_FRAGMENT
        rows = [BurstLoop(control.m_step, *strides)]
        core.suspect(lambda: ((dest >> shift) & (GRANULE - 1)) != 0)  # fragments that begin inside of a granule
        taken = CopyRows(Space.L1, source + low, [(control.m_step, strides[0])], length)
        core.observer.carried(core, taken, CopyRows(space, dest >> shift, [(control.m_step, strides[1])], length))
        with each_row(core.f, rows) as (from_, to):
            target.at(to).copy_from(origin.at(from_), length)

    core.f.either((control.m_step > 0) & (control.k_step > 0), copy)
