"""Gathers and scatters between global memory and tiles, by an index for each row or for each element."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, Property
from ptosim.language.rules.tile_place_rules import (
    count,
    holds,
    is_laid_out,
    lies_in,
    same_elements,
    unsigned_name,
    view_at,
    written_layout,
)
from ptosim.language.rules.tile_rules import agree, at_type, extents, name_of
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import tile_of, view_of

_ATOMIC = {"add": ("i32", "f16", "f32"), "max": ("i32", "f32"), "min": ("i32", "f32")}
"""The operations that a scatter can combine with."""


class _ByIndex(TileOperation):
    """A table in global memory, a tile, and an index for each row or each element of the tile."""

    tile_role = "dst"

    def index_rules(self, coalesce: str, column: bool = False) -> Iterator[Problem]:
        """The rules of an index tile in UB; `column`: whether one valid column of a row-major tile will do."""
        yield from lies_in(self, "idx", "vec")
        yield from holds(self, "idx", ("i32",))
        index, tile = self.tile("idx"), self.tile(self.tile_role)
        if index.boxed:
            yield at_type(self, "idx", "with slayout none_box", index.slayout)
        elif coalesce == "row" and not indexes_rows(index, tile) and not (column and is_column_of_rows(index, tile)):
            count = "?" if tile.valid[0] is None else tile.valid[0]
            expected = f"of coalesce row to have the valid shape 1x{count} or, in a column, {count}x1"
            yield at_type(self, "idx", expected, f"{extents(index.valid)} ({index.blayout})")
        elif coalesce == "elem" and not all(map(agree, index.valid, tile.valid)):
            expected = f"of coalesce elem to have the valid shape of {self.tile_role}, {extents(tile.valid)}"
            yield at_type(self, "idx", expected, extents(index.valid))

    def table_rules(self) -> Iterator[Problem]:
        """The table lies row by row and has the elements of the tile."""
        layout = written_layout(self.segment("mem")[0])
        if layout not in (None, "nd"):
            yield at_type(self, "mem", "to have layout nd", layout)
        yield from same_elements(self, "mem", self.tile_role)


def indexes_rows(index: TileBuf, tile: TileBuf) -> bool:
    """Whether the valid region is one index for each row: a row, or a column that lies as one. A tile of one row or
    column may have more than are valid of the other tile."""
    by_rows = index.blayout == "row_major"
    across, along = (0, 1) if by_rows or index.rows == 1 else (1, 0)
    if index.shape[across] == 1 and index.shape[along] == tile.rows:
        return True
    return agree(index.valid[across], 1) and agree(index.valid[along], tile.valid[0])


def is_column_of_rows(index: TileBuf, tile: TileBuf) -> bool:
    """Whether a row-major index has one valid column, an index for each row, as scatters of a2a3 may have it."""
    return index.blayout == "row_major" and index.valid[1] == 1 and agree(index.valid[0], tile.valid[0])


class MGather(_ByIndex, name="pto.mgather"):
    """Gather rows or elements of a table in global memory.

    `coalesce` row: dst[r, j] = mem[idx[r]][j]; elem: dst[i, j] = element idx[i, j] of the table, counted along its
    rows. Indices are unsigned. `gatherOob` says what one beyond the table means: clamp takes the last, wrap the
    remainder, zero gives 0, undefined is an error. A destination in L1 takes its indices from a view, and gathers
    elements through a second view as working memory.

        pto.mgather ins(%mem, %idx : !pto.partition_tensor_view<128x64xf32>, !pto.tile_buf<vec, 1x16xi32>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32>) {coalesce = #pto<coalesce row>}
    """

    pipes = (Pipe.V, Pipe.MTE2)
    views = ("mem", "workspace")
    untyped = ("idx",)
    scratch = ("workspace",)
    words = {"coalesce": KINDS["coalesce"], "gatherOob": KINDS["gather_oob"]}
    defaults = {"gatherOob": "undefined"}
    mem = Operand()
    idx = Operand()
    workspace = OptionalOperand()
    dst = Operand()
    coalesce = Property()
    gatherOob = OptionalProperty()

    def pipe(self, target: str) -> Pipe:
        return Pipe.V if target == "a5" and self.tile("dst").loc == "vec" else Pipe.MTE2

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from lies_in(self, "dst", "vec", "mat")
        yield from self.table_rules()
        if self.tile("dst").loc == "mat":
            yield from self._to_l1()
        elif tile_of(self.idx.type) is None:
            yield at_type(self, "idx", "to be a tile for a dst in vec", self.idx.type)
        else:
            yield from self.index_rules(self.word("coalesce") or "")
            if self.workspace is not None:
                yield Problem("a working view is for gathers of elements to mat", at="workspace")

    def _to_l1(self) -> Iterator[Problem]:
        tile = self.tile("dst")
        yield from is_laid_out(self, "dst", "NZ", on=" in mat")
        if tile.fractal != 512:
            yield at_type(self, "dst", "in mat with fractal=512", tile.fractal)
        for extent, unit, side in zip(tile.shape, tile.box, ("rows", "columns"), strict=True):
            if extent % unit:
                yield at_type(self, "dst", f"in mat to have a multiple of {unit} {side}", extent)
        index = view_of(self.idx.type)
        if index is None:
            yield at_type(self, "idx", "to be a view for a dst in mat", self.idx.type)
        elif unsigned_name(index.element) != "i32":
            yield at_type(self, "idx", "to have elements of i32", name_of(index.element))
        if self.word("coalesce") == "elem":
            yield from self._workspace()

    def _workspace(self) -> Iterator[Problem]:
        needed = self.tile("dst").rows * self.tile("dst").cols
        if self.workspace is None:
            yield Problem(f"a gather of elements to mat needs a working view of {needed} elements", at="dst")
        elif (size := count(view_at(self, "workspace").shape)) is not None and size < needed:
            yield at_type(self, "workspace", f"to have the {needed} elements of dst", size)


class MScatter(_ByIndex, name="pto.mscatter"):
    """Scatter rows or elements of a tile into a table in global memory.

    `coalesce` row: mem[idx[r]][j] = src[r, j]; elem: element idx[i, j] of the table = src[i, j]; without it the shape
    of idx decides. `scatterAtomicOp` add, max and min combine with what is there. `scatterOob` says what an index
    beyond the table means: skip writes nothing, clamp takes the last, wrap the remainder, undefined is an error. Of
    several writes to one place the last in row-major order stays if `scatterConflict` is last; otherwise a5 does not
    say which.

        pto.mscatter ins(%s, %idx : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 1x16xi32>)
            outs(%mem : !pto.partition_tensor_view<128x64xf32>) {coalesce = #pto<coalesce row>}
    """

    tile_role = "src"
    pipes = (Pipe.V, Pipe.MTE3)
    outs = ("mem",)
    views = ("mem",)
    partly_writes = ("mem",)
    words = {
        "coalesce": KINDS["coalesce"],
        "scatterAtomicOp": KINDS["scatter_atomic_op"],
        "scatterOob": KINDS["scatter_oob"],
        "scatterConflict": KINDS["scatter_conflict"],
    }
    defaults = {"scatterAtomicOp": "none", "scatterOob": "undefined", "scatterConflict": "default"}
    src = Operand()
    idx = Operand()
    mem = Operand()
    coalesce = OptionalProperty()
    scatterAtomicOp = OptionalProperty()
    scatterOob = OptionalProperty()
    scatterConflict = OptionalProperty()

    def pipe(self, target: str) -> Pipe:
        return Pipe.V if target == "a5" else Pipe.MTE3

    def inferred(self) -> str | None:
        """The word of `coalesce`, or what the shape of the index says; None where it says nothing."""
        index, tile = self.tile("idx"), self.tile("src")
        if (word := self.word("coalesce")) is not None:
            return word
        if index.shape == tile.shape or (None not in tile.valid and index.valid == tile.valid):
            return "elem"
        return "row" if indexes_rows(index, tile) or is_column_of_rows(index, tile) else None

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from lies_in(self, "src", "vec")
        yield from self.table_rules()
        if (coalesce := self.inferred()) is None:
            message = (
                f"idx is {extents(self.tile('idx').shape)}: neither one index for each row nor one for each element"
            )
            yield Problem(message, at="idx_type", hint="write coalesce = #pto<coalesce row> or #pto<coalesce elem>")
        else:
            yield from self.index_rules(coalesce, column=target != "a5" and self.word("coalesce") is None)
        operation = str(self.setting("scatterAtomicOp"))
        if operation in _ATOMIC:
            broken = list(holds(self, "src", _ATOMIC[operation], on=f" for scatterAtomicOp {operation}"))
            yield from broken or self._signs(operation)

    def _signs(self, operation: str) -> Iterator[Problem]:
        """Sums are the same with and without a sign, what is greater is not."""
        found = name_of(self.tile("src").element)
        if operation != "add" and found.startswith("u"):
            yield at_type(self, "src", f"to have a sign for scatterAtomicOp {operation}", found)
