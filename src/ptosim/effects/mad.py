"""Matrix products: which bytes of the operand buffers they read and which accumulators they write.

Padding is never touched: extents end at the last row, column and value of k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects import fractal
from ptosim.effects.element import Element, element
from ptosim.effects.geometry import ceil_div, negate, select
from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, required
from ptosim.effects.requirement import fits

EXTENT_LIMIT = 4095
"""The largest m, n and k: the fields have 12 bits."""
EXTENTS = fits("m n k", EXTENT_LIMIT, low=1)

ZERO_BIT, BIAS_BIT, NO_GEMV_BIT = 63, 62, 61
"""Bits of the packed word of the raw forms."""


class Packed:
    """m, n and k of a packed word; other operands pass through."""

    def __init__(self, operands: Any) -> None:
        self.operands = operands
        self.m, self.k, self.n = (operands.packed >> low & EXTENT_LIMIT for low in (0, 12, 24))

    def __getattr__(self, role: str) -> Any:
        return getattr(self.operands, role)


_EIGHT_BITS = frozenset({"f8E4M3FN", "f8E5M2", "hif8"})


def raw_elements(a: Element, b: Element, hif8: bool) -> tuple[Element, Element]:
    """Operands of the raw forms: a bit of CTRL, not the pointer, tells whether 8-bit floats are HiF8."""
    if hif8 and a.name in _EIGHT_BITS and b.name in _EIGHT_BITS:
        return element("hif8"), element("hif8")
    return (element("f8E4M3FN"), element("f8E4M3FN")) if a.name == "hif8" else (a, b)


def clauses(static: Static) -> tuple[bool, str | None]:
    """Whether a left operand of one row is a plain one, and how operands of f32 are rounded to tf32, if they are."""
    return "disable_gemv" not in static.present, static.words.get("tf32_mode", "").removeprefix("round_") or None


def operand_extent(rows: Any, depth: Any) -> Extent:
    """Rows of `depth` bytes in fractals of 16 rows x 32 bytes, all rows of a column of fractals together."""
    before = ceil_div(depth, fractal.FRACTAL_ROW) - 1
    return 0, before * ceil_div(rows, fractal.FRACTAL_ROWS) * fractal.FRACTAL + (rows - 1) * fractal.FRACTAL_ROW + (
        depth - before * fractal.FRACTAL_ROW
    )


def accumulator_extent(m: Any, n: Any) -> Extent:
    """m x n accumulators in groups of 16 columns."""
    before = ceil_div(n, fractal.FRACTAL_ROWS) - 1
    group = ceil_div(m, fractal.FRACTAL_ROWS) * fractal.ACCUMULATOR_FRACTAL
    return 0, before * group + (m - 1) * fractal.ACCUMULATOR_ROW + (
        n - before * fractal.FRACTAL_ROWS
    ) * fractal.ACCUMULATOR


def scale_extent(rows: Any, k: Any) -> Extent:
    """MX scales of `rows` rows or columns, one for 32 values of k."""
    groups = ceil_div(k, fractal.SCALE_GROUP)
    before = ceil_div(rows, fractal.FRACTAL_ROWS) - 1
    pairs = ceil_div(groups, 2)
    last = (rows - before * fractal.FRACTAL_ROWS - 1) * 2 + groups - (pairs - 1) * 2
    return 0, (before * pairs + pairs - 1) * fractal.SCALE_FRAGMENT + last


def _unpacked(operands: Any) -> Any:
    return Packed(operands) if hasattr(operands, "packed") else operands


def _of_a(static: Static) -> Callable[[Any], Extent]:
    """The left operand: fractals, or for m = 1 a plain row."""

    def extent(operands: Any) -> Extent:
        operands = _unpacked(operands)
        depth = fractal.depth_bytes(static.elements["a"], operands.k)
        _, fractals = operand_extent(operands.m, depth)
        return 0, fractals if "disable_gemv" in static.present else select(_is_row(operands), depth, fractals)

    return extent


def _is_row(operands: Any) -> Any:
    """Whether the left operand is a plain row, where the form does not exclude it."""
    plain = operands.m == 1
    return plain & (operands.packed >> NO_GEMV_BIT & 1 == 0) if hasattr(operands, "packed") else plain


def _scales(static: Static, role: str, side: str) -> Callable[[Any], Extent]:
    """MX scales, relative to the pointer of the data. Those of a plain row lie one after the other."""

    def extent(operands: Any) -> Extent:
        operands = _unpacked(operands)
        address = getattr(operands, role)
        start = (address >> fractal.SCALE_SHIFT) - address
        _, size = scale_extent(getattr(operands, side), operands.k)
        if role == "a" and "disable_gemv" not in static.present:
            size = select(_is_row(operands), ceil_div(operands.k, fractal.SCALE_GROUP), size)
        return start, start + size

    return extent


def _of_c(operands: Any) -> Extent:
    operands = _unpacked(operands)
    return accumulator_extent(operands.m, operands.n)


def _of_bias(operands: Any) -> Extent:
    """A row of the bias table; in the raw forms where the word asks for one."""
    size = _unpacked(operands).n * fractal.ACCUMULATOR
    return 0, size * _has(operands, BIAS_BIT) if hasattr(operands, "packed") else size


def _of_start(operands: Any) -> Extent:
    """The accumulators that a product goes on from; in the raw forms unless the word names another start."""
    low, high = _of_c(operands)
    if not hasattr(operands, "packed"):
        return low, high
    return low, high * negate(_has(operands, BIAS_BIT) | _has(operands, ZERO_BIT))


def _has(operands: Any, bit: int) -> Any:
    return operands.packed >> bit & 1 != 0


def accesses(static: Static) -> tuple[Access, ...]:
    """Accesses of a product. A plain row needs less alignment than fractals."""

    def of_b(operands: Any) -> Extent:
        operands = _unpacked(operands)
        return operand_extent(operands.n, fractal.depth_bytes(static.elements["b"], operands.k))

    found = [
        Access("read", Space.L0A, "a", _of_a(static), fractal.FRACTAL_ROW),
        Access("read", Space.L0B, "b", of_b, fractal.FRACTAL),
    ]
    if static.facts["scaled"]:
        found.append(Access("read", Space.SCALE_A, "a", _scales(static, "a", "m")))
        found.append(Access("read", Space.SCALE_B, "b", _scales(static, "b", "n")))
    if "bias" in static.present:
        found.append(Access("read", Space.BT, "bias", _of_bias, fractal.BIAS_ALIGNMENT))
    if static.facts["start"] in ("accumulators", "word"):
        found.append(Access("read", Space.L0C, "c", _of_start, fractal.ACCUMULATOR_FRACTAL))
    return *found, Access("write", Space.L0C, "c", _of_c, fractal.ACCUMULATOR_FRACTAL)


EFFECTS = named(
    *(
        Effects(f"pto.{name}", Pipe.M, "mad", Taint.USE, accesses, required(*EXTENTS), reads=("CTRL",))
        for name in (
            *("mad", "mad_acc", "mad_bias", "mad_raw", "mad_bias_raw"),
            *("mad_mx", "mad_mx_acc", "mad_mx_bias", "mad_mx_raw", "mad_mx_bias_raw"),
        )
    )
)
