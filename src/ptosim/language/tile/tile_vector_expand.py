"""Tile operations that broadcast a row or a column: alone, or as an operand beside a whole tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.effects.element import GRANULE
from ptosim.language.operation import Problem, lint
from ptosim.language.rules import tile_rules as rule
from ptosim.language.tile import tile_family as family
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_operation import TileOperation

_COLUMN = family.tile("16x1", more=", blayout=col_major")
_ROW = family.tile("1x64")


_BROADCAST = (
    rule.in_vec("src", "dst"),
    rule.none_box("src", "dst"),
    rule.row_major("dst"),
    rule.same_element("src", "dst"),
)


def _expanded_rows(op: TileOperation, target: str) -> Iterator[Problem]:
    if op.tile("dst").valid == (0, 0):
        return
    yield from rule.not_empty("src")(op, target)
    yield from rule.not_empty("dst")(op, target)
    yield from rule.same_valid_rows("dst", "src")(op, target)


_EXPANDED = family.table(
    __name__,
    family.Row(
        family.TileUnary,
        "trowexpand",
        family.UP_TO_32_BITS,
        """Fills every row with its first element.

        dst[r, c] = src[r, 0]. src is row-major or a column; the valid shape 0x0 marks a result that is empty.""",
        {"checks": (*_BROADCAST, _expanded_rows), "example": f"NAME ins(%a : {_COLUMN}) outs(%d : {family.tile()})"},
    ),
    family.Row(
        family.TileUnary,
        "tcolexpand",
        family.UP_TO_32_BITS,
        """Fills every column with its first element.

        dst[r, c] = src[0, c].""",
        {
            "checks": (*_BROADCAST, rule.same_valid_cols("dst", "src")),
            "example": f"NAME ins(%a : {_ROW}) outs(%d : {family.tile()})",
        },
    ),
)


# --- operations with a row or a column that is broadcast --------------------------------------------------------------


def _is_column(source: TileBuf, result: TileBuf) -> bool:
    """Whether a tile can be read as one element for each row: a column, or rows of one granule."""
    width = 1 if source.layout == "DN" else GRANULE // source.element_bytes
    return rule.agree(source.valid[1], width) and rule.agree(source.valid[0], result.valid[0])


def _is_whole(source: TileBuf, result: TileBuf) -> bool:
    return all(map(rule.agree, source.valid, result.valid))


def _either(op: TileOperation) -> bool:
    return isinstance(op, RowBroadcast) and op.either


def _resemblance(source: TileBuf, result: TileBuf) -> int:
    """The likeness of a tile's type to a column: a whole tile is row-major, and may be a granule wide."""
    if source.layout == "DN":
        return 3
    if source.valid[1] == 1:
        return 2
    is_like_result = source.shape == result.shape or (None not in source.valid and source.valid == result.valid)
    widths = (source.cols * source.element_bytes, (source.valid[1] or 0) * source.element_bytes)
    return int(GRANULE in widths and not is_like_result)


def column_role(op: TileOperation) -> str:
    """The source of which every row takes one element: src1, unless src0 may and only it can be that one.

    Valid extents that only the run knows leave both open; the types of the tiles then decide. Rows that are known to
    have one valid element are a column as well, which some operations are only warned of.
    """
    src0, src1, result = (op.tile(role) for role in ("src0", "src1", "dst"))
    turned = _either(op) and _is_whole(src1, result) and _is_column(src0, result)
    if turned and _is_whole(src0, result) and (_is_column(src1, result) or src1.valid[1] == 1):
        turned = _resemblance(src0, result) > _resemblance(src1, result)
    return "src0" if turned else "src1"


def _one_column(strict: bool) -> rule.Check:
    """One source has the valid shape of the result, the other an element for each row; of 0x0, the mark of a core that
    has nothing to do, nothing is asked."""

    def check(op: TileOperation, target: str) -> Iterator[Problem]:
        src0, src1, result = (op.tile(role) for role in ("src0", "src1", "dst"))
        if result.valid == (0, 0):
            return
        empty = [problem for role in ("src0", "src1", "dst") for problem in rule.not_empty(role)(op, target)]
        if strict and empty:
            yield empty[0]
            return
        if _is_whole(src0, result) and _is_column(src1, result):
            return
        if _either(op) and _is_whole(src1, result) and _is_column(src0, result):
            return
        size = 32 // result.element_bytes
        which = "one source" if _either(op) else "src0"
        message = (
            f"{op.name} expects {which} with the valid shape of dst, {rule.extents(result.valid)}, and the other with"
            f" as many rows and 1 valid column (blayout col_major) or {size},"
            f" not {rule.extents(src0.valid)} and {rule.extents(src1.valid)}"
        )
        yield Problem(message, "src1_type") if strict else lint(message, at="src1_type")

    return check


