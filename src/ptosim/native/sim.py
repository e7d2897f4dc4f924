"""Operations that lowerings use besides the instruction set."""

from __future__ import annotations

from hashlib import blake2b

from ptosim.effects.burst import FB_UNIT
from ptosim.effects.element import GRANULE, Element
from ptosim.effects.fixpipe import QUANT_WORD
from ptosim.effects.fractal import ACCUMULATOR, ACCUMULATOR_FRACTAL, ACCUMULATOR_ROW, BIAS_ALIGNMENT, FRACTAL_ROWS
from ptosim.effects.geometry import ceil_div
from ptosim.effects.mad import accumulator_extent
from ptosim.effects.names import Space
from ptosim.effects.sim import SIGNED_RESULT
from ptosim.language.micro import sim as op
from ptosim.language.text.tile_text import Drawing, Extents
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import locate
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.accumulators import accumulators_touched
from ptosim.native.routines.row_transfer import address_of
from ptosim.native.vector.numbers import bits_of, canonical, lane_type, widen
from ptosim.native.vector.registers import extract


@lowering(op.SimRequire)
def require(core: Core, condition: Value, values: tuple[Value, ...], kind: str, message: str, fatal: bool) -> None:
    """A run cares only where going on could do harm."""
    if fatal:
        value, detail = (*values, 0, 0)[:2]
        core.fail(condition ^ True, kind, message, value, detail)


@lowering(op.SimLookup)
def lookup(f: FunctionBuilder, core: Core, index: Value, values: tuple[int, ...]) -> Value:
    last = index.like(len(values) - 1)
    inside = (index >= 0) & (index < len(values))
    name = "lookup_" + blake2b(repr(values).encode(), digest_size=8).hexdigest()
    core.unit.module.table(name, values)
    return f.table(name).at(inside.select(index, last) * WORD_BYTES).load(I64, WORD_BYTES)


@lowering(op.SimPrintTile)
def print_tile(f: FunctionBuilder, core: Core, operands: Operands, drawing: Drawing, space: Space) -> None:
    """By the run time, which gets the memory with its bounds, unless the run is observed."""
    if core.is_observed:
        return
    sizes = (getattr(operands, role) for role in Extents._fields)
    extents = [f.constant(I64, 0) if size is None else size for size in sizes]
    known = [drawing.title, drawing.element, drawing.format, *drawing.box]
    core.issue("print_tile", known, [*_memory(f, core, space, operands.base), *extents])


def _memory(f: FunctionBuilder, core: Core, space: Space, base: Value) -> tuple[Value, Value, Value]:
    """The host address and the size of the memory that a pointer names, and the place in it."""
    if space is Space.GM:
        place = locate(f, base)
        return address_of(place.base), place.size, place.offset
    zero = f.constant(I64, 0)
    if not core.has(space):
        return zero, zero, base
    return address_of(core.base(space)), f.constant(I64, core.target.memory[space.value]), base


@lowering(op.SimInstructions)
def instructions(times: Value, repeats: Value, bytes: Value) -> None:
    """Only a profile cares (observe/timing.py)."""


@lowering(op.SimScaleWords, bind=lambda static: {"element": static.elements["source"]})
def scale_words(
    f: FunctionBuilder, core: Core, source: Value, dest: Value, count: Value, element: Element, unsigned: bool
) -> None:
    origin = core.stretch("reads", Space.L1, source, count * element.bytes, GRANULE)
    target = core.stretch("writes", Space.FB, dest, count * QUANT_WORD, FB_UNIT)
    core.observer.copied(core, "reads", CopyRows(Space.L1, source, (), count * element.bytes))
    core.observer.copied(core, "writes", CopyRows(Space.FB, dest, (), count * QUANT_WORD))

    sign = 0 if unsigned else SIGNED_RESULT
    with f.each(count) as index:
        scale = origin.at(index * element.bytes).load(lane_type(element).vector(1))
        bits = bits_of(canonical(widen(element, scale)))
        target.at(index * QUANT_WORD).store(extract(bits, 0).convert("zext", I64) | sign)


@lowering(op.SimStartAcc)
def start_acc(f: FunctionBuilder, core: Core, c: Value, m: Value, n: Value, bias: Value | None) -> None:
    row = None if bias is None else core.stretch("reads", Space.BT, bias, n * ACCUMULATOR, BIAS_ALIGNMENT)
    target = core.stretch("writes", Space.L0C, c, accumulator_extent(m, n)[1], ACCUMULATOR_FRACTAL)
    group = ceil_div(m, FRACTAL_ROWS) * ACCUMULATOR_FRACTAL
    if core.is_observed:
        if bias is not None:
            core.observer.copied(core, "reads", CopyRows(Space.BT, bias, (), n * ACCUMULATOR))
        accumulators_touched(core, "writes", c, (m, m.like(ACCUMULATOR_ROW)), n, group)

    with f.each(n, polls=True) as number:
        value = f.constant(I32, 0) if row is None else row.at(number * ACCUMULATOR).load(I32)
        top = target.at(number.udiv(FRACTAL_ROWS) * group + (number & (FRACTAL_ROWS - 1)) * ACCUMULATOR)
        with f.each(m) as index:
            top.at(index * ACCUMULATOR_ROW).store(value)
