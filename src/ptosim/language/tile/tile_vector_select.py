"""Tile operations that compare, select and convert elements. A comparison gives one bit for each element."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from ptosim.effects.element import Element
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, lint
from ptosim.language.rules import tile_rules as rule
from ptosim.language.tile import tile_family as family
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_buf import TileBuf, is_fp4
from ptosim.language.tile.tile_operation import TileOperation

_COMPARED = family.elements("i8 i16 i32 f16 bf16 f32", "i32 f16 f32")
_PACKED = family.elements("i8")

# --- compare and select -----------------------------------------------------------------------------------------------


class TCmp(family.TileBinary, name="pto.tcmp"):
    """Compares two tiles; the result is one bit for each element.

    Element c of a row is bit c % 8 of byte c / 8 of that row of dst; a row of bits is written in blocks of 16 bytes (32
    for elements of 8 bits), zeros behind the last valid column. cmpMode is eq unless said; a comparison with NaN is
    false, but ne is true. It covers the valid region of src0.

        pto.tcmp ins(%a, %b {cmpMode = #pto<cmp lt>} : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>)
            outs(%d : !pto.tile_buf<vec, 16x64xui8>)
    """

    cmpMode = OptionalProperty()

    accepted = _COMPARED
    partly_writes = ("dst",)
    words = {"cmpMode": KINDS["cmp"]}
    inside = ("cmpMode",)
    defaults = {"cmpMode": "eq"}
    checks = (
        rule.in_vec("src0", "src1", "dst"),
        rule.same_element("src0", "src1"),
        rule.assembler(rule.element_in("dst", _PACKED), rule.on(family.A5, rule.same_shape("src0", "src1"))),
        rule.same_valid("src0", "src1"),
    )


class TCmps(family.TileScalar, name="pto.tcmps"):
    """Compares a tile with a scalar; the result is one bit for each element.

    The bits of all rows follow each other: those of one row in whole blocks of 16 bytes (32 for elements of 8 bits), or
    without a gap where every column is valid and dst has a byte for each element. cmpMode is eq unless said; a
    comparison with NaN is false, but ne is true. It covers the valid region of src.

        pto.tcmps ins(%a, %x {cmpMode = #pto<cmp lt>} : !pto.tile_buf<vec, 16x64xf32>, f32)
            outs(%d : !pto.tile_buf<vec, 16x64xui8>)
    """

    cmpMode = OptionalProperty()

    accepted = _COMPARED
    partly_writes = ("dst",)
    words = {"cmpMode": KINDS["cmp"]}
    inside = ("cmpMode",)
    defaults = {"cmpMode": "eq"}
    checks = (
        rule.in_vec("src", "dst"),
        rule.assembler(rule.element_in("dst", _PACKED), rule.same_valid_rows("src", "dst")),
        rule.number("scalar"),
    )


def _bits_apart(op: TCmps) -> int | None:
    """The number of bits from the start of a row of tcmps to that of the next, where there is a next one and it is
    known."""
    source, result = op.tile("src"), op.tile("dst")
    rows, cols = source.valid
    if rows is None or cols is None or rows < 2:
        return None
    if cols == source.cols <= result.cols * result.element_bytes:
        return cols
    block = 256 if source.element_bytes == 1 else 128
    return -(-cols // block) * block


def _written_before(op: Operation, value: SSAValue) -> Operation | None:
    """The operation of the same block that surely wrote a tile last, if a straight line leads from it."""
    before = op.prev_op
    while before is not None and not before.regions:
        if isinstance(before, TileOperation) and any(value in before.segment(role) for role in before.writes):
            return before
        before = before.prev_op
    return None


def _rows_of_mask(op: TileOperation, target: str) -> Iterator[Problem]:
    """Checks that a mask written by tcmps has rows as far apart as the select expects."""
    value, mask = op.segment("mask")[0], op.tile("mask")
    pitch = 8 * mask.cols * mask.element_bytes
    last = _written_before(op, value)
    for writer in [last] if last is not None else [use.operation for use in value.uses]:
        if isinstance(writer, TCmps) and writer.segment("dst")[0] is value:
            apart = _bits_apart(writer)
            if apart not in (None, pitch):
                message = (
                    f"{op.name} reads a row of mask every {pitch} bits, but {writer.name} writes one every {apart}"
                )
                yield lint(message, at="mask")
                return


def _select_tmp(op: TileOperation, target: str) -> Iterator[Problem]:
    """On a2a3 tmp holds the mask of a register."""
    for role, tmp in rule.tiles(op, "tmp"):
        least = 32 // op.tile("src0").element_bytes
        if tmp.element_bytes != 4:
            yield rule.at_type(op, role, "to have elements of 4 bytes", rule.name_of(tmp.element))
        elif tmp.size < least:
            yield rule.at_type(op, role, f"to have at least {least} bytes", f"{tmp.size} bytes")


class TSel(family.VectorTile, name="pto.tsel"):
    """Selects by bits: src0 where the bit of an element is set, else src1.

    mask has the bits as tcmp writes them. It covers the valid region of dst; bytes outside of it keep what they have.
    a5 leaves tmp alone.

        pto.tsel ins(%m, %a, %b : !pto.tile_buf<vec, 16x64xui8>, !pto.tile_buf<vec, 16x64xf32>,
            !pto.tile_buf<vec, 16x64xf32>) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    mask = Operand()
    src0 = Operand()
    src1 = Operand()
    tmp = OptionalOperand()
    dst = Operand()

    typed_by = "src0"
    accepted = family.elements("i8 i16 i32 f16 bf16 f32", "i16 i32 f16 bf16 f32")
    checks = (
        rule.in_vec("mask", "src0", "src1", "dst"),
        rule.on(family.A5, rule.element_in("mask", family.BITS)),
        rule.row_major("src0", "src1", "dst"),
        rule.same_element("src0", "src1", "dst"),
        rule.same_valid("dst", "src0", "src1"),
        rule.on(family.A2A3, _select_tmp),
        _rows_of_mask,
    )


class TSels(family.VectorTile, name="pto.tsels"):
    """Selects by bits: src where the bit of an element is set, else a scalar.

    mask has the bits as tcmp writes them. It covers the valid region of dst; bytes outside of it keep what they have.
    a5 leaves tmp alone.

        pto.tsels ins(%m, %a, %x : !pto.tile_buf<vec, 16x64xui8>, !pto.tile_buf<vec, 16x64xf32>, f32)
            outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    mask = Operand()
    src = Operand()
    tmp = OptionalOperand()
    scalar = Operand()
    dst = Operand()

    accepted = family.elements("i8 i16 i32 f16 f32")
    checks = (
        rule.in_vec("mask", "src", "dst"),
        rule.assembler(rule.on(family.A5, rule.element_in("mask", family.BITS), rule.row_major("mask"))),
        rule.row_major("src", "dst"),
        rule.same_element("src", "dst"),
        rule.same_valid("dst", "src"),
        rule.number("scalar"),
        _rows_of_mask,
    )


# --- convert ----------------------------------------------------------------------------------------------------------

_NARROWED = {
    "f32": ("f8E4M3FN", "f8E5M2", "hif8"),
    "f16": ("hif8",),
    "bf16": ("f4E1M2x2", "f4E2M1x2"),
    "f4E1M2x2": ("bf16",),
    "f4E2M1x2": ("bf16",),
    "f8E4M3FN": ("f32",),
    "f8E5M2": ("f32",),
    "hif8": ("f32",),
}
"""The conversions of low precision: source, and what it may become. Only a5 has them."""


def _pairs(op: TileOperation, target: str) -> Iterator[Problem]:
    kinds = [op.tile(role).kind for role in ("src", "dst")]
    if all(kind.kind != "lowprecision" for kind in kinds):
        return
    source, result = (rule.name_of(op.tile(role).element) for role in ("src", "dst"))
    if target != family.A5:
        yield Problem(f"{op.name} converts {source} to {result} only on {family.A5}", at="dst_type")
    elif result not in _NARROWED.get(source, ()):
        yield Problem(f"{op.name} does not convert {source} to {result}", at="dst_type")


def _values(tile: TileBuf, pair: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """Extents in values: a byte of fp4 holds two."""
    rows, cols = pair
    return rows, cols if cols is None or not is_fp4(tile.element) else 2 * cols


def _same_values(op: TileOperation, target: str) -> Iterator[Problem]:
    source, result = op.tile("src"), op.tile("dst")
    for what, one, other in (
        ("shape", _values(source, source.shape), _values(result, result.shape)),
        ("valid shape", _values(source, source.valid), _values(result, result.valid)),
    ):
        if any(a is not None and b is not None and a != b for a, b in zip(one, other, strict=True)):
            yield rule.at_type(op, "dst", f"to have the {what} of src, {rule.extents(one)}", rule.extents(other))
            return


_WRAPPING = {
    "f32": ("i16",),
    "f16": ("i8", "ui8", "i16"),
    "i64": ("i32",),
    "i32": ("i16",),
}
"""The conversions that keep the low bits of a value out of range; a signless integer stands for a signed one, too."""


_GREATEST = {"f32": 3.5e38, "bf16": 3.3e38, "f16": 65504, "f8E5M2": 57344, "f8E4M3FN": 448}
"""Magnitudes that values of float types reach, as far as they tell ranges apart."""


def _may_not_fit(source: Element, result: Element) -> bool:
    """Whether a value of one type can be out of the range of another; a wider integer keeps all bits of a narrower."""
    if source.is_integer and result.is_integer and result.bits > source.bits:
        return False
    unsigned = [kind.kind == "unsigned" for kind in (source, result)]
    reach = [
        (1 << kind.bits - (not low)) - low if kind.is_integer else _GREATEST.get(kind.name, 0)
        for kind, low in zip((source, result), unsigned, strict=True)
    ]
    return bool(reach[1]) and (reach[0] > reach[1] or unsigned[0] < unsigned[1])


def _policy(op: TileOperation, target: str) -> Iterator[Problem]:
    """satmode ON clamps always; OFF changes nothing, since every pair of types has a policy of its own."""
    if op.word("satmode") != "OFF":
        return
    source, result = (op.tile(role) for role in ("src", "dst"))
    one, other = (rule.name_of(tile.element) for tile in (source, result))
    wraps = other.removeprefix("s") in _WRAPPING.get(one.removeprefix("s"), ())
    if not wraps and _may_not_fit(source.kind, result.kind):
        yield lint(f"{op.name} clamps from {one} to {other}, whatever satmode says", at="satmode")


class TCvt(family.UnaryTmp, name="pto.tcvt"):
    """Converts elements to another type.

    rmode rounds: RINT, NONE and CAST_RINT (the default) to the nearest, of two the even one; ROUND of two the one away
    from zero; FLOOR, CEIL and TRUNC down, up and towards zero; ODD to odd. f32 to f32 rounds to a whole number. Values
    out of range clamp, but wrap from f16 to 8-bit integers, from f32 and f16 to i16, from i64 to i32 and from i32 to
    i16; satmode ON clamps there, too, and OFF changes nothing. fp4 has two values in a byte, so its tile has half as
    many columns. It covers the valid region of dst; bytes outside of it keep what they have. a5 leaves tmp alone.

        pto.tcvt ins(%a {rmode = #pto<round_mode RINT>, satmode = #pto<saturation_mode ON>} :
            !pto.tile_buf<vec, 16x64xf32>) outs(%d : !pto.tile_buf<vec, 16x64xbf16>)
    """

    rmode = OptionalProperty()
    satmode = OptionalProperty()

    words = {"rmode": KINDS["round_mode"], "satmode": KINDS["saturation_mode"]}
    inside = ("rmode", "satmode")
    defaults = {"rmode": "CAST_RINT", "satmode": "OFF"}
    older = {"sat_mode": "satmode"}
    checks = (rule.in_vec("src", "dst"), _pairs, _same_values, _policy)
