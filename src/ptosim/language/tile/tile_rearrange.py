"""Moves within a memory that change where elements stand: transposes, pads, concatenations; and where MX scales lie."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.element import GRANULE
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, lint
from ptosim.language.rules import tile_rules as rule
from ptosim.language.rules.tile_place_rules import LOW_PRECISION, holds, is_laid_out, lies_in, same_width, scales
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_operation import TileOperation

_MOVED_WIDTHS = (1, 2, 4)


def _moved_width(op: TileOperation, role: str) -> Iterator[Problem]:
    if (found := op.tile(role).element_bytes) not in _MOVED_WIDTHS:
        yield rule.at_type(op, role, "to have elements of 1, 2 or 4 bytes", found)


def _full_precision(op: TileOperation, role: str) -> Iterator[Problem]:
    """Elements of low precision are loaded, stored, moved and converted; nothing else takes them."""
    if (found := rule.name_of(op.tile(role).element)) in LOW_PRECISION:
        yield Problem(f"{role}: dtype {found} is not supported by {op.name}", at=f"{role}_type")


class TTrans(TileOperation, name="pto.ttrans"):
    """Transpose.

    dst[j, i] = src[i, j] over the valid region of src. The working memory serves a2a3 only.

        pto.ttrans ins(%a : !pto.tile_buf<vec, 16x32xf32>) outs(%d : !pto.tile_buf<vec, 32x16xf32>)
    """

    scratch = ("tmp",)
    src = Operand()
    tmp = OptionalOperand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        for role in ("src", "dst"):
            yield from lies_in(self, role, "vec")
        yield from rule.same_element("src", "dst")(self, target)
        yield from _moved_width(self, "src")
        yield from _full_precision(self, "src")
        if target != "a5":
            yield from is_laid_out(self, "src", "ND", on=f" on {target}")
            return
        for role in ("src", "dst"):
            tile = self.tile(role)
            major = tile.rows if tile.blayout == "col_major" else tile.cols
            if major * tile.element_bytes % GRANULE:
                side, found = ("columns" if tile.blayout == "col_major" else "rows"), major * tile.element_bytes
                yield rule.at_type(self, role, f"with {side} of a multiple of {GRANULE} bytes on a5", found)


# --- padding ----------------------------------------------------------------------------------------------------------


class TFillPad(TileOperation, name="pto.tfillpad"):
    """Fill what is around the valid region.

    dst = src over the valid region of src, the pad value of dst's type over the rest of the valid region of dst. pad 1
    is zero; 2 and 3 are the largest and the least finite value of the element type. Source and destination may be one
    tile, and the destination may be larger. In L1 a tile is filled in place, with zeros: rows below the valid ones, and
    blocks of columns behind them. There are no other modes.

        pto.tfillpad ins(%a : !pto.tile_buf<vec, 16x64xf32, valid=15x60>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32, pad=1>)
    """

    pipes = (Pipe.V, Pipe.MTE2)
    words = {"padValue": KINDS["pad_value"]}
    defaults = {"padValue": "zero"}
    src = Operand()
    dst = Operand()
    padValue = OptionalProperty()

    def pipe(self, target: str) -> Pipe:
        return Pipe.MTE2 if self.tile("dst").loc == "mat" else Pipe.V

    def tile_rules(self, target: str) -> Iterator[Problem]:
        misplaced = [*lies_in(self, "src", "vec", "mat"), *lies_in(self, "dst", self.tile("src").loc)]
        yield from misplaced
        if misplaced:
            return
        if "mode" in self.attributes:
            message = f"{self.name} has no mode: the tiles say which part it fills"
            yield Problem(message, at="mode")
        yield from same_width(self, "dst", "src")
        yield from _moved_width(self, "src")
        yield from self._in_l1(target) if self.tile("dst").loc == "mat" else self._in_ub()

    def _in_ub(self) -> Iterator[Problem]:
        src, dst = self.tile("src"), self.tile("dst")
        if dst.pad == 0:
            hint = "write pad=1 (zero), pad=2 (max) or pad=3 (min) in the type of dst"
            yield Problem("dst has no pad value: pad=0", at="dst_type", hint=hint)
        if self.padValue is not None:
            yield Problem("padValue is for tiles in mat; in vec the type of dst has the pad", at="padValue")
        if dst.rows < src.rows or dst.cols < src.cols:
            yield rule.at_type(
                self, "dst", f"to be at least {rule.extents(src.shape)} like src", rule.extents(dst.shape)
            )

    def _in_l1(self, target: str) -> Iterator[Problem]:
        yield from rule.assembler(rule.same_shape("src", "dst"), rule.same_valid("src", "dst"))(self, target)
        if self.tile("dst").pad != self.tile("src").pad:
            problem = rule.at_type(self, "dst", f"with pad={self.tile('src').pad} like src", self.tile("dst").pad)
            yield from rule.demanded_by_assembler(iter((problem,)))
        if self.setting("padValue") not in ("null", "zero"):
            yield lint(f"a tile in mat is filled with zeros, not with {self.setting('padValue')}", at="padValue")


class TFillPadInplace(TFillPad, name="pto.tfillpad_inplace"):
    """Older name of pto.tfillpad for one tile that is source and destination.

    Only the pad is written.

        pto.tfillpad_inplace ins(%a : !pto.tile_buf<vec, 16x64xf32, valid=15x60>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32, pad=1>)
    """

    replaced_by = "pto.tfillpad"


class TFillPadExpand(TFillPad, name="pto.tfillpad_expand"):
    """Older name of pto.tfillpad for a destination that is larger than the source.

    The pad fills what the source does not.

        pto.tfillpad_expand ins(%a : !pto.tile_buf<vec, 16x64xf32>) outs(%d : !pto.tile_buf<vec, 32x64xf32, pad=1>)
    """

    replaced_by = "pto.tfillpad"


# --- concatenation ----------------------------------------------------------------------------------------------------


class _Concatenation(TileOperation):
    """Two tiles side by side."""

    def tile_rules(self, target: str) -> Iterator[Problem]:
        for role in self.operand_roles:
            yield from lies_in(self, role, "vec")
        yield from _full_precision(self, "dst")
        for role in ("src0", "src1"):
            yield from rule.same_element("dst", role)(self, target)
            rows, expected = self.tile(role).valid[0], self.tile("dst").valid[0]
            if not rule.agree(rows, expected):
                yield rule.at_type(self, role, f"to have the {expected} valid rows of dst", rows)


class TConcat(_Concatenation, name="pto.tconcat"):
    """Two tiles side by side.

    The valid columns of src0, then those of src1.

        pto.tconcat ins(%a, %b : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    src0 = Operand()
    src1 = Operand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        first, second = (self.tile(role).valid[1] for role in ("src0", "src1"))
        if first is not None and second is not None and first + second > self.tile("dst").cols:
            found = self.tile("dst").cols
            yield rule.at_type(self, "dst", f"to have room for {first} + {second} valid columns", f"for {found}")


class TConcatIdx(_Concatenation, name="pto.tconcatidx"):
    """Two tiles side by side, as many columns of each as its index says, row by row.

    Row r takes idx0[r, 0] / S columns of src0 and then idx1[r, 0] / S columns of src1, where S is the width of an index
    in bytes, as far as they are valid and fit in dst.

        pto.tconcatidx ins(%a, %b, %ia, %ib : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>,
            !pto.tile_buf<vec, 16x8xi32>, !pto.tile_buf<vec, 16x8xi32>) outs(%d : !pto.tile_buf<vec, 16x64xf32>)
    """

    src0 = Operand()
    src1 = Operand()
    idx0 = Operand()
    idx1 = Operand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from holds(self, "idx0", ("i8", "i16", "i32"))
        yield from rule.same_element("idx0", "idx1")(self, target)


# --- scales -----------------------------------------------------------------------------------------------------------


class TGetScaleAddr(TileOperation, name="pto.tget_scale_addr"):
    """Bind a tile of scales to its operand.

    The scales of an MX operand lie in a buffer of their own, at a sixteenth of the address of the operand: dst is that
    place. It holds for the whole function, wherever it stands.

        pto.tget_scale_addr ins(%a : !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>)
            outs(%s : !pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>)
    """

    absorbed = "the scales are planned where it says"
    scale_roles = ("dst",)
    targets = ("a5",)
    cores = (CoreKind.AIC,)
    pipes = (Pipe.S,)
    src = Operand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        misplaced = [*lies_in(self, "src", "left", "right"), *lies_in(self, "dst", "scaling")]
        yield from misplaced
        if misplaced:
            return
        yield from scales(self, "dst", "src", 1 if self.tile("src").loc == "left" else 0)
