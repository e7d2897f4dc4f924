"""Matrix products.

One definition, to the bit: operands are taken as doubles, in which every product of two of them is exact; the products
of an element of C are added in ascending k, then what C starts from; the sum is clamped if it saturates and rounded to
f32 once. Integers are exact modulo 2^32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ptosim.effects import fractal
from ptosim.effects.ctrl import HIF8_BIT, KEEP_BIT, TF32_BIT, TIES_AWAY_BIT
from ptosim.effects.element import Element
from ptosim.effects.float_format import FOUR_BITS, largest
from ptosim.effects.mad import (
    BIAS_BIT,
    EXTENTS,
    NO_GEMV_BIT,
    ZERO_BIT,
    Packed,
    accesses,
    clauses,
    raw_elements,
)
from ptosim.effects.names import Space
from ptosim.effects.record import Access, Static
from ptosim.language.micro import mad as op
from ptosim.reference.core import Bytes, Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory.access_places import places
from ptosim.reference.memory.accumulator import Words, read_accumulators, write_accumulators
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.narrow_formats import DECODING
from ptosim.reference.requirement import demand
from ptosim.reference.semantics import Operands, semantics

Matrix = NDArray[np.float64]
Start = Literal["zero", "accumulators", "bias"]


@dataclass(frozen=True)
class MatrixProduct:
    """The operands of a product."""

    m: int
    n: int
    k: int
    a: Element
    b: Element
    scaled: bool
    start: Start
    gemv: bool
    """A row in L0A is a plain one."""
    saturate: bool
    tf32: str | None
    """The rounding of ties, "even" or "away"; None: not at all."""


# --- operands ---------------------------------------------------------------------------------------------------------


def _read_rows(core: Core, space: Space, base: int, rows: int, depth: int) -> Bytes:
    """`depth` bytes of each row, out of fractals of 16 rows x 32 bytes."""
    data = np.empty((rows, depth), np.uint8)
    column = -(-rows // fractal.FRACTAL_ROWS) * fractal.FRACTAL
    full, rest = divmod(depth, fractal.FRACTAL_ROW)
    if full:
        pieces = core.read_pieces(space, places(base, (full, column), (rows, fractal.FRACTAL_ROW)), fractal.FRACTAL_ROW)
        data[:, : full * fractal.FRACTAL_ROW] = (
            pieces.reshape(full, rows, fractal.FRACTAL_ROW).transpose(1, 0, 2).reshape(rows, -1)
        )
    if rest:
        data[:, full * fractal.FRACTAL_ROW :] = core.read_pieces(
            space, places(base + full * column, (rows, fractal.FRACTAL_ROW)), rest
        )
    return data


def _decoded(data: Bytes, kind: Element, k: int) -> Matrix:
    """Rows of bytes as numbers."""
    if kind.name in FOUR_BITS:
        codes = np.stack((data & np.uint8(15), data >> np.uint8(4)), axis=-1).reshape(len(data), -1)
        return DECODING[kind.name][codes[:, :k]].astype(np.float64)
    if kind.kind == "lowprecision":
        return DECODING[kind.name][data].astype(np.float64)
    lanes = data.view(float_lanes.dtype_of(kind))
    return (float_lanes.widen(kind, lanes) if kind.is_float else lanes).astype(np.float64)


def _scales(core: Core, space: Space, base: int, rows: int, k: int, plain: bool) -> Matrix:
    """The MX scale of each row or column for each value of k; those of a plain row lie one after the other."""
    groups = -(-k // fractal.SCALE_GROUP)
    if plain:
        codes = core.read(space, base, groups).reshape(rows, -1)
    else:
        codes = _paired_codes(core, space, base, rows, groups)
    return np.repeat(DECODING["f8E8M0"][codes].astype(np.float64), fractal.SCALE_GROUP, axis=1)[:, :k]


def _paired_codes(core: Core, space: Space, base: int, rows: int, groups: int) -> Bytes:
    """The codes of scales in fragments of 16 rows x 2 groups."""
    pairs, odd = divmod(groups, 2)
    line = -(-groups // 2) * fractal.SCALE_FRAGMENT
    codes = np.empty((rows, groups), np.uint8)
    starts = base + np.arange(rows) // fractal.FRACTAL_ROWS * line + np.arange(rows) % fractal.FRACTAL_ROWS * 2
    if pairs:
        both = starts[:, np.newaxis] + np.arange(pairs) * fractal.SCALE_FRAGMENT
        codes[:, : 2 * pairs] = core.read_pieces(space, both.reshape(-1), 2).reshape(rows, -1)
    if odd:
        codes[:, -1:] = core.read_pieces(space, starts + pairs * fractal.SCALE_FRAGMENT, 1)
    return codes


def _operand(product: MatrixProduct, kind: Element, data: Bytes) -> Matrix:
    values = _decoded(data, kind, product.k)
    if product.tf32 is not None:
        values = float_lanes.round_tf32(values.astype(np.float32), product.tf32).astype(np.float64)
    if product.saturate and not kind.is_integer:
        values = np.nan_to_num(values, nan=0.0, posinf=largest(kind.name), neginf=-largest(kind.name))
    return values


def _operands(core: Core, product: MatrixProduct, a: int, b: int) -> tuple[Matrix, Matrix]:
    """A as m x k, B as n x k."""
    depth = fractal.depth_bytes(product.a, product.k)
    if product.gemv:
        rows = core.read(Space.L0A, a, depth).copy().reshape(1, depth)
    else:
        rows = _read_rows(core, Space.L0A, a, product.m, depth)
    left = _operand(product, product.a, rows)
    columns = _read_rows(core, Space.L0B, b, product.n, fractal.depth_bytes(product.b, product.k))
    right = _operand(product, product.b, columns)
    if product.scaled:
        left = left * _scales(core, Space.SCALE_A, a >> fractal.SCALE_SHIFT, product.m, product.k, product.gemv)
        right = right * _scales(core, Space.SCALE_B, b >> fractal.SCALE_SHIFT, product.n, product.k, False)
    return left, right


# --- sums -------------------------------------------------------------------------------------------------------------

_CACHED = 8192
"""Sums that are worked on together, so that they stay in the cache."""


def ascending_sums(left: Matrix, right: Matrix) -> Matrix:
    """sum over k of left[m][k] * right[n][k], added in ascending k."""
    columns = np.ascontiguousarray(right.T)
    sums = np.zeros((len(left), len(right)))
    height = max(1, _CACHED // len(right))
    for top in range(0, len(left), height):
        block, rows = sums[top : top + height], left[top : top + height].T[:, :, np.newaxis].copy()
        products = np.empty_like(block)
        for row, column in zip(rows, columns, strict=True):
            np.multiply(row, column, out=products)
            block += products
    return sums


def _rounded(sums: Matrix, saturate: bool) -> Words:
    if saturate:
        most = largest("f32")
        sums = np.clip(np.nan_to_num(sums, nan=0.0, posinf=most, neginf=-most), -most, most)
    return float_lanes.canonical(sums.astype(np.float32)).view(np.uint32)


def multiply(core: Core, product: MatrixProduct, operands: Operands, static: Static) -> None:
    c = operands.c
    if product.scaled and (message := op.leaves_a_rest(product.k)) is not None:
        core.lint(message)
    if not all(_holds(core, product, operands, access) for access in accesses(static)):
        return
    left, right = _operands(core, product, operands.a, operands.b)
    start = _start(core, product, operands)
    if product.a.is_integer:
        exact = (left @ right.T).astype(np.int64)  # below 2^53 in any order
        total = exact if start is None else exact + start.view(np.int32)
        write_accumulators(core, c, total.astype(np.uint32))
        return
    sums = ascending_sums(left, right)
    if start is not None:
        sums = sums + start.view(np.float32).astype(np.float64)
    write_accumulators(core, c, _rounded(sums, product.saturate))


def _holds(core: Core, product: MatrixProduct, operands: Operands, access: Access) -> bool:
    """Whether an access of the record lies inside."""
    low, high = access.extent(operands)
    start, alignment = getattr(operands, access.base) + low, access.alignment
    if access.space is Space.L0A and not product.gemv:
        alignment = fractal.FRACTAL
    return core.holds(f"{access.direction}s", access.space, start, high - low, alignment)


def _start(core: Core, product: MatrixProduct, operands: Operands) -> Words | None:
    """The start of the sums: the accumulators, a row of the bias table, or nothing."""
    if product.start == "accumulators":
        rows = -(-product.m // fractal.FRACTAL_ROWS) * fractal.FRACTAL_ROWS
        return read_accumulators(core, np.array([operands.c]), product.m, product.n, rows)[0]
    if product.start == "bias":
        return core.read(Space.BT, operands.bias, product.n * fractal.ACCUMULATOR).copy().view(np.uint32)
    return None


# --- instructions -----------------------------------------------------------------------------------------------------


@semantics(op.Mad, op.MadAcc, op.MadBias, op.MadMx, op.MadMxAcc, op.MadMxBias)
def mad(core: Core, operands: Operands, static: Static, sat: str | None, ctrl: int, scaled: bool, start: Start) -> None:
    """Only saturation falls back on CTRL; hif8 and tf32 are what types and clauses say."""
    m, kinds, (gemv, tf32) = operands.m, (static.elements["a"], static.elements["b"]), clauses(static)
    saturate = sat == "sat" if sat is not None else not ctrl >> KEEP_BIT & 1
    product = MatrixProduct(m, operands.n, operands.k, *kinds, scaled, start, gemv and m == 1, saturate, tf32)
    multiply(core, product, operands, static)


@semantics(op.MadRaw, op.MadBiasRaw, op.MadMxRaw, op.MadMxBiasRaw)
def mad_raw(core: Core, operands: Operands, static: Static, ctrl: int, scaled: bool) -> None:
    packed, unpacked, kinds = operands.packed, Packed(operands), (static.elements["a"], static.elements["b"])
    m, n, k = unpacked.m, unpacked.n, unpacked.k
    start: Start = "accumulators"
    if packed >> BIAS_BIT & 1:
        start = "bias"
        if not hasattr(operands, "bias"):
            raise Fault("invalid", "bit 62 of the word asks for a bias, which only the forms with a bias have")
    elif packed >> ZERO_BIT & 1:
        start = "zero"
    demand(core, EXTENTS, {"m": m, "n": n, "k": k})
    gemv = m == 1 and not packed >> NO_GEMV_BIT & 1
    saturate = not ctrl >> KEEP_BIT & 1
    elements = raw_elements(*kinds, hif8=bool(ctrl >> HIF8_BIT & 1))
    product = MatrixProduct(m, n, k, *elements, scaled, start, gemv, saturate, _tf32(kinds, ctrl))
    multiply(core, product, operands, static)


def _tf32(kinds: tuple[Element, Element], ctrl: int) -> str | None:
    if kinds[0].name != "f32" or not ctrl >> TF32_BIT & 1:
        return None
    return "away" if ctrl >> TIES_AWAY_BIT & 1 else "even"
