"""Tile operations with scalars: a tile and a scalar, and sums of three operands. Fills: tile_vector_fill.py."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ptosim.language.operation import Operand, Problem
from ptosim.language.rules import tile_rules as rule
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.tile import tile_family as family
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import TileBufType

_TYPED = (rule.scalar_of("scalar", "src"),)
"""The scalar has the type of the elements."""

_BITWISE = (rule.row_major("src", "dst"), rule.assembler(rule.distinct("src", "dst")), rule.signless_integer("scalar"))
_BITWISE_ELEMENTS = family.elements("i8 i16 i32", "i8 i16")


def _count_is_not_negative(op: TileOperation, target: str) -> Iterator[Problem]:
    count = constant_of(op.segment("scalar")[0])
    if count is not None and count < 0:
        yield Problem(f"{op.name} expects a count that is not negative, not {count}", at="scalar")


_SHIFT = (rule.row_major("src", "dst"), rule.signless_integer("scalar"), _count_is_not_negative)

_TILE_SCALAR = family.table(
    __name__,
    family.Row(
        family.TileScalar,
        "tadds",
        family.WIDE,
        """Sum with a scalar.

        Integers wrap, floats are rounded once.""",
    ),
    family.Row(
        family.TileScalar,
        "tsubs",
        family.WIDE,
        """Difference, src - scalar.

        Integers wrap, floats are rounded once.""",
    ),
    family.Row(
        family.TileScalar,
        "tmuls",
        family.WIDE,
        """Product with a scalar.

        Of integers the low half, floats are rounded once.""",
    ),
    family.Row(
        family.TileScalar,
        "tmaxs",
        family.WIDE,
        """The greater of an element and a scalar.

        A NaN in either gives NaN.""",
    ),
    family.Row(
        family.TileScalar,
        "tmins",
        family.WIDE,
        """The lesser of an element and a scalar.

        A NaN in either gives NaN.""",
    ),
    family.Row(
        family.TileScalar,
        "tfmods",
        family.NUMBERS,
        """Remainder by a scalar, with the sign of the dividend.

        src - scalar * q, where q is the quotient cut towards zero; f16 is computed in f32.""",
        family.precise("fmod") | {"more_checks": _TYPED},
    ),
    family.Row(
        family.TileScalar,
        "tands",
        _BITWISE_ELEMENTS,
        """Bitwise and with a scalar.

        src and dst are different tiles.""",
        {"more_checks": _BITWISE},
    ),
    family.Row(
        family.TileScalar,
        "tors",
        _BITWISE_ELEMENTS,
        """Bitwise or with a scalar.

        src and dst are different tiles.""",
        {"more_checks": _BITWISE},
    ),
    family.Row(
        family.TileScalarTmp,
        "txors",
        _BITWISE_ELEMENTS,
        """Bitwise exclusive or with a scalar.

        src and dst are different tiles. On a2a3 tmp is like dst; a5 does not look at it.""",
        {"more_checks": (*_BITWISE, family.like_dst("src"))},
    ),
    family.Row(
        family.TileScalar,
        "tshls",
        family.BITS,
        """Shift to the left by a scalar count.

        Zeros come in from the right. The count is not negative.""",
        {"more_checks": _SHIFT},
    ),
    family.Row(
        family.TileScalar,
        "tshrs",
        family.BITS,
        """Shift to the right by a scalar count.

        Copies of the sign come in from the left, zeros for unsigned elements. The count is not negative.""",
        {"more_checks": _SHIFT},
    ),
    family.Row(
        family.TileScalarTmp,
        "trems",
        family.elements("i16 i32 f16 f32", "i32 f32"),
        """Remainder by a scalar, with the sign of the divisor.

        src - scalar * q, where q is the quotient rounded down; f16 is computed in f32. On a2a3 tmp has at least 1 valid
        row; a5 does not touch it.""",
        family.precise("rem")
        | {"more_checks": (*_TYPED, rule.assembler(rule.on(family.A2A3, rule.tmp_valid_rows(1))))},
    ),
    family.Row(
        family.TileScalarTmp,
        "tpows",
        family.POWERS,
        """Power, src to the scalar.

        Floats are computed in f32 as exp(scalar * log|src|), with the special cases of IEEE pow. Integers wrap; a
        negative exponent gives 0, but 1 for base 1 and +-1 for base -1. Integers take no tmp. precisionType
        high_precision is for floats on a5; only it takes bf16.""",
        family.precise("pow") | {"more_checks": (*_TYPED, family.power_rules)},
    ),
    family.Row(
        family.TileScalar,
        "tlrelu",
        family.FLOATS,
        """An element where it is positive, else its product with a slope.

        src > 0 ? src : src * scalar. The slope is f32; for f16 it is rounded to f16 first.""",
        {"more_checks": (rule.scalar_is("scalar", "f32"),)},
    ),
)


def _axpy_elements(op: TileOperation, target: str) -> Iterator[Problem]:
    source, result = (rule.name_of(op.tile(role).element) for role in ("src", "dst"))
    if source != result and (source, result) != ("f16", "f32"):
        yield rule.at_type(op, "dst", f"to have the element type of src, {source}, or f32 for f16", result)


class TAxpy(family.TileScalar, name="pto.taxpy"):
    """Adds the product of a tile and a scalar to dst.

    dst = src * scalar + dst, rounded once. dst may be f32 where src is f16; the scalar has the type of src.
    It covers the valid region of dst; bytes outside of it keep what they have.

        pto.taxpy ins(%a, %x : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    accepted = family.elements("f16 bf16 f32")
    also_reads = ("dst",)
    checks = (
        rule.in_vec("src", "dst"),
        _axpy_elements,
        rule.same_shape("src", "dst"),
        rule.same_valid("dst", "src"),
        *_TYPED,
    )


class EitherOrder(family.VectorTile):
    """A tile and a scalar in the order that they are computed in: `: TB, T` or `: T, TB`."""

    src0 = Operand()
    src1 = Operand()
    dst = Operand()

    untyped = ("src0", "src1")
    note = family.OVER_DST
    example = f"NAME ins(%x, %a : ELEMENT, {family.tile()}) outs(%d : {family.tile()})"

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
        yield from rule.every(
            rule.element_in(source, self.accepted),
            rule.in_vec(source, "dst"),
            rule.same_element(source, "dst"),
            rule.same_valid("dst", source),
            rule.number(scalar),
        )(self, target)


_EITHER_ORDER = family.table(
    __name__,
    family.Row(
        EitherOrder,
        "tdivs",
        family.WITHOUT_BF16,
        """Quotient of a tile and a scalar, in either order.

        The operands are divided in the order written: a tile by a scalar, or a scalar by a tile. Floats are rounded
        once. Integers are cut towards zero, the least value divided by -1 stays itself, and a division by zero gives
        -1.""",
        family.precise("div"),
    ),
)


# --- three operands ---------------------------------------------------------------------------------------------------


class Ternary(family.VectorTile):
    """Three tiles in, one out."""

    src0 = Operand()
    src1 = Operand()
    src2 = Operand()
    dst = Operand()

    typed_by = "src0"
    note = family.OVER_DST
    example = f"NAME ins(%a, %b, %c : {family.tile()}, {family.tile()}, {family.tile()}) outs(%d : {family.tile()})"
    checks = (
        rule.in_vec("src0", "src1", "src2", "dst"),
        rule.same_element("src0", "src1", "src2", "dst"),
        rule.same_shape("src0", "src1", "src2", "dst"),
        rule.same_valid("dst", "src0", "src1", "src2"),
    )


class ScalarBetween(family.VectorTile):
    """A tile, a scalar and a tile in, one out."""

    src0 = Operand()
    scalar = Operand()
    src1 = Operand()
    dst = Operand()

    typed_by = "src0"
    note = family.OVER_DST
    example = f"NAME ins(%a, %x, %b : {family.tile()}, ELEMENT, {family.tile()}) outs(%d : {family.tile()})"
    checks = (
        rule.in_vec("src0", "src1", "dst"),
        rule.same_element("src0", "src1", "dst"),
        rule.same_shape("src0", "src1", "dst"),
        rule.same_valid("dst", "src0", "src1"),
        rule.number("scalar"),
    )


_TERNARY = family.table(
    __name__,
    family.Row(
        Ternary,
        "taddc",
        family.UP_TO_32_BITS,
        """Sum of three tiles.

        (src0 + src1) + src2, two roundings; no carry is meant.""",
    ),
    family.Row(
        Ternary,
        "tsubc",
        family.UP_TO_32_BITS,
        """Difference of two tiles plus a third.

        (src0 - src1) + src2, two roundings; no carry is meant.""",
    ),
    family.Row(
        ScalarBetween,
        "taddsc",
        family.UP_TO_32_BITS,
        """Sum of a tile, a scalar and a tile.

        (src0 + scalar) + src1, two roundings.""",
    ),
    family.Row(
        ScalarBetween,
        "tsubsc",
        family.UP_TO_32_BITS,
        """Difference of a tile and a scalar, plus a tile.

        (src0 - scalar) + src1, two roundings.""",
    ),
)


OPERATIONS = (*_TILE_SCALAR, *_EITHER_ORDER, *_TERNARY)