def _broadcast_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    """On a2a3 a column is spread through tmp, 256 bytes for every 8 rows; rows of 32 bytes need none."""
    for role, tmp in rule.tiles(op, "tmp"):
        if "DN" not in (op.tile("src0").layout, op.tile("src1").layout):
            message = f"{op.name} takes tmp only with a column (blayout col_major) on {family.A2A3}"
            yield Problem(message, at=role)
            continue
        rows = op.tile("dst").valid[0]
        least = _MOST_SPREAD if rows is None else _SPREAD * min(-(-rows // 8), _MOST_REPEATS)
        if rows != 0 and tmp.size < least:
            yield rule.at_type(op, role, f"to have at least {least} bytes", f"{tmp.size} bytes")


_SPREAD, _MOST_REPEATS, _MOST_SPREAD = 256, 30, 8192
"""Bytes of tmp for 8 rows, how often they count, and those where only the run knows the rows."""


class RowBroadcast(family.BinaryTmp):
    """A tile and a column: an operand of every row is the element of src1 in that row."""

    note = (
        "src1 is a column, or rows of 32 bytes of which the first element counts. "
        + family.OVER_DST
        + " a5 leaves tmp alone."
    )
    example = f"NAME ins(%a, %b : {family.tile()}, {_COLUMN}) outs(%d : {family.tile()})"
    checks = (
        rule.in_vec("src0", "src1", "dst"),
        rule.row_major("dst"),
        rule.same_element("src0", "src1", "dst"),
        rule.on(family.A2A3, _broadcast_tmp),
    )
    either: ClassVar[bool] = True
    """Whether src0 may be the column as well."""


_ROW_ELEMENTS = family.WITHOUT_BF16
_LENIENT = {"more_checks": (_one_column(strict=False),)}
_STRICT = {"more_checks": (_one_column(strict=True),)}

_ROW_BROADCAST = family.table(
    __name__,
    family.Row(
        RowBroadcast,
        "trowexpandadd",
        _ROW_ELEMENTS,
        """Sum of every row with its element of a column.

        src0[r, c] + src1[r, 0].""",
        _STRICT | {"either": False},
    ),
    family.Row(
        RowBroadcast,
        "trowexpandsub",
        _ROW_ELEMENTS,
        """Difference of every row and its element of a column.

        src0[r, c] - src1[r, 0].""",
        _LENIENT,
    ),
    family.Row(
        RowBroadcast,
        "trowexpandmul",
        _ROW_ELEMENTS,
        """Product of every row with its element of a column.

        src0[r, c] * src1[r, 0].""",
        _LENIENT,
    ),
    family.Row(
        RowBroadcast,
        "trowexpanddiv",
        family.elements("i8 i16 i32 f16 f32", "f16 f32"),
        """Quotient of every row and its element of a column.

        src0[r, c] / src1[r, 0], as tdiv divides. precisionType high_precision gives the same and requires tmp.""",
        family.precise("div") | {"more_checks": (_one_column(strict=False), rule.assembler(family.precise_needs_tmp))},
    ),
    family.Row(
        RowBroadcast,
        "trowexpandmax",
        _ROW_ELEMENTS,
        """The greater of every element and the one of a column in its row.

        Either source may be the column. A NaN in either gives NaN.""",
        _STRICT,
    ),
    family.Row(
        RowBroadcast,
        "trowexpandmin",
        _ROW_ELEMENTS,
        """The lesser of every element and the one of a column in its row.

        Either source may be the column. A NaN in either gives NaN.""",
        _STRICT,
    ),
    family.Row(
        RowBroadcast,
        "trowexpandexpdif",
        family.FLOATS,
        """e to the power of the difference of every row and its element of a column.

        exp(src0[r, c] - src1[r, 0]); either source may be the column. f16 is rounded after the difference and after the
        exponential.""",
        _STRICT,
    ),
)


class ColumnBroadcast(family.TileBinary):
    """A tile and a row: an operand of every column is the element of src1 in that column."""

    note = "src1 is a row. " + family.OVER_DST
    example = f"NAME ins(%a, %b : {family.tile()}, {_ROW}) outs(%d : {family.tile()})"
    checks = (
        rule.in_vec("src0", "src1", "dst"),
        rule.row_major("src0", "src1", "dst"),
        rule.same_element("src0", "src1", "dst"),
        rule.same_shape("dst", "src0"),
        rule.same_valid("dst", "src0"),
        rule.same_valid_cols("dst", "src1"),
    )


_COLUMN_BROADCAST = family.table(
    __name__,
    family.Row(
        ColumnBroadcast,
        "tcolexpandadd",
        family.WITHOUT_BF16,
        """Sum of every column with its element of a row.

        src0[r, c] + src1[0, c].""",
    ),
    family.Row(
        ColumnBroadcast,
        "tcolexpandsub",
        family.WITHOUT_BF16,
        """Difference of every column and its element of a row.

        src0[r, c] - src1[0, c].""",
    ),
    family.Row(
        ColumnBroadcast,
        "tcolexpandmul",
        family.WITHOUT_BF16,
        """Product of every column with its element of a row.

        src0[r, c] * src1[0, c].""",
    ),
    family.Row(
        ColumnBroadcast,
        "tcolexpanddiv",
        family.elements("i8 i16 i32 f16 f32", "f16 f32"),
        """Quotient of every column and its element of a row.

        src0[r, c] / src1[0, c], as tdiv divides.""",
        family.precise("div"),
    ),
    family.Row(
        ColumnBroadcast,
        "tcolexpandmax",
        family.WITHOUT_BF16,
        """The greater of every element and the one of a row in its column.

        A NaN in either gives NaN.""",
    ),
    family.Row(
        ColumnBroadcast,
        "tcolexpandmin",
        family.WITHOUT_BF16,
        """The lesser of every element and the one of a row in its column.

        A NaN in either gives NaN.""",
    ),
    family.Row(
        ColumnBroadcast,
        "tcolexpandexpdif",
        family.FLOATS,
        """e to the power of the difference of every column and its element of a row.

        exp(src0[r, c] - src1[0, c]). f16 is rounded after the difference and after the exponential.""",
    ),
)

OPERATIONS = (*_EXPANDED, *_ROW_BROADCAST, *_COLUMN_BROADCAST)
