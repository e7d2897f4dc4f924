"""The tile as a value: shape, valid region and layout, and what follows from them for its bytes.

How a tile type is written is in tile_types.py; where an element lies in a tile, with the lowerings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from xdsl.ir import Attribute

from ptosim.effects.element import GRANULE, Element
from ptosim.effects.names import Space
from ptosim.language.types import SPACE_SPELLINGS, F4E1M2x2Type, F4E2M1x2Type, F8E8M0Type, element_of

Layout = Literal["ND", "DN", "NZ", "ZN", "ZZ", "NN"]

LOCATIONS = ("vec", "mat", "left", "right", "acc", "bias", "scaling")
BLOCK_LAYOUTS = ("row_major", "col_major")
BOX_LAYOUTS = ("none_box", "row_major", "col_major")
FRACTALS = (32, 512, 1024)
PADS = ("null", "zero", "max", "min")
CUSTOM_PAD = 1 << 32
"""A pad that is none of these has this bit, and the bits of its value below."""
COMPACTS = ("null", "normal", "row_plus_one")
NORMAL, ROW_PLUS_ONE = COMPACTS.index("normal"), COMPACTS.index("row_plus_one")

PARAMETER_BYTES = 8
"""The bytes of a column's word in the fixpipe buffer."""


_LAYOUTS: dict[tuple[str, str], Layout] = {
    ("row_major", "none_box"): "ND",
    ("col_major", "none_box"): "DN",
    ("col_major", "row_major"): "NZ",
    ("row_major", "col_major"): "ZN",
    ("row_major", "row_major"): "ZZ",
    ("col_major", "col_major"): "NN",
}

LEFT_LAYOUTS = {"a5": "col_major", "a2a3": "row_major"}
"""The order of the boxes of a `left` tile, whatever a type says: the cube unit of each machine knows only one."""


@dataclass(frozen=True)
class TileBuf:
    """A rectangle of elements in one of the local memories. A valid extent of None is only known at run time."""

    loc: str
    element: Attribute
    rows: int
    cols: int
    valid: tuple[int | None, int | None]
    blayout: str = "row_major"
    slayout: str = "none_box"
    fractal: int = 512
    pad: int = 0
    compact: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.cols

    @property
    def layout(self) -> Layout:
        """The word for the order of boxes and of elements in a box."""
        return _LAYOUTS[self.blayout, self.slayout]

    @property
    def boxed(self) -> bool:
        return self.slayout != "none_box"

    @property
    def space(self) -> Space:
        """The memory that the tile lies in. Scales of MX products have one of their own beside each operand."""
        if self.loc == "scaling" and isinstance(self.element, F8E8M0Type):
            return Space.SCALE_B if self.layout == "NN" else Space.SCALE_A
        return SPACE_SPELLINGS[self.loc]

    @property
    def kind(self) -> Element:
        """The description of the elements."""
        return element_of(self.element)

    @property
    def counts_values(self) -> bool:
        """Whether an extent counts single fp4 values: in the operands of a product; elsewhere it counts pairs."""
        return self.loc in ("left", "right") and is_fp4(self.element)

    @property
    def element_bits(self) -> int:
        """Bits in memory of one unit of an extent."""
        return 4 if self.counts_values else self.kind.bytes * 8

    @property
    def element_bytes(self) -> int:
        """Bytes of an element; a pair of fp4 values is one byte."""
        return self.kind.bytes

    @property
    def box(self) -> tuple[int, int]:
        """Rows and columns of a box; an accumulator has columns in groups of 16 whatever its `fractal` says."""
        return (16, 16) if self.boxed and self.loc == "acc" else self.written_box

    @property
    def written_box(self) -> tuple[int, int]:
        """The box as `fractal` and `slayout` say it; one element in a tile without boxes."""
        if not self.boxed:
            return 1, 1
        if self.fractal == 1024:
            return 16, 16
        minor = 2 if self.fractal == 32 else GRANULE * 8 // self.element_bits
        return (16, minor) if self.slayout == "row_major" else (minor, 16)

    @property
    def size(self) -> int:
        """Bytes that the tile occupies, whatever its valid region. The short side of a box is whole; parameters of the
        fixpipe lie there as words of 8 bytes, one for each column."""
        rows, cols = self.rows, self.cols
        if self.space is Space.FB:
            return cols * PARAMETER_BYTES
        if self.slayout == "row_major":
            cols = _up(cols, self.box[1])
        elif self.slayout == "col_major":
            rows = _up(rows, self.box[0])
        elements = rows * cols
        if self.compact == ROW_PLUS_ONE:
            elements += self._gaps(rows, cols)
        return -(-elements * self.element_bits // 8)

    def _gaps(self, rows: int, cols: int) -> int:
        """Elements that lie idle in a tile whose rows, or blocks of columns, begin one further than they must."""
        if self.layout == "NZ":
            return cols
        return {"ND": rows, "DN": cols}.get(self.layout, 1) - 1

    def on(self, target: str) -> TileBuf:
        """The tile as a machine has it: the boxes of `left` follow the machine."""
        if self.loc != "left" or self.blayout == LEFT_LAYOUTS[target]:
            return self
        return replace(self, blayout=LEFT_LAYOUTS[target])


def is_fp4(element: Attribute) -> bool:
    """Whether a byte of this element type holds two values."""
    return isinstance(element, F4E1M2x2Type | F4E2M1x2Type)


def _up(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit
