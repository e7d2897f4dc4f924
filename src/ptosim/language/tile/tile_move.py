"""Tiles and global memory: loads, stores and prefetches.

How a view of up to five dimensions folds into rows and columns, and which copy moves it, is for the lowering.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from ptosim.effects.fixpipe import COLUMN_LIMIT
from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, PTOOperation
from ptosim.language.rules import tile_place_rules as place
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.rules.tile_rules import at_type, extents, name_of
from ptosim.language.text.located_parser import LocatedParser, Unsupported
from ptosim.language.tile.tile_accumulator import leaves
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_operation import TileOperation

_NEVER_READ = (
    *("pad_mode", "pad_value", "left_padding_num", "init_out_buffer"),
    *("right_padding_num", "init_condition"),
)
"""Clauses of pto.tload that the dialect has and no machine obeys."""


# --- loads ------------------------------------------------------------------------------------------------------------


class TLoad(TileOperation, name="pto.tload"):
    """Load a tile from global memory.

    tile[i, j] = view[row i, column j] over the valid region, as far as the view reaches. A view of more than two
    dimensions is folded by the layout of the tile: ND takes all but the last as rows, DN all but the fourth as columns,
    NZ blocks of columns. In UB rows end padded to 32 bytes if the type has a pad; rows beyond the valid region keep
    their contents. A tile in L1 takes the layout of the view and its own together: ND to NZ is the usual operand.

        pto.tload ins(%w : !pto.partition_tensor_view<16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    """

    pipes = (Pipe.MTE2,)
    views = ("src",)
    src = Operand()
    dst = Operand()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        op = super().read(parser)
        if any(parser.at_word(word) for word in _NEVER_READ):
            message = f"'{parser.span_here().text}' of pto.tload is not simulated: no machine reads it"
            raise Unsupported(parser.span_here(), message)
        return op

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from place.lies_in(self, "dst", "vec", "mat", "scaling")
        yield from place.has_elements(self, "src")
        yield from place.same_width(self, "dst", "src")
        yield from _low_precision(self, target, "dst")
        tile = self.tile("dst")
        if target == "a5" and tile.element_bytes == 8 and tile.pad > 1:
            yield at_type(self, "dst", "of 8-byte elements with pad 0 (null) or 1 (zero) on a5", tile.pad)
        if tile.loc != "vec" or tile.rows == 1:  # one row is linear, whatever boxes its type has
            return
        legal = list(place.is_laid_out(self, "dst", "ND", "DN", "NZ", on=" in vec"))
        yield from legal or self._same_layout()

    def _same_layout(self) -> Iterator[Problem]:
        """Copies to UB do not rearrange: a layout that is written for the view is that of the tile."""
        tile, written = self.tile("dst"), place.written_layout(self.src)
        hint = "a load to vec keeps the layout; pto.tmov and pto.ttrans change it"
        if 1 in tile.shape:
            return
        if written is not None and written.upper() != tile.layout:
            message = f"src has layout {written}, but dst in vec is laid out as {tile.layout}"
            yield Problem(message, at="dst_type", hint=hint)
        elif written is None and tile.layout == "ND" and self._stride_of_columns() not in (1, None):
            apart = f"columns of src are {self._stride_of_columns()} elements apart"
            yield Problem(f"{apart}, but in a row of dst in vec they are neighbours", at="dst_type", hint=hint)

    def _stride_of_columns(self) -> int | None:
        """The last stride of the tensor that src is of, where it is known and counts."""
        owner = place.tensor_of(self.src)
        if not isinstance(owner, PTOOperation) or owner.name != "pto.make_tensor_view":
            return None
        strides = owner.segment("strides")
        return constant_of(strides[-1]) if strides and place.view_at(self, "src").shape[-1] != 1 else None


class TPrefetch(TileOperation, name="pto.tprefetch"):
    """Fetch a view into the cache.

    Global memory is read; the destination is working memory, and its contents are undefined afterwards.

        pto.tprefetch ins(%w : !pto.partition_tensor_view<16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    """

    pipes = (Pipe.MTE2,)
    views = ("src",)
    src = Operand()
    dst = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from place.lies_in(self, "dst", "vec", "mat")
        yield from place.has_elements(self, "src")
        yield from place.same_width(self, "dst", "src")
        for role in ("src", "dst"):
            yield from _low_precision(self, target, role)


def _low_precision(op: TileOperation, target: str, role: str) -> Iterator[Problem]:
    found = name_of(place.element_at(op, role))
    if target != "a5" and found in place.LOW_PRECISION:
        yield Problem(f"{role}: dtype {found} is not supported by {op.name} on {target}", at=f"{role}_type")


# --- stores -----------------------------------------------------------------------------------------------------------


class TStore(TileOperation, name="pto.tstore"):
    """Store a tile to global memory.

    view[row i, column j] = tile[i, j] over the valid region, folded as by pto.tload. From UB it is a copy on MTE3, with
    `atomicType` an addition to what is there. From an accumulator it goes through the fixpipe: f32 may become f16 or
    bf16, an i64 parameter word or a tile `fp` of parameters, one for each column, quantises, and `reluPreMode`
    normal_relu clips at zero. `stPhase` partial and final drive the unit flag.

        pto.tstore ins(%t : !pto.tile_buf<vec, 16x64xf32>) outs(%w : !pto.partition_tensor_view<16x64xf32>)
    """

    pipes = (Pipe.MTE3, Pipe.FIX)
    views = ("dst",)
    scalars = ("pre_quant",)
    keywords = {"fp": "fp"}
    apart = ("pre_quant",)
    generic = ("src", "dst", "fp", "pre_quant")
    words = {
        "stPhase": KINDS["st_phase"],
        "atomicType": KINDS["atomic_type"],
        "reluPreMode": KINDS["relu_pre_mode"],
    }
    defaults = {"stPhase": "unspecified", "atomicType": "atomic_none", "reluPreMode": "no_relu"}
    src = Operand()
    fp = OptionalOperand()
    pre_quant = OptionalOperand()
    dst = Operand()
    stPhase = OptionalProperty()
    atomicType = OptionalProperty()
    reluPreMode = OptionalProperty()

    def pipe(self, target: str) -> Pipe:
        return Pipe.MTE3 if self.tile("src").loc == "vec" else Pipe.FIX

    def tile_rules(self, target: str) -> Iterator[Problem]:
        places = ("vec", "acc") if target == "a5" else ("vec", "acc", "mat")
        misplaced = list(place.lies_in(self, "src", *places, on=f" on {target}"))
        yield from misplaced
        if misplaced:
            return
        yield from self._counts()
        yield from leaves(self, target, place.element_at(self, "dst"))
        yield from place.may_be_added_to(self, "dst")
        if self.has("fp") and self.setting("stPhase") != "unspecified":
            yield Problem("a store with fp has no stPhase", at="stPhase")
        yield from self._accumulator(target) if self.tile("src").loc == "acc" else self._local(target)

    def _local(self, target: str) -> Iterator[Problem]:
        yield from place.same_width(self, "dst", "src")
        yield from _low_precision(self, target, "src")
        if target == "a5" and 1 not in self.tile("src").shape:
            yield from place.is_laid_out(self, "src", "ND", "DN", "NZ", on=" in vec")

    def _accumulator(self, target: str) -> Iterator[Problem]:
        tile = self.tile("src")
        if target != "a5" and tile.cols > COLUMN_LIMIT:
            yield at_type(self, "src", f"in acc to have at most {COLUMN_LIMIT} columns on {target}", tile.cols)

    def _counts(self) -> Iterator[Problem]:
        """Checks that stored elements fill the view, unless nothing is stored."""
        valid, shape = self.tile("src").valid, place.view_at(self, "dst").shape
        if 0 in (*valid, *shape) or self.has("fp"):  # parameters of columns go with any view
            return
        if (
            (expected := place.count(valid)) is not None
            and (found := place.count(shape)) is not None
            and expected != found
        ):
            message = f"dst static element count ({found}) to match src valid_shape {extents(valid)}"
            yield Problem(f"{self.name} expects {message} ({expected})", at="dst_type")


class TStoreFp(TStore, name="pto.tstore_fp"):
    """Older name of pto.tstore with a tile of parameters.

    The tile of parameters stands second.

        pto.tstore_fp ins(%c, %f : !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>,
            !pto.tile_buf<scaling, 1x32xi64>) outs(%w : !pto.partition_tensor_view<16x32xi8>)
    """

    replaced_by = "pto.tstore"
    keywords = {}
