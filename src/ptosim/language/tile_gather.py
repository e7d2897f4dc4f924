"""Gathers and scatters between global memory and tiles, by an index for each row or for each element."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.names import Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, Property
from ptosim.language.tile_attributes import KINDS
from ptosim.language.tile_buf import TileBuf
from ptosim.language.tile_operation import TileOperation
from ptosim.language.tile_places import (
    agree,
    count,
    element_at,
    holds,
    is_laid_out,
    lies_in,
    times,
    unsigned_name,
    view_at,
    written_layout,
)
from ptosim.language.tile_types import tile_of, view_of
from ptosim.language.types import element_name

_ATOMIC = {"add": ("i32", "f16", "f32"), "max": ("i32", "f32"), "min": ("i32", "f32")}
"""What a scatter can combine."""


class _ByIndex(TileOperation):
    """A table in global memory, a tile, and an index for each row or each element of the tile."""

    tile_role = "dst"

    def index_rules(self, coalesce: str) -> Iterator[Problem]:
        """The rules of an index tile in UB."""
        yield from lies_in(self, "idx", "vec")
        yield from holds(self, "idx", ("i32",))
        index, tile = self.tile("idx"), self.tile(self.tile_role)
        if index.boxed:
            yield Problem(f"idx must have no boxes, not the layout {index.layout}", at="idx_type")
        elif coalesce == "row" and not indexes_rows(index, tile):
            message = f"idx of coalesce row must be 1x{tile.rows} or {tile.rows}x1, not {times(index.shape)}"
            yield Problem(message, at="idx_type")
        elif coalesce == "elem" and not agree(index.valid, tile.valid):
            expected, found = times(tile.valid), times(index.valid)
            message = f"idx of coalesce elem must have the valid region {expected} of {self.tile_role}, not {found}"
            yield Problem(message, at="idx_type")

    def table_rules(self) -> Iterator[Problem]:
        """The table lies row by row and has the elements of the tile."""
        layout = written_layout(self.segment("mem")[0])
        if layout not in (None, "nd"):
            yield Problem(f"mem must have layout nd, not {layout}", at="mem_type")
        expected, found = self.tile(self.tile_role).element, element_at(self, "mem")
        if found != expected:
            message = f"mem must have elements of {expected} like {self.tile_role}, not {found}"
            yield Problem(message, at="mem_type")


def indexes_rows(index: TileBuf, tile: TileBuf) -> bool:
    """Whether there is one index for each row: in a row, or in a column that lies as one."""
    if 1 not in index.shape:
        return False
    line, extent = (1, index.cols) if index.rows == 1 else (0, index.rows)
    return agree((index.valid[line],), (tile.valid[0],)) or extent == tile.rows


class MGather(_ByIndex):
    """Gather rows or elements of a table in global memory.

    `coalesce` row: dst[r, j] = mem[idx[r]][j]; elem: dst[i, j] = element idx[i, j] of the table, counted along its
    rows. Indices are unsigned. `gatherOob` says what one beyond the table means: clamp takes the last, wrap the
    remainder, zero gives 0, undefined is an error. A destination in L1 takes its indices from a view, and gathers
    elements through a second view as working memory.

        pto.mgather ins(%mem, %idx : !pto.partition_tensor_view<128x64xf32>, !pto.tile_buf<vec, 1x16xi32>)
            outs(%d : !pto.tile_buf<vec, 16x64xf32>) {coalesce = #pto<coalesce row>}
    """

    name = "pto.mgather"
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
            yield Problem(f"idx must be a tile in vec for a tile in vec, not {self.idx.type}", at="idx_type")
        else:
            yield from self.index_rules(self.word("coalesce") or "")
            if self.workspace is not None:
                yield Problem("a working view is for gathers of elements to mat", at="workspace")

    def _to_l1(self) -> Iterator[Problem]:
        tile = self.tile("dst")
        yield from is_laid_out(self, "dst", "NZ", on=" in mat")
        if tile.fractal != 512:
            yield Problem(f"dst in mat has boxes of fractal=512, not {tile.fractal}", at="dst_type")
        for extent, unit, side in zip(tile.shape, tile.box, ("rows", "columns"), strict=True):
            if extent % unit:
                yield Problem(f"dst in mat has a multiple of {unit} {side}, not {extent}", at="dst_type")
        index = view_of(self.idx.type)
        if index is None:
            yield Problem(f"idx must be a view for a tile in mat, not {self.idx.type}", at="idx_type")
        elif unsigned_name(index.element) != "i32":
            yield Problem(f"idx must have elements of i32, not {element_name(index.element)}", at="idx_type")
        if self.word("coalesce") == "elem":
            yield from self._workspace()

    def _workspace(self) -> Iterator[Problem]:
        needed = self.tile("dst").rows * self.tile("dst").cols
        if self.workspace is None:
            yield Problem(f"a gather of elements to mat needs a working view of {needed} elements", at="dst")
        elif (size := count(view_at(self, "workspace").shape)) is not None and size < needed:
            yield Problem(f"workspace has {size} elements; the tile needs {needed}", at="workspace_type")


class MScatter(_ByIndex):
    """Scatter rows or elements of a tile into a table in global memory.

    `coalesce` row: mem[idx[r]][j] = src[r, j]; elem: element idx[i, j] of the table = src[i, j]; without it the shape
    of idx decides. `scatterAtomicOp` add, max and min combine with what is there. `scatterOob` says what an index
    beyond the table means: skip writes nothing, clamp takes the last, wrap the remainder, undefined is an error. Of
    several writes to one place the last in row-major order stays if `scatterConflict` is last; otherwise a5 does not
    say which.

        pto.mscatter ins(%s, %idx : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 1x16xi32>)
            outs(%mem : !pto.partition_tensor_view<128x64xf32>) {coalesce = #pto<coalesce row>}
    """

    name = "pto.mscatter"
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
        if index.shape == tile.shape:
            return "elem"
        return "row" if indexes_rows(index, tile) else None

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from lies_in(self, "src", "vec")
        yield from self.table_rules()
        if (coalesce := self.inferred()) is None:
            message = f"idx is {times(self.tile('idx').shape)}: neither one index for each row nor one for each element"
            yield Problem(message, at="idx_type", hint="write coalesce = #pto<coalesce row> or #pto<coalesce elem>")
        else:
            yield from self.index_rules(coalesce)
        operation = str(self.setting("scatterAtomicOp"))
        if operation in _ATOMIC:
            yield from holds(self, "src", _ATOMIC[operation], on=f" for scatterAtomicOp {operation}")
