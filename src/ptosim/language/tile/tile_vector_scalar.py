"""Tile operations with scalars: a tile and a scalar, and sums of three operands. Fills: tile_vector_fill.py."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ptosim.language.operation import Operand, Problem
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.rules.tile_rules import (
    at_type,
    distinct,
    element_in,
    every,
    in_vec,
    name_of,
    number,
    on,
    row_major,
    same_element,
    same_shape,
    same_valid,
    scalar_is,
    scalar_of,
    signless_integer,
    tmp_valid_rows,
)
from ptosim.language.tile.tile_family import (
    A2A3,
    BITS,
    FLOATS,
    NUMBERS,
    OVER_DST,
    POWERS,
    UP_TO_32_BITS,
    WIDE,
    WITHOUT_BF16,
    Row,
    TileScalar,
    TileScalarTmp,
    VectorTile,
    elements,
    like_dst,
    power_rules,
    precise,
    table,
    tile,
)
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import TileBufType

_TYPED = (scalar_of("scalar", "src"),)
"""The scalar has the type of the elements."""

_BITWISE = (row_major("src", "dst"), distinct("src", "dst"), signless_integer("scalar"))
_BITWISE_ELEMENTS = elements("i8 i16 i32", "i8 i16")


def _count_is_not_negative(op: TileOperation, target: str) -> Iterator[Problem]:
    count = constant_of(op.segment("scalar")[0])
    if count is not None and count < 0:
        yield Problem(f"{op.name} expects a count that is not negative, not {count}", at="scalar")


_SHIFT = (row_major("src", "dst"), signless_integer("scalar"), _count_is_not_negative)

_TILE_SCALAR = table(
    __name__,
    Row(
        TileScalar,
        "tadds",
        WIDE,
        """Sum with a scalar.

        Integers wrap, floats are rounded once.""",
    ),
    Row(
        TileScalar,
        "tsubs",
        WIDE,
        """Difference, src - scalar.

        Integers wrap, floats are rounded once.""",
    ),
    Row(
        TileScalar,
        "tmuls",
        WIDE,
        """Product with a scalar.

        Of integers the low half, floats are rounded once.""",
    ),
    Row(
        TileScalar,
        "tmaxs",
        WIDE,
        """The greater of an element and a scalar.

        A NaN in either gives NaN.""",
    ),
    Row(
        TileScalar,
        "tmins",
        WIDE,
        """The lesser of an element and a scalar.

        A NaN in either gives NaN.""",
    ),
    Row(
        TileScalar,
        "tfmods",
        NUMBERS,
        """Remainder by a scalar, with the sign of the dividend.

        src - scalar * q, where q is the quotient cut towards zero; f16 is computed in f32.""",
        precise("fmod") | {"more_checks": _TYPED},
    ),
    Row(
        TileScalar,
        "tands",
        _BITWISE_ELEMENTS,
        """Bitwise and with a scalar.

        src and dst are different tiles.""",
        {"more_checks": _BITWISE},
    ),
    Row(
        TileScalar,
        "tors",
        _BITWISE_ELEMENTS,
        """Bitwise or with a scalar.

        src and dst are different tiles.""",
        {"more_checks": _BITWISE},
    ),
    Row(
        TileScalarTmp,
        "txors",
        _BITWISE_ELEMENTS,
        """Bitwise exclusive or with a scalar.

        src and dst are different tiles. On a2a3 tmp is like dst; a5 does not look at it.""",
        {"more_checks": (*_BITWISE, like_dst("src"))},
    ),
    Row(
        TileScalar,
        "tshls",
        BITS,
        """Shift to the left by a scalar count.

        Zeros come in from the right. The count is not negative.""",
        {"more_checks": _SHIFT},
    ),
    Row(
        TileScalar,
        "tshrs",
        BITS,
        """Shift to the right by a scalar count.

        Copies of the sign come in from the left, zeros for unsigned elements. The count is not negative.""",
        {"more_checks": _SHIFT},
    ),
    Row(
        TileScalarTmp,
        "trems",
        elements("i16 i32 f16 f32", "i32 f32"),
        """Remainder by a scalar, with the sign of the divisor.

        src - scalar * q, where q is the quotient rounded down; f16 is computed in f32. On a2a3 tmp has at least 1 valid
        row; a5 does not touch it.""",
        precise("rem") | {"more_checks": (*_TYPED, on(A2A3, tmp_valid_rows(1)))},
    ),
    Row(
        TileScalarTmp,
        "tpows",
        POWERS,
        """Power, src to the scalar.

        Floats are computed in f32 as exp(scalar * log|src|), with the special cases of IEEE pow. Integers wrap; a
        negative exponent gives 0, but 1 for base 1 and +-1 for base -1. Integers take no tmp. precisionType
        high_precision is for floats on a5; only it takes bf16.""",
        precise("pow") | {"more_checks": (*_TYPED, power_rules)},
    ),
    Row(
        TileScalar,
        "tlrelu",
        FLOATS,
        """An element where it is positive, else its product with a slope.

        src > 0 ? src : src * scalar. The slope is f32; for f16 it is rounded to f16 first.""",
        {"more_checks": (scalar_is("scalar", "f32"),)},
    ),
)


def _axpy_elements(op: TileOperation, target: str) -> Iterator[Problem]:
    source, result = (name_of(op.tile(role).element) for role in ("src", "dst"))
    if source != result and (source, result) != ("f16", "f32"):
        yield at_type(op, "dst", f"to have the element type of src, {source}, or f32 for f16", result)


class TAxpy(TileScalar, name="pto.taxpy"):
    """Adds the product of a tile and a scalar to dst.

    dst = src * scalar + dst, rounded once. dst may be f32 where src is f16; the scalar has the type of src.
    It covers the valid region of dst; bytes outside of it keep what they have.

        pto.taxpy ins(%a, %x : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    accepted = elements("f16 bf16 f32")
    also_reads = ("dst",)
    checks = (
        in_vec("src", "dst"),
        _axpy_elements,
        same_shape("src", "dst"),
        same_valid("dst", "src"),
        *_TYPED,
    )


class EitherOrder(VectorTile):
    """A tile and a scalar in the order that they are computed in: `: TB, T` or `: T, TB`."""

    src0 = Operand()
    src1 = Operand()
    dst = Operand()

    untyped = ("src0", "src1")
    note = OVER_DST
    example = f"NAME ins(%x, %a : ELEMENT, {tile()}) outs(%d : {tile()})"

    @property
    def scalar_first(self) -> bool:
        return not isinstance(self.src0.type, TileBufType)

    @property
    def src(self) -> SSAValue:
        return self.src1 if self.scalar_first else self.src0

    @property
    def scalar(self) -> SSAValue:
        return self.src0 if self.scalar_first else self.src1

    def tile_rules(self, target: str) -> Iterator[Problem]:
        are_tiles = [isinstance(value.type, TileBufType) for value in (self.src0, self.src1)]
        if are_tiles[0] == are_tiles[1]:
            found = "two tiles" if are_tiles[0] else "two scalars"
            yield Problem(f"{self.name} expects a tile and a scalar, not {found}", at="src1_type")
            return
        source, scalar = ("src1", "src0") if self.scalar_first else ("src0", "src1")
        yield from every(
            element_in(source, self.accepted),
            in_vec(source, "dst"),
            same_element(source, "dst"),
            same_valid("dst", source),
            number(scalar),
        )(self, target)


_EITHER_ORDER = table(
    __name__,
    Row(
        EitherOrder,
        "tdivs",
        WITHOUT_BF16,
        """Quotient of a tile and a scalar, in either order.

        The operands are divided in the order written: a tile by a scalar, or a scalar by a tile. Floats are rounded
        once. Integers are cut towards zero, the least value divided by -1 stays itself, and a division by zero gives
        -1.""",
        precise("div"),
    ),
)


# --- three operands ---------------------------------------------------------------------------------------------------


class Ternary(VectorTile):
    """Three tiles in, one out."""

    src0 = Operand()
    src1 = Operand()
    src2 = Operand()
    dst = Operand()

    typed_by = "src0"
    note = OVER_DST
    example = f"NAME ins(%a, %b, %c : {tile()}, {tile()}, {tile()}) outs(%d : {tile()})"
    checks = (
        in_vec("src0", "src1", "src2", "dst"),
        same_element("src0", "src1", "src2", "dst"),
        same_shape("src0", "src1", "src2", "dst"),
        same_valid("dst", "src0", "src1", "src2"),
    )


class ScalarBetween(VectorTile):
    """A tile, a scalar and a tile in, one out."""

    src0 = Operand()
    scalar = Operand()
    src1 = Operand()
    dst = Operand()

    typed_by = "src0"
    note = OVER_DST
    example = f"NAME ins(%a, %x, %b : {tile()}, ELEMENT, {tile()}) outs(%d : {tile()})"
    checks = (
        in_vec("src0", "src1", "dst"),
        same_element("src0", "src1", "dst"),
        same_shape("src0", "src1", "dst"),
        same_valid("dst", "src0", "src1"),
        number("scalar"),
    )


_TERNARY = table(
    __name__,
    Row(
        Ternary,
        "taddc",
        UP_TO_32_BITS,
        """Sum of three tiles.

        (src0 + src1) + src2, two roundings; no carry is meant.""",
    ),
    Row(
        Ternary,
        "tsubc",
        UP_TO_32_BITS,
        """Difference of two tiles plus a third.

        (src0 - src1) + src2, two roundings; no carry is meant.""",
    ),
    Row(
        ScalarBetween,
        "taddsc",
        UP_TO_32_BITS,
        """Sum of a tile, a scalar and a tile.

        (src0 + scalar) + src1, two roundings.""",
    ),
    Row(
        ScalarBetween,
        "tsubsc",
        UP_TO_32_BITS,
        """Difference of a tile and a scalar, plus a tile.

        (src0 - scalar) + src1, two roundings.""",
    ),
)


OPERATIONS = (*_TILE_SCALAR, *_EITHER_ORDER, *_TERNARY)
