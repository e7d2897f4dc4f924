"""Tile operations that quantise, count and print."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute

from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, Property
from ptosim.language.rules import tile_rules as rule
from ptosim.language.rules.storage_rules import apart
from ptosim.language.rules.tile_place_rules import is_laid_out
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.tile.mx_groups import group_rules
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_family import A2A3, A5, VectorTile, elements
from ptosim.language.tile.tile_operation import VIEWS, TileOperation
from ptosim.language.tile.tile_types import TileBufType

# --- quantise ---------------------------------------------------------------------------------------------------------

_F32 = elements("f32")
_BYTES = ("i8", "si8", "ui8")
_RESULTS = {
    **dict.fromkeys(("INT8_SYM", "INT8_ASYM"), _BYTES),
    "MXFP8": ("i8", "ui8", "f8E4M3FN"),
    "MXFP4_E2M1": ("f4E2M1x2",),
}
"""The element types of a quantised tile; they do not change its bits."""


def _quantised(op: TileOperation) -> Iterator[Problem]:
    """The result is of the type that quant_type names."""
    kind, found = str(op.word("quant_type")), rule.name_of(op.tile("dst").element)
    if found not in _RESULTS[kind]:
        yield rule.at_type(op, "dst", f"to have elements of {' or '.join(_RESULTS[kind])} for {kind}", found)


def _columns(op: TileOperation, target: str) -> Iterator[Problem]:
    """On a2a3 parameters are columns."""
    for role, tile in rule.tiles(op, "fp", "offset"):
        if tile.layout != "DN" or tile.cols != 1:
            yield rule.at_type(
                op, role, f"to be one column (blayout col_major) on {A2A3}", f"{tile.layout} of {tile.cols}"
            )


class TQuant(VectorTile, name="pto.tquant"):
    """Quantises rows to 8-bit integers, each with a scale of its own.

    INT8_SYM: rint(src * fp[r]) clamped to -128..127. INT8_ASYM: rint(src * fp[r] + offset[r]) clamped to 0..255. fp and
    offset have one f32 for each row. It covers the valid region of dst; bytes outside of it keep what they have.

        pto.tquant ins(%a, %s : !pto.tile_buf<vec, 32x64xf32>, !pto.tile_buf<vec, 32x1xf32, blayout=col_major>)
            outs(%d : !pto.tile_buf<vec, 32x64xi8>) {quant_type = #pto<quant_type INT8_SYM>}
    """

    src = Operand()
    fp = Operand()
    offset = OptionalOperand()
    dst = Operand()
    tmp = OptionalOperand()
    quant_type = Property()

    outs = ("dst", "tmp")
    partly_writes = ("tmp",)
    words = {"quant_type": KINDS["quant_type"]}
    accepted = _F32
    checks = (
        rule.in_vec("src", "fp", "offset", "dst"),
        rule.row_major("src", "dst"),
        rule.element_in("fp", _F32),
        rule.same_valid("dst", "src"),
        rule.same_valid_rows("src", "fp", "offset"),
    )

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        kind = self.word("quant_type")
        if kind not in ("INT8_SYM", "INT8_ASYM"):
            yield Problem(f"{self.name} expects INT8_SYM or INT8_ASYM, not {kind}; see pto.tquant.mx", at="quant_type")
            return
        yield from _quantised(self)
        if self.has("offset"):
            yield from rule.element_in("offset", _F32)(self, target)
        like_source = rule.row_major("tmp"), rule.same_element("src", "tmp"), rule.same_valid("src", "tmp")
        yield from rule.on(A2A3, *like_source, _columns)(self, target)
        if self.has("offset") != (kind == "INT8_ASYM"):
            required = "requires an offset" if kind == "INT8_ASYM" else "has no offset"
            yield Problem(f"{self.name} {required} for {kind}", at="offset" if self.has("offset") else "fp")


_MX_TILES = ("src", "dst", "exp", "max", "scaling", "exp_zz")
_MX_SOURCES = {"MXFP8": ("f16", "bf16", "f32"), "MXFP4_E2M1": ("f16", "bf16")}


class TQuantMx(VectorTile, name="pto.tquant.mx"):
    """Quantises groups of 32 elements to fp8 or fp4, each group with a power of two for its scale.

    grpAxis says whether a group lies along a row (axis1) or a column (axis0). max is the greatest magnitude of a group,
    exp its exponent byte (E8M0), scaling the power of two that src is multiplied by; dst is the product, rounded to the
    nearest even. quantScaleAlg chooses how the exponent follows from the maximum (ocp, nv), storeMode nd or nz, and
    interleave pairs the exponents of two groups of axis0; exp_zz gets the exponents in the order that products want.
    The bytes of MXFP8 are e4m3, whatever 8-bit type dst has. Results for groups have a row for each row of
    groups, or one row for all; a row of scales has room for whole registers. All tiles are different ones. a5 only.

        pto.tquant.mx ins(%a : !pto.tile_buf<vec, 32x64xf32>) outs(%d, %e, %m, %s : !pto.tile_buf<vec, 32x64xf8E4M3FN>,
            !pto.tile_buf<vec, 1x64xui8>, !pto.tile_buf<vec, 1x64xf32>, !pto.tile_buf<vec, 1x128xf32, valid=1x64>)
            {quant_type = #pto<quant_type MXFP8>}
    """

    src = Operand()
    dst = Operand()
    exp = Operand()
    max = Operand()
    scaling = Operand()
    exp_zz = OptionalOperand()
    quant_type = Property()
    quantScaleAlg = OptionalProperty()
    storeMode = OptionalProperty()
    grpAxis = OptionalProperty()
    interleave = OptionalProperty()

    outs = _MX_TILES[1:]
    targets = (A5,)
    words = {
        "quant_type": KINDS["quant_type"],
        "quantScaleAlg": KINDS["quant_scale_alg"],
        "storeMode": KINDS["vec_store_mode"],
        "grpAxis": KINDS["mx_group_axis"],
    }
    flags = ("interleave",)
    defaults = {"quantScaleAlg": "ocp", "storeMode": "nd", "grpAxis": "axis1", "interleave": False}
    checks = (rule.in_vec(*_MX_TILES), apart(*_MX_TILES), rule.same_element("src", "max", "scaling"))

    def tile_rules(self, target: str) -> Iterator[Problem]:
        found = [*super().tile_rules(target), *self._elements_and_layouts()]
        yield from found or group_rules(self, fp4=self.word("quant_type") == "MXFP4_E2M1")

    def _elements_and_layouts(self) -> Iterator[Problem]:
        """Elements and layouts of all tiles; one row is linear, whatever its type says of boxes."""
        kind = str(self.word("quant_type"))
        if kind not in _MX_SOURCES:
            yield Problem(f"{self.name} expects MXFP8 or MXFP4_E2M1, not {kind}; see pto.tquant", at="quant_type")
            return
        yield from _quantised(self)
        if (found := rule.name_of(self.tile("src").element)) not in _MX_SOURCES[kind]:
            yield rule.at_type(self, "src", f"to have elements of {', '.join(_MX_SOURCES[kind])} for {kind}", found)
        for role, exponents in rule.tiles(self, "exp", "exp_zz"):
            if (found := rule.name_of(exponents.element)) not in _BYTES:
                yield rule.at_type(self, role, f"to have elements of {', '.join(_BYTES)}", found)
        for role, tile in rule.tiles(self, *_MX_TILES):
            if tile.rows != 1:
                yield from is_laid_out(self, role, "ND")
        if self.setting("quantScaleAlg") == "nv" and kind != "MXFP8":
            yield Problem(f"{self.name} has the nv formula only for MXFP8", at="quantScaleAlg")


class TDequant(VectorTile, name="pto.tdequant"):
    """Turns quantised rows back into f32, each with a scale and an offset of its own.

    dst = (src - offset[r]) * scale[r], two roundings. It covers the valid region of dst; bytes outside of it keep what
    they have.

        pto.tdequant ins(%a, %s, %o : !pto.tile_buf<vec, 32x64xi8>, !pto.tile_buf<vec, 32x1xf32, blayout=col_major>,
            !pto.tile_buf<vec, 32x1xf32, blayout=col_major>) outs(%d : !pto.tile_buf<vec, 32x64xf32>)
    """

    src = Operand()
    scale = Operand()
    offset = Operand()
    dst = Operand()

    accepted = elements("i8 i16")
    checks = (
        rule.in_vec("src", "scale", "offset", "dst"),
        rule.row_major("src", "dst"),
        *(rule.element_in(role, _F32) for role in ("scale", "offset", "dst")),
        rule.same_valid("dst", "src"),
        rule.same_valid_rows("src", "scale", "offset"),
    )


# --- count and print --------------------------------------------------------------------------------------------------

_BINS = 256
_ELEMENTS_OF_HISTOGRAM = {"src": ("ui16", "ui32"), "idx": ("ui8",), "dst": ("ui32",)}


def _histogram_elements(op: TileOperation, target: str) -> Iterator[Problem]:
    for role, names in _ELEMENTS_OF_HISTOGRAM.items():
        if (found := rule.name_of(op.tile(role).element)) not in names:
            yield rule.at_type(op, role, f"to have elements of {' or '.join(names)}", found)


class THistogram(VectorTile, name="pto.thistogram"):
    """Counts how many elements of each row have a byte up to each of 256 values.

    dst[r, b] is the number of elements whose byte, counted from the lowest, is at most b. Only elements whose higher
    bytes are those of idx count: for ui16 idx has a value for each row, for ui32 one for each higher byte. byte is 1
    unless said. It covers the valid region of src; of dst 256 columns are written.

        pto.thistogram ins(%a, %i : !pto.tile_buf<vec, 32x64xui16>, !pto.tile_buf<vec, 32x1xui8, blayout=col_major>)
            outs(%d : !pto.tile_buf<vec, 32x256xui32>) {byte = 1 : i32}
    """

    src = Operand()
    idx = Operand()
    dst = Operand()
    byte = OptionalProperty()

    targets = (A5,)
    numbers = ("byte",)
    defaults = {"byte": 1}
    checks = (
        rule.in_vec("src", "idx", "dst"),
        rule.row_major("src", "dst"),
        _histogram_elements,
        rule.same_valid_rows("src", "dst"),
    )

    @classmethod
    def settled(cls, parser: LocatedParser, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        """The older isMSB said whether the high byte of two is counted."""
        if (flag := attributes.pop("isMSB", None)) is not None:
            low = isinstance(flag, IntegerAttr) and flag.value.data == 0
            byte = attributes.setdefault("byte", IntegerAttr(int(not low), i32))
            if isinstance(byte, IntegerAttr) and byte.value.data != int(not low):
                message = f"byte = {byte.value.data} and isMSB = {str(not low).lower()} contradict each other"
                parser.report(message, parser.place_of("isMSB"))
        return super().settled(parser, attributes)

    def tile_rules(self, target: str) -> Iterator[Problem]:
        broken = list(rule.every(*self.checks)(self, target))
        yield from broken or self._sizes()

    def _sizes(self) -> Iterator[Problem]:
        size, byte = self.tile("src").element_bytes, int(self.setting("byte") or 0)
        if not 0 <= byte < size:
            yield Problem(f"{self.name} expects byte 0..{size - 1} for elements of {size} bytes, not {byte}", at="byte")
        if self.tile("dst").cols < _BINS:
            yield rule.at_type(self, "dst", f"with {_BINS} columns", self.tile("dst").cols)
        yield from self._filters(size - 1 - byte)

    def _filters(self, higher: int) -> Iterator[Problem]:
        """The values of the higher bytes: by row for two bytes, else a row for each byte."""
        idx, rows = self.tile("idx"), self.tile("src").valid[0]
        if self.tile("src").element_bytes == 2:
            if idx.layout != "DN" or idx.cols != 1:
                found = f"{idx.layout} of {idx.cols} columns"
                yield rule.at_type(self, "idx", "to be one column (blayout col_major)", found)
            elif not rule.agree(idx.valid[0], rows):
                yield rule.at_type(self, "idx", f"to have the valid rows of src, {rows}", idx.valid[0])
        elif idx.rows < higher:
            yield rule.at_type(self, "idx", f"to have a row for each of {higher} higher bytes", idx.rows)


class TPrint(TileOperation, name="pto.tprint"):
    """Prints the elements of a tile or of a view.

    Every element of the shape is printed, a bar after the valid ones; printFormat gives width and precision of floats.
    The scalar unit prints, after all pipes have ended. tmp is a view of global memory that the elements pass through.

        pto.tprint ins(%a : !pto.tile_buf<vec, 16x64xf32>) {printFormat = #pto<print_format width8_precision4>}
    """

    src = Operand()
    tmp = OptionalOperand()
    printFormat = OptionalProperty()

    outs = ()
    views = ("tmp",)
    untyped = ("src",)
    pipes = (Pipe.S,)
    scratch = ("tmp",)
    words = {"printFormat": KINDS["print_format"]}
    defaults = {"printFormat": "width8_precision4"}

    def tile_rules(self, target: str) -> Iterator[Problem]:
        type_ = self.src.type
        if not isinstance(type_, (TileBufType, *VIEWS)):
            yield rule.at_type(self, "src", "to be a tile or a view", type_)
        elif self.tmp is not None and isinstance(self.tmp.type, VIEWS):
            if isinstance(type_, VIEWS):
                yield Problem(f"{self.name} takes tmp only for a tile", at="tmp")
            elif self.tmp.type.data.element != type_.data.element:
                found = rule.name_of(self.tmp.type.data.element)
                yield rule.at_type(
                    self, "tmp", f"to have the element type of src, {rule.name_of(type_.data.element)}", found
                )
