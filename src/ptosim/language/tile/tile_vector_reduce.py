"""Tile operations that reduce rows or columns. The way back: tile_vector_expand.py."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.language.operation import OptionalProperty, Problem
from ptosim.language.rules import tile_rules as rule
from ptosim.language.tile import tile_family as family
from ptosim.language.tile.tile_operation import TileOperation

_COLUMN = family.tile("16x1", more=", blayout=col_major")
_ROW = family.tile("1x64")


# --- along rows -------------------------------------------------------------------------------------------------------


def _reduced_rows(op: TileOperation, target: str) -> Iterator[Problem]:
    """One column with a row for each row; the valid shape 0x0 marks a result that is empty."""
    result = op.tile("dst")
    if result.layout == "DN" and result.cols != 1:
        yield rule.at_type(op, "dst", "with blayout col_major to have one column", result.cols)
    if result.valid == (0, 0) and isinstance(op, RowReduction):
        return
    yield from rule.same_valid_rows("src", "dst")(op, target)
    if not rule.agree(result.valid[1], 1):
        yield rule.at_type(op, "dst", "with 1 valid column", result.valid[1])


class RowReduction(family.UnaryTmp):
    """Every row becomes one element."""

    note = "It covers the valid region of src; of dst element (r, 0) of each valid row is written. a5 leaves tmp alone."
    example = f"NAME ins(%a, %tmp : {family.tile()}, {family.tile()}) outs(%d : {_COLUMN})"
    checks = (
        rule.in_vec("src", "dst"),
        rule.row_major("src"),
        rule.none_box("src", "dst"),
        rule.same_element("src", "dst"),
        rule.not_empty("src", unless_empty="dst"),
        _reduced_rows,
    )


def _argument_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    """The temporary tile of the a2a3 library: values and indices of every chunk of a row, in whole granules."""
    cols, size = op.tile("src").valid[1], op.tile("src").element_bytes
    chunks, granule = -(-(cols or 0) // (VECTOR_BYTES // size)), GRANULE // size
    least = (-(-2 * chunks // granule) + -(-chunks // granule)) * granule
    for role, tmp in rule.tiles(op, "tmp"):
        if tmp.cols < least:
            yield rule.at_type(op, role, f"to have at least {least} columns", tmp.cols)


class RowArgument(family.UnaryTmp):
    """Every row becomes the number of one of its columns."""

    note = RowReduction.note
    example = f"NAME ins(%a, %tmp : {family.tile()}, {family.tile()}) outs(%d : {_COLUMN.replace('ELEMENT', 'i32')})"
    checks = (
        rule.in_vec("src", "dst"),
        rule.row_major("src"),
        rule.none_box("src", "dst"),
        rule.element_in("dst", family.INDICES),
        rule.not_empty("src"),
        _reduced_rows,
        rule.on(family.A2A3, _argument_tmp),
    )


_ROWS = family.table(
    __name__,
    family.Row(
        RowReduction,
        "trowsum",
        family.NUMBERS,
        """Sum of every row.

        Chunks of 256 bytes are summed by halving, x[i] + x[i + n/2], f16 in f32, then added up from left to right.
        Integers wrap.""",
    ),
    family.Row(
        RowReduction,
        "trowmax",
        family.NUMBERS,
        """The greatest element of every row.

        A NaN in a row gives NaN.""",
    ),
    family.Row(
        RowReduction,
        "trowmin",
        family.NUMBERS,
        """The least element of every row.

        A NaN in a row gives NaN.""",
    ),
    family.Row(
        RowReduction,
        "trowprod",
        family.NUMBERS,
        """Product of every row.

        Chunks of 256 bytes are multiplied lane by lane, then the lanes by halving, each product rounded. Integers
        wrap.""",
    ),
    family.Row(
        RowArgument,
        "trowargmax",
        family.NUMBERS,
        """The column of the greatest element of every row.

        Of equal elements the first. On a2a3 tmp has room for a value and an index of every chunk of 256 bytes.""",
    ),
    family.Row(
        RowArgument,
        "trowargmin",
        family.NUMBERS,
        """The column of the least element of every row.

        Of equal elements the first. On a2a3 tmp has room for a value and an index of every chunk of 256 bytes.""",
    ),
)


# --- along columns ----------------------------------------------------------------------------------------------------

_COLUMN_CHECKS = (
    rule.in_vec("src", "dst"),
    rule.row_major("src", "dst"),
    rule.none_box("src", "dst"),
    rule.same_valid_cols("src", "dst"),
)


class ColumnReduction(family.TileUnary):
    """Every column becomes one element."""

    note = "It covers the valid region of src; of dst row 0 is written."
    example = f"NAME ins(%a : {family.tile()}) outs(%d : {_ROW})"
    checks = (*_COLUMN_CHECKS, rule.same_element("src", "dst"))


class ColumnArgument(family.UnaryTmp):
    """Every column becomes the number of one of its rows."""

    note = "It covers the valid region of src; of dst row 0 is written. a5 leaves tmp alone."
    example = f"NAME ins(%a, %tmp : {family.tile()}, {family.tile()}) outs(%d : {_ROW.replace('ELEMENT', 'i32')})"
    checks = (
        *_COLUMN_CHECKS,
        rule.element_in("dst", family.INDICES),
        rule.valid_rows(1, "dst"),
        rule.on(family.A2A3, _argument_tmp),
    )


def _binary_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    """The rows of src are added in pairs into tmp, which has half as many."""
    for role, tmp in rule.tiles(op, "tmp"):
        if op.attribute("isBinary") is None:
            yield Problem(f"{op.name} expects the attribute isBinary with tmp", at=role)
        yield from rule.same_element("src", "tmp")(op, target)
        rows, cols = op.tile("src").valid
        if cols is not None and tmp.cols < cols:
            yield rule.at_type(op, role, f"to have at least {cols} columns", tmp.cols)
        elif rows is not None and cols is not None and tmp.rows * tmp.cols < (least := -(-rows // 2) * cols):
            yield rule.at_type(op, role, f"to have at least {least} elements", tmp.rows * tmp.cols)


class TColSum(family.UnaryTmp, name="pto.tcolsum"):
    """Sum of every column.

    Rows are added from top to bottom. With tmp and isBinary = true they are added in pairs into tmp, the odd last one
    to the last pair, and so on until one row is left. Integers wrap. It covers the valid region of src; of dst row 0
    is written.

        pto.tcolsum ins(%a : !pto.tile_buf<vec, 16x64xf32>) outs(%d : !pto.tile_buf<vec, 1x64xf32>)
    """

    isBinary = OptionalProperty()

    accepted = family.WIDE
    scratch = ("tmp",)
    inside = ("isBinary",)
    flags = ("isBinary",)
    defaults = {"isBinary": False}
    checks = (*ColumnReduction.checks, rule.in_vec("tmp"), _binary_tmp)


_COLUMNS = family.table(
    __name__,
    family.Row(
        ColumnReduction,
        "tcolmax",
        family.WIDE,
        """The greatest element of every column.

        A NaN in a column gives NaN.""",
    ),
    family.Row(
        ColumnReduction,
        "tcolmin",
        family.WIDE,
        """The least element of every column.

        A NaN in a column gives NaN.""",
    ),
    family.Row(
        ColumnReduction,
        "tcolprod",
        family.elements("i16 i32 f16 bf16 f32", "i16 i32 f16 f32"),
        """Product of every column.

        Rows are multiplied from top to bottom, each product rounded. Integers wrap.""",
    ),
    family.Row(
        ColumnArgument,
        "tcolargmax",
        family.WIDE,
        """The row of the greatest element of every column.

        Of equal elements the first. On a2a3 tmp has room for a value and an index of every chunk of 256 bytes.""",
    ),
    family.Row(
        ColumnArgument,
        "tcolargmin",
        family.WIDE,
        """The row of the least element of every column.

        Of equal elements the first. On a2a3 tmp has room for a value and an index of every chunk of 256 bytes.""",
    ),
)


OPERATIONS = (*_ROWS, *_COLUMNS)
