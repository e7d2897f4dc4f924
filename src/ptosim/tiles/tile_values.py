"""Tiles and views while they are lowered: plain data about values that exist, no operation of its own.

A tile is an address and a valid region beside what its type says; a view is a pointer with sizes and strides. Known
sizes are integers, so that sizes computed from them are known too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import VECTOR_BYTES, Element
from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_buf import ROW_PLUS_ONE, TileBuf
from ptosim.language.types import PtrType, element_of

ViewLayout = Literal["nd", "dn", "nz", "mx_a_zz", "mx_b_nn"]


@dataclass(frozen=True)
class Tile:
    """A tile as a lowering sees it."""

    buf: TileBuf
    """Element, shape and layout, as the type says them."""
    address: SSAValue
    """The address of element (0, 0), in bytes of the memory: i64."""
    valid: tuple[Number, Number]
    """Rows and columns of the valid region, within the shape."""
    storage: tuple[int, int]
    """Rows and columns of the tile in memory: the parent's for a subview."""
    name: str
    """The author's name, for messages and for the values that are made of it."""

    @property
    def element(self) -> Attribute:
        return self.buf.element

    @property
    def kind(self) -> Element:
        return self.buf.kind

    @property
    def lanes(self) -> int:
        """Elements of a vector register."""
        return VECTOR_BYTES // self.kind.bytes

    @property
    def rows(self) -> Number:
        return self.valid[0]

    @property
    def cols(self) -> Number:
        return self.valid[1]

    @property
    def goes_down(self) -> bool:
        """Whether columns, or boxes below each other, follow each other in memory. In L0A they do whatever the type
        says: products of both machines read it alike."""
        return self.buf.blayout == "col_major" or (self.buf.boxed and self.buf.loc == "left")

    @property
    def pitch(self) -> int:
        """Elements from the start of a row to that of the next in ND, of a column in DN, of a block of columns or rows
        (in elements of its long side) in boxed tiles."""
        rows, cols = self.storage
        extent = rows if self.goes_down else cols
        return extent + 1 if self.buf.compact == ROW_PLUS_ONE else extent

    @property
    def span(self) -> int:
        """Bytes from the first element to the last: in a part of a tile what lies between its lines counts as well."""
        if self.storage == self.buf.shape:
            return self.buf.size
        (rows, cols), (box_rows, box_cols) = self.buf.shape, self.buf.box
        across, along, width = (cols, rows, box_cols) if self.goes_down else (rows, cols, box_rows)
        return ((-(-across // width) - 1) * self.pitch + along) * width * self.buf.element_bits // 8

    @property
    def is_gapless(self) -> bool:
        """Whether nothing lies between its lines, as it does in a part of a tile that is wider."""
        return self.span == self.buf.size

    @property
    def is_linear(self) -> bool:
        """Whether one row follows the other without a gap, all columns being valid, or there is one row only."""
        if self.buf.layout != "ND" or self.buf.compact == ROW_PLUS_ONE:
            return known(self.rows) == 1 and self.buf.rows == 1
        return known(self.rows) == 1 or known(self.cols) == self.pitch

    def turned(self) -> Tile:
        """The tile of the transpose: the same bytes, row-major where they were column-major, NZ where they were ZN."""
        buf = self.buf
        swapped = replace(
            buf,
            rows=buf.cols,
            cols=buf.rows,
            valid=(buf.valid[1], buf.valid[0]),
            blayout=_TURNED[buf.blayout],
            slayout=_TURNED[buf.slayout],
        )
        return Tile(swapped, self.address, (self.cols, self.rows), (self.storage[1], self.storage[0]), self.name)

    def unboxed(self) -> Tile:
        """A vector tile of one row is linear, whatever its type says of boxes."""
        if not self.buf.boxed or self.buf.rows > 1:
            return self
        return replace(self, buf=replace(self.buf, blayout="row_major", slayout="none_box"))

    def pointer(self, build: Builder, element: Attribute | None = None) -> SSAValue:
        """A pointer to the first element, or to the same bytes as other elements."""
        return build.pointer(self.address, element or self.element, self.buf.space, self.name.removeprefix("%"))


_TURNED = {"row_major": "col_major", "col_major": "row_major", "none_box": "none_box"}


@dataclass(frozen=True)
class Slots:
    """A multi-buffer: the address of each of its tiles."""

    buf: TileBuf
    addresses: tuple[SSAValue, ...]
    valid: tuple[Number, Number]
    name: str


@dataclass(frozen=True)
class Session:
    """A queue of transfers: its scratch tile, how far apart blocks have their shares, in bytes, and its number."""

    scratch: Tile
    block_offset: int
    number: int


@dataclass(frozen=True)
class GmView:
    """A part of a tensor in GM, read as five dimensions: sizes and strides count elements."""

    pointer: SSAValue
    """The pointer to its first element."""
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    rank: int
    """The rank of the tensor as it is written."""
    layout: ViewLayout | None
    """The layout as it is written."""
    shape: tuple[Number, ...]
    """The shape of the whole tensor, as it is written."""

    @property
    def element(self) -> Attribute:
        assert isinstance(self.pointer.type, PtrType)
        return self.pointer.type.element

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return element_of(self.element).bytes
