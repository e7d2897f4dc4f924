"""Matrix products of tiles: `left` times `right` into `acc`, with bias, with accumulation, with MX scales.

Which K, M, N a product has is said by its operands; what it costs and how it becomes `pto.mad` is for its lowering.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.effects.fractal import SCALED_STEP
from ptosim.effects.mad import EXTENT_LIMIT
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import Operand, OptionalProperty, Problem, lint
from ptosim.language.rules.tile_place_rules import FLOAT4, FLOAT8, is_laid_out, lies_in, scales, signed_word
from ptosim.language.rules.tile_rules import at_type, extents, same_element, same_shape
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_buf import Layout
from ptosim.language.tile.tile_operation import TileOperation

PLAIN_TYPES = frozenset({("i32", "i8", "i8"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f32", "f32")})
"""Element types of dst, lhs and rhs."""
A5_TYPES = PLAIN_TYPES | {("f32", lhs, rhs) for lhs in FLOAT8 for rhs in FLOAT8} | {("f32", "hif8", "hif8")}
MX_TYPES = frozenset({("f32", lhs, rhs) for pair in (FLOAT8, FLOAT4) for lhs in pair for rhs in pair})

_A5_LAYOUTS: dict[str, Layout] = {"lhs": "NZ", "rhs": "ZN", "dst": "NZ"}


class TileProduct(TileOperation):
    """The common part of all products. `gemv` ones have one row."""

    pipes = (Pipe.M,)
    cores = (CoreKind.AIC,)
    words = {"accPhase": KINDS["acc_phase"]}
    defaults = {"accPhase": "unspecified"}
    gemv: ClassVar[bool] = False
    scaled: ClassVar[bool] = False
    accPhase = OptionalProperty()
    lhs = Operand()
    rhs = Operand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from lies_in(self, "dst", "acc")
        misplaced = [*self._operand("lhs", "left"), *self._operand("rhs", "right")]
        yield from misplaced
        if any(problem.severity == "error" for problem in misplaced):
            return
        yield from self._types(target)
        yield from self._extents()
        if target == "a5":
            yield from self._layouts()
        yield from self._acc(target)
        yield from self._bias(target)
        yield from self._scales()

    def _operand(self, role: str, location: str) -> Iterator[Problem]:
        """An operand in L1 is read as if it were moved first; the assembler refuses it."""
        if self.tile(role).loc != "mat":
            yield from lies_in(self, role, location)
            return
        message = f"{role} is in mat; it is read as if pto.tmov had brought it to {location}"
        hint = f"move it to a tile in {location}: the assembler wants it there"
        yield lint(message, at=f"{role}_type", hint=hint)

    def _types(self, target: str) -> Iterator[Problem]:
        known = MX_TYPES if self.scaled else A5_TYPES if target == "a5" else PLAIN_TYPES
        found = tuple(signed_word(self.tile(role).element) for role in ("dst", "lhs", "rhs"))
        if found not in known:
            dst, lhs, rhs = found
            legal = ", ".join(sorted(f"{b} x {c} -> {a}" for a, b, c in known))
            yield Problem(f"{self.name} has no {lhs} x {rhs} -> {dst} on {target}; known: {legal}", at="dst_type")

    def _extents(self) -> Iterator[Problem]:
        """M, K and N agree between the tiles, and the machine can count to them."""
        yield from self._meet("K", "lhs", 1, "rhs", 0)
        if not self.gemv:
            yield from self._meet("M", "lhs", 0, "dst", 0)
        yield from self._meet("N", "rhs", 1, "dst", 1)
        for role in ("lhs", "dst") if self.gemv else ():
            if self.tile(role).valid[0] not in (1, None):
                yield at_type(self, role, "with one valid row", self.tile(role).valid[0])
        for letter, role, axis in (("M", "lhs", 0), ("K", "lhs", 1), ("N", "rhs", 1)):
            extent = self._extent(role, axis)
            if extent > EXTENT_LIMIT or (self.scaled and extent < 1):
                yield at_type(self, role, f"to have {letter} in {int(self.scaled)}..{EXTENT_LIMIT}", extent)
        if self.scaled and not self.gemv and self.tile("lhs").cols % SCALED_STEP:
            yield at_type(self, "lhs", f"to have a multiple of {SCALED_STEP} columns, K", self.tile("lhs").cols)

    def _extent(self, role: str, axis: int) -> int:
        valid = self.tile(role).valid[axis]
        return self.tile(role).shape[axis] if valid is None else valid

    def _meet(self, letter: str, first: str, axis: int, second: str, other: int) -> Iterator[Problem]:
        """Valid extents agree where both are known, else the extents of the tiles."""
        one, two = self.tile(first), self.tile(second)
        valid = one.valid[axis], two.valid[other]
        shape = one.shape[axis], two.shape[other]
        pair = shape if None in valid else valid
        if pair[0] == pair[1] or (None in valid and valid != (None, None)):
            return
        found = f"{pair[0]} in {first} ({extents(one.shape)}), but {pair[1]} in {second} ({extents(two.shape)})"
        if second == "dst" and shape[0] == shape[1]:
            yield lint(f"the valid {letter} is {found}", at=f"{second}_type")
        else:
            yield Problem(f"{letter} is {found}", at=f"{second}_type")

    def _layouts(self) -> Iterator[Problem]:
        for role, layout in _A5_LAYOUTS.items():
            plain_row = self.gemv and role == "lhs" and self.tile(role).rows == 1
            if self.tile(role).loc != "mat" and not plain_row:
                yield from is_laid_out(self, role, layout, on=" on a5")

    def _acc(self, target: str) -> Iterator[Problem]:
        if "acc" in self.operand_roles:
            yield from lies_in(self, "acc", "acc")
            yield from same_element("dst", "acc")(self, target)
            yield from same_shape("dst", "acc")(self, target)

    def _bias(self, target: str) -> Iterator[Problem]:
        if "bias" in self.operand_roles:
            yield from lies_in(self, "bias", "bias")
            yield from same_element("dst", "bias")(self, target)
            if self.tile("bias").rows != 1:
                yield at_type(self, "bias", "to have one row", self.tile("bias").rows)

    def _scales(self) -> Iterator[Problem]:
        if self.scaled:
            for role, operand, axis in (("lhs_scale", "lhs", 1), ("rhs_scale", "rhs", 0)):
                yield from lies_in(self, role, "scaling")
                yield from scales(self, role, operand, axis)


# --- the forms --------------------------------------------------------------------------------------------------------


class Accumulating(TileProduct):
    """`.acc`: the accumulator that the product is added to stands first."""

    acc = Operand()
    lhs = Operand()
    rhs = Operand()
    dst = Operand()


class Biased(TileProduct):
    """`.bias`."""

    lhs = Operand()
    rhs = Operand()
    bias = Operand()
    dst = Operand()


class Scaled(TileProduct):
    """`.mx`: each operand is followed by its scales. Only a5 has them."""

    targets = ("a5",)
    scaled = True
    scale_roles = ("lhs_scale", "rhs_scale")
    lhs = Operand()
    lhs_scale = Operand()
    rhs = Operand()
    rhs_scale = Operand()
    dst = Operand()


class ScaledAccumulating(Scaled):
    """`.mx.acc`."""

    acc = Operand()
    lhs = Operand()
    lhs_scale = Operand()
    rhs = Operand()
    rhs_scale = Operand()
    dst = Operand()


class ScaledBiased(Scaled):
    """`.mx.bias`."""

    lhs = Operand()
    lhs_scale = Operand()
    rhs = Operand()
    rhs_scale = Operand()
    bias = Operand()
    dst = Operand()


# --- matrices ---------------------------------------------------------------------------------------------------------


class TMatmul(TileProduct, name="pto.tmatmul"):
    """Matrix product.

    c = a x b: m = valid rows of a, k = its valid columns, n = valid columns of b. The products are summed in the type
    of the accumulator, f32 or i32. `accPhase` partial and final drive the unit flag between cube unit and fixpipe.

        pto.tmatmul ins(%a, %b
          : !pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<right, 64x32xf16, slayout=col_major>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    """


class TMatmulAcc(Accumulating, name="pto.tmatmul.acc"):
    """Matrix product added to an accumulator.

    c = c0 + a x b. The hardware accumulates in place: c0 and c are the same tile.

        pto.tmatmul.acc ins(%c, %a, %b
          : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
            !pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<right, 64x32xf16, slayout=col_major>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    """


class TMatmulBias(Biased, name="pto.tmatmul.bias"):
    """Matrix product with a bias.

    c = a x b + bias, the one row of the bias added to every row.

        pto.tmatmul.bias ins(%a, %b, %bias
          : !pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<right, 64x32xf16, slayout=col_major>,
            !pto.tile_buf<bias, 1x32xf32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    """


class TMatmulMx(Scaled, name="pto.tmatmul.mx"):
    """Matrix product with block scales.

    c = (a x 2^as) x (b x 2^bs): every 32 values along K share a scale of eight exponent bits. Extents of fp4 operands
    count values.

        pto.tmatmul.mx ins(%a, %as, %b, %bs
          : !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>,
            !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>,
            !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    """


class TMatmulMxAcc(ScaledAccumulating, name="pto.tmatmul.mx.acc"):
    """Matrix product with block scales, added to an accumulator.

    c = c0 + (a x 2^as) x (b x 2^bs), as pto.tmatmul.mx; c0 and c are the same tile.

        pto.tmatmul.mx.acc ins(%c, %a, %as, %b, %bs
          : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
            !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>,
            !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>,
            !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    """


class TMatmulMxBias(ScaledBiased, name="pto.tmatmul.mx.bias"):
    """Matrix product with block scales and a bias.

    c = (a x 2^as) x (b x 2^bs) + bias, as pto.tmatmul.mx; the bias is f32.

        pto.tmatmul.mx.bias ins(%a, %as, %b, %bs, %bias
          : !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>,
            !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>,
            !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>,
            !pto.tile_buf<bias, 1x32xf32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    """


# --- row vectors ------------------------------------------------------------------------------------------------------


class TGemv(TileProduct, name="pto.tgemv"):
    """Row vector times matrix.

    c = a x b for an a of one valid row, whose elements lie one after the other; k = valid rows of b.

        pto.tgemv ins(%a, %b
          : !pto.tile_buf<left, 1x64xf16, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<right, 64x32xf16, slayout=col_major>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>)
    """

    gemv = True


class TGemvAcc(Accumulating, name="pto.tgemv.acc"):
    """Row vector times matrix, added to an accumulator.

    c = c0 + a x b for an a of one valid row; c0 and c are the same tile.

        pto.tgemv.acc ins(%c, %a, %b
          : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>,
            !pto.tile_buf<left, 1x64xf16, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<right, 64x32xf16, slayout=col_major>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>)
    """

    gemv = True


class TGemvBias(Biased, name="pto.tgemv.bias"):
    """Row vector times matrix, with a bias.

    c = a x b + bias for an a of one valid row.

        pto.tgemv.bias ins(%a, %b, %bias
          : !pto.tile_buf<left, 1x64xf16, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<right, 64x32xf16, slayout=col_major>,
            !pto.tile_buf<bias, 1x32xf32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>)
    """

    gemv = True


class TGemvMx(Scaled, name="pto.tgemv.mx"):
    """Row vector times matrix with block scales.

    As pto.tmatmul.mx for an a of one valid row; its scales lie one after the other, too.

        pto.tgemv.mx ins(%a, %as, %b, %bs
          : !pto.tile_buf<left, 1x64xf8E4M3FN, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<scaling, 1x2x!pto.f8E8M0, slayout=row_major, fractal=32>,
            !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>,
            !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>)
    """

    gemv = True


class TGemvMxAcc(ScaledAccumulating, name="pto.tgemv.mx.acc"):
    """Row vector times matrix with block scales, added to an accumulator.

    As pto.tmatmul.mx.acc for an a of one valid row.

        pto.tgemv.mx.acc ins(%c, %a, %as, %b, %bs
          : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>,
            !pto.tile_buf<left, 1x64xf8E4M3FN, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<scaling, 1x2x!pto.f8E8M0, slayout=row_major, fractal=32>,
            !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>,
            !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>)
    """

    gemv = True


class TGemvMxBias(ScaledBiased, name="pto.tgemv.mx.bias"):
    """Row vector times matrix with block scales and a bias.

    As pto.tmatmul.mx.bias for an a of one valid row.

        pto.tgemv.mx.bias ins(%a, %as, %b, %bs, %bias
          : !pto.tile_buf<left, 1x64xf8E4M3FN, blayout=col_major, slayout=row_major>,
            !pto.tile_buf<scaling, 1x2x!pto.f8E8M0, slayout=row_major, fractal=32>,
            !pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>,
            !pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>,
            !pto.tile_buf<bias, 1x32xf32>)
          outs(%c : !pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>)
    """

    gemv = True
