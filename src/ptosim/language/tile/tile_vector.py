"""Tile operations that compute element by element from one tile or two. With a scalar: tile_vector_scalar.py."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.language.operation import Operand, Problem
from ptosim.language.rules import tile_rules as rule
from ptosim.language.tile import tile_family as family
from ptosim.language.tile.tile_operation import TileOperation

_HIGH = " precisionType high_precision is accepted; the default is already correctly rounded."


_UNARY = family.table(
    __name__,
    family.Row(
        family.TileUnary,
        "tabs",
        family.FLOATS,
        """Absolute value.

        The sign bit is cleared: -0 becomes 0.""",
    ),
    family.Row(
        family.TileUnary,
        "tneg",
        family.WIDE,
        """Negation.

        Integers modulo 2^W, so the least value stays itself. Floats have their sign bit flipped. On a5 only the valid
        columns of src and dst have to be equal.""",
        {
            "checks": (
                rule.in_vec("src", "dst"),
                rule.row_major("src", "dst"),
                rule.same_element("src", "dst"),
                rule.on(family.A5, rule.same_valid_cols("dst", "src")),
                rule.on(family.A2A3, rule.same_valid("dst", "src")),
            )
        },
    ),
    family.Row(family.TileUnary, "tnot", family.elements("i8 i16 i32", "i16"), """Complement of every bit."""),
    family.Row(
        family.TileUnary,
        "trelu",
        family.elements("i32 f16 f32"),
        """The greater of an element and zero.

        -0 becomes +0, and a NaN stays one.""",
    ),
    family.Row(
        family.TileUnary,
        "texp",
        family.FLOATS,
        f"""e to the power of an element.

        Rounded once.{_HIGH}""",
        family.precise("exp"),
    ),
    family.Row(
        family.TileUnary,
        "tlog",
        family.FLOATS,
        """Natural logarithm.

        0 gives -inf, a negative element NaN. With precisionType high_precision subnormal elements are scaled into the
        normal range first.""",
        family.precise("log"),
    ),
    family.Row(
        family.TileUnary,
        "tsqrt",
        family.FLOATS,
        f"""Square root.

        A negative element gives NaN, -0 stays itself.{_HIGH}""",
        family.precise("sqrt"),
    ),
    family.Row(
        family.TileUnary,
        "trecip",
        family.FLOATS,
        f"""One divided by an element.

        A division, rounded once: 0 gives inf.{_HIGH} On a2a3 src and dst should be different tiles.""",
        family.precise("recip") | {"more_checks": (rule.on(family.A2A3, rule.distinct("src", "dst", "warning")),)},
    ),
    family.Row(
        family.UnaryTmp,
        "trsqrt",
        family.FLOATS,
        """One divided by the square root of an element.

        Two roundings, of the root and of the quotient: 0 gives inf, inf gives 0, a negative element NaN. precisionType
        high_precision gives the same and requires tmp, a tile of at least 32 bytes that nothing is read from.""",
        family.precise("rsqrt") | {"more_checks": (rule.assembler(family.precise_needs_tmp, rule.tmp_bytes(32)),)},
    ),
)


# --- binary -----------------------------------------------------------------------------------------------------------


def _prelu_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    """On a2a3 the working tile holds a row of bits for every row, and one row more."""
    for role, tmp in rule.tiles(op, "tmp"):
        rows, cols = op.tile("dst").valid
        yield from rule.element_in(role, family.elements("i8"))(op, target)
        if rows is not None and tmp.rows < rows + 1:
            yield rule.at_type(op, role, f"to have at least {rows + 1} rows", tmp.rows)
        if cols is not None and tmp.valid[1] is not None and tmp.valid[1] < -(-cols // 8):
            yield rule.at_type(op, role, f"to have at least {-(-cols // 8)} valid columns", tmp.valid[1])


_BINARY = family.table(
    __name__,
    family.Row(
        family.TileBinary,
        "tadd",
        family.WIDE,
        """Sum.

        Integers wrap, floats are rounded once.""",
    ),
    family.Row(
        family.TileBinary,
        "tsub",
        family.WITHOUT_BF16,
        """Difference, src0 - src1.

        Integers wrap, floats are rounded once.""",
    ),
    family.Row(
        family.TileBinary,
        "tmul",
        family.NUMBERS,
        """Product.

        Of integers the low half, floats are rounded once.""",
    ),
    family.Row(
        family.TileBinary,
        "tdiv",
        family.elements("i16 i32 f16 f32", "f16 f32"),
        """Quotient, src0 / src1.

        Floats are rounded once. Integers are cut towards zero, the least value divided by -1 stays itself, and a
        division by zero gives -1. precisionType high_precision gives the same.""",
        family.precise("div"),
    ),
    family.Row(
        family.TileBinary,
        "tmax",
        family.WITHOUT_BF16,
        """The greater of two elements.

        A NaN in either gives NaN.""",
    ),
    family.Row(
        family.TileBinary,
        "tmin",
        family.WIDE,
        """The lesser of two elements.

        A NaN in either gives NaN.""",
    ),
    family.Row(
        family.TileBinary,
        "taddrelu",
        family.elements("i16 f16 f32"),
        """The greater of a sum and zero.

        max(src0 + src1, 0); a2a3 only.""",
        {"targets": (family.A2A3,)},
    ),
    family.Row(family.TileBinary, "tand", family.BITS, """Bitwise and."""),
    family.Row(family.TileBinary, "tor", family.BITS, """Bitwise or."""),
    family.Row(
        family.BinaryTmp,
        "txor",
        family.BITS,
        """Bitwise exclusive or.

        On a2a3 tmp is like dst; a5 does not look at it.""",
        {"more_checks": (family.like_dst("src0"),)},
    ),
    family.Row(
        family.TileBinary,
        "tshl",
        family.BITS,
        """Shift to the left, src0 by the counts of src1.

        Zeros come in from the right.""",
    ),
    family.Row(
        family.TileBinary,
        "tshr",
        family.BITS,
        """Shift to the right, src0 by the counts of src1.

        Copies of the sign come in from the left, zeros for unsigned elements.""",
    ),
    family.Row(
        family.TileBinary,
        "tfmod",
        family.NUMBERS,
        """Remainder with the sign of the dividend.

        src0 - src1 * q, where q is the quotient cut towards zero; f16 is computed in f32.""",
        family.precise("fmod"),
    ),
    family.Row(
        family.BinaryTmp,
        "trem",
        family.elements("i16 i32 f16 f32", "i32 f32"),
        """Remainder with the sign of the divisor.

        src0 - src1 * q, where q is the quotient rounded down; f16 is computed in f32. On a2a3 tmp has at least 2 valid
        rows; a5 does not touch it.""",
        family.precise("rem") | {"more_checks": (rule.assembler(rule.on(family.A2A3, rule.tmp_valid_rows(2))),)},
    ),
    family.Row(
        family.BinaryTmp,
        "tprelu",
        family.FLOATS,
        """An element where it is not negative, else its product with a slope.

        src0 >= 0 ? src0 : src0 * src1. On a2a3 tmp has elements of 8 bits, a row more than are valid in dst and a bit
        for each valid column; a5 does not touch it.""",
        {"more_checks": (rule.assembler(rule.on(family.A2A3, _prelu_tmp)),)},
    ),
    family.Row(
        family.BinaryTmp,
        "tpow",
        family.POWERS,
        """Power, src0 to the src1.

        Floats are computed in f32 as exp(src1 * log|src0|), with the special cases of IEEE pow. Integers wrap; a
        negative exponent gives 0, but 1 for base 1 and +-1 for base -1. Integers take no tmp. precisionType
        high_precision is for floats on a5; only it takes bf16.""",
        family.precise("pow") | {"more_checks": (family.power_rules,)},
    ),
)


# --- parts ------------------------------------------------------------------------------------------------------------


class Partial(family.TileBinary):
    """Two tiles with valid regions of their own inside that of the result."""

    note = "Sources may have smaller valid regions than dst. " + family.OVER_DST
    checks = (
        rule.in_vec("src0", "src1", "dst"),
        rule.row_major("src0", "src1", "dst"),
        rule.same_element("src0", "src1", "dst"),
        rule.within("src0", "dst"),
        rule.within("src1", "dst"),
    )


class PartialArgument(Partial):
    """Two tiles with the indices that belong to them: `ins(%a, %b, %ia, %ib) outs(%d, %di)`."""

    src0_idx = Operand()
    src1_idx = Operand()
    dst = Operand()
    dst_idx = Operand()

    outs = ("dst", "dst_idx")
    example = (
        f"NAME ins(%a, %b, %ia, %ib : {family.tile()}, {family.tile()},"
        f" {family.tile(element='i32')}, {family.tile(element='i32')})"
        f" outs(%d, %di : {family.tile()}, {family.tile(element='i32')})"
    )


def _one_covers(op: TileOperation, target: str) -> Iterator[Problem]:
    """One of the sources is valid wherever the result is."""
    whole = op.tile("dst").valid
    known = [op.tile(role).valid for role in ("src0", "src1")]
    if None not in whole and not any(None in valid or valid == whole for valid in known):
        expected = f"or src1 to have the valid shape of dst, {rule.extents(whole)}"
        yield rule.at_type(op, "src0", expected, " and ".join(map(rule.extents, known)))


_SAME_SHAPES = rule.assembler(rule.same_shape("src0", "src1", "dst"))
_INDICES = (
    rule.element_in("src0_idx", family.elements("i32")),
    rule.same_element("src0_idx", "src1_idx", "dst_idx"),
    rule.same_shape("dst", "dst_idx"),
    rule.in_vec("src0_idx", "src1_idx", "dst_idx"),
    rule.within("src0_idx", "dst_idx"),
    rule.within("src1_idx", "dst_idx"),
)
_PARTS = family.elements("i8 i16 i32 f16 bf16 f32")
_COVERED = {"more_checks": (rule.assembler(rule.on(family.A2A3, _one_covers)),)}
_SHAPED = {"more_checks": (rule.assembler(rule.on(family.A2A3, _one_covers)), _SAME_SHAPES)}
_INDEXED = {"more_checks": (rule.assembler(rule.on(family.A2A3, _one_covers)), _SAME_SHAPES, *_INDICES)}

_PARTIAL = family.table(
    __name__,
    family.Row(
        Partial,
        "tpartadd",
        _PARTS,
        """Sum where both sources are valid, else the one that is.

        One of the sources is valid wherever dst is.""",
        _COVERED,
    ),
    family.Row(
        Partial,
        "tpartmul",
        _PARTS,
        """Product where both sources are valid, else the one that is.

        One of the sources is valid wherever dst is.""",
        _COVERED,
    ),
    family.Row(
        Partial,
        "tpartmax",
        _PARTS,
        """The greater element where both sources are valid, else the one that is.

        Where neither is: the lowest finite value of the type.""",
        _SHAPED,
    ),
    family.Row(
        Partial,
        "tpartmin",
        _PARTS,
        """The lesser element where both sources are valid, else the one that is.

        Where neither is: the largest finite value of the type.""",
        _SHAPED,
    ),
    family.Row(
        PartialArgument,
        "tpartargmax",
        _PARTS,
        """The greater element with its index, else that of the source that is valid.

        dst_idx gets the index of the source that was taken; of equal elements src0 is taken.""",
        _INDEXED,
    ),
    family.Row(
        PartialArgument,
        "tpartargmin",
        _PARTS,
        """The lesser element with its index, else that of the source that is valid.

        dst_idx gets the index of the source that was taken; of equal elements src0 is taken.""",
        _INDEXED,
    ),
)

OPERATIONS = (*_UNARY, *_BINARY, *_PARTIAL)
