"""Stores of the fixpipe, whichever way they are written: read accumulators, quantise, lay out, write.

A repeat is quantised into the workspace, row by row, and from there written in runs of values that lie one behind the
other in the destination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ptosim.effects import fixpipe
from ptosim.effects.ctrl import KEEP_BIT, PRESERVE_NAN_BIT
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_ROW, FRACTAL_ROWS
from ptosim.effects.geometry import ceil_div, ceil_to, floor_div, minimum
from ptosim.effects.names import Space
from ptosim.language.micro.fixpipe_modes import QUANT_MODES
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import write_inside
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.accumulators import accumulators_touched
from ptosim.native.routines.atomic import accumulate, accumulate_inside, atomic_checks, element_bytes, is_atomic
from ptosim.native.routines.burst import MOST_BYTES, BurstLoop, each_row
from ptosim.native.routines.quantisation import COLUMNS, Lanes, Saturation, Steps, quantised, slopes, stored_type
from ptosim.native.vector.registers import splat

RUN_OFFSET = 1 << 21
"""The part of the workspace for a run that is put together; the values of a repeat lie before it, rows padded to
COLUMNS."""
PACKED_OFFSET = RUN_OFFSET + (1 << 17)
"""And where 4-bit values are packed."""


@dataclass(frozen=True, eq=False)
class Store:
    """The source and the destination of accumulators."""

    source: Value
    dest: Value
    space: Space
    shape: fixpipe.StoreShape
    layouts: Sequence[tuple[Value, str]]
    """Every layout that it may have, and the condition under which it has it."""
    split: Value
    """Whether nz2nz writes fractals of 8 columns."""
    ctrl: Value | None
    """The register that makes a store to GM atomic; None if none does."""


@dataclass(frozen=True, eq=False)
class RepeatPart:
    """The rows and columns of a repeat that one memory receives; `at` is the core whose memory it is."""

    row: Value
    column: Value
    shape: fixpipe.StoreShape
    at: str | None = None


# --- parameter words --------------------------------------------------------------------------------------------------


def quant_vector(core: Core, offset: Value, n: Value) -> Lanes:
    """The quantisation words of n channels."""
    words = core.stretch("reads", Space.FB, offset, n * fixpipe.QUANT_WORD)
    core.observer.copied(core, "reads", CopyRows(Space.FB, offset, (), n * fixpipe.QUANT_WORD))
    return lambda column: words.at(column * fixpipe.QUANT_WORD).load(I64.vector(COLUMNS))


def slope_vector(core: Core, offset: Value, n: Value) -> Lanes:
    """The slopes of n channels."""
    words = core.stretch("reads", Space.FB_RELU, offset, n * fixpipe.RELU_WORD)
    core.observer.copied(core, "reads", CopyRows(Space.FB_RELU, offset, (), n * fixpipe.RELU_WORD))
    return lambda column: slopes(words.at(column * fixpipe.RELU_WORD).load(I32.vector(COLUMNS)))


def quant_scalar(f: FunctionBuilder, word: Value) -> Lanes:
    return lambda column: splat(f, word, COLUMNS)


def slope_scalar(f: FunctionBuilder, word: Value) -> Lanes:
    return lambda column: slopes(splat(f, word, COLUMNS))


def saturation(f: FunctionBuilder, clause: str | None, ctrl: Value) -> Saturation:
    """The treatment of infinities and NaN by a clause, or by CTRL if there is none."""
    if clause is not None:
        return Saturation(f.constant(I1, clause == "nosat"), f.constant(I1, clause == "sat_preserve_nan"))
    keep = (ctrl.lshr(KEEP_BIT) & 1) != 0
    return Saturation(keep, (keep ^ 1) & ((ctrl.lshr(PRESERVE_NAN_BIT) & 1) != 0))


# --- the store --------------------------------------------------------------------------------------------------------


def check_shape(core: Core, shape: fixpipe.StoreShape) -> None:
    """A repeat cannot have more accumulators than there are."""
    held = core.target.memory[Space.L0C] // ACCUMULATOR
    message = f"reads {{}} x {{}} accumulators of l0c, which holds {held}"
    core.fail(shape.m * shape.n > held, "out-of-bounds", message, shape.m, shape.n)
    values, most = shape.count * shape.m * shape.n, MOST_BYTES // ACCUMULATOR
    core.fail(values > most, "limit", f"a store of {{}} values; at most {most} can be stored at once", values)
    core.f.settle()


def is_representable(core: Core, steps: Steps) -> bool:
    """Without a quantisation mode the destination has the type of the accumulator; where it has not, a store fails."""
    if steps.mode != "no_convert" or QUANT_MODES[steps.mode].joins(steps.source.name, steps.dest.name):
        return True
    message = f"an accumulator of {steps.source.name} becomes {steps.dest.name} only with a quantisation mode"
    core.fail(core.f.constant(I1, 1), "invalid", message)
    core.f.settle()
    return False


def for_each_core(
    core: Core, store: Store, mode: str | Value | None, act: Callable[[Sequence[RepeatPart]], None]
) -> None:
    """Do it for the memories that receive the result. Of UB there are two: `mode` is the number of a vector core,
    split_m or split_n."""
    shape = store.shape
    zero = shape.m.like(0)
    if store.space is not Space.UB:
        act([RepeatPart(zero, zero, shape)])
    elif isinstance(mode, Value):
        first, second = (RepeatPart(zero, zero, shape, f"aiv{number}") for number in (0, 1))
        core.f.either(mode == 0, lambda: act([first]), lambda: act([second]))
    else:
        half = fixpipe.halved(shape, mode)
        second = (half.m, zero) if mode == "split_m" else (zero, half.n)
        act([RepeatPart(zero, zero, half, "aiv0"), RepeatPart(*second, half, "aiv1")])


def perform(core: Core, store: Store, parts: Sequence[RepeatPart], steps: Steps) -> None:
    """The whole store, repeat by repeat."""
    shape = store.shape
    some = (shape.m > 0) & (shape.n > 0) & (shape.count > 0)
    core.f.either(some, lambda: _repeats(core, store, parts, steps))


def _repeats(core: Core, store: Store, parts: Sequence[RepeatPart], steps: Steps) -> None:
    f, shape = core.f, store.shape
    origin = core.stretch("reads", Space.L0C, store.source, fixpipe.source_extent(shape)[1], ACCUMULATOR_ROW)
    writers = [_writer(core, store, part, steps.dest) for part in parts]
    if core.is_observed:
        _observe(core, store, parts, steps.dest)
    room = f.base(ContextWord.WORKSPACE)
    pitch = ceil_to(shape.n, COLUMNS)
    with f.each(shape.count, polls=True) as number:
        words = origin.at(number * shape.repeat_source * ACCUMULATOR_ROW)
        _quantise(f, shape, words, room, pitch, steps)
        for part, write in zip(parts, writers, strict=True):
            _lay_out(core, store, part, steps.dest, pitch, number * shape.repeat_dest, write)


def _observe(core: Core, store: Store, parts: Sequence[RepeatPart], dest: Element) -> None:
    """Tell an observer of the accumulators that are read, and of the runs of values that are stored."""
    shape = store.shape
    rows = shape.m, shape.row_step * ACCUMULATOR_ROW
    repeats = [(shape.count, shape.repeat_source * ACCUMULATOR_ROW)]
    accumulators_touched(core, "reads", store.source, rows, shape.n, shape.source_stride * ACCUMULATOR_ROW, repeats)
    for part in parts:
        for condition, layout in store.layouts:
            core.f.either(condition, lambda part=part, layout=layout: _observe_part(core, store, part, layout, dest))


def _observe_part(core: Core, store: Store, part: RepeatPart, layout: str, dest: Element) -> None:
    """Observes the rows that one memory receives: on chip they begin with a granule, or the kernel is suspicious."""
    shape, bits = store.shape, fixpipe.value_bits(dest)
    m, n = part.shape.m, part.shape.n

    def size(values: Value) -> Value:
        return values * (bits // 8) if bits >= 8 else ceil_div(values, 2)  # each run begins with a byte

    later, stride = [(shape.count, size(shape.repeat_dest))], size(shape.dest_stride)

    def stores(base: Value, steps: Sequence[tuple[Value, Value]], length: Value) -> None:
        if store.space is not Space.GM:
            for count, distance in steps:
                core.suspect(lambda count=count, distance=distance: (count > 1) & ((distance & (GRANULE - 1)) != 0))
        core.observer.copied(core, "writes", CopyRows(store.space, base, steps, length, part.at), store.ctrl)

    if layout == "nz2nd":
        stores(store.dest, [(m, stride), *later], size(n))
    elif layout == "nz2dn":
        stores(store.dest, [(n, stride), *later], size(m))
    else:
        width = store.split.select(
            n.like(fixpipe.group_columns(dest, True)), n.like(fixpipe.group_columns(dest, False))
        )
        lines, full = (m, size(width)), n.udiv(width)
        stores(store.dest, [lines, (full, stride), *later], size(width))
        stores(store.dest + full * stride, [lines, *later], size(n - full * width))


def _quantise(
    f: FunctionBuilder, shape: fixpipe.StoreShape, origin: Value, room: Value, pitch: Value, steps: Steps
) -> None:
    """Every accumulator as bits of the destination type, COLUMNS channels at a time."""
    kind = stored_type(steps.dest)
    with f.each(shape.n, COLUMNS, polls=True) as column:
        words = steps.parameters(column) if steps.parameters is not None else None
        alpha = steps.slope(column) if steps.slope is not None else None
        group = column.udiv(FRACTAL_ROWS) * shape.source_stride * ACCUMULATOR_ROW
        first = origin.at(group + (column & (FRACTAL_ROWS - 1)) * ACCUMULATOR)
        with f.each(shape.m) as number:
            held = first.at(number * shape.row_step * ACCUMULATOR_ROW).load(I32.vector(COLUMNS), ACCUMULATOR)
            bits = quantised(f, held, steps, words, alpha)
            room.at((number * pitch + column) * (kind.bits // 8)).store(bits)


# --- layouts ----------------------------------------------------------------------------------------------------------

Write = Callable[[Value, Value, Value], None]
"""(destination, host address, how many): in bytes, or where a layout puts values together in values."""


def _lay_out(
    core: Core, store: Store, part: RepeatPart, dest: Element, pitch: Value, first: Value, write: Write
) -> None:
    room = core.f.base(ContextWord.WORKSPACE).at((part.row * pitch + part.column) * (stored_type(dest).bits // 8))
    plans = {"nz2nd": _rows, "nz2dn": _columns, "nz2nz": _fractals}

    def put(to: Value, values: Value, count: Value) -> None:
        _run(core, dest, first + to, values, count, write)

    for condition, layout in store.layouts:
        core.f.either(condition, lambda plan=plans[layout]: plan(core.f, store, part, dest, room, pitch, put))


def _rows(
    f: FunctionBuilder, store: Store, part: RepeatPart, dest: Element, room: Value, pitch: Value, put: Write
) -> None:
    """dst[m * ds + n]"""
    size = stored_type(dest).bits // 8
    with each_row(f, [BurstLoop(part.shape.m, pitch * size, store.shape.dest_stride)]) as (from_, to):
        put(to, room.at(from_), part.shape.n)


def _columns(
    f: FunctionBuilder, store: Store, part: RepeatPart, dest: Element, room: Value, pitch: Value, put: Write
) -> None:
    """dst[n * ds + m]"""
    kind = stored_type(dest)
    size = kind.bits // 8
    run = f.base(ContextWord.WORKSPACE).at(RUN_OFFSET)
    with each_row(f, [BurstLoop(part.shape.n, pitch.like(size), store.shape.dest_stride)]) as (from_, to):
        with f.each(part.shape.m) as row:
            run.at(row * size).store(room.at(row * pitch * size + from_).load(kind))
        put(to, run, part.shape.m)


def _fractals(
    f: FunctionBuilder, store: Store, part: RepeatPart, dest: Element, room: Value, pitch: Value, put: Write
) -> None:
    """dst[(n / W) * ds + m * W + n % W]"""
    size, shape = stored_type(dest).bits // 8, part.shape
    width = store.split.select(
        pitch.like(fixpipe.group_columns(dest, True)), pitch.like(fixpipe.group_columns(dest, False))
    )
    with f.each((shape.n + width - 1).udiv(width), polls=True) as number:
        column = number * width
        count = minimum(shape.n - column, width)
        begin = number * store.shape.dest_stride
        with each_row(f, [BurstLoop(shape.m, pitch * size, width)]) as (from_, to):
            put(begin + to, room.at(from_ + column * size), count)


def _run(core: Core, dest: Element, index: Value, run: Value, count: Value, write: Write) -> None:
    """Values one behind the other, from an index of the destination on."""
    bits = fixpipe.value_bits(dest)
    if bits != 4:
        write(index * (bits // 8), run, count * (bits // 8))
        return
    f = core.f
    core.fail((index & 1) != 0, "misaligned", "a run of 4-bit values begins in the middle of a byte")
    packed = f.base(ContextWord.WORKSPACE).at(PACKED_OFFSET)
    f.either((count & 1) != 0, lambda: run.at(count).fill(0, 1))  # what stands beside an odd last value
    half = ceil_div(count, 2)
    with f.each(half) as number:
        two = run.at(number * 2)
        low, high = two.load(stored_type(dest)), two.at(1).load(stored_type(dest))
        packed.at(number).store(low | high << 4)
    write(floor_div(index, 2), packed, half)


# --- memories ---------------------------------------------------------------------------------------------------------


def _extent(core: Core, store: Store, part: RepeatPart, dest: Element) -> Value:
    """The bytes that one memory receives."""
    total = store.dest.like(0)
    for condition, layout in store.layouts:
        size = fixpipe.dest_extent(part.shape, layout, dest)[1]
        if layout == "nz2nz":
            size = store.split.select(fixpipe.dest_extent(part.shape, layout, dest, split=True)[1], size)
        total = condition.select(size, total)
    return total


def _writer(core: Core, store: Store, part: RepeatPart, dest: Element) -> Write:
    extent = _extent(core, store, part, dest)
    if store.space is not Space.GM:
        target = core.stretch("writes", store.space, store.dest, extent, fixpipe.ALIGNMENT[store.space], part.at)
        return lambda to, run, count: target.at(to).copy_from(run, count)
    place, outside = core.global_place("writes", store.dest, extent)

    def plain(to: Value, run: Value, count: Value) -> None:
        core.dropping(
            outside,
            lambda: place.address.at(to).copy_from(run, count),
            lambda: write_inside(place.further(to), run, count),
        )

    ctrl = store.ctrl
    if ctrl is None:
        return plain

    def write(to: Value, run: Value, count: Value) -> None:
        def atomic() -> None:
            atomic_checks(core, count, ctrl)
            core.f.settle()
            core.dropping(outside, combine, each_element)

        def combine() -> None:
            accumulate(core.f, core.unit, place.address.at(to), run, count, ctrl)

        def each_element() -> None:
            width = element_bytes(ctrl)
            with each_row(core.f, [BurstLoop(count.udiv(width), width, width)]) as (from_, offset):
                accumulate_inside(core.f, core.unit, place.further(to + offset), run.at(from_), width, ctrl)

        core.f.either(is_atomic(ctrl), atomic, lambda: plain(to, run, count))

    return write
