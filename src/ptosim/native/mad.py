"""Matrix products: what their clauses, words and CTRL say; the arithmetic is in product.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptosim.effects import fractal
from ptosim.effects.ctrl import HIF8_BIT, KEEP_BIT, TF32_BIT, TIES_AWAY_BIT
from ptosim.effects.geometry import ceil_div
from ptosim.effects.mad import (
    BIAS_BIT,
    EXTENTS,
    NO_GEMV_BIT,
    ZERO_BIT,
    Packed,
    accumulator_extent,
    clauses,
    operand_extent,
    raw_elements,
    scale_extent,
)
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import mad as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.build.requirement import demand
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, PTR, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.accumulators import accumulators_touched
from ptosim.native.routines.product import ProductKind, product


@dataclass(frozen=True, eq=False)
class Options:
    """The variants of a product; all are conditions."""

    from_accumulators: Value
    from_bias: Value
    is_row: Value
    saturate: Value
    tf32: Value
    away: Value


def _bit(word: Value, number: int) -> Value:
    return (word.lshr(number) & 1) != 0


def _bias(operands: Any) -> Value | None:
    """The row of the bias table, of the forms that have one."""
    return getattr(operands, "bias", None)


def _where(condition: Value, extent: Value) -> Value:
    return condition.select(extent, extent.like(0))


def _multiply(core: Core, kind: ProductKind, operands: Any, how: Options) -> None:
    """Check everything that is read and written, and call the routine for these types."""
    f, m, n, k = core.f, operands.m, operands.n, operands.k
    depth = fractal.depth_bytes(kind.a, k)
    rows, columns = operand_extent(m, depth)[1], operand_extent(n, fractal.depth_bytes(kind.b, k))[1]
    core.stretch("reads", Space.L0A, operands.a, _where(how.is_row, depth), fractal.FRACTAL_ROW)
    left = core.stretch("reads", Space.L0A, operands.a, _where(how.is_row ^ 1, rows), fractal.FRACTAL)
    right = core.stretch("reads", Space.L0B, operands.b, columns, fractal.FRACTAL)
    scales = _scales(core, operands, how) if kind.scaled else [f.constant(PTR, 0)] * 2
    begun, row, group = _start(core, operands, how)
    target = core.stretch("writes", Space.L0C, operands.c, accumulator_extent(m, n)[1], fractal.ACCUMULATOR_FRACTAL)
    _observe(core, kind, operands, how)
    flags = how.is_row, how.saturate, how.tf32, how.away
    routine = product(core.unit, kind)
    f.call(routine, f.base(ContextWord.WORKSPACE), left, right, *scales, target, begun, m, n, k, row, group, *flags)


def _scales(core: Core, operands: Any, how: Options) -> list[Value]:
    """The host addresses of the scales of both operands."""
    a, b, m, n, k = operands.a, operands.b, operands.m, operands.n, operands.k
    of_a = how.is_row.select(ceil_div(k, fractal.SCALE_GROUP), scale_extent(m, k)[1])
    core.suspect(lambda: (k & (fractal.SCALED_STEP - 1)) != 0)  # `op.leaves_a_rest`
    found: list[Value] = []
    for space, operand, size in ((Space.SCALE_A, a, of_a), (Space.SCALE_B, b, scale_extent(n, k)[1])):
        address = operand >> fractal.SCALE_SHIFT
        found.append(core.stretch("reads", space, address, size))
        core.suspect(lambda address=address: (address & (fractal.SCALE_FRAGMENT - 1)) != 0)  # inside of a granule
        core.observer.copied(core, "reads", CopyRows(space, address, (), size))
    return found


def _observe(core: Core, kind: ProductKind, operands: Any, how: Options) -> None:
    """Tell an observer what lies within m, n and k."""
    if not core.is_observed:
        return
    m, n, k = operands.m, operands.n, operands.k
    for space, base, rows, element in ((Space.L0A, operands.a, m, kind.a), (Space.L0B, operands.b, n, kind.b)):
        depth = fractal.depth_bytes(element, k)
        column = ceil_div(rows, fractal.FRACTAL_ROWS) * fractal.FRACTAL
        if space is Space.L0A:  # a plain row is one fractal row after the other
            column = how.is_row.select(column.like(fractal.FRACTAL_ROW), column)
        full = depth.lshr(5)
        line = rows, m.like(fractal.FRACTAL_ROW)
        core.observer.copied(core, "reads", CopyRows(space, base, [line, (full, column)], m.like(fractal.FRACTAL_ROW)))
        core.observer.copied(
            core, "reads", CopyRows(space, base + full * column, [line], depth & (fractal.FRACTAL_ROW - 1))
        )
    if (bias := _bias(operands)) is not None:
        core.observer.copied(
            core, "reads", CopyRows(Space.BT, bias, (), _where(how.from_bias, n * fractal.ACCUMULATOR))
        )
    group = ceil_div(m, fractal.FRACTAL_ROWS) * fractal.ACCUMULATOR_FRACTAL
    for verb, wanted in (("reads", how.from_accumulators), ("writes", how.from_accumulators.like(1))):
        if wanted.literal != 0:
            accumulators_touched(core, verb, operands.c, (_where(wanted, m), m.like(fractal.ACCUMULATOR_ROW)), n, group)


def _start(core: Core, operands: Any, how: Options) -> tuple[Value, Value, Value]:
    """The start of the sums: its host address or null, and the bytes from a row and a group to the next."""
    m, n = operands.m, operands.n
    size = _where(how.from_accumulators, accumulator_extent(m, n)[1])
    held = core.stretch("reads", Space.L0C, operands.c, size, fractal.ACCUMULATOR_FRACTAL)
    begun = how.from_accumulators.select(held, core.f.constant(PTR, 0))
    if (bias := _bias(operands)) is not None:
        row = core.stretch(
            "reads", Space.BT, bias, _where(how.from_bias, n * fractal.ACCUMULATOR), fractal.BIAS_ALIGNMENT
        )
        begun = how.from_bias.select(row, begun)
    group = ceil_div(m, fractal.FRACTAL_ROWS) * fractal.ACCUMULATOR_FRACTAL
    in_columns = n.like(fractal.ACCUMULATOR_ROW)
    return begun, _where(how.from_accumulators, in_columns), how.from_accumulators.select(group, in_columns)


# --- instructions -----------------------------------------------------------------------------------------------------


@lowering(op.Mad, op.MadAcc, op.MadBias, op.MadMx, op.MadMxAcc, op.MadMxBias)
def mad(
    f: FunctionBuilder,
    core: Core,
    operands: Operands,
    static: Static,
    sat: str | None,
    ctrl: Value,
    scaled: bool,
    start: str,
) -> None:
    """Only saturation falls back on CTRL; hif8 and tf32 are what types and clauses say."""
    gemv, tf32 = clauses(static)
    how = Options(
        f.constant(I1, start == "accumulators"),
        f.constant(I1, start == "bias"),
        (operands.m == 1) & int(gemv),
        f.constant(I1, sat == "sat") if sat is not None else _bit(ctrl, KEEP_BIT) ^ 1,
        f.constant(I1, tf32 is not None),
        f.constant(I1, tf32 == "away"),
    )
    _multiply(core, ProductKind(static.elements["a"], static.elements["b"], scaled), operands, how)


@lowering(op.MadRaw, op.MadBiasRaw, op.MadMxRaw, op.MadMxBiasRaw)
def mad_raw(f: FunctionBuilder, core: Core, operands: Operands, static: Static, ctrl: Value, scaled: bool) -> None:
    packed, unpacked = operands.packed, Packed(operands)
    kinds = static.elements["a"], static.elements["b"]
    from_bias = _bit(packed, BIAS_BIT)
    if _bias(operands) is None:
        message = "bit 62 of the word asks for a bias, which only the forms with a bias have"
        core.fail(from_bias, "invalid", message)
        f.settle()
        from_bias = f.constant(I1, 0)
    demand(core, EXTENTS, {role: getattr(unpacked, role) for role in "mnk"})
    how = Options(
        (from_bias | _bit(packed, ZERO_BIT)) ^ 1,
        from_bias,
        (unpacked.m == 1) & (_bit(packed, NO_GEMV_BIT) ^ 1),
        _bit(ctrl, KEEP_BIT) ^ 1,
        _bit(ctrl, TF32_BIT) & int(kinds[0].name == "f32"),
        _bit(ctrl, TIES_AWAY_BIT),
    )
    hif8, plain = (ProductKind(*raw_elements(*kinds, hif8=hif8), scaled) for hif8 in (True, False))
    if hif8 == plain:
        _multiply(core, plain, unpacked, how)
    else:
        f.either(
            _bit(ctrl, HIF8_BIT),
            lambda: _multiply(core, hif8, unpacked, how),
            lambda: _multiply(core, plain, unpacked, how),
        )
